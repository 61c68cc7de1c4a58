from __future__ import annotations

import gzip
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from strategies import documents, texts

from spanwright.errors import InputError
from spanwright.formats.format import ReadingLog
from spanwright.formats.plain_text import FORMAT
from spanwright.text import Document, Entity


def write(*given: Document) -> str:
    assert FORMAT.serialise is not None
    return "".join(FORMAT.serialise(given))


@given(document=documents(text=texts(), nested=True))
def test_a_text_survives_writing_and_reading(document: Document) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "note.v2.txt"
        path.write_text(write(document), encoding="utf-8", newline="")
        assert list(FORMAT.read(path, ReadingLog())) == [Document("note.v2", document.text)]


def test_a_file_that_is_no_utf8_is_rejected(tmp_path: Path) -> None:
    path = tmp_path / "note.txt"
    path.write_bytes(b"one\ntw\xc3")
    log = ReadingLog()
    assert list(FORMAT.read(path, log)) == []
    assert log.documents_rejected == 1
    assert "note.txt:2: byte 0xc3 at offset 2 of the line (offset 6 of the file)" in str(log.problems[0])


@pytest.mark.parametrize(
    ("name", "id"), [("a.txt", "a"), ("p1/note.v2.txt.gz", "p1/note.v2"), ("p%2Fa.txt", "p/a")]
)
def test_the_id_of_a_text_in_a_folder_is_its_path_there(tmp_path: Path, name: str, id: str) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(gzip.compress(b"A text.") if name.endswith(".gz") else b"A text.")
    assert list(FORMAT.read(path, ReadingLog(), folder=tmp_path)) == [Document(id, "A text.")]


def test_every_entity_is_unwritable() -> None:
    document = Document("1", "one two", (Entity(0, 3, "A"), Entity(4, 7, "B")), words=((0, 3), (4, 7)))
    assert list(FORMAT.unwritable(document)) == [
        "the given words of document '1'",
        "'A' 'one' at [0, 3) of document '1'",
        "'B' 'two' at [4, 7) of document '1'",
    ]


def test_two_documents_do_not_go_into_one_file() -> None:
    with pytest.raises(InputError, match="document '2' is the second"):
        write(Document("1", "one"), Document("2", "two"))


def test_files_are_recognised_by_their_ending() -> None:
    assert FORMAT.recognises(Path("note.TXT"), "Some text.")
    assert not FORMAT.recognises(Path("note.tsv"), "Some text.")
