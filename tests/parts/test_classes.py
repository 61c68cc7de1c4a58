"""Classes of several corpora: their layout, and that no part ever sees the types of another corpus.

The oracle of most tests is a part for one corpus alone, with those weights of the whole part that belong to
it: what it says of the corpus must be what the whole part says.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from batching import batch_of, every_span, with_neighbours
from spanwright.decoding.tags import marginals
from spanwright.parts.batch import Batch, Mentions
from spanwright.parts.beside.tagger import WordTagger
from spanwright.parts.encoder.encoder import WordStates
from spanwright.parts.layers import pad, word_mask
from spanwright.parts.spans.classes import Classes, OwnTypes
from spanwright.parts.spans.representations.vectors import SpanVectors
from spanwright.parts.spans.scorers.bi_encoder import BiEncoder
from spanwright.parts.spans.scorers.sigmoid import Sigmoid
from spanwright.parts.spans.scorers.softmax import Softmax, smoothed_targets
from spanwright.parts.spans.scorers.type_vectors import AtomicTypes
from spanwright.settings.auxiliaries import TaggerSettings
from spanwright.settings.scorers import BiEncoderSettings, SigmoidSettings, SoftmaxSettings

WIDTH = 5
"""Of states and of span vectors."""
LIMIT = 2
"""Words of the widest span."""
SOME = settings(max_examples=40)
QUICK = settings(max_examples=12)
"""For each of ten kinds of parts; all of them together see many scenes."""


@dataclass(frozen=True)
class Scene:
    """Windows of several corpora with golds, and a seed for all that is random about them."""

    sizes: tuple[int, ...]
    """Types of each corpus."""
    counts: tuple[int, ...]
    """Words of each window."""
    corpus: tuple[int, ...]
    """The corpus of each window."""
    golds: tuple[tuple[int, int, int], ...]
    """Packed first and last words and types; no two share a word."""
    seed: int
    scale: float
    """How large weights are: with large ones, a part is nearly certain of everything."""

    @property
    def spans(self) -> list[tuple[int, int, int]]:
        return every_span(self.counts, LIMIT)

    def types(self, corpus: int) -> range:
        """The types of a corpus."""
        before = sum(self.sizes[:corpus])
        return range(before, before + self.sizes[corpus])

    def classes(self, corpus: int) -> range:
        """The classes of a corpus, the first of which is no entity."""
        before = sum(size + 1 for size in self.sizes[:corpus])
        return range(before, before + self.sizes[corpus] + 1)

    def tags(self, corpus: int) -> list[int]:
        """The tags of a corpus: O, and two of each type."""
        return [0, *(tag for type_ in self.types(corpus) for tag in (1 + 2 * type_, 2 + 2 * type_))]

    def window(self, word: int) -> int:
        """The window of a packed word."""
        return next(n for n in range(len(self.counts)) if word < sum(self.counts[: n + 1]))


@st.composite
def scenes(draw: st.DrawFn, *, smallest: int = 0) -> Scene:
    sizes = draw(st.lists(st.integers(smallest, 3), min_size=2, max_size=4).filter(any))
    counts = draw(st.lists(st.integers(0, 5), min_size=1, max_size=4).filter(any))
    corpus = draw(st.lists(st.integers(0, len(sizes) - 1), min_size=len(counts), max_size=len(counts)))
    scene = Scene(tuple(sizes), tuple(counts), tuple(corpus), (), 0, 1.0)
    golds: list[tuple[int, int, int]] = []
    for window, first, last in scene.spans:
        own = scene.types(corpus[window])
        free = all(first > end for _, end, _ in golds)
        if own and free and draw(st.booleans()):
            golds.append((first, last, draw(st.sampled_from(own))))
    scale = draw(st.sampled_from((1.0, 100.0)))
    return replace(scene, golds=tuple(golds), seed=draw(st.integers(0, 10_000)), scale=scale)


class Inputs(NamedTuple):
    """What a part reads."""

    vectors: SpanVectors
    states: WordStates
    batch: Batch


def numbers(seed: int, *shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def batch_with(
    scene: Scene, golds: list[tuple[int, int, int]], counts: list[int], corpus: list[int]
) -> Batch:
    spans = every_span(counts, LIMIT)
    place = {(first, last): number for number, (_, first, last) in enumerate(spans)}
    window = {first: number for number, first, _ in spans}
    first, last, type_ = torch.tensor(golds, dtype=torch.long).reshape(-1, 3).unbind(1)
    windows = torch.tensor([window[word] for word in first.tolist()], dtype=torch.long)
    mentions = Mentions(windows, first, last, type_, *[torch.ones_like(first, dtype=torch.bool)] * 3)
    pairs = [(place[f, e], t) for f, e, t in golds]
    return batch_of(counts, spans, pairs, mentions=mentions, corpus=corpus, near=2)


def inputs(scene: Scene) -> Inputs:
    """All windows in one batch."""
    words, windows = sum(scene.counts), len(scene.counts)
    return Inputs(
        SpanVectors(numbers(1, len(scene.spans), WIDTH), numbers(2, windows, WIDTH), None, None),
        WordStates(numbers(3, words, WIDTH), numbers(4, words, WIDTH), numbers(5, windows, WIDTH)),
        batch_with(scene, list(scene.golds), list(scene.counts), list(scene.corpus)),
    )


def inputs_of(scene: Scene, corpus: int, *, alone: bool) -> Inputs:
    """The windows of one corpus in a batch; with `alone`, types are numbered as if it were the only one."""
    whole = inputs(scene)
    windows = [number for number, own in enumerate(scene.corpus) if own == corpus]
    words = [word for word in range(sum(scene.counts)) if scene.window(word) in windows]
    spans = torch.tensor([n for n, (window, _, _) in enumerate(scene.spans) if window in windows]).long()
    shift = scene.types(corpus).start if alone else 0
    golds = [
        (words.index(first), words.index(last), type_ - shift)
        for first, last, type_ in scene.golds
        if first in words
    ]
    counts = [scene.counts[window] for window in windows]
    number, index = 0 if alone else corpus, torch.tensor(words).long()
    return Inputs(
        SpanVectors(whole.vectors.spans[spans], whole.vectors.null[windows], None, None),
        WordStates(whole.states.start[index], whole.states.end[index], whole.states.anchor[windows]),
        batch_with(scene, golds, counts, [number] * len(windows)),
    )


def binder(sizes: tuple[int, ...], **changes: Any) -> BiEncoder:
    return BiEncoder(
        BiEncoderSettings(kind="bi-encoder", types="atomic", dropout=0.0, **changes),
        source=AtomicTypes(sum(sizes), WIDTH),
        sizes=sizes,
        state_width=WIDTH,
        vector_size=WIDTH,
    )


def softmax(sizes: tuple[int, ...], **changes: Any) -> Softmax:
    return Softmax(SoftmaxSettings(hidden=(4,), dropout=0.0, **changes), vector_size=WIDTH, sizes=sizes)


def sigmoid(sizes: tuple[int, ...], **changes: Any) -> Sigmoid:
    return Sigmoid(SigmoidSettings(kind="sigmoid", **changes), vector_size=WIDTH, sizes=sizes)


def tagger(sizes: tuple[int, ...], kind: Any) -> WordTagger:
    return WordTagger(TaggerSettings(kind=kind, dropout=0.0), state_width=WIDTH, sizes=sizes)


KINDS: dict[str, Any] = {
    "softmax": softmax,
    "softmax, mean over spans": lambda sizes: softmax(sizes, reduction="spans"),
    "softmax with smoothing": lambda sizes: softmax(sizes, smoothing=0.3, smoothing_distance=2),
    "sigmoid": sigmoid,
    "sigmoid, mean over spans": lambda sizes: sigmoid(sizes, reduction="spans"),
    "bi-encoder": binder,
    "bi-encoder, joint": lambda sizes: binder(sizes, joint=True),
    "bi-encoder, learned thresholds": lambda sizes: binder(sizes, threshold="learned"),
    "tagger": lambda sizes: tagger(sizes, "softmax"),
    "tagger of paths": lambda sizes: tagger(sizes, "crf"),
}


def whole_part(kind: str, scene: Scene) -> nn.Module:
    """A part for all corpora, with random weights."""
    made: nn.Module = KINDS[kind](scene.sizes)
    generator = torch.Generator().manual_seed(scene.seed)
    with torch.no_grad():
        for name, parameter in made.named_parameters():
            # Scaled cosines are large as they are.
            scale = scene.scale if "log_scale" not in name else 1.0
            parameter.copy_(torch.randn(parameter.shape, generator=generator) * scale)
    return made


def rows_of(kind: str, scene: Scene, corpus: int) -> Tensor:
    """Of the weights that all corpora have apart, the rows of one."""
    if kind.startswith("tagger"):
        return torch.tensor(scene.tags(corpus))
    own = scene.classes(corpus) if kind.startswith("softmax") else scene.types(corpus)
    return torch.tensor(own).long()


def part_alone(kind: str, scene: Scene, corpus: int, whole: nn.Module) -> nn.Module:
    """The part that there would be without the other corpora."""
    made: nn.Module = KINDS[kind]((scene.sizes[corpus],))
    rows, weights = rows_of(kind, scene, corpus), whole.state_dict()
    for name, wanted in made.state_dict().items():
        for dimension, size in enumerate(wanted.shape):
            if weights[name].shape[dimension] != size:
                weights[name] = weights[name].index_select(dimension, rows)
    made.load_state_dict(weights)
    return made


def answer(part: Any, given_: Inputs) -> Any:
    vectors, states, batch = given_
    scores = part(states) if isinstance(part, WordTagger) else part(vectors, states, batch)
    return part.predict(scores, batch)


def loss(part: Any, given_: Inputs) -> Tensor:
    """The sum of the loss terms."""
    vectors, states, batch = given_
    if isinstance(part, WordTagger):
        return part.loss(part(states), batch)
    return torch.stack(list(part.losses(part(vectors, states, batch), batch).values())).sum()


def triples(found: Any) -> dict[tuple[int, int, int], float]:
    """The confidence of each prediction by first word, last word and type."""
    columns = (found.first, found.last, found.type, found.confidence)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return {(first, last, type_): confidence for first, last, type_, confidence in rows}


# Each corpus as if there were no other.


@pytest.mark.parametrize("kind", KINDS)
@QUICK
@given(scene=scenes())
def test_in_a_mixed_batch_every_corpus_is_answered_as_if_it_were_alone(kind: str, scene: Scene) -> None:
    whole = whole_part(kind, scene).eval()
    expected: dict[tuple[int, int, int], float] = {}
    for corpus in range(len(scene.sizes)):
        if corpus in scene.corpus and scene.sizes[corpus]:
            alone = part_alone(kind, scene, corpus, whole).eval()
            words = [n for n in range(sum(scene.counts)) if scene.corpus[scene.window(n)] == corpus]
            shift = scene.types(corpus).start
            found = triples(answer(alone, inputs_of(scene, corpus, alone=True)))
            expected |= {(words[f], words[e], t + shift): value for (f, e, t), value in found.items()}
    found = triples(answer(whole, inputs(scene)))
    assert found == {key: pytest.approx(value, rel=1e-3, abs=1e-5) for key, value in expected.items()}
    for first, _, type_ in found:
        assert type_ in scene.types(scene.corpus[scene.window(first)])


@pytest.mark.parametrize("kind", KINDS)
@QUICK
@given(scene=scenes(smallest=1))
def test_a_corpus_is_learnt_as_if_it_were_alone(kind: str, scene: Scene) -> None:
    corpus = scene.corpus[0]
    whole = whole_part(kind, scene)
    found = loss(whole, inputs_of(scene, corpus, alone=False))
    expected = loss(part_alone(kind, scene, corpus, whole), inputs_of(scene, corpus, alone=True))
    torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("kind", KINDS)
@QUICK
@given(scene=scenes(smallest=1))
def test_what_belongs_to_other_corpora_gets_no_gradient_at_all(kind: str, scene: Scene) -> None:
    corpus = scene.corpus[0]
    whole = whole_part(kind, scene)
    loss(whole, inputs_of(scene, corpus, alone=False)).backward()
    alone = part_alone(kind, scene, corpus, whole).state_dict()
    rows = set(rows_of(kind, scene, corpus).tolist())
    for name, parameter in whole.named_parameters():
        assert parameter.grad is None or bool(parameter.grad.isfinite().all())
        for dimension, size in enumerate(parameter.shape):
            foreign = sorted(set(range(size)) - rows)
            if parameter.grad is not None and size != alone[name].shape[dimension]:
                assert not parameter.grad.index_select(dimension, torch.tensor(foreign)).any(), name


@pytest.mark.parametrize("kind", KINDS)
@QUICK
@given(scene=scenes())
def test_a_corpus_without_types_costs_a_finite_loss(kind: str, scene: Scene) -> None:
    scene = replace(scene, sizes=(*scene.sizes, 0), corpus=(len(scene.sizes),) * len(scene.corpus), golds=())
    whole = whole_part(kind, scene)
    found = loss(whole, inputs(scene))
    found.backward()
    assert bool(found.isfinite())
    gradients = [parameter.grad for parameter in whole.parameters() if parameter.grad is not None]
    assert gradients and all(bool(gradient.isfinite().all()) for gradient in gradients)


# Probabilities.


@SOME
@given(scene=scenes())
def test_foreign_classes_have_a_probability_of_exactly_0_and_the_own_sum_up_to_1(scene: Scene) -> None:
    part, given_ = whole_part("softmax", scene), inputs(scene)
    probabilities = part(*given_).softmax(1)
    for row, (window, _, _) in zip(probabilities.tolist(), scene.spans, strict=True):
        own = scene.classes(scene.corpus[window])
        assert [value for class_, value in enumerate(row) if class_ not in own] == [0.0] * (
            len(row) - len(own)
        )
        assert sum(row) == pytest.approx(1)


@pytest.mark.parametrize("kind", ["tagger", "tagger of paths"])
@QUICK
@given(scene=scenes())
def test_foreign_tags_have_a_probability_of_exactly_0(kind: str, scene: Scene) -> None:
    part, (_, states, batch) = whole_part(kind, scene), inputs(scene)
    assert isinstance(part, WordTagger)
    emissions, mask = part.masked(part(states), batch), word_mask(batch.word_counts)
    if kind == "tagger":
        probabilities = emissions.softmax(1)
    else:
        padded = pad(emissions, mask).detach().numpy()
        probabilities = torch.from_numpy(marginals(padded, mask.numpy(), part.rule.weights))[mask]
    for word, row in enumerate(probabilities.tolist()):
        own = scene.tags(scene.corpus[scene.window(word)])
        assert [value for tag, value in enumerate(row) if tag not in own] == [0.0] * (len(row) - len(own))
        assert sum(row) == pytest.approx(1, abs=1e-4)


@SOME
@given(scene=scenes(), smoothing=st.floats(0.01, 0.9), distance=st.integers(1, 3))
def test_smoothed_targets_sum_up_to_1_and_leave_foreign_classes_alone(
    scene: Scene, smoothing: float, distance: int
) -> None:
    batch = inputs(scene).batch
    targets = smoothed_targets(with_neighbours(batch, distance), Classes(scene.sizes), smoothing=smoothing)
    assert targets.shape == (len(scene.spans), len(Classes(scene.sizes)))
    torch.testing.assert_close(targets.sum(1), torch.ones(len(targets)))
    assert not targets[Classes(scene.sizes).foreign[batch.corpus_of_span]].any()


# Layout.


@given(types=st.integers(1, 6))
def test_with_one_corpus_no_entity_comes_first_and_type_t_at_t_plus_1(types: int) -> None:
    classes = Classes((types,))
    assert len(classes) == types + 1
    assert not classes.several
    assert classes.none.tolist() == [0]
    assert classes.of_type.tolist() == list(range(1, types + 1))
    assert classes.type_of.tolist() == list(range(-1, types))
    assert not classes.foreign.any()


@SOME
@given(scene=scenes())
def test_classes_stand_corpus_after_corpus_with_no_entity_before_the_types(scene: Scene) -> None:
    layout: list[tuple[int, int | None]] = []
    for corpus in range(len(scene.sizes)):
        layout += [(corpus, None), *((corpus, type_) for type_ in scene.types(corpus))]
    classes = Classes(scene.sizes)
    assert classes.several and len(classes) == len(layout)
    assert classes.none.tolist() == [place for place, (_, type_) in enumerate(layout) if type_ is None]
    assert classes.of_type.tolist() == [place for place, (_, type_) in enumerate(layout) if type_ is not None]
    assert classes.type_of.tolist() == [-1 if type_ is None else type_ for _, type_ in layout]
    for corpus, row in enumerate(classes.foreign.tolist()):
        assert row == [own != corpus for own, _ in layout]


@SOME
@given(scene=scenes())
def test_targets_are_the_class_of_the_gold_or_no_entity_in_the_corpus_of_the_span(scene: Scene) -> None:
    golds = {(first, last): type_ for first, last, type_ in scene.golds}
    expected = []
    for window, first, last in scene.spans:
        corpus = scene.corpus[window]
        classes, types = scene.classes(corpus), scene.types(corpus)
        type_ = golds.get((first, last))
        expected.append(classes[0] if type_ is None else classes[1 + types.index(type_)])
    classes, batch = Classes(scene.sizes), inputs(scene).batch
    assert classes.targets(batch).tolist() == expected
    assert classes.none_of_spans(batch).tolist() == [
        scene.classes(scene.corpus[window])[0] for window, _, _ in scene.spans
    ]


def test_of_several_types_on_one_span_the_last_gold_is_the_target() -> None:
    batch = batch_of([1], [(0, 0, 0)], [(0, 1), (0, 2), (0, 1)], corpus=[1])
    assert Classes((1, 2)).targets(batch).tolist() == [3]


def test_with_one_corpus_logits_are_left_as_they_are_whatever_corpus_a_window_says() -> None:
    """Where all corpora have the same types, windows still tell which corpus they are from."""
    logits, batch = numbers(0, 2, 3), batch_of([2], [(0, 0, 0), (0, 1, 1)], corpus=[4])
    classes = Classes((2,))
    assert classes.masked(logits, batch) is logits
    assert classes.targets(batch).tolist() == classes.none_of_spans(batch).tolist() == [0, 0]
    assert OwnTypes((2,)).of_windows(batch) is None


@SOME
@given(scene=scenes())
def test_own_types_are_those_of_the_corpus_of_each_window(scene: Scene) -> None:
    found = OwnTypes(scene.sizes).of_windows(inputs(scene).batch)
    assert found is not None
    for corpus, row in zip(scene.corpus, found.tolist(), strict=True):
        assert row == [type_ in scene.types(corpus) for type_ in range(sum(scene.sizes))]


@pytest.mark.parametrize("part", [Classes((2, 1)), OwnTypes((2, 1))], ids=["classes", "own types"])
def test_the_layout_moves_with_a_model_but_is_not_saved_with_it(part: nn.Module) -> None:
    assert part.state_dict() == {}
    assert {buffer.device.type for buffer in part.to("meta").buffers()} == {"meta"}
