"""Building a network for weights that are there already, and no larger than they are."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

import torch
from torch import nn
from torch.nn.modules.module import register_module_parameter_registration_hook
from torch.overrides import TorchFunctionMode

from spanwright.errors import ModelError
from spanwright.model_files.weights import StoredWeights

Network = TypeVar("Network", bound=nn.Module)
_BUILT_AND_LEFT_OUT = 100
"""Tensors that building may make beyond those that are kept, such as those of a pooler."""
_LARGEST_TABLES = 64 * 1024 * 1024
"""Bytes of what a network computes once from its settings, such as positions, and does not save."""

_DRAWING = frozenset(
    f"{kind}_"
    for kind in ("normal", "uniform", "trunc_normal", "kaiming_normal", "kaiming_uniform", "xavier_uniform")
)


def fitted(build: Callable[[], Network], weights: StoredWeights) -> Network:
    """The network that `build` makes, once it is clear that the weights are its own.

    Its parameters have shapes, but no memory (they are on the device `meta`); everything else is ready.
    """
    # A plan first: on the device `meta` even a network for all the memory of the world costs none.
    most = 2 * len(weights.tensors) + _BUILT_AND_LEFT_OUT
    with _NothingDrawn(), _made_of_at_most(most, weights), torch.device("meta"):
        planned = build()
    weights.check(planned.state_dict())
    _check_tables(planned, weights)
    with _NothingDrawn(), _parameters_without_memory():
        return build()


def _check_tables(network: nn.Module, weights: StoredWeights) -> None:
    size = sum(table.nbytes for table in network.buffers())
    if size > _LARGEST_TABLES + sum(table.nbytes for table in network.state_dict().values()):
        raise ModelError(
            f"{weights.path.parent}: {size} bytes of tables are asked for, by weights without them"
        )


class _NothingDrawn(TorchFunctionMode):
    """Draws no numbers for tensors without memory: it would change nothing, and take most of the time."""

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        """The function's result, or its first argument where it would draw numbers for that."""
        if getattr(func, "__name__", "") in _DRAWING:
            drawn = args[0] if args else (kwargs or {})["tensor"]
            if drawn.is_meta:
                return drawn
        return func(*args, **(kwargs or {}))


@contextmanager
def _made_of_at_most(count: int, weights: StoredWeights) -> Iterator[None]:
    """Stops building when there are more parameters than weights can be for."""
    made = 0

    def counted(module: nn.Module, name: str, parameter: nn.Parameter) -> None:
        nonlocal made
        made += parameter is not None
        if made > count:
            raise ModelError(
                f"{weights.path}: has {len(weights.tensors)} tensors, but the settings and the encoder "
                f"configuration ask for many more: its files are not of one model"
            )

    with _for_each_parameter(counted):
        yield


@contextmanager
def _parameters_without_memory() -> Iterator[None]:
    """Keeps shapes of parameters only; they are never written to, so that they never had memory."""

    def emptied(module: nn.Module, name: str, parameter: nn.Parameter) -> nn.Parameter | None:
        if parameter is None or parameter.is_meta:
            return None
        return nn.Parameter(parameter.to("meta"), requires_grad=parameter.requires_grad)

    with _for_each_parameter(emptied):
        yield


@contextmanager
def _for_each_parameter(
    do: Callable[[nn.Module, str, nn.Parameter], nn.Parameter | None],
) -> Iterator[None]:
    """Calls a function with each parameter that this thread gives to a module, which may change it."""
    here = threading.get_ident()

    def hook(module: nn.Module, name: str, parameter: nn.Parameter) -> nn.Parameter | None:
        return do(module, name, parameter) if threading.get_ident() == here else None

    handle = register_module_parameter_registration_hook(hook)  # type: ignore[arg-type]
    try:
        yield
    finally:
        handle.remove()
