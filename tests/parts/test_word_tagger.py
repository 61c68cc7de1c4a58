"""The word tagger: gold tags from mentions, losses, and entities from tags."""

from __future__ import annotations

import math
from itertools import pairwise, product
from typing import Literal, NamedTuple

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from torch import Tensor

import batching
from spanwright.decoding.tags import allowed_moves, best_tags, entity_ends, marginals
from spanwright.parts.batch import Batch, Mentions
from spanwright.parts.beside.tagger import WordTagger, painted
from spanwright.parts.encoder.encoder import WordStates
from spanwright.parts.spans.predictions import Predictions
from spanwright.settings.auxiliaries import TaggerSettings
from spanwright.text.tags import runs_from_tags

Kind = Literal["softmax", "crf"]
TYPES = 2
OUT, B0, I0, B1, I1 = range(1 + 2 * TYPES)
NAMES = ["O", "B-0", "I-0", "B-1", "I-1"]


class Mention(NamedTuple):
    """A gold entity in packed words, the last one included."""

    first: int
    last: int
    type: int
    starts: bool = True
    outermost: bool = True


def mentions(*given_: Mention) -> Mentions:
    first, last, type_, starts, outermost = torch.tensor(given_, dtype=torch.long).reshape(-1, 5).unbind(1)
    nowhere = torch.zeros_like(first)
    return Mentions(nowhere, first, last, type_, starts.bool(), nowhere.bool(), outermost.bool())


def batch_of(
    word_counts: list[int],
    *given_: Mention,
    word_offset: list[int] | None = None,
    owned_sums: list[tuple[int, int]] | None = None,
) -> Batch:
    """A batch of which only words and mentions matter."""
    return batching.batch_of(
        word_counts, mentions=mentions(*given_), word_offset=word_offset, owned_sums=owned_sums
    )


def tagger(kind: Kind = "softmax", *, dropout: float = 0.0, state_width: int = 4) -> WordTagger:
    torch.manual_seed(0)
    return WordTagger(TaggerSettings(kind=kind, dropout=dropout), state_width=state_width, sizes=(TYPES,))


def sure_of(tags: list[int], margin: float = 20.0) -> Tensor:
    """Emissions that leave little doubt about each word's tag."""
    return margin * torch.nn.functional.one_hot(torch.tensor(tags, dtype=torch.long), len(NAMES)).float()


def found(predictions: Predictions) -> list[tuple[int, int, int, int]]:
    """(window, first, last, type) of each prediction."""
    columns = (predictions.window, predictions.first, predictions.last, predictions.type)
    return list(zip(*(column.tolist() for column in columns), strict=True))


@pytest.mark.parametrize(
    ("given_", "expected"),
    [
        ([], [OUT, OUT, OUT, OUT, OUT]),
        ([Mention(1, 3, 0)], [OUT, B0, I0, I0, OUT]),
        ([Mention(4, 4, 1)], [OUT, OUT, OUT, OUT, B1]),
        ([Mention(0, 4, 1)], [B1, I1, I1, I1, I1]),
        ([Mention(2, 3, 0), Mention(0, 1, 0), Mention(4, 4, 0)], [B0, I0, B0, I0, B0]),
        ([Mention(0, 1, 1), Mention(2, 2, 0)], [B1, I1, B0, OUT, OUT]),
        ([Mention(0, 1, 1, starts=False)], [I1, I1, OUT, OUT, OUT]),
        ([Mention(0, 0, 0, starts=False), Mention(1, 2, 0)], [I0, B0, I0, OUT, OUT]),
        ([Mention(1, 1, 0, outermost=False), Mention(0, 2, 1)], [B1, I1, I1, OUT, OUT]),
        ([Mention(1, 1, 0, outermost=False)], [OUT, OUT, OUT, OUT, OUT]),
    ],
    ids=[
        "no mention",
        "inside the row",
        "one word at the end",
        "the whole row",
        "neighbours of one type",
        "neighbours of two types",
        "cut by its window",
        "cut with a neighbour",
        "nested",
        "never outermost",
    ],
)
def test_gold_tags_are_painted_from_the_outermost_mentions(
    given_: list[Mention], expected: list[int]
) -> None:
    assert painted(mentions(*given_), 5).tolist() == expected


