"""Documents and entities in the real PubTator and BRAT corpora, against the table that comes with them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from spanwright.formats.brat import documents as brat
from spanwright.formats.format import Format, ReadingLog
from spanwright.formats.pubtator import documents as pubtator
from spanwright.text import Document


@dataclass
class Expected:
    documents: int
    entities: int
    types: dict[str, int] = field(default_factory=dict)
    """Where the table gives counts or names of types; a count of -1 is not given."""
    mentions_elsewhere: int = 0
    """Annotations whose mention is not the text at their offsets, those outside the text included."""
    repeated_ids: int = 0
    outside: int = 0
    """Annotations that end after the text and are rejected."""


def chemicals_and_diseases(chemicals: int, diseases: int) -> Expected:
    return Expected(500, chemicals + diseases, {"Chemical": chemicals, "Disease": diseases})


def named(*types: str) -> dict[str, int]:
    return dict.fromkeys(types, -1)


NCBI = named("SpecificDisease", "DiseaseClass", "Modifier", "CompositeMention")
GNORMPLUS = named("Gene", "FamilyName", "DomainMotif")
NLM_GENE = named("Gene", "FamilyName", "Cell", "DomainMotif", "ChromosomeLocation")
BIORED = named("Disease", "Chemical", "Gene", "Variant", "Species", "CellLine")
BIORED_LONG = named(
    "DiseaseOrPhenotypicFeature",
    "ChemicalEntity",
    "GeneOrGeneProduct",
    "SequenceVariant",
    "OrganismTaxon",
    "CellLine",
)

PUBTATOR = {
    "ncbi_disease/pubtator/NCBItrainset_corpus.txt": Expected(593, 5145, NCBI, 1, repeated_ids=1),
    "ncbi_disease/pubtator/NCBIdevelopset_corpus.txt": Expected(100, 787, NCBI),
    "ncbi_disease/pubtator/NCBItestset_corpus.txt": Expected(100, 960, NCBI),
    "bc5cdr/pubtator/CDR_TrainingSet.PubTator.txt": chemicals_and_diseases(5203, 4182),
    "bc5cdr/pubtator/CDR_DevelopmentSet.PubTator.txt": chemicals_and_diseases(5347, 4244),
    "bc5cdr/pubtator/CDR_TestSet.PubTator.txt": chemicals_and_diseases(5385, 4424),
    "biored/pubtator/Train.PubTator": Expected(400, 13351, BIORED_LONG),
    "biored/pubtator/Dev.PubTator": Expected(100, 3533, BIORED_LONG),
    "biored/pubtator/Test.PubTator": Expected(100, 3535, BIORED_LONG),
    "aioner/pubtator/BioRED_TrainDev.PubTator": Expected(500, 16884, BIORED),
    "aioner/pubtator/BioRED_Test.PubTator": Expected(100, 3535, BIORED),
    # Two and thirteen Chemical mentions fewer than the original release.
    "aioner/pubtator/BC5CDR_TrainDev.PubTator": Expected(
        1000, 18974, {"Chemical": 5203 + 5347 - 2, "Disease": 4182 + 4244}
    ),
    "aioner/pubtator/BC5CDR_Test.PubTator": Expected(500, 9796, {"Chemical": 5385 - 13, "Disease": 4424}),
    "aioner/pubtator/BioID_Train_revision.PubTator": Expected(9704, 4137, {"CellLine": 4137}, 1),
    "aioner/pubtator/BioID_Test_revision.PubTator": Expected(3993, 1453, {"CellLine": 1453}),
    "aioner/pubtator/GNormPlus_Train.PubTator": Expected(432, 5793, GNORMPLUS, 35),
    "aioner/pubtator/GNormPlus_Test.PubTator": Expected(262, 4849, GNORMPLUS, 4),
    "aioner/pubtator/Linnaeus_Train.PubTator": Expected(80, 2321, {"Species": 2321}),
    "aioner/pubtator/Linnaeus_Test.PubTator": Expected(20, 576, {"Species": 576}),
    # In this copy one mention has lost its quotation marks.
    "aioner/pubtator/NCBIdisease_TrainDev.PubTator": Expected(693, 5932, NCBI, 1, repeated_ids=1),
    "aioner/pubtator/NCBIdisease_Test.PubTator": Expected(100, 960, NCBI),
    "aioner/pubtator/NLMchem_Test.PubTator": Expected(
        3428,
        12411,
        {"Chemical": 11772, "OTHER": 570, "NonStandardRef": 69},
        repeated_ids=3428 - 50,
    ),
    "aioner/pubtator/NLMgene_Train.PubTator": Expected(450, 13797, NLM_GENE, 11),
    "aioner/pubtator/NLMgene_Test.PubTator": Expected(100, 3053, NLM_GENE),
    "aioner/pubtator/SPECIES_Train.PubTator": Expected(639, 3053, {"Species": 3053}),
    "aioner/pubtator/SPECIES_Test.PubTator": Expected(160, 739, {"Species": 739}),
    # One of the shifted mentions is shifted over the end of the text.
    "aioner/pubtator/tmVar3_Train.PubTator": Expected(342, 7957, {}, 21, outside=1),
    "aioner/pubtator/tmVar3_Test.PubTator": Expected(158, 4625),
    "medmentions_sample/med_mentions.txt": Expected(3, 115),
}
BRAT = {
    "ncbi_disease/brat_tokenised/train": Expected(592, 5134, {"Disease": 5134}),
    "ncbi_disease/brat_tokenised/dev": Expected(100, 787, {"Disease": 787}),
    "ncbi_disease/brat_tokenised/test": Expected(100, 960, {"Disease": 960}),
}
CASES = [
    pytest.param(format, name, expected, id=name)
    for format, files in ((pubtator.FORMAT, PUBTATOR), (brat.FORMAT, BRAT))
    for name, expected in files.items()
]


@pytest.mark.parametrize(("format", "name", "expected"), CASES)
def test_counts_equal_the_table(corpora: Path, format: Format, name: str, expected: Expected) -> None:
    log = ReadingLog()
    documents = [log.accept(document) for document in format.read(corpora / name, log)]
    assert (log.documents_read, log.documents_rejected) == (expected.documents, 0)
    assert (log.entities_read + log.entities_rejected, log.entities_rejected) == (
        expected.entities,
        expected.outside,
    )
    assert len({document.id for document in documents}) == expected.documents
    check_types(documents, expected)
    assert len(log.problems) == expected.mentions_elsewhere + expected.repeated_ids
    assert (
        sum("stands in the file before" in problem.reason for problem in log.problems)
        == expected.repeated_ids
    )


def check_types(documents: list[Document], expected: Expected) -> None:
    found = Counter(entity.type for document in documents for entity in document.entities)
    if expected.types:
        assert set(found) == set(expected.types)
        assert all(count in (-1, found[type_]) for type_, count in expected.types.items())


@pytest.mark.parametrize(
    "name",
    [
        "ncbi_disease/pubtator/NCBItrainset_corpus.txt",  # a repeated id
        "bc5cdr/pubtator/CDR_TrainingSet.PubTator.txt",  # composite parts and relations
        "biored/pubtator/Dev.PubTator",  # relations with notes
        "aioner/pubtator/GNormPlus_Test.PubTator",  # annotations without concepts, mentions elsewhere
        "aioner/pubtator/NLMchem_Test.PubTator",  # ids repeated by design, empty abstracts
        "aioner/pubtator/tmVar3_Test.PubTator",  # sequence variants
    ],
)
def test_pubtator_corpora_survive_writing_and_reading(corpora: Path, tmp_path: Path, name: str) -> None:
    assert pubtator.FORMAT.serialise is not None
    documents = list(pubtator.FORMAT.read(corpora / name, ReadingLog()))
    assert [line for document in documents for line in pubtator.FORMAT.unwritable(document)] == []
    copy = tmp_path / "copy.pubtator"
    copy.write_text("".join(pubtator.FORMAT.serialise(documents)), encoding="utf-8", newline="")
    assert list(pubtator.FORMAT.read(copy, ReadingLog())) == documents


@pytest.mark.parametrize("name", ["ncbi_disease/brat_tokenised/dev"])
def test_brat_corpora_are_written_with_the_same_bytes(corpora: Path, name: str) -> None:
    assert brat.FORMAT.serialise_folder is not None
    for document in brat.FORMAT.read(corpora / name, ReadingLog()):
        for file, text in brat.FORMAT.serialise_folder(document):
            assert text.encode() == (corpora / name / file).read_bytes()


@pytest.mark.parametrize("name", [*PUBTATOR, *BRAT])
def test_the_format_of_every_corpus_is_recognised(corpora: Path, name: str) -> None:
    path = corpora / name
    head = "" if path.is_dir() else path.read_text(encoding="utf-8")[:65536]
    assert pubtator.FORMAT.recognises(path, head) == (name in PUBTATOR)
    assert brat.FORMAT.recognises(path, head) == (name in BRAT)
