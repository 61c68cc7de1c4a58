"""What a runtime changes: how far its scores are from torch's, how fast it is, and what it finds."""

from __future__ import annotations

import itertools
import random
import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from spanwright.batches.batch import Array, Batch
from spanwright.batches.predictions import Predictions
from spanwright.evaluation import evaluate
from spanwright.model_files.digests import WEIGHTS
from spanwright.model_files.folders import model_folder
from spanwright.predicting.onnx.files import ENCODER, HEAD, RUNTIMES, TYPES, Runtime, file_name, graph_file
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
    """The largest difference of a confidence from torch's, over what both find in random texts."""
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
        if (folder / file_name(ENCODER, runtime)).exists():
            taggers[runtime] = load(folder, runtime)
    batches = list(random_batches(torch_, shapes))
    texts = list(documents) if documents is not None else random_documents(torch_, 48, seed=shapes)
    found, seconds = tag_in_turns(taggers, texts)
    count = sum(len(words(document)) for document in texts)
    return [
        RuntimeFigures(
            runtime=runtime,
            difference=confidence_difference(torch_, tagger, batches),
            words_per_second=count / statistics.median(taken[runtime] for taken in seconds),
            # Of each round, as what slows the machine for a while then slows both.
            speed=statistics.median(taken["torch"] / taken[runtime] for taken in seconds),
            size=runtime_size(folder, runtime),
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


def confidence_difference(one: Tagger, other: Tagger, batches: Sequence[Batch[Array]]) -> float:
    """The largest difference between the confidences of what two taggers find."""
    largest = 0.0
    for batch in batches:
        left, right = (_by_span(tagger.model.predict(batch)) for tagger in (one, other))
        largest = max([largest, *(abs(left[span] - right[span]) for span in left.keys() & right.keys())])
    return largest


def _by_span(found: Predictions[Array]) -> dict[tuple[int, ...], float]:
    """Confidences by window, first word, last word and type, before calibration."""
    *span, confidence, _ = (column.tolist() for column in found.columns)
    return dict(zip(zip(*span, strict=True), confidence, strict=True))


def random_batches(tagger: Tagger, count: int) -> Iterator[Batch[Array]]:
    """Batches of so many shapes drawn at random, from a window of a word to several of many words."""
    seen: set[tuple[int, ...]] = set()
    for seed in itertools.count():
        if len(seen) == count:
            return
        documents = random_documents(tagger, random.Random(seed).randint(1, _MOST_WINDOWS), seed=seed)
        batch = next(tagger.batches(tagger.prepare(documents)))
        if batch.piece_ids.shape not in seen:
            seen.add(batch.piece_ids.shape)
            yield batch


def random_documents(tagger: Tagger, count: int, *, seed: int, size: int | None = None) -> list[Document]:
    """Documents of 1 to 60 words of the vocabulary, or of so many, without meaning."""
    generator = random.Random(seed)
    known = sorted(filter(str.isalpha, tagger.model.pieces.tokenizer.get_vocab())) or ["a"]
    most = generator.randint(1, _MOST_WORDS)
    sizes = [size or generator.randint(1, most) for _ in range(count)]
    texts = (" ".join(generator.choices(known, k=each)) for each in sizes)
    return [Document(f"random-{number}", text) for number, text in enumerate(texts)]


def runtime_size(folder: Path, runtime: Runtime) -> int:
    """Bytes of the files of a model directory whose weights a runtime uses."""
    graphs = {graph_file(folder, part, runtime) for part in (ENCODER, HEAD, TYPES)}
    chosen = {WEIGHTS} if runtime == "torch" else graphs
    return sum((folder / name).stat().st_size for name in chosen if (folder / name).exists())