@st.composite
def tagged_windows(draw: st.DrawFn) -> tuple[list[int], list[int]]:
    """Word counts and any tags, legal or not."""
    counts = draw(st.lists(st.integers(0, 6), max_size=4))
    words = sum(counts)
    return counts, draw(st.lists(st.integers(0, 2 * TYPES), min_size=words, max_size=words))


def naive_entities(counts: list[int], tags: list[int]) -> list[tuple[int, int, int, int]]:
    """(window, first, last, type), read tag by tag with the reader of tag files."""
    entities, offset = [], 0
    for window, count in enumerate(counts):
        runs = runs_from_tags([NAMES[tag] for tag in tags[offset : offset + count]])
        entities += [(window, first + offset, end + offset - 1, int(type_)) for first, end, type_ in runs]
        offset += count
    return entities


@given(tagged_windows())
def test_entities_are_those_that_reading_tag_by_tag_gives(windows: tuple[list[int], list[int]]) -> None:
    counts, tags = windows
    first, last = entity_ends(np.array(tags, dtype=np.int64), np.array(counts, dtype=np.int64))
    expected = [(entity[1], entity[2]) for entity in naive_entities(counts, tags)]
    assert list(zip(first.tolist(), last.tolist(), strict=True)) == expected


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        ([B0, I0, I0, OUT], [(0, 2)]),
        ([B0, B0, I0, OUT], [(0, 0), (1, 2)]),
        ([I0, I0, OUT, OUT], [(0, 1)]),
        ([B0, I1, I1, OUT], [(0, 0), (1, 2)]),
        ([OUT, I1, I0, I0], [(1, 1), (2, 3)]),
        ([I0, B0, OUT, I0], [(0, 0), (1, 1), (3, 3)]),
    ],
)
def test_an_inside_tag_that_continues_nothing_begins_an_entity(
    tags: list[int], expected: list[tuple[int, int]]
) -> None:
    first, last = entity_ends(np.array(tags), np.array([4]))
    assert list(zip(first.tolist(), last.tolist(), strict=True)) == expected


def test_an_inside_tag_does_not_continue_the_window_before() -> None:
    first, last = entity_ends(np.array([OUT, B0, I0, OUT]), np.array([2, 2]))
    assert first.tolist() == last.tolist() == [1, 2]


def test_the_allowed_moves_of_two_types() -> None:
    start, moves = allowed_moves(len(NAMES))
    illegal = {
        (before, tag) for before in NAMES for tag in NAMES if not moves[NAMES.index(before), NAMES.index(tag)]
    }
    expected = {("O", "I-0"), ("B-1", "I-0"), ("I-1", "I-0"), ("O", "I-1"), ("B-0", "I-1"), ("I-0", "I-1")}
    assert illegal == expected
    assert [name for name, legal in zip(NAMES, start.tolist(), strict=True) if legal] == ["O", "B-0", "B-1"]


@pytest.mark.parametrize("kind", ["softmax", "crf"])
@given(tagged_windows(), st.integers(0, 100))
def test_paths_are_always_legal(kind: Kind, windows: tuple[list[int], list[int]], seed: int) -> None:
    counts, tags = windows
    generator = torch.Generator().manual_seed(seed)
    emissions = sure_of(tags, 2.0) + torch.randn(len(tags), len(NAMES), generator=generator)
    chosen, _ = best_tags(emissions.numpy(), np.array(counts, dtype=np.int64), tagger(kind).rule.weights)
    start, moves = allowed_moves(len(NAMES))
    for row in torch.from_numpy(chosen).split(counts):
        assert start[row[:1]].all()
        assert moves[row[:-1], row[1:]].all()


@pytest.mark.parametrize("kind", ["softmax", "crf"])
def test_the_best_legal_path_is_taken_instead_of_repairing_the_best_tags(kind: Kind) -> None:
    emissions = torch.tensor([[2.0, 1.5, 0.0, 0.0, 0.0], [0.0, 0.0, 3.0, 0.0, 0.0]])  # O or B-0, then I-0
    assert found(tagger(kind).predict(emissions, batch_of([2]))) == [(0, 0, 1, 0)]


