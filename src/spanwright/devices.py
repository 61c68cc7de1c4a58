"""Which device a network runs on: the one place that decides, and what follows from it.

    auto       a GPU where torch sees one, CUDA before Apple's; else the CPU
    cpu        the CPU
    cuda       the first GPU of NVIDIA or AMD; cuda:1 is the second
    mps        the GPU of an Apple machine

torch is loaded when a device is decided, not before.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from spanwright.errors import InputError

if TYPE_CHECKING:
    import torch

AUTO = "auto"
KNOWN = "auto, cpu, cuda, cuda:N or mps"
Precision = Literal["float32", "bf16", "fp16"]
"""Of tagging; trainings know no `fp16`, whose gradients would need to be scaled."""


class AnyDevice(Protocol):
    """A device of torch, or the CPU where there is no torch."""

    @property
    def type(self) -> str:
        """The kind of device: cpu, cuda, mps."""


@dataclass(frozen=True, slots=True)
class Processor:
    """What runs graphs."""

    type: str = "cpu"

    def __str__(self) -> str:
        return self.type


@dataclass(frozen=True, slots=True)
class TaggingLoad:
    """How much is tagged at once."""

    windows: int
    """Windows of a batch, at most."""
    pieces: int
    """Pieces of a batch, padding included, at most."""
    overhead: int
    """Pieces in whose time a batch could be begun and ended."""
    characters: int
    """Characters of documents that are sorted by length together: enough to leave little padding."""
    batches: int = 1
    """Batches at once, each with a thread of its own."""


_LOADS = {
    # Measured with MiniLM: more pieces leave the caches, and a product is as fast with few rows.
    "cpu": TaggingLoad(windows=64, pieces=2048, overhead=64, characters=120_000),
    # Not measured. Thousands of cores need as many rows to be busy, and beginning a batch, some hundred
    # kernels, takes the time of a thousand pieces. The vectors of its spans, 768 numbers for each of 12
    # widths of 10,000 words, are 370 MB: with scores and states a batch fits in 4 GB.
    "cuda": TaggingLoad(windows=512, pieces=16_384, overhead=1024, characters=1_200_000),
    # Not measured. The same with fewer cores, and with memory that it shares with the CPU.
    "mps": TaggingLoad(windows=256, pieces=8192, overhead=512, characters=600_000),
}


def tagging_load(device: AnyDevice) -> TaggingLoad:
    """How much is tagged at once on a device."""
    return _LOADS.get(device.type, _LOADS["cpu"])


def chosen_device(asked: str = AUTO, *, number: int = 0) -> torch.device:
    """The device that was asked for; an error if it is not there.

    `number` is that of a process: where no GPU is named, several processes take the GPUs in turns.
    """
    import torch

    kind, colon, position = asked.partition(":")
    if kind not in (AUTO, "cpu", "cuda", "mps") or (colon and (kind != "cuda" or not position.isdecimal())):
        raise InputError(f"device {asked!r}: expected {KNOWN}")
    count = torch.cuda.device_count() if kind in (AUTO, "cuda") and torch.cuda.is_available() else 0
    if kind == "cuda":
        _check_cuda(asked, int(position or 0), count)
    if count:
        return torch.device("cuda", int(position) if colon else number % count)
    if kind == "mps" and not _has_mps():
        raise InputError("device 'mps': torch sees no GPU of Apple here; expected auto or cpu")
    return torch.device("mps" if kind == "mps" or (kind == AUTO and _has_mps()) else "cpu")


def _check_cuda(asked: str, position: int, count: int) -> None:
    import torch

    if not count:
        build = "is built without CUDA" if torch.version.cuda is None else "finds no GPU and driver"
        raise InputError(
            f"device {asked!r}: torch {torch.__version__} {build}; expected auto or cpu (docs/devices.md has "
            f"the installation for GPUs)"
        )
    if position >= count:
        raise InputError(f"device {asked!r}: expected cuda:0 to cuda:{count - 1}, auto or cpu")


def _has_mps() -> bool:
    import torch

    return torch.backends.mps.is_available()


def refuse_for_graphs(device: str, precision: str) -> None:
    """Refuse what a network that runs as a graph cannot do: its precision is that of the graph, and
    onnxruntime computes on the CPU here."""
    if device not in (AUTO, "cpu"):
        raise InputError(
            f"device {device!r}: graphs run on the CPU; expected cpu, or the runtime torch for a GPU"
        )
    if precision != "float32":
        raise InputError(f"precision {precision!r}: graphs have their own; expected the runtime torch")


def shown_device(device: AnyDevice) -> str:
    """A device as users know it, such as `cuda:0 (NVIDIA L4)`."""
    if device.type == "cuda":
        import torch

        return f"{device} ({torch.cuda.get_device_name(str(device))})"
    return "mps (the GPU of this machine)" if device.type == "mps" else str(device)


def gpu_count(asked: str = AUTO) -> int:
    """How many GPUs several processes may share: all where none is named."""
    import torch

    if chosen_device(asked).type == "cpu":
        return 0
    return torch.cuda.device_count() if asked in (AUTO, "cuda") and torch.cuda.is_available() else 1
