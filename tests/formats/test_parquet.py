"""Parquet and Arrow tables: own documents, and tokens with tags as `datasets` has them."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import corpora as several
from strategies import documents
from token_documents import problems

from spanwright.errors import InputError, MissingExtraError
from spanwright.formats import files
from spanwright.formats.format import ReadingLog
from spanwright.formats.tables import parquet
from spanwright.formats.tables.parquet import FORMAT
from spanwright.text import Argument, Document, Entity, Relation

arrow = pytest.importorskip("pyarrow", reason="the extra 'parquet' is not installed")
pytest.importorskip("pyarrow.parquet")

NAMES = ["O", "B-PER", "I-PER", "B-LOC"]
ROW = {"tokens": ["Anna", "Berg", "in", "Oslo"], "ner_tags": [1, 2, 0, 3]}
TAGGED = Document(
    "x",
    "Anna Berg in Oslo",
    (Entity(0, 9, "PER"), Entity(13, 17, "LOC")),
    ((0, 4), (5, 9), (10, 12), (13, 17)),
    ((0, 17),),
)
FULL = Document(
    "1",
    "ab cd",
    (Entity(0, 5, "X", ((0, 1), (3, 5)), ("D1", "D2"), 0.5), Entity(0, 2, "Y")),
    words=((0, 2), (3, 5)),
    sentences=(),
    corpus="c",
    generated_id=True,
    metadata={"a": [1, None]},
    relations=(Relation("R", (Argument(Entity(0, 2, "Y"), "Theme"), Argument("D1")), "Novel"),),
    annotation_notes={"b": [2]},
)


def table_of(rows: list[dict[str, Any]], features: Any = None) -> Any:
    """A table, with the features of `datasets` in its schema."""
    table = arrow.Table.from_pylist(rows)
    if features is None:
        return table
    metadata = {"huggingface": json.dumps({"info": {"features": features}})}
    return table.replace_schema_metadata(metadata)


def label_features(names: list[str]) -> dict[str, Any]:
    return {"ner_tags": {"feature": {"names": names, "_type": "ClassLabel"}, "_type": "Sequence"}}


def store(path: Path, rows: list[dict[str, Any]], features: Any = None) -> Path:
    arrow.parquet.write_table(table_of(rows, features), path)
    return path


def store_arrow(path: Path, table: Any, *, stream: bool) -> Path:
    opened = arrow.ipc.new_stream if stream else arrow.ipc.new_file
    with opened(str(path), table.schema) as writer:
        writer.write_table(table, max_chunksize=2)
    return path


def read(path: Path) -> tuple[list[Document], ReadingLog]:
    log = ReadingLog()
    return [log.accept(document) for document in FORMAT.read(path, log)], log


def written(*given_documents: Document) -> tuple[list[Document], ReadingLog]:
    """What is read again after writing."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "corpus.parquet"
        parquet.write(given_documents, path)
        return read(path)


def test_everything_that_a_document_holds_survives() -> None:
    found, log = written(FULL, Document("2", ""))
    assert found == [FULL, Document("2", "")]
    assert (log.problems, log.notes) == ([], [])


@st.composite
def full_documents(draw: st.DrawFn) -> Document:
    return replace(
        draw(documents(discontinuous=True, concepts=True, related="anything")),
        corpus=draw(st.sampled_from([None, "", "c"])),
        metadata=draw(st.sampled_from([{}, {"a": [1.5, {"b": None}]}])),
    )


@settings(max_examples=40)
@given(corpus=several(full_documents()))
def test_documents_survive_writing_and_reading(corpus: list[Document]) -> None:
    found, log = written(*corpus)
    assert found == corpus
    assert log.problems == []


def test_documents_are_written_in_groups_as_they_come(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet, "_GROUP_DOCUMENTS", 2)
    monkeypatch.setattr(parquet, "_GROUP_CHARACTERS", 10)
    corpus = [Document(str(number), text) for number, text in enumerate(["a", "b", "c" * 10, "d"])]
    files.write(iter(corpus), tmp_path / "a.parquet")
    with arrow.parquet.ParquetFile(tmp_path / "a.parquet") as file:
        groups = [file.metadata.row_group(number).num_rows for number in range(file.num_row_groups)]
    assert groups == [2, 1, 1]
    assert files.read(tmp_path / "a.parquet").documents == corpus


def test_a_failed_writing_leaves_no_file(tmp_path: Path) -> None:
    def broken() -> Iterator[Document]:
        yield Document("1", "a")
        raise InputError("stop")

    with pytest.raises(InputError, match="stop"):
        files.write(broken(), tmp_path / "a.parquet")
    assert list(tmp_path.iterdir()) == []


