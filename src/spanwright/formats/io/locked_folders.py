"""Folders that one process at a time works in: those of runs, comparisons, searches and jobs."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from spanwright.errors import InputError


@contextmanager
def locked_folder(folder: Path) -> Iterator[None]:
    """Keep other processes out of a folder, which is made if there is none, and goes if nothing comes in.

    The lock is on the folder itself and ends with this process, however it ends.
    """
    is_new = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise InputError(
            f"{folder}: another process is at work in this folder; wait for it, stop it, or choose another "
            f"folder"
        ) from None
    else:
        try:
            yield
        finally:
            if is_new:
                with suppress(OSError):  # of a folder with something in it
                    folder.rmdir()
    finally:
        os.close(descriptor)
