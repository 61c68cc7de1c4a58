"""A corpus with two layers of tags, made here, through `corpus check` and `corpus convert`."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from corpus_commands import corpus as command

from spanwright.text.tags import WordRun, tags_from_runs


@pytest.mark.parametrize(
    ("option", "told"),
    [
        ("layers=0", "option layers='0' of the format 'conll': expected a number of layers from 1 to 99"),
        ("layers=x", "expected a number of layers"),
        ("marks=maybe", "expected yes or no"),
        ("scheme=ABC", "unknown tag scheme 'ABC'"),
        ("colour=red", "has no option 'colour' to write with; expected: layers, scheme, marks"),
    ],
)
def test_an_option_that_cannot_be_is_refused(tmp_path: Path, option: str, told: str) -> None:
    (tmp_path / "in.jsonl").write_text('{"text": "a"}\n')
    outcome = command(
        "convert", tmp_path / "in.jsonl", "--out", tmp_path / "out.conll", "--out-option", option
    )
    assert outcome.code == 2
    assert told in outcome.stderr


def sentence_rows(generator: random.Random) -> str:
    """A sentence with nested entities in two columns of tags, outermost first."""
    length = generator.randint(3, 20)
    outer = random_runs(generator, 0, length, ("Event", "Place"))
    inner = [
        run
        for first, end, _ in outer
        for run in random_runs(generator, first, end, ("Person", "Time", "Place"))
    ]
    runs = set(outer)
    columns = [tags_from_runs(layer, length) for layer in (outer, [run for run in inner if run not in runs])]
    words = [f"{generator.choice('abcdefgh')}{generator.randint(1, 500)}" for _ in range(length)]
    return "".join("\t".join(row) + "\n" for row in zip(words, *columns, strict=True)) + "\n"


def random_runs(generator: random.Random, first: int, end: int, types: tuple[str, ...]) -> list[WordRun]:
    runs: list[WordRun] = []
    while (start := first + generator.randint(0, 4)) < end:
        first = min(end, start + generator.randint(1, 5))
        runs.append((start, first, generator.choice(types)))
    return runs


@pytest.fixture(scope="module")
def layered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    generator = random.Random(35)
    path = tmp_path_factory.mktemp("layered") / "corpus.conll"
    path.write_text("".join(sentence_rows(generator) for _ in range(5000)))
    return path


def entities_by_column(path: Path) -> list[int]:
    """The entities of each column of tags, counted without the reader: each begins with a B."""
    tags = [line.split("\t")[1:] for line in path.read_text().splitlines() if line]
    return [sum(tag.startswith("B-") for tag in column) for column in zip(*tags, strict=True)]


def test_a_check_of_a_layered_corpus_reports_both_layers(layered: Path) -> None:
    outer, inner = entities_by_column(layered)
    outcome = command("check", layered, "--strict")
    assert outcome.code == 0
    assert f"column 1 with {outer} entities, column 2 with {inner} entities" in outcome.stdout
    assert f"read 5,000 documents and {outer + inner:,} entities; rejected 0 documents" in outcome.stdout


@pytest.mark.parametrize("marked", [False, True])
def test_a_layered_corpus_is_the_same_after_conversion_and_back(
    layered: Path, tmp_path: Path, marked: bool
) -> None:
    source, between, back = layered, tmp_path / "between.jsonl", tmp_path / "back.conll"
    options = ["--out-option", "layers=2", *([] if marked else ["--out-option", "marks=no"])]
    if marked:
        source = tmp_path / "marked.conll"
        sentences = layered.read_text().split("\n\n")[:1000]
        documents = ["\n\n".join(sentences[first : first + 5]) for first in range(0, 1000, 5)]
        source.write_text("".join(f"-DOCSTART- ({n})\tO\tO\n\n{d}\n\n" for n, d in enumerate(documents)))
    assert command("convert", source, "--out", between).code == 0
    assert command("convert", between, "--out", back, *options).code == 0
    assert back.read_text().split() == source.read_text().split()
