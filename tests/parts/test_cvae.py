"""The conditional auto-encoder of spans: conditions, loss terms, and which spans enter."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from torch import Tensor
from torch.distributions import Normal, kl_divergence

from spanwright.parts.beside.conditional import Cvae
from spanwright.settings.auxiliaries import CvaeSettings

VECTOR_SIZE, LATENT = 6, 4
SHARED = (0, 1, None, 0, 1)
"""Two corpora: one with two types, of which the second has no shared label, and one with one."""
SHARED_SIZE = 3
ROWS = torch.tensor([0, 2, 4, 4, 3, 1, 0])
TERMS = {"conditional", "conditional-divergence"}


def cvae(**changes: Any) -> Cvae:
    torch.manual_seed(0)
    settings = CvaeSettings(**({"hidden": 8, "latent": LATENT} | changes))
    return Cvae(settings, vector_size=VECTOR_SIZE, shared=SHARED, shared_size=SHARED_SIZE)


def vectors() -> Tensor:
    return torch.randn(len(ROWS), VECTOR_SIZE, generator=torch.Generator().manual_seed(2))


def assert_same(found: dict[str, Tensor], expected: dict[str, Tensor]) -> None:
    assert found.keys() == expected.keys()
    for name, loss in found.items():
        torch.testing.assert_close(loss, expected[name])


# Conditions.

OWN = torch.eye(5)
MEANT = torch.tensor([[1.0, 0, 0], [0, 1, 0], [0, 0, 0], [1, 0, 0], [0, 1, 0]])


@pytest.mark.parametrize(
    ("kind", "expected"), [("both", torch.cat([OWN, MEANT], dim=1)), ("own", OWN), ("shared", MEANT)]
)
def test_conditions_begin_as_one_hot_vectors(kind: str, expected: Tensor) -> None:
    assert torch.equal(cvae(condition=kind).condition.weight, expected)


def test_random_conditions_are_standard_normal_and_as_wide_as_both_halves() -> None:
    rows = 200
    torch.manual_seed(0)
    settings = CvaeSettings(condition="random", hidden=1, latent=1)
    part = Cvae(settings, vector_size=1, shared=[None] * rows, shared_size=SHARED_SIZE)
    table = part.condition.weight.detach()
    assert table.shape == (rows, rows + SHARED_SIZE)
    assert (float(table.mean()), float(table.std())) == (
        pytest.approx(0, abs=0.02),
        pytest.approx(1, abs=0.02),
    )


def test_conditions_learn() -> None:
    part = cvae()
    sum(part.losses(vectors(), ROWS).values()).backward()
    assert part.condition.weight.grad is not None
    assert part.condition.weight.grad.any(1).tolist() == [True] * 5


def test_only_conditions_that_spans_have_learn() -> None:
    part = cvae()
    sum(part.losses(vectors()[:2], ROWS[:2]).values()).backward()
    assert part.condition.weight.grad.any(1).tolist() == [True, False, True, False, False]


def test_fixed_conditions_do_not_learn_but_are_saved() -> None:
    part = cvae(trainable=False)
    sum(part.losses(vectors(), ROWS).values()).backward()
    still = [name for name, parameter in part.named_parameters() if not parameter.requires_grad]
    assert still == ["condition.weight"]
    assert part.condition.weight.grad is None
    assert "condition.weight" in part.state_dict()


# Loss terms.


def naive_losses(part: Cvae, vectors: Tensor, noise: Tensor) -> dict[str, Tensor]:
    """The loss terms span by span, from the concatenations that the equations speak of."""
    errors, divergences = [], []
    for vector, row, drawn in zip(vectors, ROWS.tolist(), noise, strict=True):
        condition = part.condition.weight[row]
        inner = part.encode.linear(torch.cat([vector, condition])).relu()
        mean, deviation = part.mean(inner), (part.log_variance(inner) / 2).exp()
        decoded = part.decode.linear(torch.cat([mean + deviation * drawn, condition])).relu()
        errors += ((part.output(decoded).relu() - vector) ** 2).unbind()
        divergences.append(kl_divergence(Normal(mean, deviation), Normal(0.0, 1.0)).sum())
    losses = (sum(errors) / len(errors), sum(divergences) / len(divergences))
    return dict(zip(("conditional", "conditional-divergence"), losses, strict=True))


def test_losses_are_those_of_a_loop_over_spans_and_an_independent_divergence() -> None:
    part, noise = cvae(), torch.randn(len(ROWS), LATENT, generator=torch.Generator().manual_seed(3))
    found = part.losses(vectors(), ROWS, noise)
    assert found.keys() == part.terms == TERMS
    assert_same(found, naive_losses(part, vectors(), noise))


def test_noise_is_drawn_while_training_and_only_then() -> None:
    part = cvae()
    first, second = (part.losses(vectors(), ROWS)["conditional"] for _ in range(2))
    assert first != second
    part.eval()
    assert_same(part.losses(vectors(), ROWS), part.losses(vectors(), ROWS, torch.zeros(len(ROWS), LATENT)))


def test_outside_training_losses_are_the_same_every_time() -> None:
    part = cvae().eval()
    first, second = (part.losses(vectors(), ROWS) for _ in range(2))
    assert all(torch.equal(first[name], second[name]) for name in TERMS)


def test_drawn_noise_is_standard_normal() -> None:
    part, many = cvae(), 5000
    seen: list[Tensor] = []
    part.decode.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0][0].detach()))
    vector, row = vectors()[:1], ROWS[:1]
    part.losses(vector.expand(many, -1), row.expand(many))
    mean, log_variance = (value.detach() for value in part.posterior(vector, row))
    noise = (seen[0] - mean) / (log_variance / 2).exp()
    assert noise.mean(0).tolist() == pytest.approx([0.0] * LATENT, abs=0.08)
    assert noise.std(0).tolist() == pytest.approx([1.0] * LATENT, abs=0.06)


def test_no_spans_cost_nothing_and_harm_no_gradient() -> None:
    part, given_ = cvae(), torch.empty(0, VECTOR_SIZE, requires_grad=True)
    losses = part.losses(given_, torch.empty(0, dtype=torch.long))
    assert {name: float(loss.detach()) for name, loss in losses.items()} == dict.fromkeys(TERMS, 0.0)
    sum(losses.values()).backward()
    gradients = [parameter.grad for parameter in part.parameters() if parameter.grad is not None]
    assert gradients and not any(gradient.any() or gradient.isnan().any() for gradient in gradients)


def test_a_detached_target_gets_no_gradient_and_the_input_the_same_as_before() -> None:
    gradients = []
    for detach in (False, True):
        part, given_ = cvae(detach_target=detach).eval(), vectors().requires_grad_()
        losses = part.losses(given_, ROWS)
        rebuilt = part.rebuild(part.posterior(vectors(), ROWS)[0], ROWS)
        gradients += torch.autograd.grad(losses["conditional"], given_)
    of_target = 2 * (vectors() - rebuilt.detach()) / vectors().numel()
    torch.testing.assert_close(gradients[0] - gradients[1], of_target)
    assert gradients[1].any()


def test_a_detached_target_changes_no_loss() -> None:
    found, expected = (cvae(detach_target=detach).eval().losses(vectors(), ROWS) for detach in (True, False))
    assert_same(found, expected)


# Which spans enter.

SPANS = st.lists(st.tuples(st.booleans(), st.integers(0, 4)), max_size=40)


def columns(spans: list[tuple[bool, int]]) -> tuple[Tensor, Tensor]:
    """Whether spans are negatives, and their windows."""
    is_negative = torch.tensor([negative for negative, _ in spans], dtype=torch.bool)
    return is_negative, torch.tensor([window for _, window in spans], dtype=torch.long)


@given(spans=SPANS, negatives=st.integers(1, 6), seed=st.integers(0, 9))
def test_all_positives_enter_and_as_many_negatives_of_a_window_as_there_are_up_to_the_limit(
    spans: list[tuple[bool, int]], negatives: int, seed: int
) -> None:
    part = cvae(negatives=negatives)
    torch.manual_seed(seed)
    chosen = part.chosen(*columns(spans)).tolist()
    assert chosen == sorted(set(chosen))
    positives = [number for number, (negative, _) in enumerate(spans) if not negative]
    assert [number for number in chosen if not spans[number][0]] == positives
    there = Counter(window for negative, window in spans if negative)
    expected = {window: min(count, negatives) for window, count in there.items()}
    assert Counter(spans[number][1] for number in chosen if spans[number][0]) == expected


@given(spans=SPANS)
def test_all_spans_enter_where_nothing_limits_them(spans: list[tuple[bool, int]]) -> None:
    assert cvae(negatives="all").chosen(*columns(spans)).tolist() == list(range(len(spans)))


def test_each_negative_of_a_window_is_drawn_as_often_as_the_others() -> None:
    is_negative = torch.tensor([True, False, True, True, True, True])
    part, window = cvae(negatives=2), torch.tensor([1, 1, 0, 1, 1, 1])
    draws = 2000
    counts = Counter(number for _ in range(draws) for number in part.chosen(is_negative, window).tolist())
    assert counts[1] == counts[2] == draws
    assert [counts[number] / draws for number in (0, 3, 4, 5)] == pytest.approx([0.5] * 4, abs=0.06)


def test_the_random_state_decides_the_draw() -> None:
    part, is_negative, window = cvae(negatives=5), torch.ones(50, dtype=torch.bool), torch.zeros(50).long()
    state = torch.get_rng_state()
    first, second = (part.chosen(is_negative, window).tolist() for _ in range(2))
    torch.set_rng_state(state)
    assert first != second
    assert part.chosen(is_negative, window).tolist() == first


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"negatives": 0}, "should be greater than 0"),
        ({"latent": 0}, "should be greater than 0"),
        ({"condition": "none"}, "'both', 'own', 'shared' or 'random'"),
        ({"words": True}, "Extra inputs are not permitted"),
    ],
)
def test_illegal_settings_are_refused(wrong: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValidationError, match=reason):
        CvaeSettings(**wrong)
