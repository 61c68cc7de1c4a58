"""Memory that is free, but not the system's again."""

from __future__ import annotations

import ctypes
import os
import time

_SECONDS = 10.0


class FreeMemory:
    """Gives memory back that the C library keeps for later, now and then.

    Batches have ever new sizes, so what it keeps is of the wrong ones after a while, and memory would grow
    by a sixth within half an hour of mixed requests.
    """

    def __init__(self) -> None:
        # glibc's alone; other libraries have no such function.
        library = ctypes.CDLL(None) if os.name == "posix" else None
        self._trim = getattr(library, "malloc_trim", None)
        self._last = time.monotonic()

    def give_back(self) -> None:
        """Do so, unless it was done a moment ago."""
        if self._trim is not None and time.monotonic() - self._last >= _SECONDS:
            self._trim(0)
            self._last = time.monotonic()
