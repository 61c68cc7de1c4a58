"""Files of softened documents: what is in them, and when they are made again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tiny
from spanwright.errors import InputError
from spanwright.formats.files import read
from spanwright.predicting.softening import Teachers
from spanwright.text import Document, Entity
from spanwright.training.distillation import SoftFile, check_soft_files, make_soft_files, mixed
from spanwright.training.watcher import Silent

TEXT = "abase cell of lot"
GOLD = (Entity(0, 10, "Cell", concepts=("C1",)), Entity(0, 5, "Gene"))


def soft(*entities: tuple[int, int, str, float]) -> Document:
    return Document("1", TEXT, tuple(Entity(*each[:3], confidence=each[3]) for each in entities))


def probabilities(document: Document) -> dict[tuple[int, int, str], float | None]:
    return {(entity.start, entity.end, entity.type): entity.confidence for entity in document.entities}


def test_annotation_and_teachers_share_the_probability() -> None:
    found = mixed(
        Document("1", TEXT, GOLD), soft((0, 5, "Gene", 0.4), (0, 5, "Cell", 0.2), (14, 17, "Gene", 0.1)), 0.25
    )
    assert probabilities(found) == pytest.approx(
        {
            (0, 5, "Gene"): 0.25 + 0.75 * 0.4,
            (0, 5, "Cell"): 0.75 * 0.2,
            (14, 17, "Gene"): 0.75 * 0.1,
            (0, 10, "Cell"): 0.25,
        }
    )


def test_an_annotated_entity_keeps_what_the_corpus_says_of_it() -> None:
    found = mixed(Document("1", TEXT, GOLD, metadata={"a": 1}), soft((0, 10, "Cell", 0.5)), 0.5)
    assert {entity.concepts for entity in found.entities if entity.type == "Cell"} == {("C1",)}
    assert found.metadata == {"a": 1}


def test_the_annotation_alone_is_certain_and_the_teachers_alone_forget_it() -> None:
    gold, taught = Document("1", TEXT, GOLD), soft((0, 5, "Gene", 0.4), (0, 5, "Cell", 0.2))
    assert probabilities(mixed(gold, taught, 1.0)) == {(0, 10, "Cell"): 1.0, (0, 5, "Gene"): 1.0}
    assert probabilities(mixed(gold, taught, 0.0)) == {(0, 5, "Gene"): 0.4, (0, 5, "Cell"): 0.2}


def test_an_entity_that_is_annotated_twice_counts_once() -> None:
    twice = Document("1", TEXT, (GOLD[0], Entity(0, 10, "Cell", concepts=("C2",))))
    assert probabilities(mixed(twice, soft((0, 10, "Cell", 0.5)), 0.5)) == {(0, 10, "Cell"): 0.75}


class Workshop:
    """Makes the files of a folder, and counts how often teachers are loaded."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.loaded = 0
        self.made: list[str] = []

    def file(self, name: str, inputs: dict[str, Any]) -> SoftFile:
        def documents(teachers: Teachers) -> Iterator[Document]:
            self.made.append(name)
            yield from teachers.soften([Document(name, TEXT)])

        return SoftFile(name, inputs, documents)

    def make(self, **inputs: dict[str, Any]) -> list[Path]:
        def load() -> Teachers:
            self.loaded += 1
            return Teachers([tiny.model()])

        files = [self.file(f"{name}.jsonl", given) for name, given in inputs.items()]
        return make_soft_files(self.folder, files, load, Silent())


@pytest.fixture
def workshop(tmp_path: Path) -> Workshop:
    made = Workshop(tmp_path / "soft")
    made.make(train={"share": 0.5}, raw={"lowest": 0.1})
    assert made.made == ["train.jsonl", "raw.jsonl"]
    made.made.clear()
    return made


def test_files_that_are_whole_are_used_again_without_loading_a_teacher(workshop: Workshop) -> None:
    paths = workshop.make(train={"share": 0.5}, raw={"lowest": 0.1})
    assert [read(path).documents[0].id for path in paths] == ["train.jsonl", "raw.jsonl"]
    assert workshop.made == []
    assert workshop.loaded == 1


def test_a_file_of_other_inputs_is_made_again(workshop: Workshop) -> None:
    workshop.make(train={"share": 0.6}, raw={"lowest": 0.1})
    assert workshop.made == ["train.jsonl"]


@pytest.mark.parametrize("harm", ["cut", "gone", "no record", "torn record"])
def test_a_file_that_is_not_whole_is_made_again(workshop: Workshop, harm: str) -> None:
    path, record = workshop.folder / "raw.jsonl", workshop.folder / "inputs.json"
    content = path.read_bytes()
    match harm:
        case "cut":
            path.write_bytes(content[:-9])
        case "gone":
            path.unlink()
        case "no record":
            kept = {key: value for key, value in json.loads(record.read_text()).items() if key != path.name}
            record.write_text(json.dumps(kept))
        case _:
            record.write_text(record.read_text()[:-3])
    workshop.make(train={"share": 0.5}, raw={"lowest": 0.1})
    assert workshop.made[-1] == "raw.jsonl"
    assert path.read_bytes() == content


def test_a_run_does_not_go_on_with_files_of_other_inputs(workshop: Workshop) -> None:
    check_soft_files(workshop.folder, [workshop.file("train.jsonl", {"share": 0.5})])
    with pytest.raises(
        InputError, match=r"train\.jsonl: the run was started with other share; give the same"
    ):
        check_soft_files(workshop.folder, [workshop.file("train.jsonl", {"share": 0.6})])
