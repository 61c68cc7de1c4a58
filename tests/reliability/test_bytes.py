"""Promise 6: bytes that are not UTF-8 are rejected with file, line and byte, and cost nothing else."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from naughty import BAD_BYTES
from spanwright.errors import InputError
from spanwright.formats.files import Corpus, read
from spanwright.text import Document

HOLE = b"<BAD>"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A file with a hole for bad bytes, and what is lost with them."""

    name: str
    """Of the file in a folder."""
    content: bytes
    documents: int
    """That are left when the bytes are bad."""
    entities: int
    documents_lost: int = 0
    entities_lost: int = 0
    beside: tuple[str, bytes] | None = None
    """Another file that must be there, as the text of an annotation file."""


CASES = {
    "a word of a column file": Case(
        name="file.conll",
        content=b"-DOCSTART- (1)\tO\n\np53\tB-Gene\n\n-DOCSTART- (2)\tO\n\nan\tO\nab<BAD>c\tB-Gene\n\n"
        b"-DOCSTART- (3)\tO\n\nBRCA1\tB-Gene\n",
        documents=2,
        entities=2,
        documents_lost=1,
        entities_lost=1,
    ),
    "a word of a column file without marks": Case(
        name="file.tsv",
        content=b"p53\tB-Gene\nis\tO\n\nab<BAD>c\tB-Gene\n\nBRCA1\tB-Gene\n",
        documents=2,
        entities=2,
        documents_lost=1,
        entities_lost=1,
    ),
    "the title of a PubTator block": Case(
        name="file.pubtator",
        content=b"1|t|p53 here\n1|a|\n1\t0\t3\tp53\tGene\n\n2|t|ab<BAD>c\n2|a|\n2\t0\t2\tab\tGene\n\n"
        b"3|t|BRCA1\n3|a|\n3\t0\t5\tBRCA1\tGene\n\n",
        documents=2,
        entities=2,
        documents_lost=1,
        entities_lost=1,
    ),
    "an annotation of a PubTator block": Case(
        name="file.pubtator",
        content=b"1|t|p53 here\n1|a|\n1\t0\t3\tp<BAD>53\tGene\n1\t4\t8\there\tPlace\n\n2|t|BRCA1\n2|a|\n",
        documents=2,
        entities=1,
        entities_lost=1,
    ),
    "a line of JSON lines": Case(
        name="file.jsonl",
        content=b'{"id": "1", "text": "p53", "entities": [{"start": 0, "end": 3, "type": "Gene"}]}\n'
        b'{"id": "2", "text": "ab<BAD>c"}\n{"id": "3", "text": "BRCA1"}\n',
        documents=2,
        entities=1,
        documents_lost=1,
    ),
    "an annotation of a BRAT file": Case(
        name="file.ann",
        content=b"T1\tGene 0 3\tp53\nT2\tGene 8 13\tB<BAD>RCA1\nT3\tWord 4 7\tand\n",
        documents=1,
        entities=2,
        entities_lost=1,
        beside=("file.txt", b"p53 and BRCA1"),
    ),
    "the text of a BRAT file": Case(
        name="file.txt",
        content=b"p53\nand ab<BAD>c\n",
        documents=0,
        entities=0,
        documents_lost=1,
        entities_lost=1,
        beside=("file.ann", b"T1\tGene 0 3\tp53\n"),
    ),
    "plain text": Case(
        name="file.txt",
        content=b"One line.\nAnother ab<BAD>c line.\n",
        documents=0,
        entities=0,
        documents_lost=1,
    ),
}


def corpus_of(folder: Path, case: Case, filling: bytes) -> Corpus:
    (folder / case.name).write_bytes(case.content.replace(HOLE, filling))
    if case.beside is not None:
        (folder / case.beside[0]).write_bytes(case.beside[1])
    return read(folder / case.name)


def place(content: bytes) -> tuple[int, int, int]:
    """Line from 1, offset in the line and offset in the file of the hole."""
    offset = content.index(HOLE)
    return content.count(b"\n", 0, offset) + 1, offset - content.rfind(b"\n", 0, offset) - 1, offset


@pytest.mark.parametrize("bad", BAD_BYTES.values(), ids=BAD_BYTES)
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_bad_bytes_are_told_by_file_line_and_byte(tmp_path: Path, case: Case, bad: bytes) -> None:
    (problem,) = corpus_of(tmp_path, case, bad).log.problems
    line, in_line, in_file = place(case.content)
    assert (problem.path, problem.line) == (str(tmp_path / case.name), line)
    told = f"byte 0x{bad[0]:02x} at offset {in_line} of the line (offset {in_file} of the file)"
    assert told in problem.reason


@pytest.mark.parametrize("bad", BAD_BYTES.values(), ids=BAD_BYTES)
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_bad_bytes_cost_only_the_record_they_stand_in(tmp_path: Path, case: Case, bad: bytes) -> None:
    corpus = corpus_of(tmp_path, case, bad)
    assert len(corpus.documents) == corpus.log.documents_read == case.documents
    assert corpus.log.entities_read == case.entities
    assert corpus.log.documents_rejected == case.documents_lost
    assert corpus.log.entities_rejected == case.entities_lost


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_what_is_left_is_what_a_good_file_holds_there(tmp_path: Path, case: Case) -> None:
    whole = corpus_of(tmp_path, case, b"")
    assert not whole.log.problems
    assert len(whole.documents) == case.documents + case.documents_lost
    assert whole.log.entities_read == case.entities + case.entities_lost
    good = {document.text: document.entities for document in whole.documents}
    for document in corpus_of(tmp_path, case, b"\xff").documents:
        assert set(document.entities) <= set(good[document.text])


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_strict_reading_stops_at_bad_bytes(tmp_path: Path, case: Case) -> None:
    corpus_of(tmp_path, case, b"\xff")
    line, in_line, _ = place(case.content)
    where = re.escape(f"{tmp_path / case.name}:{line}: byte 0xff at offset {in_line}")
    with pytest.raises(InputError, match=where):
        read(tmp_path / case.name, strict=True)


@pytest.mark.parametrize("escape", ["\\ud800", "\\udfff", "\\ud83d x", "\\ude00\\ud83d"])
def test_an_escaped_lone_surrogate_is_rejected_with_its_line(tmp_path: Path, escape: str) -> None:
    path = tmp_path / "file.jsonl"
    path.write_text(f'{{"text": "good"}}\n{{"text": "a{escape}b"}}\n{{"text": "again"}}\n')
    corpus = read(path)
    assert [document.text for document in corpus.documents] == ["good", "again"]
    (problem,) = corpus.log.problems
    assert (problem.path, problem.line) == (str(path), 2)
    assert "lone surrogate U+D" in problem.reason


def test_an_escaped_pair_of_surrogates_is_a_character(tmp_path: Path) -> None:
    path = tmp_path / "file.jsonl"
    path.write_text('{"text": "\\ud83d\\ude00"}\n')
    (document,) = read(path).documents
    assert document.text == "😀"


def test_a_document_never_holds_a_lone_surrogate() -> None:
    with pytest.raises(InputError, match=r"document '7': character 2 .*is a lone surrogate \(U\+D800\)"):
        Document("7", "ab\ud800c")
