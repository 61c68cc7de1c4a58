"""How processor, random numbers and precision are set while a run works."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from spanwright.errors import SettingsError
from spanwright.parts.encoder.encoder import Encoder
from spanwright.parts.spans.representations.span_transformer import SpanTransformer
from spanwright.parts.spans.scorers.type_vectors import TextReader

_TRANSFORMERS = (Encoder, SpanTransformer, TextReader)
"""The parts that are made of Transformer blocks: nearly all that a training computes."""

_MALLOC = ((-4, 0, 1 << 16), (-1, 2**31 - 1, 128 << 10), (-2, 64 << 20, 0))
"""M_MMAP_MAX, M_TRIM_THRESHOLD and M_TOP_PAD of malloc.h, while a run works and usually: nothing stands apart
from the heap, which never shrinks and grows by 64 MB."""


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

    So they are the same in whichever process, and after whatever came before.
    """
    torch.manual_seed(int(np.random.SeedSequence(draw).generate_state(1, np.uint64)[0]))


@contextmanager
def shared_threads(processes: int) -> Iterator[None]:
    """Give each of the processes of a machine its share of the processor, unless OMP_NUM_THREADS is set.

    Each would else take all of it, and they would wait for each other.
    """
    before = torch.get_num_threads()
    if processes > 1 and "OMP_NUM_THREADS" not in os.environ:
        torch.set_num_threads(max(1, (os.cpu_count() or 1) // processes))
    try:
        yield
    finally:
        torch.set_num_threads(before)


def check_bf16(device: torch.device) -> None:
    """Refuse a device that cannot compute with the 16 bits of bfloat16; processors all can."""
    if device.type == "cuda" and not torch.cuda.is_bf16_supported(including_emulation=False):
        raise SettingsError(
            f"training.precision is 'bf16', but {torch.cuda.get_device_name(device)} cannot compute in it; "
            f"expected 'float32'"
        )


@contextmanager
def transformers_in_bf16(network: nn.Module) -> Iterator[None]:
    """Let the products of Transformer blocks have 16 bits, and all that stands behind them 32.

    So the sums of exponentials in scorers, contrasts and tag paths, and everything else that a loss is made
    of, are as exact as ever, in whichever part they are.
    """
    regions: list[torch.autocast] = []

    def enter(module: nn.Module, _: object) -> None:
        regions.append(torch.autocast(next(module.parameters()).device.type, dtype=torch.bfloat16))
        regions[-1].__enter__()  # type: ignore[no-untyped-call]

    def leave(module: nn.Module, _: object, output: Any) -> Any:
        regions.pop().__exit__(None, None, None)
        return _in_float32(output)

    handles: list[torch.utils.hooks.RemovableHandle] = []
    try:
        for module in network.modules():
            if isinstance(module, _TRANSFORMERS):
                handles += [module.register_forward_pre_hook(enter), module.register_forward_hook(leave)]
        yield
    finally:
        for handle in handles:
            handle.remove()
        # Those that an error left open.
        while regions:
            regions.pop().__exit__(None, None, None)


def _in_float32(output: Any) -> Any:
    """What a part hands on, with all of its tensors of 16 bits in 32."""
    if isinstance(output, Tensor):
        return output.float() if output.dtype == torch.bfloat16 else output
    if isinstance(output, tuple):
        return tuple(map(_in_float32, output))
    if is_dataclass(output) and not isinstance(output, type):
        return replace(
            output, **{each.name: _in_float32(getattr(output, each.name)) for each in fields(output)}
        )
    return output
