"""Several processes with one port: each accepts connections of the same socket, and has its own interpreter.

The first process only starts the others, starts one again that has died, and hands signals on to them.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, NoReturn

from spanwright.errors import SpanwrightError
from spanwright.service.running import Signals

_LOOK_SECONDS = 0.1
_KILL_SECONDS = 10.0
"""After the moment in which a service says that it ends: what its end may take, before it is killed."""
Work = Callable[[int, Callable[[], None]], NoReturn]
"""Serves as the worker of a number; calls what it is given once it is ready."""


@dataclass(slots=True)
class Worker:
    """A process, and the connection over which it tells that it is ready."""

    number: int
    process: BaseProcess
    connection: Connection

    def is_ready(self) -> bool:
        """Wait until it is ready; False if it has died before."""
        wait([self.connection, self.process.sentinel])
        with suppress(EOFError):
            return self.connection.poll() and bool(self.connection.recv())
        return False


def supervise(
    work: Work,
    count: int,
    *,
    drain_seconds: float,
    on_ready: Callable[[], None],
    on_death: Callable[[str], None],
) -> NoReturn:
    """Keep so many workers running until a signal, then end with them; `on_death` gets to know who died."""
    signals = Signals()
    signals.listen()
    workers: list[Worker] = []
    try:
        for number in range(1, count + 1):  # one after another: what is wrong is told once
            workers.append(_started(work, number))
        on_ready()
        while not signals.asked:
            wait([worker.process.sentinel for worker in workers], _LOOK_SECONDS)
            for place, worker in enumerate(workers):
                if not worker.process.is_alive() and not signals.asked:
                    on_death(
                        f"worker {worker.number} ended with {worker.process.exitcode}; it is started again"
                    )
                    workers[place] = _started(work, worker.number)
    finally:
        _end(workers, (signals.asked or [signal.SIGTERM])[0], drain_seconds + _KILL_SECONDS)
    sys.exit(0 if all(worker.process.exitcode == 0 for worker in workers) else 1)


def _started(work: Work, number: int) -> Worker:
    """A worker that is ready; ends this process, too, if it cannot be."""
    context = multiprocessing.get_context("spawn")  # threads of torch do not survive a fork
    ours, theirs = context.Pipe()
    process = context.Process(target=_work, args=(work, number, theirs), name=f"worker {number}")
    process.start()
    theirs.close()
    worker = Worker(number, process, ours)
    if not worker.is_ready():
        process.join()
        raise SpanwrightError(f"worker {number} ended with {process.exitcode} before it was ready")
    return worker


def _end(workers: Sequence[Worker], number: int, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    for worker in workers:
        if worker.process.is_alive() and worker.process.pid is not None:
            os.kill(worker.process.pid, number)
    for worker in workers:
        worker.process.join(max(0.0, deadline - time.monotonic()))
        if worker.process.is_alive():
            worker.process.kill()
            worker.process.join()


def _work(work: Work, number: int, connection: Connection) -> None:
    """What a worker does."""
    threading.Thread(target=_end_with, args=(connection,), daemon=True).start()
    try:
        work(number, lambda: connection.send(True))
    except SpanwrightError as error:
        sys.stderr.write(f"error: {error}\n")
        sys.exit(2)


def _end_with(connection: Any) -> None:
    """End in order when the first process is gone, however that came about."""
    with suppress(EOFError, OSError):
        connection.recv()
    os.kill(os.getpid(), signal.SIGTERM)
