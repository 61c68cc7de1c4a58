"""The engine of one machine: worker processes, each with the model, that get one shard after another.

This process reads and keeps one shard at hand, so that a worker that is done gets the next one at once. No
more shards are in memory than there are workers, and that one.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from types import TracebackType
from typing import Self

from spanwright.errors import InputError, SpanwrightError
from spanwright.predicting.jobs.folder import JobError
from spanwright.predicting.jobs.running import RETRIES, Events, Job, LostShard
from spanwright.predicting.jobs.shard_tagging import Loader, ShardResult, tag_shard
from spanwright.predicting.jobs.shards import Group, GroupEnd, Shard, unfinished
from spanwright.predicting.tagging_options import TaggingOptions, dealt, load_tagger

_FAILED_STARTS = 3


class LocalEngine:
    """Tags with several processes of this machine."""

    def __init__(self, processes: int, load: Loader = load_tagger) -> None:
        """`load` is called once in each process."""
        if processes < 1:
            raise InputError(f"processes: found {processes}; expected 1 or more")
        self._processes = processes
        self._load = load

    def run(self, job: Job, groups: Sequence[Group], finished: AbstractSet[str]) -> Events:
        """Yield each shard that is not finished as it is tagged or lost, and the end of each group."""
        items = unfinished(groups, job.reading, finished)
        waiting: deque[_Attempt] = deque()
        with _Workers(job.tagging, self._load) as workers:
            while True:
                yield from _at_hand(items, waiting)
                if waiting and (idle := workers.idle()) is not None:
                    idle.give(waiting.popleft())
                    continue
                if not waiting and not workers.busy:
                    return
                workers.fill(self._processes if waiting else 0)
                for worker in workers.changed():
                    result = worker.receive()
                    if not worker.is_alive:
                        workers.remove(worker)
                        yield from _again(worker, waiting)
                    elif waiting:
                        # Before the result is written, which takes a while.
                        worker.give(waiting.popleft())
                    if result is not None:
                        yield result


@dataclass
class _Attempt:
    """A shard, and how often it was tried in vain."""

    shard: Shard
    lost_workers: int = 0


def _at_hand(items: Iterator[Shard | GroupEnd], waiting: deque[_Attempt]) -> Iterator[GroupEnd]:
    """Read on until a shard is waiting or all is read; the ends of groups on the way are handed on."""
    while not waiting and (item := next(items, None)) is not None:
        if isinstance(item, GroupEnd):
            yield item
        else:
            waiting.append(_Attempt(item))


def _again(worker: _Worker, waiting: deque[_Attempt]) -> Iterator[LostShard]:
    """Let the shard of a lost worker be tried again, unless that has been done often enough."""
    attempt = worker.attempt
    if attempt is None:
        return
    attempt.lost_workers += 1
    if attempt.lost_workers <= RETRIES:
        waiting.appendleft(attempt)
    else:
        yield LostShard(attempt.shard.name, len(attempt.shard.documents))


@dataclass(frozen=True, slots=True)
class _Ready:
    """A worker has loaded the model."""


@dataclass(frozen=True, slots=True)
class _Unusable:
    """A worker cannot load the model, or not with these options."""

    reason: str


class _Worker:
    """This process's end of a worker process."""

    def __init__(self, tagging: TaggingOptions, load: Loader, number: int) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, other = context.Pipe()
        self.number = number
        given = (other, tagging, load, number)
        self.process: BaseProcess = context.Process(target=_work, args=given, daemon=True)
        with _interrupts_ignored():
            self.process.start()
        # With this end closed here, the connection ends when the worker does.
        other.close()
        self.attempt: _Attempt | None = None
        self.is_ready = False
        self.is_alive = True

    def receive(self) -> ShardResult | None:
        """What the worker has tagged, if that is its message."""
        try:
            message = self.connection.recv()
        except (EOFError, OSError):
            self.is_alive = False
            return None
        if isinstance(message, _Unusable):
            raise InputError(message.reason)
        self.is_ready = True
        if isinstance(message, ShardResult):
            self.attempt = None
            return message
        return None

    def give(self, attempt: _Attempt) -> None:
        """Let an idle worker tag a shard. If the worker is gone, the next message shows it."""
        self.attempt = attempt
        try:
            self.connection.send(attempt.shard)
        except OSError:
            return

    @property
    def ending(self) -> str:
        """How its process ended."""
        self.process.join(10)
        code = self.process.exitcode
        return f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"


class _Workers:
    """The workers of a run, which end with it."""

    def __init__(self, tagging: TaggingOptions, load: Loader) -> None:
        self._tagging = tagging
        self._load = load
        self._workers: list[_Worker] = []
        self._failed_starts = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        for worker in self._workers:
            worker.process.kill()
        for worker in self._workers:
            worker.process.join()
            worker.connection.close()

    @property
    def busy(self) -> bool:
        """Whether any worker has a shard."""
        return any(worker.attempt is not None for worker in self._workers)

    def idle(self) -> _Worker | None:
        """A worker that has the model and no shard, if there is one."""
        return next((each for each in self._workers if each.is_ready and each.attempt is None), None)

    def fill(self, count: int) -> None:
        """Start workers until there are so many."""
        while len(self._workers) < count:
            # A worker in place of a lost one takes its number, and so its device.
            free = set(range(count)) - {worker.number for worker in self._workers}
            self._workers.append(_Worker(self._tagging, self._load, min(free)))

    def changed(self) -> list[_Worker]:
        """Wait until there is news of workers; those that have some."""
        connections = {worker.connection: worker for worker in self._workers}
        return [connections[each] for each in wait(list(connections)) if isinstance(each, Connection)]

    def remove(self, worker: _Worker) -> None:
        """Take a lost worker out; when even starting fails again and again, the job stops."""
        self._workers.remove(worker)
        worker.connection.close()
        self._failed_starts = 0 if worker.is_ready else self._failed_starts + 1
        if self._failed_starts == _FAILED_STARTS:
            raise JobError(
                f"worker processes were lost {_FAILED_STARTS} times while they loaded the model, at last "
                f"with {worker.ending}; fewer --processes need less memory. What is finished is kept"
            )


@contextmanager
def _interrupts_ignored() -> Iterator[None]:
    """A process that is started here leaves Ctrl-C to this one, which ends its workers itself."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _work(connection: Connection, tagging: TaggingOptions, load: Loader, number: int) -> None:
    """What a worker process does: load the model, then tag shards until there are no more."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        tagger = load(dealt(tagging, number))
    except SpanwrightError as error:
        connection.send(_Unusable(str(error)))
        return
    connection.send(_Ready())
    while True:
        try:
            shard = connection.recv()
        except EOFError:
            return
        connection.send(tag_shard(tagger, shard, tagging))


def _end_with_parent() -> None:
    """A worker whose job was killed would go on for nothing."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
