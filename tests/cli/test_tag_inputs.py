"""What the inputs of `spanwright tag` and `spanwright job` stand for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from spanwright.cli.tagging import check_readable, expand
from spanwright.errors import InputError
from spanwright.formats.files import read, write
from spanwright.predicting.jobs.shards import list_inputs
from spanwright.text import Document, Entity

GENE = Document("S1", "the p53 gene", (Entity(4, 7, "GENE"),))


def names(folder: Path) -> list[str]:
    """What a folder stands for, relative to it."""
    return [str(file.path.relative_to(folder)) for file in expand([str(folder)])]


def put(*paths: Path, content: str = "A text.") -> None:
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)


def test_a_folder_stands_for_its_files_in_order(tmp_path: Path) -> None:
    put(tmp_path / "b.txt", tmp_path / "a" / "c.txt", tmp_path / "a.jsonl")
    assert names(tmp_path) == ["a/c.txt", "a.jsonl", "b.txt"]


def test_a_bc2gm_folder_is_one_input(tmp_path: Path) -> None:
    write([GENE], tmp_path / "test.bc2gm")
    assert names(tmp_path) == ["test.bc2gm"]
    assert names(tmp_path / "test.bc2gm") == ["."]
    assert [document.text for document in read(*expand([str(tmp_path)])).documents] == [GENE.text]


def test_a_folder_of_the_library_datasets_is_one_input(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow", reason="the extra 'parquet' is not installed")
    ipc = pytest.importorskip("pyarrow.ipc")
    saved = tmp_path / "saved" / "test"
    put(saved / "state.json", content=json.dumps({"_data_files": [{"filename": "data.arrow"}]}))
    put(saved / "dataset_info.json", content="{}")
    table = arrow.Table.from_pylist([{"text": GENE.text}])
    with ipc.new_stream(str(saved / "data.arrow"), table.schema) as stream:
        stream.write_table(table)
    assert names(tmp_path) == ["saved/test"]
    assert [document.text for document in read(*expand([str(tmp_path)])).documents] == [GENE.text]


def test_a_brat_folder_is_one_input_and_a_folder_of_texts_is_not(tmp_path: Path) -> None:
    write([GENE], tmp_path / "corpus.brat")
    assert names(tmp_path / "corpus.brat") == ["."]
    (tmp_path / "corpus.brat" / "S1.ann").unlink()
    assert names(tmp_path / "corpus.brat") == ["S1.txt"]


def test_parquet_files_of_a_folder_are_inputs_beside_others(tmp_path: Path) -> None:
    put(tmp_path / "a.parquet", tmp_path / "b.jsonl")
    assert names(tmp_path) == ["a.parquet", "b.jsonl"]


def test_what_is_hidden_is_no_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path / "a.txt", tmp_path / "sub" / "b.txt")
    hidden = (".git/config.txt", ".ipynb_checkpoints/a-checkpoint.txt", ".a.txt", "sub/.old/b.txt")
    size = list_inputs([tmp_path])[0].bytes
    put(*(tmp_path / name for name in hidden))
    assert names(tmp_path) == ["a.txt", "sub/b.txt"]
    monkeypatch.chdir(tmp_path)
    assert [str(file.path) for file in expand(["**/*.txt"])] == ["a.txt", "sub/b.txt"]
    assert list_inputs([tmp_path])[0].bytes == size


def test_what_is_hidden_is_no_document_of_a_brat_folder(tmp_path: Path) -> None:
    write([GENE], tmp_path / "corpus.brat")
    put(tmp_path / "corpus.brat" / ".ipynb_checkpoints" / "S1-checkpoint.ann", content="T1\tX 0 1\ta\n")
    corpus = read(tmp_path / "corpus.brat")
    assert ([document.id for document in corpus.documents], corpus.log.problems) == (["S1"], [])


def test_a_folder_with_nothing_but_hidden_files_has_no_file(tmp_path: Path) -> None:
    put(tmp_path / ".git" / "config")
    with pytest.raises(InputError, match="the folder has no file"):
        expand([str(tmp_path)])


def test_a_link_to_a_folder_above_does_not_lead_round_in_a_circle(tmp_path: Path) -> None:
    put(tmp_path / "a.txt")
    (tmp_path / "loop").symlink_to(tmp_path)
    assert names(tmp_path) == ["a.txt"]


def test_texts_of_a_folder_have_the_ids_that_the_folder_as_a_whole_gives_them(tmp_path: Path) -> None:
    put(tmp_path / "p1" / "abstract.txt", tmp_path / "p2" / "abstract.txt", tmp_path / "a.txt")
    found = [document.id for document in read(*expand([str(tmp_path)]))]
    assert found == ["a", "p1/abstract", "p2/abstract"]
    assert found == [document.id for document in read(tmp_path)]


def test_the_format_of_every_file_is_checked(tmp_path: Path) -> None:
    put(tmp_path / "a.txt", tmp_path / "zz.md")
    files = expand([str(tmp_path)])
    told = rf"zz\.md: the format was not recognised; .*: move it away, .* such as {tmp_path}/\*\.txt$"
    with pytest.raises(InputError, match=told):
        check_readable(files, None)
    check_readable(files, "text")
    with pytest.raises(InputError, match=r"expected one of [^:]*$"):
        check_readable(expand([str(tmp_path / "zz.md")]), None)


def test_standard_input_has_texts_whatever_format_is_asked_for() -> None:
    with pytest.raises(InputError, match=r"a text on each line.*give /dev/stdin"):
        check_readable(expand(["-"]), "jsonl")
    check_readable(expand(["-"]), None)
