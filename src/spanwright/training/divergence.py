"""A training that diverges ends with an error, before it can spoil what it has saved."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

from spanwright.errors import DivergenceError
from spanwright.parts.finite import magnitudes
from spanwright.parts.part import Roles

_LARGEST_WEIGHT = 1e4
"""Beyond the weights of any encoder, and of any head that learnt something."""
_MODEST_RATE = 1e-4
"""A learning rate at which hardly any model diverges."""


def read_at_once(losses: Sequence[Tensor], norm: Tensor, *, size: int) -> tuple[list[float], float]:
    """The sum of rows of losses, each (size,), and the norm of the gradient, as plain numbers.

    Reading a number waits for the device to compute it, so all are read together.
    """
    *numbers, plain_norm = torch.cat([*losses, norm.reshape(1)]).tolist()
    return [sum(numbers[place::size]) for place in range(size)], plain_norm


def check_step(
    step: int, *, loss: float, terms: Mapping[str, float], norm: float, rates: Mapping[str, float]
) -> None:
    """Refuse to go on from a loss or a gradient that is NaN or infinite."""
    if math.isfinite(loss) and math.isfinite(norm):
        return
    raise DivergenceError(
        f"the training diverged at step {step}: the loss is {loss:g} ({_listed(terms)}) and the norm of "
        f"the gradient {norm:g}. {_advice(rates)}"
    )


def check_weights(step: int, network: nn.Module, *, f1: float, rates: Mapping[str, float]) -> None:
    """Refuse a model that finds nothing and has weights without bounds, though its loss may be finite.

    Losses that compare directions, such as those of a bi-encoder, stay finite whatever the weights are.
    """
    found = magnitudes(dict(network.named_parameters())) if f1 == 0 else {}
    beyond = {name: largest for name, largest in found.items() if not largest <= _LARGEST_WEIGHT}
    if beyond:
        name, largest = next(iter(beyond.items()))
        raise DivergenceError(
            f"the training diverged by step {step}: the dev F1 is 0, and the weights {name!r} have grown to "
            f"{largest:g}. {_advice(rates)}"
        )


def rates_of(roles: Roles, optimiser: torch.optim.Optimizer) -> dict[str, float]:
    """The full learning rate of each role."""
    rates = {
        id(parameter): group["rate"] for group in optimiser.param_groups for parameter in group["params"]
    }
    return {role: rates[id(named[0][1])] for role, named in roles.items()}


def _advice(rates: Mapping[str, float]) -> str:
    lower = ", ".join(f"{role}={min(rate / 10, _MODEST_RATE):g}" for role, rate in rates.items())
    return (
        f"The learning rates are {_listed(rates)}. What was saved before is unharmed; start again with lower "
        f"rates and another --out, such as: --set 'optimiser.learning_rates={{{lower}}}'"
    )


def _listed(values: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {value:g}" for name, value in values.items())
