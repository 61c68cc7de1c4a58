"""`spanwright corpus convert`, through the command itself."""

from __future__ import annotations

from pathlib import Path

import pytest
from corpus_commands import EXTRAS, FLAT, NESTED, content, corpus, damaged, put, target

from spanwright.errors import counted
from spanwright.formats.files import FOLDERS, FORMATS, read, writer_for
from spanwright.text import Document, Entity

DISCONTINUOUS = "'Disease' 'kidney disease' at [24, 47) of document '1'"
INSIDE = "'Organ' 'renal' at [6, 11) of document '1'"
MANY = [name for name in FORMATS if name != "text"]
"""The formats that hold several documents."""
TOOLS = {"label-studio", "doccano", "prodigy", "argilla", "xmi"}
PAIRS = [
    (source, to)
    for source in MANY
    for to in MANY
    if TOOLS.isdisjoint((source, to)) or "jsonl" in (source, to)
]
"""Those of annotation tools are tried to and from one other only, which is enough to see them work."""


@pytest.mark.parametrize(("source", "format"), PAIRS)
def test_ids_texts_and_entities_survive_between_all_formats(tmp_path: Path, source: str, format: str) -> None:
    pytest.importorskip(EXTRAS.get(format, "spanwright"))
    out = target(tmp_path, "target", format)
    result = corpus("convert", put(tmp_path, FLAT, source), "--out", out, "--to", format, "--lossy")
    assert (result.code, result.stdout.partition(";")[0]) == (0, f"{out}: 3 documents, 3 entities read")
    assert content(read(out).documents) == content(FLAT)


UNWRITABLE = {
    **dict.fromkeys(("jsonl", "brat", "bioc-xml", "bioc-json", "parquet"), ()),
    **dict.fromkeys(("pubtator", "genia-jsonl", "scierc", "genia-xml", "spacy"), (DISCONTINUOUS,)),
    **dict.fromkeys(("label-studio", "doccano", "prodigy", "argilla", "xmi"), (DISCONTINUOUS,)),
    **dict.fromkeys(("conll", "conll04"), (DISCONTINUOUS, INSIDE)),
}


@pytest.mark.parametrize("format", UNWRITABLE)
def test_what_is_unwritable_is_named_entity_by_entity_and_all_else_is_written(
    tmp_path: Path, format: str
) -> None:
    pytest.importorskip(EXTRAS.get(format, "spanwright"))
    out = target(tmp_path, "target", format)
    result = corpus("convert", put(tmp_path, NESTED), "--out", out, "--to", format, "--list-losses")
    *unwritable, summary = result.stdout.splitlines()
    assert result.code == 0
    assert len(unwritable) == len(UNWRITABLE[format])
    for line, entity in zip(unwritable, UNWRITABLE[format], strict=True):
        assert line.startswith("left out: ")
        assert entity in line
    by_kind = f" ({counted(len(unwritable), 'entity')})" if unwritable else ""
    assert summary == f"{out}: 2 documents, 4 entities read; {counted(len(unwritable), 'loss')}{by_kind}"
    assert sum(len(document.entities) for document in read(out).documents) == 4 - len(unwritable)


@pytest.mark.parametrize("format", ["jsonl", "brat", "bioc-xml", "bioc-json"])
def test_nested_and_discontinuous_entities_survive_where_they_can(tmp_path: Path, format: str) -> None:
    out = target(tmp_path, "target", format)
    assert corpus("convert", put(tmp_path, NESTED), "--out", out).code == 0
    assert [document.entities for document in read(out).documents] == [
        document.entities for document in NESTED
    ]


@pytest.mark.parametrize("format", ["pubtator", "conll", "conll04"])
def test_what_is_unwritable_is_an_error_unless_allowed(tmp_path: Path, format: str) -> None:
    out = target(tmp_path, "target", format)
    result = corpus("convert", put(tmp_path, NESTED), "--out", out, "--to", format)
    assert (result.code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"error: {format} cannot express ")
    assert DISCONTINUOUS in result.stderr
    assert not out.exists()


def test_what_may_be_left_out_is_counted_but_not_listed(tmp_path: Path) -> None:
    out = tmp_path / "out.conll"
    result = corpus("convert", put(tmp_path, NESTED), "--out", out, "--lossy")
    assert result.stdout == f"{out}: 2 documents, 4 entities read; 2 losses (2 entities)\n"


def test_several_files_become_one(tmp_path: Path) -> None:
    first, second = put(tmp_path, FLAT[:2], "pubtator"), put(tmp_path, FLAT[2:])
    assert corpus("convert", first, second, "--out", tmp_path / "all.jsonl").code == 0
    assert content(read(tmp_path / "all.jsonl").documents) == content(FLAT)


def test_options_of_the_input_format_are_used(tmp_path: Path) -> None:
    path = tmp_path / "file.conll"
    path.write_text("B-GENE\tp53\tO\nO\tbinds\tO\n", encoding="utf-8")
    out = tmp_path / "out.jsonl"
    options = ("--option", "word_column=1", "--option", "tag_column=0")
    assert corpus("convert", path, "--out", out, *options).code == 0
    assert read(out).documents[0].entities == (Entity(0, 3, "GENE"),)


def test_problems_of_the_input_are_told_on_stderr(tmp_path: Path) -> None:
    bad = damaged(tmp_path)
    result = corpus("convert", bad, "--out", tmp_path / "out.jsonl")
    assert result.stderr.startswith("1 problem in reading; left out: 0 documents, 1 entity\n")
    assert f"{bad}:4: " in result.stderr
    assert result.stdout == f"{tmp_path / 'out.jsonl'}: 1 document, 1 entity read; 0 losses\n"


def test_ids_that_repeat_over_inputs_get_a_number_and_a_note(tmp_path: Path) -> None:
    for name in ("p1", "p2"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "abstract.txt").write_text(f"p53 of {name}", encoding="utf-8")
    out = tmp_path / "out.brat"
    result = corpus("convert", tmp_path / "p1", tmp_path / "p2", "--out", out)
    assert result.code == 0 and "note: documents with the id of an earlier one: 1; " in result.stderr
    assert {document.id for document in read(out)} == {"abstract", "abstract#2"}


def test_a_choice_of_the_output_without_a_value_is_named_by_its_option(tmp_path: Path) -> None:
    source = put(tmp_path, FLAT)
    result = corpus("convert", source, "--out", tmp_path / "out.jsonl", "--out-option", "foo")
    assert result.error.startswith("error: --out-option 'foo': expected name=value, such as --out-option ")


def test_the_help_names_all_formats_that_are_folders_and_each_has_an_ending() -> None:
    told = " ".join(corpus("convert", "--help").stdout.replace("│", " ").split())
    assert "or a folder for xmi, bc2gm and brat." in told
    for name in FOLDERS:
        assert writer_for(Path(f"out.{name}")).name == name


def test_an_existing_folder_is_no_output_of_a_format_of_one_file(tmp_path: Path) -> None:
    result = corpus("convert", put(tmp_path, FLAT), "--out", tmp_path, "--to", "jsonl")
    assert result.error.endswith(f"expected a file, such as {tmp_path}/documents.jsonl")


def test_line_breaks_that_become_blanks_are_listed_as_such(tmp_path: Path) -> None:
    source = put(tmp_path, [Document("1", "one\ntwo\nthree")])
    result = corpus("convert", source, "--out", tmp_path / "out.bc2gm", "--list-losses")
    assert "turned into blanks: the line breaks of document '1'\n" in result.stdout
