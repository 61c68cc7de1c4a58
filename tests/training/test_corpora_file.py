"""The file that names several corpora: what it says as settings, what is read by it, and its mistakes."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import making
from spanwright.errors import InputError
from spanwright.formats.files import write
from spanwright.settings import load_settings
from spanwright.training.corpora_file import CorporaFile, load_corpora_file, read_splits


def file_with(folder: Path, text: str) -> Path:
    path = folder / "corpora.toml"
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    return path


def said(**values: Any) -> CorporaFile:
    corpora = values.pop("corpora", {"A": {"train": "a"}})
    return CorporaFile.model_validate({"corpora": corpora, **values})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with files of two corpora."""
    made = tmp_path_factory.mktemp("corpora")
    for name, count in (("a-1", 3), ("a-2", 2), ("a-dev", 4), ("b", 2)):
        write(making.documents(count, prefix=name), made / f"{name}.jsonl")
    (made / "empty.jsonl").write_text("")
    (made / "broken.jsonl").write_text((made / "b.jsonl").read_text() + '{"id": \n')
    return made


# What it says as settings.


def test_the_target_the_map_and_the_weights_are_settings() -> None:
    corpora = {"A": {"train": "a", "weight": 0.5}, "B": {"train": "b"}, "C": {"train": "c", "weight": 3}}
    file = said(target="B", map="cvae-ner", corpora=corpora)
    chosen = load_settings("cvae", file.changes).corpora
    assert chosen is not None
    assert chosen.target == ("B",)
    assert chosen.map == "cvae-ner"
    assert chosen.weights == {"A": 0.5, "C": 3.0}


def test_several_targets_are_a_list() -> None:
    chosen = load_settings("cvae", said(target=["B", "A"]).changes).corpora
    assert chosen is not None and chosen.target == ("B", "A")


@pytest.mark.parametrize("recipe", ["plain", "cvae"])
def test_a_file_that_says_nothing_else_switches_several_corpora_on(recipe: str) -> None:
    chosen = load_settings(recipe, said().changes).corpora
    assert chosen is not None
    assert (chosen.target, chosen.map, chosen.weights) == ((), None, {})


def test_a_map_and_weights_that_are_not_said_stay_as_a_recipe_has_them() -> None:
    before = ["corpora.map=cvae-ner", "corpora.weights={B=2.0}"]
    chosen = load_settings("cvae", [*before, *said(target="B").changes]).corpora
    assert chosen is not None and (chosen.map, chosen.weights) == ("cvae-ner", {"B": 2.0})


NAMES = st.text(
    st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="\x7f"), min_size=1, max_size=8
)


@given(NAMES, st.floats(1e-6, 1e6))
def test_whatever_a_corpus_is_called_arrives_in_the_settings(name: str, weight: float) -> None:
    file = said(target=name, corpora={name: {"train": "a", "weight": weight}})
    chosen = load_settings("cvae", file.changes).corpora
    assert chosen is not None
    assert chosen.target == (name,)
    assert chosen.weights == ({name: weight} if weight != 1 else {})


# What is read.


def test_corpora_are_read_in_order_and_their_documents_say_which_they_are_from(folder: Path) -> None:
    file = load_corpora_file(
        file_with(
            folder,
            f"""
            [corpora.B]
            train = "{folder}/b.jsonl"

            [corpora.A]
            train = ["{folder}/a-1.jsonl", "{folder}/a-2.jsonl"]
            dev = "{folder}/a-dev.jsonl"
            test = ["{folder}/b.jsonl"]
            """,
        )
    )
    readings = list(read_splits(file))
    found = [(reading.corpus, reading.split, len(reading.documents)) for reading in readings]
    assert found == [("B", "train", 2), ("A", "train", 5), ("A", "dev", 4), ("A", "test", 2)]
    for reading in readings:
        assert {document.corpus for document in reading.documents} == {reading.corpus}
        assert reading.log.problems == []
    ids = [document.id for document in readings[1].documents]
    assert ids == ["a-1-0", "a-1-1", "a-1-2", "a-2-0", "a-2-1"]


def test_of_each_split_the_first_documents_are_used_up_to_its_limit(folder: Path) -> None:
    files = {
        "train": [str(folder / "a-1.jsonl"), str(folder / "a-2.jsonl")],
        "dev": str(folder / "a-dev.jsonl"),
    }
    limited = said(corpora={"A": {**files, "documents": {"train": 4, "dev": 1}}})
    ids = {reading.split: [d.id for d in reading.documents] for reading in read_splits(limited)}
    assert ids == {"train": ["a-1-0", "a-1-1", "a-1-2", "a-2-0"], "dev": ["a-dev-0"]}


