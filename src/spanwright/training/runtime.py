"""How processor and random numbers are set while a run works."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch


@contextmanager
def flushed_denormals() -> Iterator[None]:
    """Take numbers next to zero for zero: they slow a processor down many times and tell nothing.

    The setting belongs to the whole thread, so it is put back behind the run: other code may rely on
    exact arithmetic near zero.
    """
    already = sys.float_info.min / 2 == 0.0
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(already)


def seed_draws(draw: tuple[int, ...]) -> None:
    """Let dropout and all other draws of torch, on every device, depend on some numbers alone.

    So they are the same in whichever process, and after whatever came before.
    """
    torch.manual_seed(int(np.random.SeedSequence(draw).generate_state(1, np.uint64)[0]))
