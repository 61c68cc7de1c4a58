"""Promise 7: whatever is wrong with a corpus file, nothing is lost silently.

Each mutation breaks one thing in a good file. It must be listed with file, line and reason, what is lost must be
counted, everything else must be read as before, and a strict reading must refuse the file.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from good_files import DOCUMENTS, ENTITIES, GOOD
from mutations import MUTATIONS, Mutation

from spanwright.cli.main import main
from spanwright.corpora.files import Corpus, read
from spanwright.errors import InputError

CASES = [
    pytest.param(format, mutation, id=f"{format}: {name}")
    for format, mutations in MUTATIONS.items()
    for name, mutation in mutations.items()
]
ALL = pytest.mark.parametrize(("format", "mutation"), CASES)


def broken(folder: Path, format: str, mutation: Mutation) -> Path:
    """Write a good file with one mutation; what to read."""
    good = GOOD[format]
    name = mutation.file or good.path
    text = good.files[name]
    assert text.count(mutation.old) == 1
    before, _, behind = text.partition(mutation.old)
    new = mutation.new.encode() if isinstance(mutation.new, str) else mutation.new
    return good.put(folder, {name: None if new is None else before.encode() + new + behind.encode()})


def problem_file(folder: Path, format: str, mutation: Mutation) -> Path:
    """The file that a problem must name: for annotations without a text, that of the annotations."""
    name = mutation.file or GOOD[format].path
    remark = not mutation.documents and name.endswith(".txt")
    return folder / (name.replace(".txt", ".ann") if mutation.new is None or remark else name)


def good(folder: Path, format: str) -> Corpus:
    folder.mkdir()
    return read(GOOD[format].put(folder, {}))


def test_there_are_40_mutations_over_6_formats() -> None:
    assert len(CASES) >= 40
    assert len(MUTATIONS) >= 6


@pytest.mark.parametrize("format", GOOD)
def test_the_good_files_have_no_problems(tmp_path: Path, format: str) -> None:
    corpus = good(tmp_path / "good", format)
    assert [document.id for document in corpus.documents] == ["1", "2", "3"]
    assert (corpus.log.documents_read, corpus.log.entities_read) == (DOCUMENTS, ENTITIES)
    assert corpus.log.problems == []


@ALL
def test_a_mutation_is_listed_with_file_line_and_reason(
    tmp_path: Path, format: str, mutation: Mutation
) -> None:
    (problem,) = read(broken(tmp_path, format, mutation)).log.problems
    assert problem.path == str(problem_file(tmp_path, format, mutation))
    assert problem.line == mutation.line
    assert mutation.reason in problem.reason


@ALL
def test_what_is_read_and_rejected_is_what_the_file_holds(
    tmp_path: Path, format: str, mutation: Mutation
) -> None:
    log = read(broken(tmp_path, format, mutation)).log
    assert (log.documents_rejected, log.entities_rejected) == (mutation.documents, mutation.entities)
    assert log.documents_read + log.documents_rejected == DOCUMENTS - mutation.gone_documents
    assert log.entities_read + log.entities_rejected == ENTITIES - mutation.gone_entities


@ALL
def test_the_other_documents_are_read_as_before(tmp_path: Path, format: str, mutation: Mutation) -> None:
    before = good(tmp_path / "good", format).documents
    found = read(broken(tmp_path, format, mutation)).documents
    assert [document for document in before if document.id not in mutation.touched.split()] == [
        document for document in found if document.id in {each.id for each in before} - set(mutation.touched.split())
    ]


@ALL
def test_a_strict_reading_refuses_the_file(tmp_path: Path, format: str, mutation: Mutation) -> None:
    path = broken(tmp_path, format, mutation)
    with pytest.raises(InputError) as caught:
        read(path, strict=True)
    assert str(caught.value).startswith(f"{problem_file(tmp_path, format, mutation)}:{mutation.line}: ")


@ALL
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
    assert output.out.startswith(f"{problem_file(tmp_path, format, mutation)}:{mutation.line}: ")
    assert output.err == "error: 1 problems in 1 files\n"
