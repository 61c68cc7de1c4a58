"""The linear chain against all paths counted one by one, and against an independent library."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise, product

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torchcrf import CRF

from spanwright.decoding import tags as paths_of_tags
from spanwright.decoding.tags import NO_TAG, Chain
from spanwright.parts.beside.crf import LinearChain

TAGS = 3


def chain(seed: int = 0, tags: int = TAGS) -> LinearChain:
    """A chain in float64 with parameters large enough to matter."""
    torch.manual_seed(seed)
    made = LinearChain(tags).double()
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.normal_()
    return made


def windows(lengths: list[int], seed: int = 0, tags: int = TAGS) -> tuple[Tensor, Tensor]:
    """Random emissions, also at padding, and the mask of windows of these lengths."""
    generator = torch.Generator().manual_seed(seed)
    emissions = torch.randn(len(lengths), max(lengths), tags, generator=generator, dtype=torch.float64)
    return emissions, torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]


def viterbi(part: LinearChain, emissions: Tensor, mask: Tensor, *legal: Tensor) -> tuple[Tensor, Tensor]:
    """The best path of each window and its score; legal are tags at the start, and moves."""
    weights = part.weights
    if legal:
        start, moves = (torch.where(allowed, 0.0, -torch.inf).numpy() for allowed in legal)
        weights = Chain(weights.start + start, weights.end, weights.transitions + moves)
    found = paths_of_tags.best_paths(emissions.detach().numpy(), mask.numpy(), weights)
    return torch.from_numpy(found[0]), torch.from_numpy(found[1])


def marginals(part: LinearChain, emissions: Tensor, mask: Tensor) -> Tensor:
    return torch.from_numpy(paths_of_tags.marginals(emissions.detach().numpy(), mask.numpy(), part.weights))


def path_score(part: LinearChain, emissions: Tensor, path: tuple[int, ...]) -> Tensor:
    """The score of a path through one window (words, tags), word by word."""
    score = part.start[path[0]] + part.end[path[-1]]
    for word, tag in enumerate(path):
        score = score + emissions[word, tag]
        if word:
            score = score + part.transitions[path[word - 1], tag]
    return score


def all_paths(part: LinearChain, emissions: Tensor) -> Iterator[tuple[tuple[int, ...], Tensor]]:
    for path in product(range(emissions.shape[1]), repeat=len(emissions)):
        yield path, path_score(part, emissions, path)


def brute_partition(part: LinearChain, emissions: Tensor) -> Tensor:
    return torch.stack([score for _, score in all_paths(part, emissions)]).logsumexp(0)


def rows(emissions: Tensor, mask: Tensor) -> list[Tensor]:
    """The real words of each window."""
    return [row[inside] for row, inside in zip(emissions, mask, strict=True)]


ragged = st.lists(st.integers(1, 4), min_size=1, max_size=4)
seeds = st.integers(0, 1000)


@given(ragged, seeds)
@settings(max_examples=20)
def test_the_partition_sums_over_all_paths(lengths: list[int], seed: int) -> None:
    part, (emissions, mask) = chain(seed), windows(lengths, seed)
    expected = torch.stack([brute_partition(part, row) for row in rows(emissions, mask)])
    torch.testing.assert_close(part.log_partition(emissions, mask), expected)


@given(ragged, seeds)
@settings(max_examples=20)
def test_a_path_scores_word_by_word(lengths: list[int], seed: int) -> None:
    part, (emissions, mask) = chain(seed), windows(lengths, seed)
    tags = torch.randint(TAGS, mask.shape, generator=torch.Generator().manual_seed(seed))
    expected = [
        path_score(part, row, tuple(path[inside].tolist()))
        for row, path, inside in zip(rows(emissions, mask), tags, mask, strict=True)
    ]
    torch.testing.assert_close(part.score(emissions, tags, mask), torch.stack(expected))


@given(ragged, seeds)
@settings(max_examples=20)
def test_marginals_share_out_all_paths(lengths: list[int], seed: int) -> None:
    part, (emissions, mask) = chain(seed), windows(lengths, seed)
    expected = torch.zeros_like(emissions)
    for number, row in enumerate(rows(emissions, mask)):
        total = brute_partition(part, row)
        for path, score in all_paths(part, row):
            for word, tag in enumerate(path):
                expected[number, word, tag] += (score - total).exp().detach()
    torch.testing.assert_close(marginals(part, emissions, mask), expected)


def test_marginals_are_the_gradient_of_the_partition() -> None:
    part, (emissions, mask) = chain(), windows([7, 1, 30])
    emissions.requires_grad_()
    (gradient,) = torch.autograd.grad(part.log_partition(emissions, mask).sum(), emissions)
    torch.testing.assert_close(marginals(part, emissions, mask), gradient)


@pytest.mark.parametrize("barred", [False, True])
@given(lengths=ragged, seed=seeds)
@settings(max_examples=20)
def test_viterbi_finds_the_path_that_a_search_of_all_finds(
    barred: bool, lengths: list[int], seed: int
) -> None:
    part, (emissions, mask) = chain(seed), windows(lengths, seed)
    generator = torch.Generator().manual_seed(seed)
    start = torch.rand(TAGS, generator=generator) < 0.6 if barred else torch.ones(TAGS, dtype=torch.bool)
    moves = torch.rand(TAGS, TAGS, generator=generator) < 0.6 if barred else torch.ones(TAGS, TAGS).bool()
    start[0] = moves[0, 0] = True  # so that some path is legal
    paths, scores = viterbi(part, emissions, mask, start, moves) if barred else viterbi(part, emissions, mask)
    for number, row in enumerate(rows(emissions, mask)):
        legal = [
            (score.item(), path)
            for path, score in all_paths(part, row)
            if start[path[0]] and all(moves[pair] for pair in pairwise(path))
        ]
        best, path = max(legal)
        assert tuple(paths[number, : len(row)].tolist()) == path
        assert scores[number].item() == pytest.approx(best)
        assert (paths[number, len(row) :] == NO_TAG).all()


def test_gradients_equal_those_of_the_sum_over_all_paths() -> None:
    part, (emissions, mask) = chain(), windows([3, 1, 4])
    emissions.requires_grad_()
    tags = torch.randint(TAGS, mask.shape, generator=torch.Generator().manual_seed(1))
    leaves = [emissions, *part.parameters()]
    found = torch.autograd.grad(part.log_likelihood(emissions, tags, mask).sum(), leaves)
    brute = torch.stack(
        [
            path_score(part, row, tuple(path[inside].tolist())) - brute_partition(part, row)
            for row, path, inside in zip(rows(emissions, mask), tags, mask, strict=True)
        ]
    )
    for gradient, expected in zip(found, torch.autograd.grad(brute.sum(), leaves), strict=True):
        torch.testing.assert_close(gradient, expected)


@given(st.lists(st.integers(1, 12), min_size=1, max_size=5), seeds)
@settings(max_examples=20)
def test_likelihoods_and_best_paths_equal_those_of_pytorch_crf(lengths: list[int], seed: int) -> None:
    part, (emissions, mask) = chain(seed, 7), windows(lengths, seed, 7)
    oracle = CRF(7, batch_first=True).double()
    with torch.no_grad():
        oracle.start_transitions.copy_(part.start)
        oracle.end_transitions.copy_(part.end)
        oracle.transitions.copy_(part.transitions)
    tags = torch.randint(7, mask.shape, generator=torch.Generator().manual_seed(seed))
    torch.testing.assert_close(
        part.log_likelihood(emissions, tags, mask), oracle(emissions, tags, mask, reduction="none")
    )
    paths, _ = viterbi(part, emissions, mask)
    assert [row[row != NO_TAG].tolist() for row in paths] == oracle.decode(emissions, mask)


def outputs(part: LinearChain, emissions: Tensor, tags: Tensor, mask: Tensor) -> list[Tensor]:
    """Everything that a chain computes, with the windows first."""
    return [
        part.log_likelihood(emissions, tags, mask),
        marginals(part, emissions, mask),
        *viterbi(part, emissions, mask),
    ]


def test_the_order_of_windows_changes_nothing() -> None:
    part, (emissions, mask) = chain(), windows([5, 1, 3, 8])
    tags = torch.randint(TAGS, mask.shape, generator=torch.Generator().manual_seed(1))
    order = torch.tensor([2, 0, 3, 1])
    straight = outputs(part, emissions, tags, mask)
    for found, expected in zip(
        outputs(part, emissions[order], tags[order], mask[order]), straight, strict=True
    ):
        torch.testing.assert_close(found, expected[order], rtol=0, atol=0)


@pytest.mark.parametrize("content", [1e30, float("nan"), float("-inf")])
def test_what_stands_at_padding_changes_neither_results_nor_gradients(content: float) -> None:
    part, (emissions, mask) = chain(), windows([5, 1, 3])
    tags = torch.randint(TAGS, mask.shape, generator=torch.Generator().manual_seed(1))
    spoilt = emissions.masked_fill(~mask[:, :, None], content).requires_grad_()
    spoilt_tags = tags.masked_fill(~mask, NO_TAG)
    expected = outputs(part, emissions, tags, mask)
    for found, value in zip(outputs(part, spoilt, spoilt_tags, mask), expected, strict=True):
        torch.testing.assert_close(found, value, rtol=0, atol=0)
    leaves = [spoilt, *part.parameters()]
    gradients = torch.autograd.grad(part.log_likelihood(spoilt, spoilt_tags, mask).sum(), leaves)
    assert all(gradient.isfinite().all() for gradient in gradients)
    assert not gradients[0][~mask].any()


def test_a_wider_padding_changes_nothing() -> None:
    part, (emissions, mask) = chain(), windows([5, 1, 3])
    tags = torch.randint(TAGS, mask.shape, generator=torch.Generator().manual_seed(1))
    wider = [
        torch.cat([values, torch.zeros_like(values[:, :2])], dim=1) for values in (emissions, tags, mask)
    ]
    likelihood, shares, paths, scores = outputs(part, *wider)
    narrow = outputs(part, emissions, tags, mask)
    for found, expected in zip((likelihood, shares[:, :5], paths[:, :5], scores), narrow, strict=True):
        torch.testing.assert_close(found, expected)


@pytest.mark.parametrize("count", [0, 2])
def test_windows_without_words_are_certain_and_get_no_gradient(count: int) -> None:
    part = chain()
    emissions = torch.zeros(count, 1, TAGS, dtype=torch.float64, requires_grad=True)
    mask = torch.zeros(count, 1, dtype=torch.bool)
    likelihood = part.log_likelihood(emissions, mask.long(), mask)
    assert likelihood.tolist() == [0] * count
    gradients = torch.autograd.grad(likelihood.sum(), [emissions, *part.parameters()])
    assert not any(gradient.any() for gradient in gradients)
    paths, _ = viterbi(part, emissions, mask)
    assert paths.tolist() == [[NO_TAG]] * count
    assert not marginals(part, emissions, mask).any()


def test_far_apart_scores_stay_finite_in_single_precision() -> None:
    part = LinearChain(TAGS)
    emissions = torch.tensor([[[1e4, 0.0, -1e4], [-1e4, 1e4, 0.0]]], requires_grad=True)
    mask = torch.ones(1, 2, dtype=torch.bool)
    likelihood = part.log_likelihood(emissions, torch.tensor([[2, 0]]), mask)
    likelihood.sum().backward()
    assert likelihood.item() == pytest.approx(-4e4, rel=1e-3)
    assert emissions.grad is not None
    assert emissions.grad.isfinite().all()


def test_parameters_start_small() -> None:
    torch.manual_seed(0)
    values = torch.cat([parameter.flatten() for parameter in LinearChain(13).parameters()])
    assert values.abs().max() <= 0.1
    assert values.std().item() == pytest.approx(0.2 / 12**0.5, rel=0.15)
