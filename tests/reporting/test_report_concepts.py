"""The section about concepts tells how many are right, and which are not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from report_making import SCRIPT, content_of, page_of
from test_page import read, row
from test_report_command import run

from spanwright.formats.files import write
from spanwright.reporting import Identifiers, System, gather
from spanwright.text import Document, Entity

TEXT = "flu, grippe and ague"
GOLD = Document(
    "1",
    TEXT,
    (
        Entity(0, 3, "Disease", concepts=("D1",)),
        Entity(5, 11, "Disease", concepts=("D1", "D2")),
        Entity(16, 20, "Disease", concepts=("D3",)),
    ),
)


def linked(*concepts: tuple[str, ...]) -> Document:
    entities = zip(GOLD.entities, concepts, strict=True)
    return replace(GOLD, entities=tuple(replace(entity, concepts=own) for entity, own in entities))


def test_accuracy_scores_and_mistakes_are_shown() -> None:
    reader = read(page_of(content_of([GOLD], [linked(("D1",), ("D1",), ())])))
    assert row(reader, "all", "A first") == ["all", "A first", "3", "33.3", "–", "66.7", "1"]
    assert row(reader, "concepts of mentions")[2:5] == ["50.0", "33.3", "40.0"]
    assert row(reader, "concepts of documents")[2:5] == ["100.0", "33.3", "50.0"]
    assert row(reader, "grippe") == ["grippe", "D1 + D2", "D1", "1"]
    assert row(reader, "ague") == ["ague", "D3", "no concept", "1"]


def test_identifiers_that_mean_the_same_have_one_name() -> None:
    known = Identifiers(lambda id: {"X1": "D1"}.get(id, id), {"D1": "Influenza"})
    system = System(name="first", documents=[linked(("X1",), ("X1",), ("D3",))])
    reader = read(page_of(gather([GOLD], [system], identifiers=known)))
    assert row(reader, "all")[3] == "66.7"
    assert row(reader, "grippe")[1:3] == ["D1 (Influenza) + D2", "X1 (Influenza)"]


def test_names_seen_and_unseen_stand_apart() -> None:
    training = [Document("2", "flu", (Entity(0, 3, "Disease", concepts=("D1",)),))]
    system = System(name="first", documents=[linked(("D1",), ("D1",), ())])
    reader = read(page_of(gather([GOLD], [system], training=training)))
    assert row(reader, "name seen")[2:4] == ["1", "100.0"]
    assert row(reader, "concept unseen")[2:4] == ["2", "0.0"]


def test_systems_without_concepts_have_no_part_in_it() -> None:
    assert 'id="concepts"' not in page_of(content_of([GOLD], [linked((), (), ())]))
    bare = [Document("1", TEXT, (Entity(0, 3, "Disease"),))]
    assert 'id="concepts"' not in page_of(content_of(bare, [GOLD]))
    both = read(page_of(content_of([GOLD], [linked((), (), ())], [GOLD])))
    assert row(both, "all")[1] == "B second"


def test_identifiers_cannot_write_into_the_page() -> None:
    assert SCRIPT not in page_of(content_of([GOLD], [linked((SCRIPT,), (SCRIPT,), ())]))


def test_the_command_takes_lexicons(tmp_path: Path) -> None:
    write([GOLD], tmp_path / "gold.jsonl")
    write([linked(("X1",), ("X1",), ("X1",))], tmp_path / "linked.jsonl")
    (tmp_path / "medic.txt").write_text("D1|X1||Influenza|Flu\n", encoding="utf-8")
    result = run(
        *(tmp_path / "linked.jsonl", "--gold", tmp_path / "gold.jsonl", "--out", tmp_path / "page.html"),
        *("--lexicon", tmp_path / "medic.txt"),
    )
    assert result.exit_code == 0, result.output
    reader = read((tmp_path / "page.html").read_text(encoding="utf-8"))
    assert row(reader, "all")[3] == "33.3"
    assert row(reader, "ague")[1:3] == ["D3", "X1 (Influenza)"]
    assert row(reader, "lexicon")[1] == "medic.txt"
