"""AdamW with one learning rate per role, warm-up and linear decay, and gradients of one size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.nn.utils import get_total_norm

from spanwright.errors import SettingsError
from spanwright.settings.learning import OptimiserSettings

_SMALLEST = 1e-30
"""A norm below it is 0, and nothing is divided by 0."""
_NEWS = 0.02
"""What a step adds to the running mean of norms: it looks back some 50 steps."""


# Small encoders want larger rates: with the papers' 5e-5, all-MiniLM-L6-v2 is left far from its best.
_RATES_BY_WIDTH = ((512, 2e-4, 1e-3), (768, 5e-5, 5e-4), (1 << 30, 2e-5, 3e-4))


def default_rates(encoder_width: int) -> dict[str, float]:
    """Learning rates of encoder and head that suit an encoder of that width."""
    encoder, head = next((e, h) for width, e, h in _RATES_BY_WIDTH if encoder_width <= width)
    return {"encoder": encoder, "head": head}


def make_optimiser(
    roles: dict[str, list[tuple[str, nn.Parameter]]], settings: OptimiserSettings
) -> torch.optim.AdamW:
    """AdamW over the parameters of all roles; each group knows its `role`, and its full rate as `rate`."""
    if unknown := sorted(settings.learning_rates.keys() - roles.keys()):
        raise SettingsError(
            f"optimiser.learning_rates names the roles {unknown}; this model has {sorted(roles)}"
        )
    rates = settings.learning_rates
    groups: list[dict[str, Any]] = []
    for role, named in roles.items():
        rate = rates[role] if role in rates else rates["encoder"]
        matrices = [parameter for _, parameter in named if parameter.ndim > 1]
        vectors = [parameter for _, parameter in named if parameter.ndim <= 1]
        for parameters, decay in ((matrices, settings.weight_decay), (vectors, 0.0)):
            if parameters:
                group = {"params": parameters, "role": role, "rate": rate, "lr": rate, "weight_decay": decay}
                groups.append(group)
    return torch.optim.AdamW(groups, betas=settings.betas, eps=settings.epsilon, fused=True)


def set_rates(optimiser: torch.optim.Optimizer, factor: float, of_roles: Mapping[str, float]) -> None:
    """Scale all learning rates for the coming step, and those of some roles once more."""
    for group in optimiser.param_groups:
        group["lr"] = group["rate"] * factor * of_roles.get(group["role"], 1.0)


def limit_gradients(optimiser: torch.optim.Optimizer, clip: float | Literal["normalise"]) -> Tensor:
    """Scale the gradients of a step as settings say; the norm that they had together, on their device."""
    parameters = (parameter for group in optimiser.param_groups for parameter in group["params"])
    gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
    norm = get_total_norm(gradients, foreach=True)
    divisor = _usual_norm(optimiser, norm) if clip == "normalise" else (norm / clip).clamp(min=1.0)
    for gradient in gradients:
        gradient.div_(divisor)
    return norm


def _usual_norm(optimiser: torch.optim.Optimizer, norm: Tensor) -> Tensor:
    """The norm of this step, or the running mean where that is larger.

    A batch that the model has learnt has a gradient of next to nothing: brought to norm 1 its rounding errors
    would be learnt, and in 16 bits they destroy a model. The mean is kept by the optimiser, so that a resumed
    run goes on with it.
    """
    kept = optimiser.param_groups[0]
    kept["norm"] = torch.lerp(kept["norm"], norm, _NEWS) if "norm" in kept else norm.clone()
    return torch.maximum(norm, kept["norm"]).clamp(min=_SMALLEST)


def rate_factor(progress: float, warmup: float, beginnings: Sequence[float] = ()) -> float:
    """Linear warm-up, then linear decay to 0, at a share of the run from 0 to 1.

    The rates rise once more from each of the `beginnings`, where terms join that have not been trained yet:
    a head that met the full rate in its first steps would not recover.
    """
    decay = (1 - progress) / (1 - warmup)
    since = progress - max((share for share in beginnings if share <= progress), default=0.0)
    return min(decay, since / warmup) if since < warmup else decay
