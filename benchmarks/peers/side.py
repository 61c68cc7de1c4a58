"""One side of a comparison of tagging speed: a process that tags the same sentences whenever it is told to.

A side says that it is ready, and then reads commands from its standard input: `run 100` tags the first
hundred sentences once, from words to entities. Every answer is one line of JSON. Nothing but the standard
library and torch is needed here, since sides run in the environments of the peers.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, TextIO

Sentences = Sequence[Sequence[str]]
Tag = Callable[[Sentences], int]
"""Tags sentences, which are lists of words, and tells how many entities it found."""
Start = Callable[[argparse.Namespace, "Corpus"], Tag]

_SETTLING_SENTENCES = 48
_SETTLING_STEPS = 12


@dataclass(frozen=True, slots=True)
class Corpus:
    """The sentences of a column file, and how many entities are annotated in each."""

    sentences: list[list[str]]
    entities: list[int]


def parser(description: str | None) -> argparse.ArgumentParser:
    """The arguments that all sides have."""
    made = argparse.ArgumentParser(description=description, formatter_class=argparse.RawTextHelpFormatter)
    made.add_argument("--corpora", type=Path, required=True, help="folder with ncbi_disease/iob/test.tsv")
    made.add_argument("--encoder", required=True, help="folder of the encoder that every side is built on")
    return made


def serve(arguments: argparse.ArgumentParser, start: Start, packages: Sequence[str]) -> None:
    """Make the tagger of a side and answer commands until there are no more."""
    answers = _output_of_its_own()
    parsed = arguments.parse_args()
    corpus = read(parsed.corpora / "ncbi_disease" / "iob" / "test.tsv")
    tag = start(parsed, corpus)
    _answer(answers, {"sentences": len(corpus.sentences), "threads": _threads(), **_versions(packages)})
    for line in sys.stdin:
        sentences = corpus.sentences[: int(line.removeprefix("run "))]
        started = time.perf_counter()
        entities = tag(sentences)
        seconds = time.perf_counter() - started
        _answer(answers, {"seconds": seconds, "words": sum(map(len, sentences)), "entities": entities})


def read(path: Path) -> Corpus:
    """Read a column file with a word and its IOB2 tag on each line and an empty line behind each sentence."""
    blocks = path.read_text(encoding="utf-8").strip("\n").split("\n\n")
    rows = [[line.split("\t") for line in block.splitlines()] for block in blocks]
    return Corpus(
        sentences=[[row[0] for row in sentence] for sentence in rows],
        entities=[sum(row[-1].startswith("B") for row in sentence) for sentence in rows],
    )


def settle(tag_at: Callable[[float, Sentences], int], corpus: Corpus, low: float, high: float) -> float:
    """The bias or threshold at which an untrained head finds about as many entities as are annotated.

    The more of it, the fewer entities there must be. Some sentences of all parts of the corpus are tried.
    """
    step = len(corpus.sentences) // _SETTLING_SENTENCES
    sentences, wanted = corpus.sentences[::step], sum(corpus.entities[::step])
    for _ in range(_SETTLING_STEPS):
        middle = (low + high) / 2
        if tag_at(middle, sentences) > wanted:
            low = middle
        else:
            high = middle
    return high


def _output_of_its_own() -> TextIO:
    """The standard output for answers alone: what libraries print goes to the standard error."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    return answers


def _answer(answers: TextIO, content: dict[str, Any]) -> None:
    print(json.dumps(content), file=answers, flush=True)


def _threads() -> int:
    import torch

    return torch.get_num_threads()


def _versions(packages: Sequence[str]) -> dict[str, dict[str, str]]:
    return {"versions": {name: version(name) for name in packages}}
