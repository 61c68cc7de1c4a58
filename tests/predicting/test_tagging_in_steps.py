"""Tagging in steps: the same answer as at once, in steps of bounded work, between which callers may stop."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tiny
from spanwright.batches import prepare as preparing
from spanwright.batches.batch import Batch
from spanwright.batches.steps import finished
from spanwright.decoding import spans as decoding
from spanwright.decoding.spans import decode
from spanwright.parts.spans.predictions import Predictions
from spanwright.predicting import tagger as module
from spanwright.predicting.tagger import Tagger
from spanwright.text import Document, Entity, words

RULES = ("nested", "flat", "non-crossing")
RANKS = (0.25, 0.5, 0.75, 1.0)
WORDS = st.sampled_from(["p53", "cells", "a", "Of", ".", "\n", "2.5", "x" * 70, "\u200b", "😀", "一二"])
TEXTS = st.lists(WORDS, max_size=120).map(" ".join)


def answered(batch: Batch) -> Predictions:
    """Predictions that depend on nothing but where a span is, with plenty of ties: no batch changes them."""
    spans = batch.spans
    offset = batch.word_offset[spans.window]
    first, last = spans.first + offset, spans.last + offset
    mixed = (first * 7919 + last * 104729 + batch.document[spans.window] * 31) % 1009
    taken = torch.as_tensor(mixed % 3 == 0).nonzero().squeeze(1)
    chosen = torch.as_tensor(mixed)[taken]
    rank = torch.tensor(RANKS)[chosen % len(RANKS)]
    columns = (torch.as_tensor(column)[taken] for column in (spans.window, spans.first, spans.last))
    return Predictions(*columns, type=chosen % 2, confidence=rank, rank=rank)


def tagger_with(rule: str, context: str) -> Tagger:
    windows = {"pieces": 32, "overlap": 5, "context": context}
    model = tiny.model(decoding=rule, windows=windows)
    model.network.predict = answered
    return Tagger(model)


TAGGERS = {
    (rule, context): tagger_with(rule, context) for rule in RULES for context in ("sentence", "document")
}


def at_once(tagger: Tagger, document: Document) -> tuple[Entity, ...]:
    """All windows, then all predictions, then one decoding: what tagging in steps must equal."""
    prepared = tagger.prepare([document])
    parts = [tagger.placed(tagger.model.predict(batch), batch) for batch in tagger.batches(prepared)]
    if not parts:
        return ()
    _, first, last, type_, confidence, rank = (np.concatenate(column) for column in zip(*parts, strict=True))
    ranges = words(document)
    return tuple(
        Entity(
            ranges[first[place]][0],
            ranges[last[place]][1],
            tagger.model.labels.types[type_[place]],
            confidence=float(confidence[place]),
        )
        for place in decode(first, last, type_, rank, tagger.model.decoding)
    )


@pytest.fixture
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preparing, "_STEP_WORDS", 7)
    monkeypatch.setattr(module, "_SORTED_WINDOWS", 3)
    tiny.set_load(monkeypatch, windows=2)
    monkeypatch.setattr(decoding, "_RUN", 4)
    monkeypatch.setattr(decoding, "_LOOKED_AT", 3)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.parametrize(("rule", "context"), TAGGERS)
@given(text=TEXTS)
def test_a_text_in_steps_has_the_entities_of_the_text_at_once(
    small_steps: None, rule: str, context: str, text: str
) -> None:
    tagger, document = TAGGERS[rule, context], Document("d", text)
    with pytest.MonkeyPatch.context() as whole:
        for place, name in (
            (preparing, "_STEP_WORDS"),
            (module, "_SORTED_WINDOWS"),
        ):
            whole.setattr(place, name, 10**6)
        tiny.set_load(whole, windows=10**6)
        expected = at_once(tagger, document)
    (found,) = finished(tagger.tag_in_steps([document]))
    assert found.entities == expected


def test_a_long_text_has_steps_of_one_batch_each(small_steps: None) -> None:
    sizes: list[int] = []
    tagger = tagger_with("nested", "document")

    def watched(batch: Batch) -> Predictions:
        sizes.append(len(batch.word_counts))
        return answered(batch)

    tagger.model.network.predict = watched
    steps = tagger.tag_in_steps([Document("d", "p53 in cells " * 100)])
    before = 0
    for _ in steps:
        assert len(sizes) - before <= 1
        before = len(sizes)
    assert max(sizes) == 2 and len(sizes) > 10


def test_whoever_stops_between_two_steps_pays_for_no_more(small_steps: None) -> None:
    tagger = tagger_with("nested", "document")
    calls: list[Batch] = []
    tagger.model.network.predict = lambda batch: calls.append(batch) or answered(batch)  # type: ignore[func-returns-value]
    steps = tagger.tag_in_steps([Document("d", "p53 in cells " * 100)])
    while len(calls) < 3:
        next(steps)
    steps.close()
    assert len(calls) == 3
    assert next(steps, "nothing") == "nothing"


def test_windows_and_batches_are_made_when_they_are_needed(
    small_steps: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[int] = []
    cut = module.windows_of

    def watched(*arguments: Any) -> Iterator[Any]:
        for window in cut(*arguments):
            made.append(window.first)
            yield window

    monkeypatch.setattr(module, "windows_of", watched)
    tagger = tagger_with("nested", "document")
    batches = tagger.batches(tagger.prepare([Document("d", "p53 in cells " * 100)]))
    next(batches)
    assert len(made) == 3
    assert made_by(batches) > 10


def made_by(batches: Iterator[Batch]) -> int:
    return sum(1 for _ in batches)


def test_several_documents_in_steps_are_those_of_tagging_each() -> None:
    tagger = Tagger(tiny.model(decoding="flat"))
    texts = ["p53 in cells", "", "beta cells of mice", "p53"]
    documents: Sequence[Document] = [Document(str(number), text) for number, text in enumerate(texts)]
    found = finished(tagger.tag_in_steps(documents))
    assert [each.id for each in found] == ["0", "1", "2", "3"]
    assert any(each.entities for each in found)
    for document, each in zip(documents, found, strict=True):
        alone = tagger.tag(document).entities
        assert [entity.key for entity in each.entities] == [entity.key for entity in alone]
