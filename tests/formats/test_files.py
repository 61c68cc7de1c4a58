"""The door between files and documents; what is particular to a format is tested beside it."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pytest

from spanwright.errors import InputError
from spanwright.formats.files import FORMATS, named, read, reader_of, stream, write, write_stream, writer_for
from spanwright.formats.format import ReadingLog
from spanwright.text import Document, Entity

GENE = Document("1", "p53 binds DNA", (Entity(0, 3, "GENE"),))
PLAIN = Document("2", "Nothing here")
NESTED = Document("3", "p53 gene", (Entity(0, 3, "Protein"), Entity(0, 8, "DNA")))
EXTRAS = {"parquet": "pyarrow", "spacy": "spacy", "xmi": "cassis"}
FOLDERS = ("brat", "bc2gm")


def columns(path: Path, *rows: str) -> Path:
    path.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
    return path


# Corpora.


def test_a_corpus_is_a_sequence_of_its_documents(tmp_path: Path) -> None:
    write([GENE, PLAIN, NESTED], tmp_path / "corpus.jsonl")
    corpus = read(tmp_path / "corpus.jsonl")
    assert list(corpus) == corpus.documents == [GENE, PLAIN, NESTED]
    assert (len(corpus), corpus[1], corpus[-1], corpus[1:]) == (3, PLAIN, NESTED, [PLAIN, NESTED])
    assert PLAIN in corpus


def test_a_corpus_has_the_problems_of_its_reading(tmp_path: Path) -> None:
    (tmp_path / "corpus.jsonl").write_text('{"id": "1"}\n', encoding="utf-8")
    corpus = read(tmp_path / "corpus.jsonl", format="jsonl")
    assert [problem.line for problem in corpus.problems] == [1]
    assert corpus.problems == corpus.log.problems


# Recognition.


@pytest.mark.parametrize("name", [name for name in FORMATS if name not in ("spacy", "text")])
def test_a_file_is_recognised_by_its_content_whatever_its_name(tmp_path: Path, name: str) -> None:
    pytest.importorskip(EXTRAS.get(name, "spanwright"))
    path = tmp_path / ("corpus" if name in FOLDERS else "corpus.data")
    write([GENE, PLAIN], path, format=name)
    assert reader_of(path).name == name


def test_a_text_is_recognised_by_its_ending(tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("p53 binds DNA", encoding="utf-8")
    assert reader_of(tmp_path / "note.txt").name == "text"


def test_a_spacy_file_is_recognised_by_its_ending(tmp_path: Path) -> None:
    pytest.importorskip("spacy")
    write([GENE], tmp_path / "corpus.spacy")
    assert reader_of(tmp_path / "corpus.spacy").name == "spacy"


def test_a_large_first_document_is_recognised_by_its_beginning(tmp_path: Path) -> None:
    write([Document("1", "word " * 100_000)], tmp_path / "corpus.data", format="jsonl")
    assert reader_of(tmp_path / "corpus.data").name == "jsonl"


@pytest.mark.parametrize(
    "content", [b"", b"a sentence\n", b"\x00\x01\xff\xfe", b"{}", b"[1, 2]", b"<html></html>"]
)
def test_an_unknown_file_is_refused_with_all_formats(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "corpus.data").write_bytes(content)
    with pytest.raises(InputError, match="the format was not recognised") as caught:
        read(tmp_path / "corpus.data")
    assert str(tmp_path / "corpus.data") in str(caught.value)
    assert ", ".join(FORMATS) in str(caught.value)


def test_an_empty_folder_is_not_recognised(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the format was not recognised"):
        read(tmp_path)


def test_a_path_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="absent: no such file or folder"):
        read(tmp_path / "absent", format="jsonl")


# Formats and options by name.


def test_a_named_format_overrides_recognition(tmp_path: Path) -> None:
    write([GENE], tmp_path / "corpus.jsonl")
    (document,) = read(tmp_path / "corpus.jsonl", format="text").documents
    assert document.text.startswith('{"id": "1"')


def test_an_unknown_format_is_refused_with_the_legal_ones() -> None:
    with pytest.raises(
        InputError, match=r"unknown format 'conl' .did you mean 'conll'..; expected "
    ) as caught:
        named("conl")
    assert ", ".join(FORMATS) in str(caught.value)


def test_an_option_changes_the_reading(tmp_path: Path) -> None:
    path = columns(tmp_path / "file.conll", "B-GENE\tp53\tO", "O\tbinds\tO")
    (document,) = read(path, options={"word_column": "1", "tag_column": "0"}).documents
    assert (document.text, document.entities) == ("p53 binds", (Entity(0, 3, "GENE"),))


def test_an_unknown_option_is_refused_with_the_legal_ones(tmp_path: Path) -> None:
    path = columns(tmp_path / "file.conll", "p53\tB-GENE", "binds\tO")
    with pytest.raises(
        InputError, match=r"'conll' has no option 'column' .*; expected: word_column, tag_column"
    ):
        read(path, options={"column": "1"})


def test_an_option_of_a_format_without_options_is_refused(tmp_path: Path) -> None:
    write([GENE], tmp_path / "corpus.json", format="scierc")
    with pytest.raises(InputError, match="'scierc' has no option 'scheme'; expected: none"):
        read(tmp_path / "corpus.json", options={"scheme": "IOB2"})


@pytest.mark.parametrize(
    ("name", "value"), [("tag_column", "last"), ("word_column", "1.5"), ("scheme", "IOB3")]
)
def test_an_illegal_value_of_an_option_is_refused_with_its_name(
    tmp_path: Path, name: str, value: str
) -> None:
    path = columns(tmp_path / "file.conll", "p53\tB-GENE", "binds\tO")
    with pytest.raises(InputError, match=f"option {name}='{value}' of the format 'conll': "):
        read(path, options={name: value})


# Several files, streams and strictness.


def test_several_files_of_different_formats_are_read_in_their_order(tmp_path: Path) -> None:
    write([PLAIN], tmp_path / "second.pubtator")
    write([GENE], tmp_path / "first.jsonl")
    corpus = read(tmp_path / "second.pubtator", str(tmp_path / "first.jsonl"))
    assert corpus.documents == [PLAIN, GENE]
    assert (corpus.log.documents_read, corpus.log.entities_read) == (2, 1)


def test_a_stream_gives_documents_before_it_has_read_them_all(tmp_path: Path) -> None:
    (tmp_path / "corpus.jsonl").write_text('{"text": "good"}\nbad\n', encoding="utf-8")
    log = ReadingLog()
    documents = stream(tmp_path / "corpus.jsonl", log)
    assert next(documents).text == "good"
    assert (log.documents_read, log.documents_rejected) == (1, 0)
    assert list(documents) == []
    assert log.documents_rejected == 1


def test_a_stream_refuses_a_wrong_call_at_once(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        stream(tmp_path / "absent", ReadingLog())


def test_strict_reading_raises_the_first_problem_and_counts_all(tmp_path: Path) -> None:
    path = tmp_path / "corpus.jsonl"
    path.write_text('{"text": "good"}\nbad\n{"id": "3"}\n', encoding="utf-8")
    with pytest.raises(InputError, match=r"corpus.jsonl:2: not JSON .*\(the first of 2\)"):
        read(path, strict=True)


def test_strict_reading_of_a_good_file_is_like_any_reading(tmp_path: Path) -> None:
    write([GENE, NESTED], tmp_path / "corpus.jsonl")
    assert read(tmp_path / "corpus.jsonl", strict=True).documents == [GENE, NESTED]


# Writing.


@pytest.mark.parametrize("name", [name for name, format in FORMATS.items() if format.suffixes])
def test_the_ending_of_a_path_chooses_the_format_blind_to_case(name: str) -> None:
    for suffix in FORMATS[name].suffixes:
        assert writer_for(Path(f"corpus{suffix.upper()}")).name == name


@pytest.mark.parametrize("path", ["corpus", "corpus.xml", "corpus.json", "jsonl", "corpus.jsonl.gz"])
def test_an_ending_that_tells_no_format_is_refused_with_the_legal_ones(path: str) -> None:
    with pytest.raises(InputError, match="the ending does not say which format it is") as caught:
        writer_for(Path(path))
    assert ".jsonl (jsonl)" in str(caught.value)


def test_a_named_format_overrides_the_ending(tmp_path: Path) -> None:
    write([GENE], tmp_path / "corpus.jsonl", format="pubtator")
    assert reader_of(tmp_path / "corpus.jsonl").name == "pubtator"


def test_folders_on_the_way_are_made(tmp_path: Path) -> None:
    write([GENE], tmp_path / "new" / "folder" / "corpus.jsonl")
    assert read(tmp_path / "new" / "folder" / "corpus.jsonl").documents == [GENE]


def test_what_is_unwritable_is_an_error_that_names_the_entity_and_the_way_out(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"^conll cannot express the entity 'Protein' 'p53' at \[0, 3\) .*let it be left out"
    ):
        write([GENE, NESTED], tmp_path / "corpus.conll")


def test_what_may_be_left_out_is_listed_one_by_one(tmp_path: Path) -> None:
    unwritable: list[str] = []
    write([NESTED, GENE, NESTED], tmp_path / "corpus.conll", lossy=True, unwritable=unwritable)
    assert ["'Protein' 'p53' at [0, 3) of document '3'" in line for line in unwritable] == [True, True]
    assert [len(document.entities) for document in read(tmp_path / "corpus.conll").documents] == [1, 1, 1]


def interrupted() -> Iterator[Document]:
    """Documents whose source fails after the first."""
    yield GENE
    raise OSError("no space left on device")


@pytest.mark.parametrize("name", ["jsonl", "pubtator", "conll", "conll04", "bioc-xml", "parquet", "spacy"])
def test_an_error_leaves_the_old_file_and_nothing_else(tmp_path: Path, name: str) -> None:
    pytest.importorskip(EXTRAS.get(name, "spanwright"))
    path = tmp_path / "corpus.data"
    path.write_bytes(b"old")
    with pytest.raises(OSError, match="no space left"):
        write(interrupted(), path, format=name)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_what_is_unwritable_leaves_no_file(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        write([GENE, NESTED], tmp_path / "corpus.conll")
    assert list(tmp_path.iterdir()) == []


def test_a_file_can_be_written_from_itself(tmp_path: Path) -> None:
    path = tmp_path / "corpus.jsonl"
    write([GENE, NESTED], path)
    write(stream(path, ReadingLog()), path)
    assert read(path).documents == [GENE, NESTED]


def test_a_folder_gets_the_files_of_each_document(tmp_path: Path) -> None:
    write([GENE, PLAIN], tmp_path / "corpus.brat")
    names = sorted(path.name for path in (tmp_path / "corpus.brat").iterdir())
    assert names == ["1.ann", "1.txt", "2.ann", "2.txt"]


def test_an_error_leaves_nothing_in_a_folder(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="no space left"):
        write(interrupted(), tmp_path, format="brat")
    assert not list(tmp_path.iterdir())


def test_a_file_that_cannot_be_completed_in_a_folder_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = Path.write_text

    def disk_full(path: Path, text: str, **options: str) -> int:
        whole(path, text[:1], **options)
        raise OSError("no space left on device")

    monkeypatch.setattr(Path, "write_text", disk_full)
    with pytest.raises(OSError, match="no space left"):
        write([GENE], tmp_path, format="brat")
    assert list(tmp_path.iterdir()) == []


def test_two_documents_of_one_id_do_not_share_a_file_of_a_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"1\.txt: two documents have the id '1'; expected distinct ids"):
        write([GENE, GENE], tmp_path, format="brat")


def test_documents_are_written_to_a_stream_as_they_come() -> None:
    target = io.StringIO()
    with pytest.raises(OSError, match="no space left"):
        write_stream(interrupted(), target, named("jsonl"))
    assert target.getvalue().startswith('{"id": "1"')
    assert target.getvalue().count("\n") == 1


def test_what_is_unwritable_is_treated_in_a_stream_as_in_a_file() -> None:
    with pytest.raises(InputError, match="conll cannot express"):
        write_stream([NESTED], io.StringIO(), named("conll"))
    unwritable: list[str] = []
    write_stream([NESTED], io.StringIO(), named("conll"), lossy=True, unwritable=unwritable)
    assert len(unwritable) == 1


@pytest.mark.parametrize("name", [*FOLDERS, *EXTRAS])
def test_a_format_that_is_no_text_does_not_go_to_a_stream(name: str) -> None:
    with pytest.raises(InputError, match=f"'{name}' is a folder or a binary file and cannot go to a stream"):
        write_stream([GENE], io.StringIO(), named(name))


def test_a_folder_is_refused_by_a_format_of_one_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a folder, but the format 'jsonl' is one file"):
        read(tmp_path, format="jsonl")


def test_files_are_not_written_compressed(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"written uncompressed; expected corpus\.jsonl"):
        write([GENE], tmp_path / "corpus.jsonl.gz", format="jsonl")
    assert not list(tmp_path.iterdir())
