from __future__ import annotations

import pytest
import torch
from torch import nn

import tiny
from spanwright.errors import SettingsError
from spanwright.training.optimiser import (
    OptimiserSettings,
    default_rates,
    make_optimiser,
    rate_factor,
    set_rates,
)

SETTINGS = OptimiserSettings(learning_rates={"encoder": 1e-4, "head": 1e-3}, weight_decay=0.05)


@pytest.fixture(scope="module")
def network() -> nn.Module:
    return tiny.model().network


@pytest.fixture
def optimiser(network: nn.Module) -> torch.optim.AdamW:
    return make_optimiser(network.roles(), SETTINGS)


def test_every_parameter_is_in_exactly_one_group(network: nn.Module, optimiser: torch.optim.AdamW) -> None:
    grouped = [id(parameter) for group in optimiser.param_groups for parameter in group["params"]]
    assert sorted(grouped) == sorted(id(parameter) for parameter in network.parameters())


def test_a_parameter_learns_at_the_rate_of_its_role(network: nn.Module, optimiser: torch.optim.AdamW) -> None:
    rates = {id(p): group["lr"] for group in optimiser.param_groups for p in group["params"]}
    for name, parameter in network.named_parameters():
        assert rates[id(parameter)] == (1e-4 if name.startswith("encoder.") else 1e-3), name


def test_matrices_decay_and_vectors_do_not(network: nn.Module, optimiser: torch.optim.AdamW) -> None:
    decay = {id(p): group["weight_decay"] for group in optimiser.param_groups for p in group["params"]}
    for name, parameter in network.named_parameters():
        assert decay[id(parameter)] == (0.05 if parameter.ndim > 1 else 0.0), name


def test_a_rate_for_a_role_that_the_model_lacks_is_refused(network: nn.Module) -> None:
    settings = OptimiserSettings(learning_rates={"encoder": 1e-4, "head": 1e-3, "haed": 1e-3})
    with pytest.raises(
        SettingsError, match=r"names the roles \['haed'\]; this model has \['encoder', 'head'\]"
    ):
        make_optimiser(network.roles(), settings)


def test_set_rates_scales_the_full_rates_and_not_the_last_ones(optimiser: torch.optim.AdamW) -> None:
    for factor in (0.5, 0.25):
        set_rates(optimiser, factor)
    assert {group["lr"] for group in optimiser.param_groups} == {0.25e-4, 0.25e-3}


@pytest.mark.parametrize(
    ("width", "encoder", "head"),
    [(32, 2e-4, 1e-3), (384, 2e-4, 1e-3), (768, 5e-5, 5e-4), (1024, 2e-5, 3e-4), (4096, 2e-5, 3e-4)],
)
def test_wider_encoders_have_lower_default_rates(width: int, encoder: float, head: float) -> None:
    assert default_rates(width) == {"encoder": encoder, "head": head}


@pytest.mark.parametrize(
    ("progress", "warmup", "factor"),
    [(0.0, 0.2, 0.0), (0.1, 0.2, 0.5), (0.2, 0.2, 1.0), (0.6, 0.2, 0.5), (1.0, 0.2, 0.0), (0.0, 0.0, 1.0)],
)
def test_rates_rise_over_the_warm_up_and_fall_to_zero(progress: float, warmup: float, factor: float) -> None:
    assert rate_factor(progress, warmup) == pytest.approx(factor)
