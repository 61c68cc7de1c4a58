"""Weights: what a safetensors file holds, by its header alone, and the reading of it in one pass.

The file is read rather than mapped: a model in use does not change, or end its process, when somebody writes
over its files, and what was digested is what is used.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import safetensors
import torch
from torch import Tensor

from spanwright.errors import ModelError

_LARGEST_HEADER = 4 * 1024 * 1024
_MOST_TENSORS = 20_000
_PREFIX = 8
"""Bytes before the header, which hold its size."""
_TYPES = {"F32": torch.float32, "F16": torch.float16, "I64": torch.int64, "BOOL": torch.bool}
_USED_AS = {**_TYPES, "F16": torch.float32}
"""Weights that are stored in 16 bits are used in 32, which say the same."""


@dataclass(frozen=True, slots=True)
class Stored:
    """A tensor in the file."""

    type: str
    """As the format calls it."""
    shape: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class StoredWeights:
    """The weights of a file, not read yet."""

    path: Path
    start: int
    """Bytes before the first tensor."""
    tensors: Mapping[str, Stored]
    """In the order of the file, without gaps."""

    @classmethod
    def at(cls, path: Path) -> StoredWeights:
        """Those of a file whose header is sound."""
        size = _header_size(path)
        try:
            with safetensors.safe_open(path, "pt") as opened:
                names = opened.offset_keys()
                if len(names) > _MOST_TENSORS:
                    raise ModelError(f"{path}: has {len(names)} tensors; expected at most {_MOST_TENSORS}")
                slices = {name: opened.get_slice(name) for name in names}
                tensors = {
                    name: Stored(part.get_dtype(), tuple(part.get_shape())) for name, part in slices.items()
                }
        except safetensors.SafetensorError as error:
            raise ModelError(f"{path}: not a whole safetensors file: {error}") from None
        return cls(path, _PREFIX + size, tensors)

    @property
    def largest_size(self) -> int:
        """The largest size of any axis: no list that weights belong to is longer."""
        return max((size for stored in self.tensors.values() for size in stored.shape), default=0)

    def renamed(self, names: Mapping[str, str]) -> StoredWeights:
        """The same under other names."""
        tensors = {names[name]: stored for name, stored in self.tensors.items()}
        return StoredWeights(self.path, self.start, tensors)

    def check(self, expected: Mapping[str, Tensor]) -> None:
        """Refuse weights that are not, by name, shape and type, those that a network expects."""
        for name, tensor in expected.items():
            if name not in self.tensors:
                raise ModelError(f"{self.path}: the weights {name!r} are missing, {_OTHER}")
            stored = self.tensors[name]
            if stored.shape != tuple(tensor.shape):
                raise ModelError(
                    f"{self.path}: the weights {name!r} have the shape {_short(stored.shape)}; expected "
                    f"{_short(tensor.shape)}, {_OTHER}"
                )
            if _USED_AS.get(stored.type) != tensor.dtype:
                raise ModelError(f"{self.path}: the weights {name!r} are {stored.type}, not {tensor.dtype}")
        if unknown := next((name for name in self.tensors if name not in expected), None):
            raise ModelError(f"{self.path}: no part of the model has the weights {unknown!r}, {_OTHER}")

    def read(self) -> tuple[dict[str, Tensor], str]:
        """All tensors, of types that `check` has seen, and the digest of the file."""
        with self.path.open("rb") as file:
            digest = hashlib.sha256(file.read(self.start))
            found = {}
            for name, stored in self.tensors.items():
                found[name] = torch.empty(stored.shape, dtype=_TYPES[stored.type])
                content = memoryview(found[name].reshape(-1).view(torch.uint8).numpy())  # type: ignore[arg-type]
                if file.readinto(content) != len(content):
                    raise ModelError(f"{self.path}: ends within the weights {name!r}")
                digest.update(content)
                found[name] = found[name].to(_USED_AS[stored.type])
        return found, digest.hexdigest()


_OTHER = "by the settings, labels and encoder of the model: its files are not of one model"


def _header_size(path: Path) -> int:
    with path.open("rb") as file:
        size = int.from_bytes(file.read(_PREFIX), "little")
    if not 0 < size <= min(_LARGEST_HEADER, path.stat().st_size - _PREFIX):
        raise ModelError(
            f"{path}: not a safetensors file: its header would have {size} bytes; expected 1 to "
            f"{_LARGEST_HEADER}, within the file"
        )
    return size


def _short(shape: tuple[int, ...] | torch.Size) -> str:
    return " x ".join(map(str, shape)) or "of a single number"
