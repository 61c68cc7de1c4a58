from __future__ import annotations

import pytest
import torch
from torch import nn

import tiny
from spanwright.errors import SettingsError
from spanwright.settings.learning import OptimiserSettings
from spanwright.training.optimiser import (
    default_rates,
    limit_gradients,
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
        set_rates(optimiser, factor, {})
    assert {group["lr"] for group in optimiser.param_groups} == {0.25e-4, 0.25e-3}


def test_set_rates_scales_the_rates_of_a_role_once_more(optimiser: torch.optim.AdamW) -> None:
    set_rates(optimiser, 0.5, {"encoder": 0.1})
    rates = {group["role"]: group["lr"] for group in optimiser.param_groups}
    assert rates == pytest.approx({"encoder": 0.05e-4, "head": 0.5e-3})


def test_betas_and_epsilon_reach_the_optimiser(network: nn.Module) -> None:
    settings = OptimiserSettings(learning_rates=SETTINGS.learning_rates, betas=(0.8, 0.95), epsilon=1e-5)
    made = make_optimiser(network.roles(), settings)
    assert {(group["betas"], group["eps"]) for group in made.param_groups} == {((0.8, 0.95), 1e-5)}


def with_gradients(*values: float) -> list[nn.Parameter]:
    """Parameters of one number each, and one that has no gradient."""
    parameters = [nn.Parameter(torch.zeros(1)) for _ in values]
    for parameter, value in zip(parameters, values, strict=True):
        parameter.grad = torch.full((1,), value)
    return [*parameters, nn.Parameter(torch.zeros(1))]


def left(parameters: list[nn.Parameter]) -> list[float]:
    return [float(each.grad) for each in parameters if each.grad is not None]


def optimiser_of(parameters: list[nn.Parameter]) -> torch.optim.Optimizer:
    return torch.optim.SGD(parameters, lr=0.1)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_a_normalised_gradient_has_norm_one_whatever_the_size_of_the_loss(scale: float) -> None:
    parameters = with_gradients(3 * scale, 4 * scale)
    assert float(limit_gradients(optimiser_of(parameters), "normalise")) == pytest.approx(5 * scale)
    assert left(parameters) == pytest.approx([0.6, 0.8])


def test_a_batch_that_is_learnt_already_moves_next_to_nothing() -> None:
    """Brought to norm 1, its rounding errors would be learnt."""
    parameters = with_gradients(3.0, 4.0)
    optimiser = optimiser_of(parameters)
    for value in (3.0, 3e-6):
        for parameter in parameters[:2]:
            parameter.grad = torch.full((1,), value)
        limit_gradients(optimiser, "normalise")
    assert max(left(parameters)) < 2e-6


def test_the_usual_norm_follows_a_loss_that_falls() -> None:
    parameters = with_gradients(0.0)
    optimiser = optimiser_of(parameters)
    for step in range(400):
        parameters[0].grad = torch.full((1,), 10.0 if step < 100 else 0.1)
        limit_gradients(optimiser, "normalise")
    assert left(parameters)[0] == pytest.approx(1.0, rel=0.3)


def test_a_resumed_optimiser_goes_on_with_its_usual_norm() -> None:
    parameters = with_gradients(3.0, 4.0)
    optimiser, resumed = optimiser_of(parameters), optimiser_of(parameters)
    limit_gradients(optimiser, "normalise")
    resumed.load_state_dict(optimiser.state_dict())
    parameters[0].grad, parameters[1].grad = torch.tensor([0.0]), torch.tensor([1.0])
    limit_gradients(resumed, "normalise")
    assert left(parameters)[1] == pytest.approx(1 / (0.98 * 5 + 0.02))


@pytest.mark.parametrize(("clip", "first"), [(1.0, 0.6), (5.0, 3.0), (10.0, 3.0)])
def test_a_clipped_gradient_is_cut_only_above_the_limit(clip: float, first: float) -> None:
    parameters = with_gradients(3.0, 4.0)
    limit_gradients(optimiser_of(parameters), clip)
    assert left(parameters)[0] == pytest.approx(first)


def test_a_gradient_of_zero_stays_zero() -> None:
    parameters = with_gradients(0.0)
    assert float(limit_gradients(optimiser_of(parameters), "normalise")) == 0.0
    assert left(parameters) == [0.0]


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
