"""Promise 7: whatever is wrong with a corpus file, nothing is lost silently.

Each mutation breaks one thing in a good file. It must be listed with file, line and reason, what is lost must
be counted, all other documents must be read as before, and a strict reading must refuse the file.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from broken_bioc import BIOC_JSON, BIOC_XML
from broken_json import CONLL04, GENIA, JSONL, SCIERC
from broken_lines import BRAT, COLUMNS, PUBTATOR
from broken_tools import ARGILLA, DOCCANO, LABEL_STUDIO, PRODIGY
from good_files import DOCUMENTS, ENTITIES, GOOD
from mutation import Mutation

from spanwright.cli.main import main
from spanwright.errors import InputError
from spanwright.formats.files import Corpus, read

MUTATIONS = {
    "pubtator": PUBTATOR,
    "conll": COLUMNS,
    "brat": BRAT,
    "jsonl": JSONL,
    "genia-jsonl": GENIA,
    "scierc": SCIERC,
    "conll04": CONLL04,
    "bioc-xml": BIOC_XML,
    "bioc-json": BIOC_JSON,
    "label-studio": LABEL_STUDIO,
    "doccano": DOCCANO,
    "prodigy": PRODIGY,
    "argilla": ARGILLA,
}
CASES = [
    pytest.param(format, mutation, id=f"{format}: {name}")
    for format, mutations in MUTATIONS.items()
    for name, mutation in mutations.items()
]
EACH_MUTATION = pytest.mark.parametrize(("format", "mutation"), CASES)
EACH_FORMAT = pytest.mark.parametrize("format", GOOD)


def good(folder: Path, format: str) -> Corpus:
    folder.mkdir()
    return read(GOOD[format].put(folder, {}))


def broken(folder: Path, format: str, mutation: Mutation) -> Path:
    """Write the good file of a format with one mutation; what to read."""
    name = mutation.file or GOOD[format].path
    text = GOOD[format].files[name]
    assert text.count(mutation.old) == 1
    before, _, after = text.partition(mutation.old)
    new = mutation.new.encode() if isinstance(mutation.new, str) else mutation.new
    return GOOD[format].put(folder, {name: None if new is None else before.encode() + new + after.encode()})


def place(folder: Path, format: str, mutation: Mutation) -> str:
    """How the problem of a mutation must begin."""
    return f"{folder / (mutation.told_of or mutation.file or GOOD[format].path)}:{mutation.line}: "


def test_there_are_40_mutations_over_6_formats() -> None:
    assert len(CASES) >= 40
    assert len(MUTATIONS) >= 6


@EACH_FORMAT
def test_a_good_file_has_no_problems(tmp_path: Path, format: str) -> None:
    corpus = good(tmp_path / "good", format)
    assert [document.id for document in corpus.documents] == ["1", "2", "3"]
    assert (corpus.log.documents_read, corpus.log.entities_read) == (DOCUMENTS, ENTITIES)
    assert corpus.log.problems == []


@EACH_MUTATION
def test_a_mutation_is_listed_with_file_line_and_reason(
    tmp_path: Path, format: str, mutation: Mutation
) -> None:
    (problem,) = read(broken(tmp_path, format, mutation)).log.problems
    assert str(problem).startswith(place(tmp_path, format, mutation))
    assert mutation.reason in problem.reason


@EACH_MUTATION
def test_what_is_read_and_rejected_is_what_the_file_holds(
    tmp_path: Path, format: str, mutation: Mutation
) -> None:
    log = read(broken(tmp_path, format, mutation)).log
    assert (log.documents_rejected, log.entities_rejected) == (mutation.documents, mutation.entities)
    assert log.documents_read + log.documents_rejected == DOCUMENTS - mutation.gone_documents
    assert log.entities_read + log.entities_rejected == ENTITIES - mutation.gone_entities


@EACH_MUTATION
def test_the_other_documents_are_read_as_before(tmp_path: Path, format: str, mutation: Mutation) -> None:
    before = good(tmp_path / "good", format).documents
    found = {document.id: document for document in read(broken(tmp_path, format, mutation)).documents}
    for document in before:
        if document.id not in mutation.touched.split():
            assert found.get(document.id) == document


@EACH_MUTATION
def test_a_strict_reading_refuses_the_file(tmp_path: Path, format: str, mutation: Mutation) -> None:
    path = broken(tmp_path, format, mutation)
    with pytest.raises(InputError) as caught:
        read(path, strict=True)
    assert str(caught.value).startswith(place(tmp_path, format, mutation))


@EACH_MUTATION
def test_a_strict_check_lists_the_problem_and_exits_with_2(
    tmp_path: Path,
    format: str,
    mutation: Mutation,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = broken(tmp_path, format, mutation)
    monkeypatch.setattr(sys, "argv", ["spanwright", "corpus", "check", str(path), "--strict"])
    with pytest.raises(SystemExit) as caught:
        main()
    output = capsys.readouterr()
    assert caught.value.code == 2
    assert output.out.startswith(place(tmp_path, format, mutation))
    assert output.err == "error: 1 problem in 1 file\n"


HARMLESS: dict[str, Callable[[bytes], bytes]] = {
    "CRLF": lambda content: content.replace(b"\n", b"\r\n"),
    "CR": lambda content: content.replace(b"\n", b"\r"),
    "CR CR LF": lambda content: content.replace(b"\n", b"\r\r\n"),
    "LF, then CR": lambda content: (
        content[: len(content) // 2] + content[len(content) // 2 :].replace(b"\n", b"\r")
    ),
    "a byte order mark": lambda content: b"\xef\xbb\xbf" + content,
    "no line end at the end": lambda content: content.removesuffix(b"\n"),
    "empty lines at the end": lambda content: content + b"\n\n",
}


@EACH_FORMAT
@pytest.mark.parametrize("change", HARMLESS.values(), ids=HARMLESS)
def test_harmless_differences_change_nothing(
    tmp_path: Path, format: str, change: Callable[[bytes], bytes]
) -> None:
    # The texts of BRAT are left out: there, every line end counts.
    changed = {
        name: change(text.encode()) for name, text in GOOD[format].files.items() if not name.endswith(".txt")
    }
    corpus = read(GOOD[format].put(tmp_path, dict(changed)))
    assert corpus.documents == good(tmp_path / "good", format).documents
    assert corpus.log.problems == []


UNUSUAL = {
    "pubtator: across title and abstract": (
        "pubtator",
        "\t19\t26\tAspirin",
        "\t13\t26\tfever Aspirin",
        "fever\nAspirin",
    ),
    "pubtator: nested": ("pubtator", "\t19\t26\tAspirin", "\t0\t3\tDel", "Del"),
    "pubtator: missing empty line": ("pubtator", "D001241\n\n", "D001241\n", "Aspirin"),
    "conll: NUL in a word": ("conll", "fever", "fe\0er", "fe\0er"),
    "conll: tab in the empty line": ("conll", ".\tO\n\nIt", ".\tO\n\t\nIt", "fever"),
    "brat: discontinuous": ("brat", "13 18\tfever", "9 12;13 18\tand fever", "and fever"),
    "brat: two mentions of a span": ("brat", "13 18\tfever", "0 8\tDelirium", "Delirium"),
    "jsonl: discontinuous": (
        "jsonl",
        '"start": 13, "end": 18, "type": "Disease", "text": "fever"',
        '"start": 0, "end": 18, "type": "Disease", "fragments": [[0, 8], [13, 18]]',
        "Delirium fever",
    ),
    "jsonl: escaped NUL": ("jsonl", "and fever", "and\\u0000fever", "fever"),
    "jsonl: pair of surrogates": ("jsonl", "and fever", "\\ud83e\\uddec   fever", "fever"),
    "genia-jsonl: nested": (
        "genia-jsonl",
        '"start": 2, "end": 3, "entity_type": "Disease", "text": "fever"',
        '"start": 0, "end": 3, "entity_type": "Disease", "text": "Delirium and fever"',
        "Delirium and fever",
    ),
    "scierc: across sentences": ("scierc", "[4, 4,", "[1, 2,", "came\nSo"),
    "bioc-xml: discontinuous": (
        "bioc-xml",
        '<location offset="13" length="5"/><text>fever',
        '<location offset="9" length="3"/><location offset="13" length="5"/><text>and fever',
        "and fever",
    ),
    "bioc-xml: character reference": ("bioc-xml", "Delirium and f", "Delirium &#97;nd f", "fever"),
}
"""Format, what is replaced in document 2, by what, and the second mention that must come of it."""


@pytest.mark.parametrize(("format", "old", "new", "mention"), UNUSUAL.values(), ids=UNUSUAL)
def test_what_is_unusual_but_legal_is_kept(
    tmp_path: Path, format: str, old: str, new: str, mention: str
) -> None:
    file = "2.ann" if format == "brat" else ""
    corpus = read(broken(tmp_path, format, Mutation(old, new, 0, "", file=file)))
    document = corpus.documents[1]
    assert document.mention(document.entities[1]) == mention
    assert (corpus.log.documents_read, corpus.log.entities_read) == (DOCUMENTS, ENTITIES)
    assert corpus.log.problems == []