def test_a_table_needs_no_more_than_a_text(tmp_path: Path) -> None:
    found, log = read(store(tmp_path / "a.parquet", [{"text": "p53", "label": 1}]))
    assert found == [Document("a#1", "p53", generated_id=True)]
    assert log.notes == [f"{tmp_path / 'a.parquet'}: columns that are not read: label"]


def test_entities_need_no_more_than_their_borders_and_type(tmp_path: Path) -> None:
    row = {"text": "p53", "entities": [{"type": "GENE", "start": 0, "end": 3}]}
    (document,), _ = read(store(tmp_path / "a.parquet", [row]))
    assert document.entities == (Entity(0, 3, "GENE"),)


def test_ids_that_are_numbers_are_taken_as_their_digits(tmp_path: Path) -> None:
    found, log = read(store(tmp_path / "a.parquet", [{"id": 7, "text": "a"}, {"id": 7, "text": "b"}]))
    assert [document.id for document in found] == ["7", "7#2"]
    assert [line for line, _ in problems(log)] == [2]


def entity(**keys: Any) -> dict[str, Any]:
    return {"start": 0, "end": 1, "type": "X", "fragments": [], "concepts": [], "confidence": 0.5} | keys


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        (entity(end=9), "entity 1: document '1': entity 'X' at [0, 9) is outside the text"),
        (entity(type=None), "entity 1: there is no start, no end or no type; expected all three"),
        (entity(fragments=[{"start": 0, "end": None}]), "entity 1: a range has no start or no end"),
        (
            entity(confidence=float("nan")),
            "entity 1: a concept is missing, or the confidence is not a finite",
        ),
        (entity(concepts=[None]), "entity 1: a concept is missing, or the confidence is not a finite"),
        (None, "entity 1: there is no start, no end or no type; expected all three"),
    ],
)
def test_a_wrong_entity_is_rejected_alone(tmp_path: Path, wrong: Any, reason: str) -> None:
    row = {"id": "1", "text": "a", "entities": [entity(concepts=["D1"]), wrong]}
    row["entities"][0]["fragments"] = [{"start": 0, "end": 1}]
    (document,), log = read(store(tmp_path / "a.parquet", [row]))
    assert document.entities == (Entity(0, 1, "X", ((0, 1),), ("D1",), 0.5),)
    ((line, found),) = problems(log)
    assert line == 1
    assert found.startswith(reason)
    assert log.entities_rejected == 1


@pytest.mark.parametrize(
    ("keys", "reason"),
    [
        ({"text": None}, "there is no text"),
        ({"words": [{"start": 0, "end": 9}]}, "document '2': word [0, 9) is empty, out of order or outside"),
        ({"words": [{"start": 0, "end": None}]}, "a range has no start or no end; expected both"),
        ({"metadata": "[1]"}, "a JSON list was found; expected an object"),
        ({"metadata": "{"}, "not JSON ("),
    ],
)
def test_a_wrong_document_is_rejected(tmp_path: Path, keys: dict[str, Any], reason: str) -> None:
    good = {
        "id": "1",
        "text": "a",
        "words": [{"start": 0, "end": 1}],
        "metadata": "{}",
        "entities": [entity()],
    }
    found, log = read(store(tmp_path / "a.parquet", [good, good | {"id": "2"} | keys]))
    assert [document.id for document in found] == ["1"]
    ((line, found_reason),) = problems(log)
    assert line == 2
    assert found_reason.startswith(reason)
    assert (log.documents_rejected, log.entities_rejected) == (1, 1)


def test_a_column_of_another_type_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"the column 'words' is list<element: string>; expected list<"):
        read(store(tmp_path / "a.parquet", [{"text": "a", "words": ["a"]}]))


def test_a_table_of_other_columns_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the columns are a, tokens; expected text, or tokens and ner_tags"):
        read(store(tmp_path / "a.parquet", [{"a": 1, "tokens": ["b"]}]))


@pytest.mark.parametrize(
    "features",
    [
        label_features(NAMES),
        {"ner_tags": [{"names": NAMES, "_type": "ClassLabel"}]},
        {"ner_tags": {"feature": {"names": NAMES}, "length": -1, "_type": "List"}},
    ],
    ids=["sequence", "brackets", "list"],
)
def test_tags_are_numbers_whose_names_are_in_the_schema(tmp_path: Path, features: Any) -> None:
    found, log = read(store(tmp_path / "a.parquet", [{"id": "x"} | ROW | {"pos": [1]}], features))
    assert found == [TAGGED]
    assert log.notes == [
        f"{tmp_path / 'a.parquet'}: tag scheme IOB2 (detected)",
        f"{tmp_path / 'a.parquet'}: columns that are not read: pos",
    ]
    assert log.problems == []