@given(st.integers(1, 4), st.integers(0, 1000))
def test_the_softmax_tagger_takes_the_likeliest_of_all_legal_paths(words: int, seed: int) -> None:
    emissions = 2 * torch.randn(words, len(NAMES), generator=torch.Generator().manual_seed(seed))
    start, moves = allowed_moves(len(NAMES))
    legal = [
        path
        for path in product(range(len(NAMES)), repeat=words)
        if start[path[0]] and all(moves[before, tag] for before, tag in pairwise(path))
    ]
    scores = emissions.log_softmax(1)
    best = max(legal, key=lambda path: sum(scores[word, tag].item() for word, tag in enumerate(path)))
    chosen, probabilities = best_tags(emissions.numpy(), np.array([words]), None)
    assert tuple(chosen.tolist()) == best
    torch.testing.assert_close(torch.from_numpy(probabilities), emissions.softmax(1)[range(words), best])


@pytest.mark.parametrize("kind", ["softmax", "crf"])
def test_only_entities_that_their_window_owns_are_predicted(kind: Kind) -> None:
    # Words 0 to 3 and 2 to 5 of one document: the first window owns spans around its words 0 to 2.
    batch = batch_of([4, 4], word_offset=[0, -2], owned_sums=[(-1000, 6), (6, 1000)])
    emissions = sure_of([B0, OUT, B1, B0, B1, B0, OUT, B0])
    predictions = tagger(kind).predict(emissions, batch)
    assert found(predictions) == [(0, 0, 0, 0), (0, 2, 2, 1), (1, 5, 5, 0), (1, 7, 7, 0)]
    assert len(predictions.confidence) == len(predictions.rank) == 4


def test_the_confidence_of_softmax_is_the_mean_probability_of_the_tags() -> None:
    emissions = torch.randn(6, len(NAMES), generator=torch.Generator().manual_seed(0)) + sure_of(
        [B0, I0, I0, OUT, B1, B1], 3.0
    )
    predictions = tagger().predict(emissions, batch_of([4, 2]))
    assert found(predictions) == [(0, 0, 2, 0), (1, 4, 4, 1), (1, 5, 5, 1)]
    shares = [
        max(math.exp(value) for value in row) / sum(math.exp(value) for value in row)
        for row in emissions.tolist()
    ]
    expected = [sum(shares[:3]) / 3, shares[4], shares[5]]
    assert predictions.confidence.tolist() == pytest.approx(expected)
    assert torch.equal(predictions.rank, predictions.confidence)


def test_the_confidence_of_the_crf_is_the_mean_marginal_of_the_tags() -> None:
    part = tagger("crf")
    generator = torch.Generator().manual_seed(0)
    emissions = torch.randn(5, len(NAMES), generator=generator) + sure_of([B0, I0, I0, OUT, B1], 3.0)
    predictions = part.predict(emissions, batch_of([5]))
    assert found(predictions) == [(0, 0, 2, 0), (0, 4, 4, 1)]
    shares = marginals(emissions[None].numpy(), np.ones((1, 5), dtype=bool), part.rule.weights)[0]
    expected = [(shares[0, B0] + shares[1, I0] + shares[2, I0]).item() / 3, shares[4, B1].item()]
    assert predictions.confidence.tolist() == pytest.approx(expected)
    assert torch.equal(predictions.rank, predictions.confidence)


def test_the_loss_of_softmax_is_the_mean_cross_entropy_of_the_words() -> None:
    emissions = torch.randn(5, len(NAMES), generator=torch.Generator().manual_seed(0))
    batch = batch_of([3, 2], Mention(1, 2, 0), Mention(4, 4, 1))
    expected = torch.nn.functional.cross_entropy(emissions, torch.tensor([OUT, B0, I0, OUT, B1]))
    torch.testing.assert_close(tagger().loss(emissions, batch), expected)


def test_the_loss_of_the_crf_is_the_mean_over_windows() -> None:
    part = tagger("crf")
    emissions = torch.randn(5, len(NAMES), generator=torch.Generator().manual_seed(0))
    both = part.loss(emissions, batch_of([3, 2], Mention(1, 2, 0), Mention(4, 4, 1)))
    first = part.loss(emissions[:3], batch_of([3], Mention(1, 2, 0)))
    second = part.loss(emissions[3:], batch_of([2], Mention(1, 1, 1)))
    torch.testing.assert_close(both, (first + second) / 2)


