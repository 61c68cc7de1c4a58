"""What a runtime changes: how far its scores are from torch's, how fast it is, and what it finds."""

from __future__ import annotations

import itertools
import random
import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from spanwright.evaluation import evaluate
from spanwright.model_files.digests import WEIGHTS
from spanwright.model_files.folders import model_folder
from spanwright.parts.batch import Batch, to_tensors
from spanwright.parts.model import SpanModel
from spanwright.predicting.onnx.files import RUNTIMES, Runtime, file_name
from spanwright.predicting.onnx.graphs import graph_names
from spanwright.predicting.tagger import Tagger, load
from spanwright.text import Document, words

_MOST_WINDOWS = 6
_MOST_WORDS = 60
_ROUNDS = 3
"""How often runtimes take turns on all documents."""


@dataclass(frozen=True, slots=True)
class RuntimeFigures:
    """One runtime beside torch, on the same machine at the same time."""

    runtime: Runtime
    difference: float
    """The largest difference of a score from torch's, over random texts."""
    words_per_second: float
    speed: float
    """Words per second divided by those of torch."""
    size: int
    """Bytes of the files with weights."""
    same: float
    """F1 of the entities that it finds against those that torch finds."""
    f1: float | None
    """F1 against gold entities, where there are any."""


def compare_runtimes(
    folder: str | Path, documents: Sequence[Document] | None = None, *, shapes: int = 20
) -> list[RuntimeFigures]:
    """Compare the runtimes that a model has graphs for, on gold documents or else on random texts."""
    folder = model_folder(folder)
    torch_ = load(folder, "torch")
    taggers: dict[Runtime, Tagger] = {"torch": torch_}
    for runtime in RUNTIMES[1:]:
        graphs = [folder / file_name(name, runtime) for name in graph_names(torch_.model.network)]
        if all(graph.exists() for graph in graphs):
            taggers[runtime] = load(folder, runtime)
    batches = list(random_batches(torch_, shapes))
    texts = list(documents) if documents is not None else random_documents(torch_, 48, seed=shapes)
    found, seconds = tag_in_turns(taggers, texts)
    count = sum(len(words(document)) for document in texts)
    return [
        RuntimeFigures(
            runtime=runtime,
            difference=score_difference(torch_, tagger, batches),
            words_per_second=count / statistics.median(taken[runtime] for taken in seconds),
            # Of each round, as what slows the machine for a while then slows both.
            speed=statistics.median(taken["torch"] / taken[runtime] for taken in seconds),
            size=runtime_size(folder, runtime, torch_.model.network),
            same=evaluate(found["torch"], found[runtime]).micro.f1,
            f1=evaluate(documents, found[runtime]).micro.f1 if documents is not None else None,
        )
        for runtime, tagger in taggers.items()
    ]


def tag_in_turns(
    taggers: Mapping[Runtime, Tagger], documents: Sequence[Document], rounds: int = _ROUNDS
) -> tuple[dict[Runtime, list[Document]], list[dict[Runtime, float]]]:
    """What each tagger finds, and the seconds that each took in every round.

    In a round every tagger has all documents at once, as a stream would bring them: in parts, windows of
    one length would be fewer, and batches smaller.
    """
    found: dict[Runtime, list[Document]] = {}
    seconds: list[dict[Runtime, float]] = []
    for tagger in taggers.values():
        list(tagger.tag(documents[:1]))
    for _ in range(rounds):
        taken: dict[Runtime, float] = {}
        for runtime, tagger in taggers.items():
            started = time.perf_counter()
            found[runtime] = list(tagger.tag(documents))
            taken[runtime] = time.perf_counter() - started
        seconds.append(taken)
    return found, seconds


@torch.inference_mode()
def score_difference(one: Tagger, other: Tagger, batches: Sequence[Batch]) -> float:
    """The largest difference between the scores of two taggers."""
    largest = 0.0
    for batch in batches:
        pairs = zip(scores(one.model.network, batch), scores(other.model.network, batch), strict=True)
        largest = max([largest, *(_largest(left - right) for left, right in pairs)])
    return largest


def scores(network: SpanModel, batch: Batch) -> list[Tensor]:
    """All numbers from which a network makes its answers, of all candidates, whether pruned or not."""
    states = network.encoder(batch)
    head = network.tagger if network.output == "tags" else network.spans
    assert head is not None  # build() sees to it
    return list(_tensors(head(states) if network.output == "tags" else head(states, batch)))


def random_batches(tagger: Tagger, count: int) -> Iterator[Batch]:
    """Batches of so many shapes drawn at random, from a window of a word to several of many words."""
    seen: set[tuple[int, ...]] = set()
    for seed in itertools.count():
        if len(seen) == count:
            return
        documents = random_documents(tagger, random.Random(seed).randint(1, _MOST_WINDOWS), seed=seed)
        batch = next(tagger.batches(tagger.prepare(documents)))
        if batch.piece_ids.shape not in seen:
            seen.add(batch.piece_ids.shape)
            yield to_tensors(batch, tagger.model.network.device)


def random_documents(tagger: Tagger, count: int, *, seed: int, size: int | None = None) -> list[Document]:
    """Documents of 1 to 60 words of the vocabulary, or of so many, without meaning."""
    generator = random.Random(seed)
    known = sorted(filter(str.isalpha, tagger.model.pieces.tokenizer.get_vocab())) or ["a"]
    most = generator.randint(1, _MOST_WORDS)
    sizes = [size or generator.randint(1, most) for _ in range(count)]
    texts = (" ".join(generator.choices(known, k=each)) for each in sizes)
    return [Document(f"random-{number}", text) for number, text in enumerate(texts)]


def _tensors(found: Any) -> Iterator[Tensor]:
    """The tensors of whatever a scorer makes."""
    if isinstance(found, Tensor):
        yield found
    elif is_dataclass(found):
        for entry in fields(found):
            yield from _tensors(getattr(found, entry.name))
    elif isinstance(found, list | tuple):
        for item in found:
            yield from _tensors(item)


def _largest(difference: Tensor) -> float:
    # Scores that mean "never" are minus infinity on both sides, whose difference is no number.
    return float(difference.abs().nan_to_num(nan=0.0).max()) if difference.numel() else 0.0


def runtime_size(folder: Path, runtime: Runtime, network: SpanModel) -> int:
    """Bytes of the files of a model directory whose weights a runtime uses for the network's costly parts."""
    names = [file_name(name, runtime) for name in graph_names(network)]
    chosen = [WEIGHTS] if runtime == "torch" else names
    return sum((folder / name).stat().st_size for name in chosen)
