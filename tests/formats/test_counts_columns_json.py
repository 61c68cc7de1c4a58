"""Counts of real corpora of columns and JSON, as their publishers and their own folder state them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

from spanwright.formats.files import Corpus, read, reader_of, write
from spanwright.text import Document, Entity


@dataclass(frozen=True, slots=True)
class Counts:
    """What a file holds: sentences, entities and, where they say more, documents and types."""

    sentences: int
    entities: int
    documents: int | None = None
    """None where each sentence is a document."""
    types: dict[str, int] | None = None
    remarks: int = 0
    """Oddities of the file that the reader has to name; nothing is rejected in any of these files."""


def bc5cdr(sentences: int, chemicals: int, diseases: int) -> dict[str, Counts]:
    """The counts of one split in the folder with both types and in the folders with one."""
    return {
        "iob": Counts(sentences, chemicals + diseases, types={"Chemical": chemicals, "Disease": diseases}),
        "iob-chem": Counts(sentences, chemicals, types={"Chemical": chemicals}),
        "iob-disease": Counts(sentences, diseases, types={"Disease": diseases}),
    }


BC5CDR = {
    "train": bc5cdr(4560, 5203, 4182),
    "devel": bc5cdr(4581, 5347, 4246),
    "test": bc5cdr(4797, 5385, 4424),
}

FILES = {
    "ncbi_disease/iob/train.tsv": Counts(5424, 5134, types={"Disease": 5134}),
    "ncbi_disease/iob/devel.tsv": Counts(923, 787, types={"Disease": 787}),
    "ncbi_disease/iob/test.tsv": Counts(940, 960, types={"Disease": 960}),
    **{
        f"bc5cdr/{folder}/{split}.tsv": counts
        for split, folders in BC5CDR.items()
        for folder, counts in folders.items()
    },
    "bc2gm/iob/train.tsv": Counts(12574, 15197, types={"GENE": 15197}),
    "bc2gm/iob/devel.tsv": Counts(2519, 3061, types={"GENE": 3061}),
    "bc2gm/iob/test.tsv": Counts(5038, 6325, types={"GENE": 6325}),
    "jnlpba/bio/train.tsv": Counts(16807, 46750, documents=1800),
    "jnlpba/bio/valid.tsv": Counts(1739, 4551, documents=200),
    "jnlpba/bio/test.tsv": Counts(3856, 8662, documents=404),
    "jnlpba/original/Genia4EReval1.iob2": Counts(
        3856, 8662, types={"protein": 5067, "cell_type": 1921, "DNA": 1056, "cell_line": 500, "RNA": 118}
    ),
    "linnaeus/iob/train.tsv": Counts(11935, 2119, types={"Species": 2119}),
    "linnaeus/iob/devel.tsv": Counts(4078, 711, types={"Species": 711}),
    "linnaeus/iob/test.tsv": Counts(7142, 1433, types={"Species": 1433}),
    "conll2003/eng.train": Counts(14041, 23499, documents=946),
    "conll2003/eng.testa": Counts(3250, 5942, documents=216),
    "conll2003/eng.testb": Counts(3453, 5648, documents=231),
    "conllpp/conllpp_train.txt": Counts(14041, 23499, documents=946),
    "conllpp/conllpp_dev.txt": Counts(3250, 5942, documents=216),
    "conllpp/conllpp_test.txt": Counts(3453, 5702, documents=231),
    "wnut16/train": Counts(2394, 1496),
    "wnut16/dev": Counts(1000, 661),
    "wnut16/test": Counts(3850, 3473),
    "wnut17/wnut17train.conll": Counts(3394, 1975),
    "wnut17/emerging.dev.conll": Counts(1009, 836),
    "wnut17/emerging.test.annotated": Counts(1287, 1079),
    "weibo/weiboNER_2nd_conll.train": Counts(1350, 1895, remarks=10),
    "weibo/weiboNER_2nd_conll.dev": Counts(270, 389),
    "weibo/weiboNER_2nd_conll.test": Counts(270, 418, remarks=4),
    "resume/train.char.bmes": Counts(3821, 13440, remarks=2),
    "resume/dev.char.bmes": Counts(463, 1497),
    "resume/test.char.bmes": Counts(477, 1630),
    "genia/jsonl/train.jsonl": Counts(15023, 46164, remarks=11),
    "genia/jsonl/dev.jsonl": Counts(1669, 4371),
    "genia/jsonl/test.jsonl": Counts(1854, 5511),
    "conll04/conll04_train.json": Counts(922, 3377),
    "conll04/conll04_dev.json": Counts(231, 893),
    "conll04/conll04_test.json": Counts(288, 1079),
    "scierc/train.json": Counts(1861, 5598, documents=350),
    "scierc/dev.json": Counts(275, 811, documents=50),
    "scierc/test.json": Counts(551, 1685, documents=100),
}

NUMBER_OF_TYPES = {
    "jnlpba/bio/train.tsv": 5,
    "genia/jsonl/train.jsonl": 5,
    "conll2003/eng.train": 4,
    "conll04/conll04_train.json": 4,
    "wnut16/train": 10,
    "wnut17/wnut17train.conll": 6,
    "weibo/weiboNER_2nd_conll.train": 8,
    "resume/train.char.bmes": 8,
    "scierc/train.json": 6,
}

SCHEMES = {
    "conll2003/eng.testb": "IOB1",
    "conllpp/conllpp_test.txt": "IOB2",
    "ncbi_disease/iob/test.tsv": "IOB2",
    "weibo/weiboNER_2nd_conll.test": "IOB2",
    "resume/test.char.bmes": "BMES",
}

FORMATS = {
    **dict.fromkeys(FILES, "conll"),
    **{name: "genia-jsonl" for name in FILES if name.startswith("genia/")},
    **{name: "scierc" for name in FILES if name.startswith("scierc/")},
    **{name: "conll04" for name in FILES if name.startswith("conll04/")},
    "ncbi_disease/pubtator/NCBItestset_corpus.txt": "pubtator",
    "bc5cdr/pubtator/CDR_TestSet.PubTator.txt": "pubtator",
    "biored/pubtator/Test.PubTator": "pubtator",
    "aioner/pubtator/NLMchem_Test.PubTator": "pubtator",
    "medmentions_sample/med_mentions.txt": "pubtator",
    "ncbi_disease/brat_tokenised/test": "brat",
    "autoner_bc5cdr/raw_text.txt": "text",
}


def types(documents: list[Document]) -> Counter[str]:
    return Counter(entity.type for document in documents for entity in document.entities)


@pytest.mark.parametrize("name", FILES)
def test_counts_equal_the_published_ones(corpora: Path, name: str) -> None:
    expected = FILES[name]
    corpus = read(corpora / name)
    log = corpus.log
    assert sum(len(document.sentences or ()) for document in corpus.documents) == expected.sentences
    assert log.documents_read == len(corpus.documents) == (expected.documents or expected.sentences)
    assert log.entities_read == expected.entities
    assert (log.documents_rejected, log.entities_rejected, len(log.problems)) == (0, 0, expected.remarks)
    found_types = types(corpus.documents)
    assert expected.types is None or found_types == expected.types
    assert len(found_types) == NUMBER_OF_TYPES.get(name, len(found_types))
    ids = [document.id for document in corpus.documents]
    assert len(set(ids)) == len(ids)


def nested(corpus: Corpus) -> int:
    """Entities that lie inside a longer one."""
    return sum(
        any(
            outer.start <= inner.start and inner.end <= outer.end
            for outer in entities
            if span(outer) != span(inner)
        )
        for entities in (document.entities for document in corpus.documents)
        for inner in entities
    )


def span(entity: Entity) -> tuple[int, int]:
    return entity.start, entity.end


@pytest.mark.parametrize(("split", "expected"), [("train", 4379), ("dev", 421), ("test", 631)])
def test_nested_entities_of_genia_are_those_inside_a_longer_one(
    corpora: Path, split: str, expected: int
) -> None:
    assert nested(read(corpora / "genia" / "jsonl" / f"{split}.jsonl")) == expected


@pytest.mark.parametrize("name", SCHEMES)
def test_the_tag_schemes_of_real_files_are_detected(corpora: Path, name: str) -> None:
    notes = read(corpora / name).log.notes
    assert f"{corpora / name}: tag scheme {SCHEMES[name]} (detected)" in notes


def test_the_position_numbers_of_weibo_are_left_out(corpora: Path) -> None:
    documents = read(corpora / "weibo" / "weiboNER_2nd_conll.dev").documents
    assert documents[0].text.startswith("口腔溃疡加")
    # Positions after the ninth have two digits, and some characters are digits themselves.
    lengths = Counter(end - start for document in documents for start, end in document.words or ())
    assert lengths == {1: 14_493, 2: 16}


@pytest.mark.parametrize("name", FORMATS)
def test_the_format_of_real_files_is_recognised(corpora: Path, name: str) -> None:
    assert reader_of(corpora / name).name == FORMATS[name]


@pytest.mark.parametrize(
    "name",
    [
        "conll2003/eng.testb",
        "wnut17/emerging.dev.conll",
        "weibo/weiboNER_2nd_conll.dev",
        "resume/dev.char.bmes",
        "genia/jsonl/dev.jsonl",
        "conll04/conll04_dev.json",
        "scierc/dev.json",
    ],
)
def test_real_documents_survive_writing_and_reading(corpora: Path, tmp_path: Path, name: str) -> None:
    documents = read(corpora / name).documents
    copy = tmp_path / Path(name).name
    write(documents, copy, format=FORMATS[name])
    assert read(copy).documents == documents
