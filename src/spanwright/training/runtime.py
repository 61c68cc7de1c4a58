"""How CPU, memory and random numbers are set while a run works."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch

_MALLOC = ((-4, 0, 1 << 16), (-1, 2**31 - 1, 128 << 10), (-2, 64 << 20, 0))
"""M_MMAP_MAX, M_TRIM_THRESHOLD and M_TOP_PAD of malloc.h, while a run works and usually: nothing stands apart
from the heap, which never shrinks and grows by 64 MB."""


@contextmanager
def flushed_denormals() -> Iterator[None]:
    """Take numbers next to zero for zero: they slow a CPU down many times and mean nothing.

    The setting belongs to the whole thread, so it is put back after the run: other code may rely on
    exact arithmetic near zero.
    """
    already = sys.float_info.min / 2 == 0.0
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(already)


@contextmanager
def kept_memory() -> Iterator[None]:
    """Let the C library keep the memory that a step frees for the next, instead of giving it back.

    Gradients of embeddings are so large that every step would ask the system for new pages: measured with
    MiniLM, this takes a twentieth of the time of `plain` and a sixth of that of `binder`. glibc only.
    """
    library = ctypes.CDLL(None) if sys.platform == "linux" else None
    if library is None or not hasattr(library, "mallopt"):
        yield
        return
    for option, value, _ in _MALLOC:
        library.mallopt(option, value)
    try:
        yield
    finally:
        for option, _, usual in _MALLOC:
            library.mallopt(option, usual)
        library.malloc_trim(0)


def seed_draws(draw: tuple[int, ...]) -> None:
    """Let dropout and all other draws of torch, on every device, depend on some numbers alone.

    So they are the same in any process, whatever came before.
    """
    torch.manual_seed(int(np.random.SeedSequence(draw).generate_state(1, np.uint64)[0]))


@contextmanager
def shared_threads(processes: int) -> Iterator[None]:
    """Give each of the processes of a machine its share of the CPU, unless OMP_NUM_THREADS is set.

    Each would else take all of it, and they would wait for each other.
    """
    before = torch.get_num_threads()
    if processes > 1 and "OMP_NUM_THREADS" not in os.environ:
        torch.set_num_threads(max(1, (os.cpu_count() or 1) // processes))
    try:
        yield
    finally:
        torch.set_num_threads(before)