def test_tags_are_names(tmp_path: Path) -> None:
    row = {"id": "x", "tokens": ROW["tokens"], "ner_tags": ["B-PER", "I-PER", "O", "B-LOC"]}
    assert read(store(tmp_path / "a.parquet", [row]))[0] == [TAGGED]


def test_columns_and_names_can_be_told(tmp_path: Path) -> None:
    path = store(tmp_path / "a.parquet", [{"id": "x", "words": ROW["tokens"], "labels": ROW["ner_tags"]}])
    options = {"tokens": "words", "tags": "labels", "names": ",".join(NAMES)}
    assert files.read(path, options=options).documents == [TAGGED]


@pytest.mark.parametrize(
    ("keys", "reason", "entities"),
    [
        ({"ner_tags": [9, 0, 0, 0]}, "9 was found as a tag; expected O, B-PER, I-PER, B-LOC", 0),
        ({"ner_tags": [-1, 0, 0, 0]}, "-1 was found as a tag; expected O, B-PER, I-PER, B-LOC", 0),
        ({"ner_tags": [1]}, "there are 4 tokens and 1 tags; expected one for each token", 1),
        ({"ner_tags": None}, "'ner_tags' is None; expected a list", 0),
        ({"tokens": None}, "'tokens' is None; expected a list", 2),
        ({"tokens": ["", "a", "b", "c"]}, "'tokens' holds '' as token 0; expected strings that", 2),
    ],
)
def test_a_wrong_row_of_tokens_is_rejected(
    tmp_path: Path, keys: dict[str, Any], reason: str, entities: int
) -> None:
    found, log = read(store(tmp_path / "a.parquet", [ROW, ROW | keys], label_features(NAMES)))
    assert len(found) == 1
    ((line, found_reason),) = problems(log)
    assert line == 2
    assert found_reason.startswith(reason)
    assert (log.documents_rejected, log.entities_rejected) == (1, entities)


def test_numbers_without_names_are_rejected_with_the_way_out(tmp_path: Path) -> None:
    found, log = read(store(tmp_path / "a.parquet", [ROW]))
    assert found == []
    assert problems(log) == [(1, "the tag 1 has no name in the file; give names with the option names=O,B-X")]


def test_tags_of_no_scheme_are_rejected_and_stray_ones_remarked_on(tmp_path: Path) -> None:
    rows = [
        {"tokens": ["a", "b"], "ner_tags": ["PER", "B-PER"]},
        {"tokens": ["a", "b", "c"], "ner_tags": ["I-PER", "O", "B-PER"]},
    ]
    found, log = read(store(tmp_path / "a.parquet", rows))
    assert [len(document.entities) for document in found] == [1, 2]
    assert [(line, reason.split(";")[0]) for line, reason in problems(log)] == [
        (1, "no tag scheme has 'PER'"),
        (2, "a mention begins with 'I-PER', which IOB2 has inside of mentions only"),
    ]
    assert log.entities_rejected == 1


def test_mentions_of_iob1_begin_without_remarks(tmp_path: Path) -> None:
    rows = [{"tokens": ["a", "b"], "ner_tags": ["I-PER", "B-PER"]}, {"tokens": ["a"], "ner_tags": ["I-PER"]}]
    found, log = read(store(tmp_path / "a.parquet", rows))
    assert [len(document.entities) for document in found] == [2, 1]
    assert log.problems == []


@pytest.mark.parametrize("stream", [False, True], ids=["file", "stream"])
def test_arrow_files_are_read_in_both_forms(tmp_path: Path, stream: bool) -> None:
    rows = [{"id": str(number)} | ROW for number in range(5)]
    path = store_arrow(tmp_path / "a.arrow", table_of(rows, label_features(NAMES)), stream=stream)
    assert files.read(path).documents == [replace(TAGGED, id=str(number)) for number in range(5)]


def saved_dataset(folder: Path) -> Path:
    """A folder as `Dataset.save_to_disk` makes it, with a file of its cache."""
    folder.mkdir(parents=True)
    table = table_of([{"id": "x"} | ROW], label_features(NAMES))
    store_arrow(folder / "data-00000-of-00001.arrow", table, stream=True)
    store_arrow(folder / "cache-1.arrow", table, stream=True)
    (folder / "state.json").write_text(
        json.dumps({"_data_files": [{"filename": "data-00000-of-00001.arrow"}]})
    )
    (folder / "dataset_info.json").write_text("{}")
    return folder


