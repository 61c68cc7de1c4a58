"""Trainings that are killed with SIGKILL and resumed.

Run as a script, this file is a process that loads torch once and forks a child for each training it is
told to do. The child is a real process and dies a real death: by SIGKILL after some seconds, or by a SIGKILL
that it sends itself right before its n-th file operation in the run folder, of which checkpoints and models
consist. The tests talk to the script through `Trainings`.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

TESTS = Path(__file__).resolve().parent.parent
KILLED = -signal.SIGKILL
_READY = 0

# Audit events of Python for what changes files. Those of `open` for reading are left alone.
_CHANGES = {"os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.truncate", "shutil.rmtree"}


class Trainings:
    """The test's end of the script."""

    def __init__(self, encoder: str, *changes: str, threads: int = 1) -> None:
        self._process = subprocess.Popen(
            [sys.executable, __file__, encoder, str(threads), *changes],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Self:
        # So that the seconds of a run are its own.
        assert self._answer() == _READY
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._process.communicate()

    def run(self, out: Path, **kill: float) -> int:
        """Start or resume the training in a folder; the exit code of its process, negative for a signal.

        With `after`, it is killed after so many seconds; with `operation`, before that file operation.
        """
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"out": str(out), **kill}) + "\n")
        self._process.stdin.flush()
        return self._answer()

    def _answer(self) -> int:
        assert self._process.stdout is not None
        return int(self._process.stdout.readline())


def _serve(encoder: str, threads: int, changes: list[str]) -> None:
    sys.path.insert(0, str(TESTS))
    import torch
    import transformers

    import making

    transformers.BertModel  # noqa: B018 - loads the module before the fork
    from spanwright.training.loop import train

    torch.set_num_threads(threads)
    settings = making.settings(encoder, *changes)
    data = {"train": making.documents(16), "dev": making.documents(4, prefix="dev")}
    print(_READY, flush=True)  # noqa: T201
    for line in sys.stdin:
        order = json.loads(line)
        child = os.fork()
        if not child:
            out = Path(order["out"])
            _kill_at(order.get("operation"), out)
            train(settings, **data, out=out, resume=(out / "settings.json").exists())
            os._exit(0)
        print(_wait(child, order.get("after")), flush=True)  # noqa: T201


def _wait(child: int, seconds: float | None) -> int:
    """The exit code of a process, which is killed after some seconds."""
    end = time.monotonic() + (seconds if seconds is not None else 1e9)
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() >= end:
            os.kill(child, signal.SIGKILL)
            end += 1e9
        time.sleep(0.002)


def _kill_at(operation: int | None, folder: Path) -> None:
    """Let this process kill itself right before its n-th change of a file in a folder."""
    if operation is None:
        return
    left = operation

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal left
        writes = event == "open" and isinstance(arguments[1], str) and arguments[1].strip("rbt")
        if (writes or event in _CHANGES) and str(arguments[0]).startswith(str(folder)):
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)


if __name__ == "__main__":
    _serve(sys.argv[1], int(sys.argv[2]), sys.argv[3:])