def test_a_format_and_its_options_are_those_of_a_corpus(tmp_path: Path) -> None:
    (tmp_path / "tags").write_text("one x O\nbcase x B-Gene\n\n")
    options = {"word_column": "0", "tag_column": "2"}
    file = said(corpora={"A": {"train": str(tmp_path / "tags"), "format": "conll", "options": options}})
    (reading,) = read_splits(file)
    (document,) = reading.documents
    assert [document.mention(entity) for entity in document.entities] == ["bcase"]


def test_a_file_without_documents_is_refused_with_the_name_of_its_corpus(folder: Path) -> None:
    file = said(corpora={"A": {"train": str(folder / "b.jsonl"), "dev": str(folder / "empty.jsonl")}})
    with pytest.raises(InputError, match="corpus 'A': its dev files have no document that can be read"):
        list(read_splits(file))


def test_a_file_that_is_not_there_is_refused(folder: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere\.jsonl"):
        list(read_splits(said(corpora={"A": {"train": str(folder / "nowhere.jsonl")}})))


def test_problems_in_reading_are_in_the_log_and_stop_a_strict_reading(folder: Path) -> None:
    file = said(corpora={"A": {"train": str(folder / "broken.jsonl")}})
    (reading,) = read_splits(file)
    assert len(reading.documents) == 2
    assert [problem.line for problem in reading.log.problems] == [3]
    with pytest.raises(InputError, match=r"broken\.jsonl:3"):
        list(read_splits(file, strict=True))


# Mistakes.

FILES = '[corpora.A]\ntrain = "a"\n'


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("target = ", "not valid TOML: "),
        ('target = "A"\n', "'corpora' is missing"),
        ("[corpora]\n", "'corpora' is {}: expected at least 1, found 0"),
        ('corpora = ["a.tsv"]\n', "'corpora' is ['a.tsv']: expected names with values"),
        (
            f"targets = 'A'\n{FILES}",
            "'targets' is unknown (did you mean 'target'?); expected target, map, corpora",
        ),
        (f"target = 3\n{FILES}", "'target' is 3: expected a list"),
        (f"target = [3]\n{FILES}", "'target.0' is 3: expected a string"),
        (f"map = 3\n{FILES}", "'map' is 3: expected a string"),
        ("[corpora.A]\ndev = 'a'\n", "'corpora.A.train' is missing"),
        ("[corpora.A]\ntrain = []\n", "'corpora.A.train' is []: expected at least 1, found 0"),
        ("[corpora.A]\ntrain = 3\n", "'corpora.A.train' is 3: expected a list"),
        (f"{FILES}test = [1]\n", "'corpora.A.test.0' is 1: expected a path"),
        (f"{FILES}weight = 0\n", "'corpora.A.weight' is 0: expected more than 0"),
        (f"{FILES}weight = inf\n", "'corpora.A.weight' is inf: expected a finite number"),
        (
            f"{FILES}documents = {{train = 0}}\n",
            "'corpora.A.documents.train' is 0: expected more than 0",
        ),
        (
            f"{FILES}trian = 'b'\n",
            "'corpora.A.trian' is unknown (did you mean 'train'?); "
            "expected train, dev, test, format, options, documents, weight",
        ),
        (
            f"{FILES}documents = {{all = 1}}\n",
            "'corpora.A.documents.all' is unknown; expected train, dev, test",
        ),
        (
            "[corpora.A]\n[corpora.B]\ntrain = 'b'\nweight = -1\n",
            "'corpora.A.train' is missing; 'corpora.B.weight' is -1: expected more than 0",
        ),
    ],
)
def test_a_mistake_is_named_with_its_place(tmp_path: Path, text: str, reason: str) -> None:
    path = file_with(tmp_path, text)
    with pytest.raises(InputError) as caught:
        load_corpora_file(path)
    assert str(caught.value).startswith(f"{path}: {reason}")
    assert "\n" not in str(caught.value)


def test_a_corpora_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"corpora\.toml: no such file; it names corpora and their files"):
        load_corpora_file(tmp_path / "corpora.toml")


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "corpora.toml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="not valid TOML: "):
        load_corpora_file(path)


def test_a_mark_of_the_byte_order_is_no_mistake(tmp_path: Path) -> None:
    path = tmp_path / "corpora.toml"
    path.write_text(f"\ufeff{FILES}", encoding="utf-8")
    assert list(load_corpora_file(path).corpora) == ["A"]