def test_with_even_transitions_the_crf_sums_the_cross_entropy_of_its_words() -> None:
    part = tagger("crf")
    torch.nn.init.zeros_(part.rule.chain.transitions)
    torch.nn.init.zeros_(part.rule.chain.start)
    torch.nn.init.zeros_(part.rule.chain.end)
    emissions = torch.randn(5, len(NAMES), generator=torch.Generator().manual_seed(0))
    batch = batch_of([3, 2], Mention(1, 2, 0), Mention(4, 4, 1))
    torch.testing.assert_close(part.loss(emissions, batch), tagger().loss(emissions, batch) * 5 / 2)


@pytest.mark.parametrize("kind", ["softmax", "crf"])
@pytest.mark.parametrize("counts", [[], [0, 0]])
def test_a_batch_without_words_has_no_loss_and_no_predictions(kind: Kind, counts: list[int]) -> None:
    part, emissions = tagger(kind), torch.zeros(0, len(NAMES))
    assert part.loss(emissions, batch_of(counts)).item() == 0
    assert found(part.predict(emissions, batch_of(counts))) == []


@pytest.mark.parametrize("kind", ["softmax", "crf"])
def test_other_windows_in_the_batch_change_no_answer(kind: Kind) -> None:
    part = tagger(kind)
    emissions = 3 * torch.randn(12, len(NAMES), generator=torch.Generator().manual_seed(0))
    together = part.predict(emissions, batch_of([3, 8, 1]))
    alone = part.predict(emissions[:3], batch_of([3]))
    inside = together.window == 0
    assert found(alone) == [row for row in found(together) if row[0] == 0] != []
    torch.testing.assert_close(together.confidence[inside], alone.confidence)


@pytest.mark.parametrize("kind", ["softmax", "crf"])
def test_a_tagger_learns_to_reproduce_its_golds(kind: Kind) -> None:
    part = tagger(kind, state_width=12)
    states = torch.randn(12, 12, generator=torch.Generator().manual_seed(0))
    golds = [Mention(0, 1, 0), Mention(2, 2, 0), Mention(4, 6, 1), Mention(8, 8, 1), Mention(9, 11, 0)]
    batch = batch_of([7, 1, 4], *golds, Mention(5, 5, 0, outermost=False))
    optimiser = torch.optim.Adam(part.parameters(), lr=0.1)
    for _ in range(60):
        optimiser.zero_grad()
        loss = part.loss(part(WordStates(states, states, states)), batch)
        loss.backward()
        optimiser.step()
    with torch.inference_mode():
        predictions = part.predict(part(WordStates(states, states, states)), batch)
    assert [row[1:] for row in found(predictions)] == [(gold.first, gold.last, gold.type) for gold in golds]
    assert predictions.confidence.min() > 0.8


def test_emissions_come_from_the_states_that_begin_spans() -> None:
    part = tagger()
    start, end = torch.randn(3, 4), torch.full((3, 4), torch.nan)
    expected = start @ part.projection.weight.T + part.projection.bias
    torch.testing.assert_close(part(WordStates(start, end, end)), expected)


def test_dropout_acts_on_states_in_training_only() -> None:
    part, states = tagger(dropout=0.5), torch.randn(6, 4)
    given_ = WordStates(states, states, states)
    assert not torch.equal(part(given_), part(given_))
    part.eval()
    assert torch.equal(part(given_), part(given_))


@pytest.mark.parametrize("wrong", [{"kind": "lstm"}, {"dropout": 1.0}, {"dropout": -0.1}, {"weight": 0.1}])
def test_wrong_settings_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError, match=next(iter(wrong))):
        TaggerSettings.model_validate(wrong)


@pytest.mark.parametrize("sizes", [(1,), (5,), (3, 4)])
def test_training_starts_from_words_outside_of_entities(sizes: tuple[int, ...]) -> None:
    made = WordTagger(TaggerSettings(), state_width=4, sizes=sizes)
    shares = made.projection.bias.detach().softmax(0)
    assert shares[0].item() == pytest.approx(0.9, abs=0.05)