def test_a_saved_data_set_is_read_without_its_cache(tmp_path: Path) -> None:
    assert files.read(saved_dataset(tmp_path / "saved")).documents == [TAGGED]


def test_a_folder_of_splits_is_refused(tmp_path: Path) -> None:
    saved_dataset(tmp_path / "train")
    saved_dataset(tmp_path / "test")
    (tmp_path / "dataset_dict.json").write_text("{}")
    with pytest.raises(InputError, match="a folder of splits; name one of them: test, train"):
        files.read(tmp_path)


def test_a_folder_of_parquet_files_is_read_in_order(tmp_path: Path) -> None:
    for number in (1, 0):
        store(tmp_path / f"train-{number:05d}-of-00002.parquet", [{"id": str(number), "text": "a"}])
    assert [document.id for document in files.read(tmp_path).documents] == ["0", "1"]
    store(tmp_path / "test-00000-of-00001.parquet", [{"id": "2", "text": "a"}])
    with pytest.raises(InputError, match="files of several splits, test, train; name the files of one"):
        files.read(tmp_path)


def test_a_list_of_files_does_not_lead_out_of_its_folder(tmp_path: Path) -> None:
    folder = saved_dataset(tmp_path / "saved")
    store_arrow(tmp_path / "secret.arrow", table_of([ROW], label_features(NAMES)), stream=True)
    (folder / "state.json").write_text(json.dumps({"_data_files": [{"filename": "../secret.arrow"}]}))
    with pytest.raises(InputError, match=r"saved.secret\.arrow"):
        files.read(folder)


def test_files_and_folders_are_recognised(tmp_path: Path) -> None:
    whole = store(tmp_path / "no-ending", [{"text": "a"}])
    stream = store_arrow(tmp_path / "a.arrow", table_of([ROW]), stream=True)
    for path in (whole, stream, saved_dataset(tmp_path / "saved")):
        assert files.reader_of(path).name == "parquet"


@pytest.mark.parametrize("kept", [0, 4, 200])
def test_a_file_that_is_not_whole_is_refused(tmp_path: Path, kept: int) -> None:
    path = store(tmp_path / "a.parquet", [{"text": "a"}])
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(InputError, match=r"a\.parquet: not a whole Parquet or Arrow file"):
        files.read(path, format="parquet")


def test_offsets_in_an_arrow_file_that_point_outside_are_refused(tmp_path: Path) -> None:
    path = store_arrow(tmp_path / "a.arrow", table_of([{"text": "abc"}, {"text": "de"}]), stream=True)
    offsets, wrong = (
        b"".join(each.to_bytes(4, "little") for each in ends) for ends in ([0, 3, 5], [0, 3, 10**6])
    )
    content = path.read_bytes()
    assert content.count(offsets) == 1
    path.write_bytes(content.replace(offsets, wrong))
    with pytest.raises(InputError, match="not a whole Parquet or Arrow file"):
        files.read(path)


def test_a_missing_pyarrow_is_named_with_the_way_to_install_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = store(tmp_path / "a.parquet", [{"text": "a"}])
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'spanwright\[parquet\]'"):
        files.read(path)


def test_a_confidence_that_is_no_number_is_unwritable() -> None:
    document = Document("1", "a", (Entity(0, 1, "X", confidence=float("inf")),))
    assert list(FORMAT.unwritable(document)) == ["the confidence inf of 'X' 'a' at [0, 1) of document '1'"]
    ((found,), _) = written(document)
    assert found.entities == (Entity(0, 1, "X"),)


def test_a_type_that_is_no_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the documents '1' to '1' cannot be written"):
        files.write([Document("1", "a", (Entity(0, 1, "\ud800"),))], tmp_path / "a.parquet")


def test_a_binary_format_cannot_go_to_a_stream_of_text() -> None:
    with pytest.raises(InputError, match="'parquet' is a folder or a binary file and cannot go to a stream"):
        files.write_stream([], sys.stdout, FORMAT)


def test_a_real_corpus_survives(corpora: Path, tmp_path: Path) -> None:
    corpus = files.read(corpora / "genia" / "jsonl" / "test.jsonl").documents
    files.write(corpus, tmp_path / "genia.parquet")
    assert files.read(tmp_path / "genia.parquet").documents == corpus
