"""Documents and entities in the real BioC corpora, against the table that comes with them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import pytest

from spanwright.formats import files
from spanwright.text import Document

BC5CDR = {
    # all annotations, those that are no parts of composite mentions, and mentions that are elsewhere
    "CDR_TrainingSet": (9570, {"Chemical": 5203, "Disease": 4182}, 3),
    "CDR_DevelopmentSet": (9773, {"Chemical": 5347, "Disease": 4244}, 1),
    "CDR_TestSet": (9928, {"Chemical": 5385, "Disease": 4424}, 0),
}
BIORED = {"Train": (400, 13351), "Dev": (100, 3533), "Test": (100, 3535)}


def types(documents: list[Document]) -> dict[str, int]:
    return dict(Counter(entity.type for document in documents for entity in document.entities))


def contents(documents: list[Document]) -> list[object]:
    return [(document.id, document.text, set(document.entities)) for document in documents]


@pytest.mark.parametrize("name", BC5CDR)
def test_bc5cdr_has_the_counts_of_its_table(corpora: Path, name: str) -> None:
    annotations, _, elsewhere = BC5CDR[name]
    corpus = files.read(corpora / f"bc5cdr/bioc/{name}.BioC.xml")
    assert len(corpus.documents) == 500
    assert (corpus.log.entities_read, corpus.log.entities_rejected) == (annotations, 0)
    assert ["the mention is given as" in each.reason for each in corpus.log.problems] == [True] * elsewhere


@pytest.mark.parametrize("name", BC5CDR)
def test_bc5cdr_without_individual_mentions_equals_its_pubtator_release(corpora: Path, name: str) -> None:
    annotations, expected, _ = BC5CDR[name]
    path = corpora / f"bc5cdr/bioc/{name}.BioC.xml"
    corpus = files.read(path, options={"individual_mentions": "drop"})
    assert types(corpus.documents) == expected
    assert corpus.log.entities_read + corpus.log.entities_rejected == annotations
    pubtator = files.read(corpora / f"bc5cdr/pubtator/{name}.PubTator.txt")
    assert contents(corpus.documents) == contents(pubtator.documents)


@pytest.mark.parametrize("name", BIORED)
def test_biored_equals_its_pubtator_release(corpora: Path, name: str) -> None:
    corpus = files.read(corpora / f"biored/bioc/{name}.BioC.XML", strict=True)
    assert (corpus.log.documents_read, corpus.log.entities_read) == BIORED[name]
    pubtator = files.read(corpora / f"biored/pubtator/{name}.PubTator")
    assert types(corpus.documents) == types(pubtator.documents)
    assert contents(corpus.documents) == contents(pubtator.documents)


def test_biored_is_written_as_it_was(corpora: Path, tmp_path: Path) -> None:
    path = corpora / "biored/bioc/Dev.BioC.XML"
    documents = files.read(path).documents
    files.write(documents, tmp_path / "again.bioc.xml")
    files.write(documents, tmp_path / "again.bioc.json")
    one, other = (
        ElementTree.canonicalize(from_file=each, strip_text=True)
        for each in (path, tmp_path / "again.bioc.xml")
    )
    assert one == other
    assert files.read(tmp_path / "again.bioc.json").documents == documents
