"""Boundary smoothing reproduces the golden targets and losses."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import Tensor

from batching import batch_of
from golden.golden_arrays import Arrays, load_arrays
from spanwright.batches.batch import Batch, Mentions
from spanwright.parts.classes import Classes
from spanwright.parts.scorers.smoothing import smoothed_targets
from spanwright.parts.scorers.softmax import Softmax, SoftmaxSettings

CASES = [(epsilon, distance) for epsilon in (0.1, 0.2) for distance in (1, 2)]


@pytest.fixture(scope="module")
def arrays(golden: Path) -> Arrays:
    return load_arrays(golden / "boundary_smoothing.npz")


def batch(arrays: Arrays, sentences: range, limit: int) -> Batch:
    """Some sentences, each a window, with all spans up to a width."""
    lengths = arrays["sentence_length"][list(sentences)].tolist()
    offsets = [sum(lengths[:window]) for window in range(len(lengths))]
    spans = [
        (window, offset + first, offset + last)
        for window, (length, offset) in enumerate(zip(lengths, offsets, strict=True))
        for first in range(length)
        for last in range(first, min(first + limit, length))
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


@pytest.mark.parametrize(("epsilon", "distance"), CASES)
def test_targets_of_all_spans(arrays: Arrays, epsilon: float, distance: int) -> None:
    sentences = range(len(arrays["sentence_length"]))
    given = batch(arrays, sentences, 100)
    classes = int(arrays["num_classes"])
    found = smoothed_targets(given, Classes((classes - 1,)), smoothing=epsilon, distance=distance)
    expected = on_grid(arrays, f"target_eps{epsilon}_D{distance}_sentence{{}}", sentences, given)
    assert found.shape == expected.shape
    assert (found - expected).abs().max() <= 1e-6


def loss(arrays: Arrays, sentences: range, limit: int, epsilon: float, distance: int) -> Tensor:
    given, types = batch(arrays, sentences, limit), int(arrays["num_classes"]) - 1
    settings = SoftmaxSettings(smoothing=epsilon, smoothing_distance=distance)
    logits = on_grid(arrays, "logits_sentence{}", sentences, given)
    return Softmax(settings, vector_size=1, sizes=(types,)).losses(logits, given)["spans"]


@pytest.mark.parametrize(("name", "limit"), [("", 100), ("_maxsize3", 3)], ids=["all", "three words"])
@pytest.mark.parametrize(("epsilon", "distance"), CASES)
def test_losses_of_sentences_and_their_mean(
    arrays: Arrays, epsilon: float, distance: int, name: str, limit: int
) -> None:
    expected = f"loss_eps{epsilon}_D{distance}{name}"
    every = range(len(arrays["sentence_length"]))
    ones = [loss(arrays, range(sentence, sentence + 1), limit, epsilon, distance) for sentence in every]
    torch.testing.assert_close(torch.stack(ones), arrays[f"{expected}_per_sentence"], rtol=2e-5, atol=2e-5)
    whole = loss(arrays, every, limit, epsilon, distance)
    torch.testing.assert_close(whole, arrays[f"{expected}_batch"], rtol=2e-5, atol=2e-5)
