"""Several processes with one port: each accepts connections of the same socket, and has its own interpreter.

The first process only starts the others, starts one again that has died, and hands signals on to them.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import socket
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
    is_ready: bool = False

    def wait_until_ready(self, signals: Signals) -> None:
        """Wait until it is ready, or until a signal; an error if it dies before."""
        while not signals.asked and not wait([self.connection, self.process.sentinel], _LOOK_SECONDS):
            pass
        with suppress(EOFError):
            self.is_ready = self.connection.poll() and bool(self.connection.recv())
        if not self.is_ready and not signals.asked:
            self.process.join()
            raise SpanwrightError(
                f"worker {self.number} ended with {self.process.exitcode} before it was ready"
            )


def supervise(
    work: Work,
    count: int,
    listening: socket.socket,
    *,
    drain_seconds: float,
    on_ready: Callable[[], None],
    on_death: Callable[[str], None],
) -> NoReturn:
    """Keep so many workers running until a signal, then end with them; `on_death` gets to know who died.

    The workers have copies of the socket: this one is closed when the end begins, so that the door is shut
    once they have closed theirs.
    """
    signals = Signals()
    signals.listen()
    workers: dict[int, Worker] = {}

    def start(number: int) -> None:
        if not signals.asked:
            workers[number] = _started(work, number)
            workers[number].wait_until_ready(signals)

    try:
        for number in range(1, count + 1):  # one after another: what is wrong is told once
            start(number)
        if not signals.asked:
            on_ready()
        while not signals.asked:
            wait([worker.process.sentinel for worker in workers.values()], _LOOK_SECONDS)
            for number, worker in workers.items():
                if not worker.process.is_alive() and not signals.asked:
                    on_death(f"worker {number} ended with {worker.process.exitcode}; it is started again")
                    start(number)
    finally:
        listening.close()
        asked = (signals.asked or [signal.SIGTERM])[0]
        _end(list(workers.values()), asked, drain_seconds + _KILL_SECONDS)
    failed = any(worker.is_ready and worker.process.exitcode != 0 for worker in workers.values())
    sys.exit(1 if failed else 0)


def _started(work: Work, number: int) -> Worker:
    """A worker that is about to load its models."""
    context = multiprocessing.get_context("spawn")  # threads of torch do not survive a fork
    ours, theirs = context.Pipe()
    process = context.Process(target=_work, args=(work, number, theirs), name=f"worker {number}")
    process.start()
    theirs.close()
    return Worker(number, process, ours)


def _end(workers: Sequence[Worker], number: int, seconds: float) -> None:
    """Hand a signal on to the workers, and kill after so many seconds who is still there."""
    deadline = time.monotonic() + seconds
    for worker in workers:
        if worker.process.is_alive() and worker.process.pid is not None:
            # One that still loads hears no signals yet: SIGTERM ends it without a traceback.
            os.kill(worker.process.pid, number if worker.is_ready else signal.SIGTERM)
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
