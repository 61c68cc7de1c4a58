"""What the tests of `spanwright corpus` share: small corpora and a way to run it."""

from __future__ import annotations

from pathlib import Path

import pytest
from running import Outcome, run

from spanwright.formats.files import FORMATS, write
from spanwright.text import Document, Entity

FLAT = [
    Document("1", "The p53 gene binds DNA", (Entity(4, 12, "GENE"), Entity(19, 22, "GENE"))),
    Document("2", "Nothing here"),
    Document("3", "BRCA1 repairs it", (Entity(0, 5, "GENE"),)),
]
NESTED = [
    Document(
        "1",
        "Acute renal failure and kidney or liver disease",
        (
            Entity(0, 19, "Disease"),
            Entity(6, 11, "Organ"),
            Entity(24, 47, "Disease", fragments=((24, 30), (40, 47))),
        ),
    ),
    Document("2", "Famotidine helps", (Entity(0, 10, "Chemical"),)),
]
EXTRAS = {"parquet": "pyarrow", "spacy": "spacy", "xmi": "cassis"}
"""The package that a format needs."""


def corpus(*arguments: object) -> Outcome:
    """Run `spanwright corpus` with these arguments."""
    return run("corpus", *arguments)


def put(folder: Path, documents: list[Document], format: str = "jsonl") -> Path:
    """Write documents to a file or folder of a format, leaving out what it cannot hold."""
    pytest.importorskip(EXTRAS.get(format, "spanwright"))
    path = target(folder, "source", format)
    write(documents, path, format=format, lossy=True)
    return path


def target(folder: Path, stem: str, format: str) -> Path:
    suffixes = FORMATS[format].suffixes
    return folder / f"{stem}{suffixes[0] if suffixes else '.json'}"


def content(documents: list[Document]) -> list[tuple[str, str, list[tuple[int, int, str]]]]:
    """Ids, texts and entities: what every format of several documents holds."""
    return [
        (document.id, document.text, [(each.start, each.end, each.type) for each in document.entities])
        for document in documents
    ]


def damaged(folder: Path) -> Path:
    """A PubTator file with one good document and one wrong annotation in line 4."""
    path = folder / "damaged.pubtator"
    path.write_text("1|t|p53\n1|a|\n1\t0\t3\tp53\tGene\n1\t0\t9\tp53\tGene\n", encoding="utf-8")
    return path
