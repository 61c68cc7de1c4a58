"""How many annotated entities of real corpora begin or end inside a word of the splitter."""

from __future__ import annotations

from pathlib import Path

import pytest

from spanwright.formats.files import read
from spanwright.text import words


@pytest.mark.parametrize(
    ("file", "limit"),
    [
        # What is left are shifted annotations, and names glued to words without a sign of a border.
        ("bc5cdr/pubtator/CDR_TestSet.PubTator.txt", 0.002),
        ("ncbi_disease/pubtator/NCBItestset_corpus.txt", 0.002),
        ("biored/pubtator/Train.PubTator", 0.003),
        ("aioner/pubtator/GNormPlus_Train.PubTator", 0.010),
        ("aioner/pubtator/tmVar3_Train.PubTator", 0.005),
        ("aioner/pubtator/NLMgene_Train.PubTator", 0.012),
        ("aioner/pubtator/NLMchem_Test.PubTator", 0.015),
    ],
)
def test_hardly_any_annotated_entity_cuts_a_word(corpora: Path, file: str, limit: float) -> None:
    documents = read(corpora / file, format="pubtator").documents
    total = cut = 0
    for document in documents:
        ranges = words(document)
        starts, ends = {start for start, _ in ranges}, {end for _, end in ranges}
        total += len(document.entities)
        cut += sum(entity.start not in starts or entity.end not in ends for entity in document.entities)
    assert total > 900
    assert cut / total < limit
