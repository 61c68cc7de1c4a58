"""Distant labels: how good on BC5CDR with AutoNER's dictionaries, and how fast with 200,000 generated terms.

    python benchmarks/distant.py ../shared/corpora --json benchmarks/results/distant-bc5cdr.json

The labels of texts are scored against their gold entities, and also word by word. `hyphens kept` gives the
matcher words that hyphens do not part, which only tells in text that is not tokenised.

Generated terms and texts lie in files. The engines are timed in turns, each time in a process of its own, and
the time is that of the matching alone; then the whole way of the command, from file to file, is timed once.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import string
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from spanwright.distant import Matcher
from spanwright.distant.search import Automaton, SearchMaker, WordIndex, fastest
from spanwright.evaluation import Counts, evaluate
from spanwright.formats.files import read, stream, write
from spanwright.formats.format import ReadingLog
from spanwright.lexicons import merge, read_lexicon
from spanwright.text import Document, Entity, Range, words

POLICIES: dict[str, dict[str, Any]] = {
    "core, exact": {"unknown": False, "case": "exact"},
    "exact": {"case": "exact"},
    "exact, hyphens kept": {"case": "exact", "keep_hyphens": True},
    "exact, from 1 letter": {"case": "exact", "minimum_length": 1},
    "exact, from 3 letters": {"case": "exact", "minimum_length": 3},
    "ignore": {"case": "ignore"},
    "smart (default)": {},
    "core, smart": {"unknown": False},
}
"""With the full dictionary as phrases of unknown type, unless it says core."""
TEXTS = {
    "train": ["pubtator/CDR_TrainingSet.PubTator.txt"],
    "train, tokenised": ["iob/train.tsv"],
    "train and dev, tokenised": ["iob/train.tsv", "iob/devel.tsv"],
}
NOTE = (
    "The BINDER paper gives 97.99 / 63.14 (chemicals) and 98.34 / 46.73 (diseases) for its training labels. "
    "No policy has such a precision of diseases when entities are counted, and every exact one has when "
    "words are: 'infarction' in 'myocardial infarction' is wrong as an entity and right as a word. The words "
    "of train and dev together under 'core, exact' come near all four numbers. The paper does not tell what "
    "it counts, so this is a conclusion and no fact."
)
HYPHENATED = re.compile(r"\w+(?:-\w+)*|\S")
ENGINES: dict[str, SearchMaker] = {"ahocorasick-rs": Automaton, "word index": WordIndex}
TERMS = 200_000
LEXICON, DOCUMENTS = "terms.tsv", "texts.jsonl"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("corpora", type=Path, help="folder with bc5cdr/ and autoner_bc5cdr/")
    parser.add_argument("--megabytes", type=int, default=10, help="generated text for each engine")
    parser.add_argument("--turns", type=int, default=3, help="times that each engine is measured")
    parser.add_argument("--whole-megabytes", type=int, default=100, help="generated text from file to file")
    parser.add_argument("--json", type=Path, help="write the result here")
    arguments = parser.parse_args()
    # Here and not above, so that the timed processes do not load what they do not need.
    from machine import command, machine

    result: dict[str, Any] = {"command": command(), "machine": machine(), "note": NOTE}
    result["scores"] = {
        name: score_policies(name, [arguments.corpora / "bc5cdr" / path for path in paths], arguments.corpora)
        for name, paths in TEXTS.items()
    }
    with tempfile.TemporaryDirectory() as folder:
        generate(Path(folder), arguments.whole_megabytes)
        result["speed"] = {
            "matching, engines in turns": [
                alone(engine_figures, Path(folder), name, arguments.megabytes)
                for _ in range(arguments.turns)
                for name in ENGINES
            ],
            "file to file": alone(whole_figures, Path(folder)),
        }
    print(json.dumps(result["speed"], indent=2))
    if arguments.json:
        arguments.json.write_text(json.dumps(result, indent=2) + "\n")


# How good


def score_policies(name: str, paths: list[Path], corpora: Path) -> dict[str, Any]:
    """Scores of the labels of texts by policy, of entities and of words."""
    gold = read(*paths).documents
    print(f"{name}: {len(gold)} documents")
    scores = {
        policy: score(gold, corpora / "autoner_bc5cdr", **settings) for policy, settings in POLICIES.items()
    }
    for policy, by_type in scores.items():
        cells = [
            f"{type_} {100 * one['precision']:.1f} / {100 * one['recall']:.1f} / {100 * one['f1']:.1f}"
            f" (words {100 * one['by_words']['precision']:.1f} / {100 * one['by_words']['recall']:.1f})"
            for type_, one in by_type.items()
        ]
        print(f"  {policy:22} {'   '.join(cells)}")
    return scores


def score(
    gold: list[Document],
    dictionaries: Path,
    *,
    unknown: bool = True,
    keep_hyphens: bool = False,
    **settings: Any,
) -> dict[str, Any]:
    """Precision, recall and F1 of each type under one policy."""
    lexicons = [read_lexicon(dictionaries / "dict_core.txt")]
    lexicons += [read_lexicon(dictionaries / "dict_full.txt")] if unknown else []
    matcher = Matcher(merge(*lexicons), **settings)
    labelled = [matcher.label(with_hyphens(one) if keep_hyphens else one) for one in gold]
    per_type = evaluate(gold, labelled).per_type
    return {
        type_: counts.to_dict() | {"by_words": word_counts(gold, labelled, type_).to_dict()}
        for type_, counts in per_type.items()
    }


def with_hyphens(document: Document) -> Document:
    """The document with given words that hyphens do not part."""
    return replace(document, words=tuple(match.span() for match in HYPHENATED.finditer(document.text)))


def word_counts(gold: list[Document], labelled: list[Document], type_: str) -> Counts:
    """The counts of words inside entities of a type, instead of entities."""
    total = Counts()
    for one, other in zip(gold, labelled, strict=True):
        borders = words(other)
        right, found = (_inside(borders, each.entities, type_) for each in (one, other))
        total += Counts(len(right & found), len(found - right), len(right - found))
    return total


def _inside(borders: tuple[Range, ...], entities: tuple[Entity, ...], type_: str) -> set[Range]:
    ranges = [each for entity in entities if entity.type == type_ for each in entity.ranges]
    return {
        (start, end) for start, end in borders for first, last in ranges if first <= start and end <= last
    }


# How fast


def alone(measure: Callable[..., dict[str, Any]], *arguments: Any) -> dict[str, Any]:
    """The figures of a new process, so that its peak memory is its own."""
    with get_context("spawn").Pool(1) as pool:
        return pool.apply(measure, arguments)


def engine_figures(folder: Path, engine: str, megabytes: int) -> dict[str, Any]:
    """Time to build, speed of matching and memory of one engine."""
    idle = peak_megabytes()
    lexicon = read_lexicon(folder / LEXICON)
    clock = Clock()
    with clock:
        matcher = Matcher(lexicon, engine=ENGINES[engine])
    build = clock.figures()
    clock = Clock()
    characters = entities = 0
    for document in stream(folder / DOCUMENTS, ReadingLog()):
        with clock:
            entities += len(matcher.entities(document))
        characters += len(document.text)
        if characters >= 1e6 * megabytes:
            break
    return {
        "engine": engine,
        "terms": len(lexicon),
        "megabytes": round(characters / 1e6, 1),
        "entities": entities,
        "build": build,
        "matching": clock.figures(),
        "megabytes_per_second": round(characters / 1e6 / clock.seconds, 2),
        "megabytes_per_processor_second": round(characters / 1e6 / clock.processor_seconds, 2),
        "peak_memory_megabytes": peak_megabytes(),
        "idle_memory_megabytes": idle,
    }


def whole_figures(folder: Path) -> dict[str, Any]:
    """Time and memory of the way from files of terms and raw texts to a file of labelled texts."""
    idle = peak_megabytes()
    clock, log = Clock(), ReadingLog()
    with clock:
        matcher = Matcher(read_lexicon(folder / LEXICON))
        labelled = (matcher.label(document) for document in stream(folder / DOCUMENTS, log))
        write(labelled, folder / "labelled.jsonl")
    return {
        "engine": type(fastest([])).__name__,
        "names": len(matcher),
        "documents": log.documents_read,
        "megabytes_read": round((folder / DOCUMENTS).stat().st_size / 1e6, 1),
        "megabytes_written": round((folder / "labelled.jsonl").stat().st_size / 1e6, 1),
        **clock.figures(),
        "peak_memory_megabytes": peak_megabytes(),
        "idle_memory_megabytes": idle,
    }


@dataclass(slots=True)
class Clock:
    """Adds up the time of what is done under it, by the wall and of the processor."""

    seconds: float = 0.0
    processor_seconds: float = 0.0

    def __enter__(self) -> None:
        self.seconds -= time.perf_counter()
        self.processor_seconds -= time.process_time()

    def __exit__(self, *_: object) -> None:
        self.seconds += time.perf_counter()
        self.processor_seconds += time.process_time()

    def figures(self) -> dict[str, float]:
        """Both times, rounded."""
        return {"seconds": round(self.seconds, 2), "processor_seconds": round(self.processor_seconds, 2)}


def peak_megabytes() -> int:
    """The most memory that this process has had so far (Linux)."""
    status = Path("/proc/self/status").read_text()
    # Not from `resource`, whose peak is that of the parent process where that is higher.
    return int(status.partition("VmHWM:")[2].split()[0]) // 1024


def generate(folder: Path, megabytes: int) -> None:
    """Write a lexicon and documents that have a dozen of its names each."""
    generator = random.Random(1)
    common, rare = made_words(generator, 60_000, (2, 9)), made_words(generator, 120_000, (6, 14))
    names = made_names(generator, common[1000:], rare)
    rows = (f"{name}\tType{number % 4}\tC{number:06}\n" for number, name in enumerate(names))
    (folder / LEXICON).write_text("".join(rows))
    write(made_documents(generator, common, names, megabytes), folder / DOCUMENTS)


def made_words(generator: random.Random, count: int, lengths: tuple[int, int]) -> list[str]:
    """Distinct words, the short ones first, as the frequent words of a language are short."""
    letters = string.ascii_lowercase
    made = {"".join(generator.choices(letters, k=generator.randint(*lengths))) for _ in range(count)}
    return sorted(made, key=lambda word: (len(word), word))


def made_names(generator: random.Random, common: list[str], rare: list[str]) -> list[str]:
    """Names of one to five words; half of those of several words are of the language of the texts."""
    names: dict[str, None] = {}
    while len(names) < TERMS:
        count = generator.choice((1, 2, 2, 3, 3, 4, 5))
        source = rare if count == 1 or generator.random() < 0.5 else common
        names[" ".join(generator.choices(source, k=count))] = None
    return list(names)


def made_documents(
    generator: random.Random, common: list[str], names: list[str], megabytes: int
) -> Iterator[Document]:
    """Abstracts of 200 words by Zipf's law with names among them, up to a number of megabytes."""
    marks = ("", "", "", "", "", "", ",", ".")
    characters = number = 0
    while characters < 1e6 * megabytes:
        chosen = [common[int(len(common) ** generator.random()) - 1] for _ in range(188)]
        chosen += generator.choices(names, k=12)
        generator.shuffle(chosen)
        text = " ".join(map(str.__add__, chosen, generator.choices(marks, k=len(chosen))))
        yield Document(str(number), text)
        characters += len(text)
        number += 1


if __name__ == "__main__":
    main()
