"""Products of Transformer blocks in 16 bits, and all that stands after them in 32.

So the sums of exponentials in scorers, contrasts and tag paths, and everything else that an answer or a loss
is made of, are as exact as ever, in any part. Weights stay in 32 bits.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields, is_dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from spanwright.devices import Precision
from spanwright.errors import SettingsError
from spanwright.parts.encoder.encoder import Encoder
from spanwright.parts.spans.representations.span_transformer import SpanTransformer
from spanwright.parts.spans.scorers.type_vectors import TextReader

_TRANSFORMERS = (Encoder, SpanTransformer, TextReader)
"""The parts that are made of Transformer blocks: nearly all that a network computes."""
_KINDS = {"bf16": torch.bfloat16, "fp16": torch.float16}


def check_precision(precision: Precision, device: torch.device) -> None:
    """Refuse a device that cannot compute in a precision; processors can in all, if slowly."""
    if precision != "bf16" or device.type != "cuda":
        return
    if not torch.cuda.is_bf16_supported(including_emulation=False):
        raise SettingsError(
            f"the precision is 'bf16', but {torch.cuda.get_device_name(device)} cannot compute in it; "
            f"expected 'float32', or 'fp16' where nothing is trained"
        )


def gains_by_bf16(device: torch.device) -> bool:
    """Whether a device has instructions for products in 16 bits, with which training takes half the time."""
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    capabilities = torch.cpu.get_capabilities() if device.type == "cpu" else {}
    return bool(capabilities.get("avx512_bf16") or capabilities.get("amx_bf16"))


class Lowered:
    """The parts of a network that compute in 16 bits, until `end` is called."""

    def __init__(self, network: nn.Module, precision: Precision) -> None:
        self._regions: list[torch.autocast] = []
        self._network, self._kind = network, _KINDS[precision]
        self._handles = [
            handle
            for module in network.modules()
            if isinstance(module, _TRANSFORMERS)
            for handle in (
                module.register_forward_pre_hook(self._enter),
                # Also after an error, which would leave the thread in 16 bits.
                module.register_forward_hook(self._leave, always_call=True),
            )
        ]

    def _enter(self, module: nn.Module, _: object) -> None:
        # The network's device: a part may have no weights, such as a span Transformer without blocks.
        region = torch.autocast(next(self._network.parameters()).device.type, dtype=self._kind)
        self._regions.append(region)
        region.__enter__()  # type: ignore[no-untyped-call]

    def _leave(self, module: nn.Module, _: object, output: Any) -> Any:
        self._regions.pop().__exit__(None, None, None)
        return _in_float32(output)

    def end(self) -> None:
        """Let the network compute in 32 bits again."""
        for handle in self._handles:
            handle.remove()


def lower(network: nn.Module, precision: Precision) -> None:
    """Let a network compute in a precision for good."""
    if precision != "float32":
        Lowered(network, precision)


@contextmanager
def lowered(network: nn.Module, precision: Precision) -> Iterator[None]:
    """Let a network compute in a precision for a while."""
    if precision == "float32":
        yield
        return
    hooks = Lowered(network, precision)
    try:
        yield
    finally:
        hooks.end()


def _in_float32(output: Any) -> Any:
    """What a part hands on, with all of its tensors of 16 bits in 32."""
    if isinstance(output, Tensor):
        return output.float() if output.dtype in _KINDS.values() else output
    if isinstance(output, tuple):
        return tuple(map(_in_float32, output))
    if is_dataclass(output) and not isinstance(output, type):
        return replace(
            output, **{each.name: _in_float32(getattr(output, each.name)) for each in fields(output)}
        )
    return output
