"""Boundary smoothing reproduces the golden targets and losses."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch
from torch import Tensor

from batching import batch_of, with_neighbours
from golden.golden_arrays import Arrays, assert_near, load_arrays
from spanwright.parts.batch import Batch, Mentions
from spanwright.parts.spans.classes import Classes
from spanwright.parts.spans.scorers.softmax import Softmax, smoothed_targets
from spanwright.settings.scorers import SoftmaxSettings


@dataclass(frozen=True)
class Stored:
    """What the name of targets or losses says."""

    name: str
    epsilon: float
    distance: int
    limit: int | None
    """Words of the widest spans; None for all."""


@pytest.fixture(scope="module")
def arrays(golden: Path) -> Arrays:
    return load_arrays(golden / "boundary_smoothing.npz")


def stored(arrays: Arrays, kind: str, of: str) -> list[Stored]:
    """The targets or losses of a file, under the names that they have before those of their sentences."""
    pattern = re.compile(rf"({kind}_eps([\d.]+)_D(\d+)(?:_maxsize(\d+))?)_{of}")
    matches = list(filter(None, map(pattern.fullmatch, arrays)))
    assert matches
    return [
        Stored(match[1], float(match[2]), int(match[3]), int(match[4]) if match[4] else None)
        for match in matches
    ]


def batch(arrays: Arrays, sentences: range, limit: int | None) -> Batch:
    """Some sentences, each a window, with all spans up to a width."""
    lengths = arrays["sentence_length"][list(sentences)].tolist()
    offsets = [sum(lengths[:window]) for window in range(len(lengths))]
    spans = [
        (window, offset + first, offset + last)
        for window, (length, offset) in enumerate(zip(lengths, offsets, strict=True))
        for first in range(length)
        for last in range(first, length if limit is None else min(first + limit, length))
    ]
    golds = [
        (sentence - sentences.start, offsets[sentence - sentences.start], class_ - 1, first, end - 1)
        for sentence, class_, first, end in arrays["gold"].tolist()
        if sentence in sentences
    ]
    window, offset, type_, first, last = torch.tensor(golds, dtype=torch.long).reshape(-1, 5).unbind(1)
    whole = torch.ones_like(window, dtype=torch.bool)
    mentions = Mentions(window, offset + first, offset + last, type_, whole, whole, whole)
    return batch_of(lengths, spans, mentions=mentions)


def on_grid(arrays: Arrays, name: str, sentences: range, given: Batch) -> Tensor:
    """(spans, classes): what arrays (n, n, classes), one for each sentence, hold for the candidates."""
    rows = []
    offsets = (given.word_counts.cumsum(0) - given.word_counts)[given.spans.window]
    for window, sentence in enumerate(sentences):
        own = given.spans.window == window
        first, last = (given.spans.first - offsets)[own], (given.spans.last - offsets)[own]
        rows.append(arrays[name.format(sentence)][first, last])
    return torch.cat(rows)


def test_targets_of_all_spans(arrays: Arrays) -> None:
    sentences = range(len(arrays["sentence_length"]))
    given = batch(arrays, sentences, None)
    classes = Classes((int(arrays["num_classes"]) - 1,))
    for each in stored(arrays, "target", "sentence0"):
        near = with_neighbours(given, each.distance)
        found = smoothed_targets(near, classes, smoothing=each.epsilon)
        expected = on_grid(arrays, f"{each.name}_sentence{{}}", sentences, given)
        assert found.shape == expected.shape
        assert (found - expected).abs().max() <= 1e-6


def loss(arrays: Arrays, sentences: range, case: Stored) -> Tensor:
    given = with_neighbours(batch(arrays, sentences, case.limit), case.distance)
    types = int(arrays["num_classes"]) - 1
    settings = SoftmaxSettings(smoothing=case.epsilon, smoothing_distance=case.distance)
    logits = on_grid(arrays, "logits_sentence{}", sentences, given)
    return Softmax(settings, vector_size=1, sizes=(types,)).losses(logits, given)["spans"]


def test_losses_of_sentences(arrays: Arrays) -> None:
    sentences = range(len(arrays["sentence_length"]))
    for case in stored(arrays, "loss", "per_sentence"):
        ones = [loss(arrays, range(sentence, sentence + 1), case) for sentence in sentences]
        assert_near(torch.stack(ones), arrays[f"{case.name}_per_sentence"])


def test_mean_losses_of_batches(arrays: Arrays) -> None:
    sentences = range(len(arrays["sentence_length"]))
    for case in stored(arrays, "loss", "batch"):
        assert_near(loss(arrays, sentences, case), arrays[f"{case.name}_batch"])
