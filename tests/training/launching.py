"""Trainings in several real processes, with the environment that torchrun gives to each."""

from __future__ import annotations

import json
import multiprocessing
import os
import socket
import traceback
from dataclasses import dataclass
from pathlib import Path

from spanwright.settings import Settings
from spanwright.text import Document
from spanwright.training.loop import train
from watching import Recorder, StoppedError

# A process that has imported everything and is copied for each training: imports take most of the time.
_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(["spanwright.training.loop", "transformers.models.bert.modeling_bert"])
_LONGEST = 120
"""Seconds after which processes count as hanging."""


@dataclass(frozen=True)
class Job:
    """A training."""

    settings: Settings
    train: list[Document]
    dev: list[Document]
    out: Path
    resume: bool = False
    stop_at_step: int | None = None
    broken: int | None = None
    """The process that fails before it has made its first step."""


@dataclass(frozen=True)
class Told:
    """What one process told its watcher, and how it ended."""

    losses: list[float]
    f1: list[float]
    warnings: list[str]
    failure: str


def run_together(job: Job, count: int) -> list[Told]:
    """Train in so many processes; what each of them told."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    reports = [job.out.with_name(f"{job.out.name}-told-{rank}.json") for rank in range(count)]
    processes = [
        _context.Process(target=_train, args=(job, rank, count, port, report), daemon=True)
        for rank, report in enumerate(reports)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join(_LONGEST)
    hanging = [process.pid for process in processes if process.is_alive()]
    for process in processes:
        process.kill()
    assert not hanging, f"processes {hanging} did not end"
    return [Told(**json.loads(report.read_text())) for report in reports]


def run_alone(job: Job) -> Told:
    """Train in this process."""
    return _told(job, None)


def _train(job: Job, rank: int, count: int, port: int, report: Path) -> None:
    os.environ |= {
        "RANK": str(rank),
        "LOCAL_RANK": str(rank),
        "WORLD_SIZE": str(count),
        "LOCAL_WORLD_SIZE": str(count),
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port),
    }
    report.write_text(json.dumps(vars(_told(job, rank))))


def _told(job: Job, rank: int | None) -> Told:
    recorder = Recorder(stop_at_step=job.stop_at_step)
    failure = ""
    train_documents = job.train
    if rank is not None and rank == job.broken:
        train_documents = job.train[1:]
    try:
        train(
            job.settings,
            train=train_documents,
            dev=job.dev,
            out=job.out,
            watcher=recorder,
            resume=job.resume,
        )
    except StoppedError:
        failure = "stopped"
    except Exception:
        failure = traceback.format_exc()
    return Told(recorder.losses, recorder.f1, recorder.warnings, failure)
