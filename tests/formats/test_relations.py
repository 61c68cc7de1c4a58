"""Relations: what each format reads as one, and their way from format to format."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from spanwright.errors import InputError
from spanwright.formats import files
from spanwright.formats.format import ReadingLog
from spanwright.formats.unwritable import Unwritable
from spanwright.text import Argument, Document, Entity, Relation

TEXT = "Famotidine and delirium"
DRUG, ILL = Entity(0, 10, "Chemical", concepts=("D1",)), Entity(15, 23, "Disease", concepts=("D2",))
BETWEEN_CONCEPTS = Relation("CID", (Argument("D1"), Argument("D2")))
BETWEEN_MENTIONS = Relation("CID", (Argument(DRUG), Argument(ILL)))


def read(path: Path, content: str, format: str) -> tuple[Document, ReadingLog]:
    path.write_text(content, encoding="utf-8")
    corpus = files.read(path, format=format)
    return corpus.documents[0], corpus.log


def read_brat(folder: Path, *lines: str) -> tuple[Document, ReadingLog]:
    (folder / "1.txt").write_text(TEXT, encoding="utf-8")
    entities = ("T1\tChemical 0 10\tFamotidine", "T2\tDisease 15 23\tdelirium")
    concepts = ("N1\tReference T1 unknown:D1\tFamotidine", "N2\tReference T2 unknown:D2\tdelirium")
    return read(folder / "1.ann", "".join(f"{line}\n" for line in (*entities, *concepts, *lines)), "brat")


@pytest.mark.parametrize(
    ("lines", "relation"),
    [
        (["R1\tCID Arg1:T1 Arg2:T2"], BETWEEN_MENTIONS),
        (["*\tEquiv T1 T2"], Relation("Equiv", (Argument(DRUG), Argument(ILL)))),
        (["R1\tCID Cause:T1 Arg2:T2"], Relation("CID", (Argument(DRUG, "Cause"), Argument(ILL)))),
        (["R1\tCID Arg2:T1 Arg1:T2"], Relation("CID", (Argument(DRUG, "Arg2"), Argument(ILL, "Arg1")))),
        (["R1\tCID Arg1:T1 Arg2:T2", "#1\tAnnotatorNotes R1\tsure"], replace(BETWEEN_MENTIONS, note="sure")),
        (
            ["R1\tCID Arg1:T1 Arg2:T2", "#1\tConcept1 R1\tD1", "#2\tConcept2 R1\tD2"],
            BETWEEN_CONCEPTS,
        ),
    ],
)
def test_lines_of_brat_are_relations(tmp_path: Path, lines: list[str], relation: Relation) -> None:
    document, log = read_brat(tmp_path, *lines)
    assert (document.relations, log.problems) == ((relation,), [])


@pytest.mark.parametrize(
    "line", ["R1\tCID Arg1:E1 Arg2:T2", "R1\tCID Arg1:T9 Arg2:T2", "R1\tCID T1 T2", "R1\tCID"]
)
def test_other_lines_of_brat_are_no_relations_but_kept(tmp_path: Path, line: str) -> None:
    document, _ = read_brat(tmp_path, line, "#1\tAnnotatorNotes T1\tx")
    assert document.relations == ()
    assert line in document.annotation_notes["brat_lines"]


def test_concepts_are_related_in_brat_by_the_first_mention_of_each(tmp_path: Path) -> None:
    twice = Document("1", f"{TEXT} delirium", (DRUG, ILL, replace(ILL, start=24, end=32)))
    files.write([replace(twice, relations=(BETWEEN_CONCEPTS,))], tmp_path, format="brat")
    lines = (tmp_path / "1.ann").read_text(encoding="utf-8").splitlines()
    assert lines[-3:] == ["R1\tCID Arg1:T1 Arg2:T2", "#1\tConcept1 R1\tD1", "#2\tConcept2 R1\tD2"]


def test_a_relation_that_is_gone_is_not_written_from_the_lines_of_its_file(tmp_path: Path) -> None:
    document, _ = read_brat(tmp_path, "R7\tCID Arg1:T1 Arg2:T2", "E1\tGrowth:T1")
    files.write([replace(document, relations=())], tmp_path / "out", format="brat")
    content = (tmp_path / "out" / "1.ann").read_text(encoding="utf-8")
    assert "R7" not in content and "E1" in content


def bioc(**relation: object) -> str:
    annotations = [
        {
            "id": id,
            "infons": {"type": entity.type, "MESH": entity.concepts[0]},
            "locations": [{"offset": entity.start, "length": entity.end - entity.start}],
        }
        for id, entity in (("a", DRUG), ("b", ILL))
    ]
    passage = {"offset": 0, "text": TEXT, "annotations": annotations}
    return json.dumps({"documents": [{"id": "1", "passages": [passage], "relations": [relation]}]})


NODES = [{"refid": "a", "role": "Cause"}, {"refid": "b"}]


@pytest.mark.parametrize(
    ("infons", "nodes", "relation"),
    [
        ({"relation": "CID", "Chemical": "D1", "Disease": "D2"}, [], BETWEEN_CONCEPTS),
        ({"entity1": "D1", "entity2": "D2", "type": "CID"}, [], BETWEEN_CONCEPTS),
        (
            {"entity1": "D1", "entity2": "D2", "type": "CID", "novel": "No"},
            [],
            replace(BETWEEN_CONCEPTS, note="No"),
        ),
        ({"type": "CID"}, NODES, Relation("CID", (Argument(DRUG, "Cause"), Argument(ILL)))),
        ({"type": "CID", "entity1": "D1"}, NODES[1:], Relation("CID", (Argument("D1"), Argument(ILL)))),
        ({"type": "CID"}, [{"refid": "R1"}], None),
        ({"type": "CID"}, [{"refid": "z"}], None),
        ({"Chemical": "D1", "Disease": "D2"}, [], None),
        ({"type": "CID", "entity2": "D2"}, [], None),
    ],
)
def test_relations_of_bioc(
    tmp_path: Path, infons: dict[str, str], nodes: list[dict[str, str]], relation: Relation | None
) -> None:
    content = bioc(id="R1", infons=infons, nodes=nodes)
    document, _ = read(tmp_path / "file.bioc.json", content, "bioc-json")
    assert document.relations == (() if relation is None else (relation,))
    files.write([document], tmp_path / "again.bioc.json")
    again = json.loads((tmp_path / "again.bioc.json").read_text(encoding="utf-8"))["documents"][0]
    expected = {"id": "R1", "infons": infons, "nodes": nodes}
    assert again["relations"] == ([] if nodes == [{"refid": "z"}] else [expected])


@pytest.mark.parametrize(
    ("relation", "reason"),
    [
        ({"type": "X"}, "expected an object with a type and a list of arguments"),
        (5, "expected an object with a type and a list of arguments"),
        ({"arguments": []}, "'type' is None; expected a string"),
        ({"type": "X", "arguments": [{}]}, "expected an object with an entity or a concept"),
        ({"type": "X", "arguments": [{"entity": 0, "concept": "D"}]}, "with an entity or a concept"),
        ({"type": "X", "arguments": [{"entity": 2}]}, "is entity 2, which was rejected or is none of 2"),
        ({"type": "X", "arguments": [{"entity": 1}]}, "is entity 1, which was rejected"),
        ({"type": "X", "arguments": [{"entity": True}]}, "is entity True"),
        ({"type": "X", "arguments": [{"concept": 7}]}, "'concept' is 7; expected a string"),
    ],
)
def test_a_wrong_relation_of_jsonl_is_rejected_alone(tmp_path: Path, relation: object, reason: str) -> None:
    entities = [{"start": 0, "end": 10, "type": "Chemical"}, {"start": 0, "end": 99, "type": "Chemical"}]
    good = {"type": "Same", "arguments": [{"entity": 0}, {"concept": "D1"}]}
    record = {"text": TEXT, "entities": entities, "relations": [relation, good]}
    document, log = read(tmp_path / "file.jsonl", json.dumps(record), "jsonl")
    assert [each.type for each in document.relations] == ["Same"]
    assert (log.relations_read, log.relations_rejected) == (1, 1)
    assert reason in log.problems[-1].reason


@pytest.mark.parametrize(
    ("format", "content"),
    [
        (
            "scierc",
            {"sentences": [["a", "b"]], "ner": [[[0, 0, "X"]]], "relations": [[[0, 0, 1, 1, "R"], 5]]},
        ),
        (
            "conll04",
            [{"tokens": ["a"], "tags": ["U-X"], "relations": [{"head": 0, "tail": 1, "type": "R"}, 5]}],
        ),
    ],
)
def test_wrong_relations_between_tokens_are_rejected(tmp_path: Path, format: str, content: object) -> None:
    document, log = read(tmp_path / "file.json", json.dumps(content), format)
    assert (document.relations, log.relations_rejected, len(log.problems)) == ((), 2, 2)


def test_an_unreadable_tag_makes_positions_of_entities_meaningless(tmp_path: Path) -> None:
    tagged = {"tokens": ["a", "b", "c"], "tags": ["X", "U-X", "U-Y"]}
    content = [tagged | {"relations": [{"head": 0, "tail": 1, "type": "R"}]}]
    document, log = read(tmp_path / "file.json", json.dumps(content), "conll04")
    assert (len(document.entities), document.relations, log.relations_rejected) == (2, (), 1)


def test_relations_follow_the_entities_of_their_document() -> None:
    document = Document("1", TEXT, (DRUG, ILL), relations=(BETWEEN_MENTIONS, BETWEEN_CONCEPTS))
    assert document.with_entities((ILL,)).relations == (BETWEEN_CONCEPTS,)
    drug = replace(DRUG, type="Drug")
    changed = document.with_changed_entities({DRUG: drug, ILL: ILL})
    assert changed.entities == (drug, ILL)
    assert changed.relations[0].mentions == (drug, ILL)
    assert document.tagged((ILL,)) == Document("1", TEXT, (ILL,))


def test_a_relation_of_something_that_is_no_entity_of_the_document_is_refused() -> None:
    with pytest.raises(InputError, match=r"'CID' holds of 'Disease' at \[15, 23\), which is not an entity"):
        Document("1", TEXT, (DRUG,), relations=(BETWEEN_MENTIONS,))


STEPS = ("corpus.bioc.xml", "corpus.brat", "corpus.jsonl", "corpus.bioc.json", "corpus.pubtator")


def concepts(documents: Sequence[Document]) -> list[list[tuple[str, ...]]]:
    return [[entity.concepts for entity in document.entities] for document in documents]


@pytest.mark.parametrize(
    "name", ["bc5cdr/pubtator/CDR_TrainingSet.PubTator.txt", "biored/pubtator/Test.PubTator"]
)
def test_real_relations_and_concepts_survive_the_way_through_all_formats(
    corpora: Path, tmp_path: Path, name: str
) -> None:
    given = sorted(files.read(corpora / name).documents[:40], key=lambda each: each.id)
    lines = sum(len(document.relations) for document in given)
    found, unwritable = given, list[Unwritable]()
    for step in STEPS:
        files.write(found, tmp_path / step, unwritable=unwritable)
        found = sorted(files.read(tmp_path / step).documents, key=lambda each: each.id)
        assert [each.relations for each in found] == [each.relations for each in given]
        assert concepts(found) == concepts(given)
    assert lines > 40
    assert {line.kind for line in unwritable} <= {"notes", "metadata"}


def test_both_releases_of_bc5cdr_have_the_same_relations(corpora: Path) -> None:
    bioc_path = corpora / "bc5cdr" / "bioc" / "CDR_DevelopmentSet.BioC.xml"
    pubtator_path = corpora / "bc5cdr" / "pubtator" / "CDR_DevelopmentSet.PubTator.txt"
    by_id = {each.id: each for each in files.read(bioc_path).documents}
    for document in files.read(pubtator_path).documents:
        assert set(by_id[document.id].relations) == set(document.relations)
