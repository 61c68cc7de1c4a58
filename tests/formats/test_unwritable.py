"""Whatever a document carries, every format gives it back or counts it as unwritable."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from spanwright.errors import InputError
from spanwright.formats.files import FORMATS, read, write
from spanwright.formats.unwritable import ContentKind, Unwritable, count_unwritable, counted_by_kind
from spanwright.text import Argument, Document, Entity, Relation

EXTRAS = {"parquet": "pyarrow", "spacy": "spacy", "xmi": "cassis"}
ALL = pytest.mark.parametrize("format", FORMATS)

GENE, OTHER = Entity(0, 3, "GENE"), Entity(10, 13, "GENE")
ONE, TWO = replace(GENE, concepts=("D1",)), replace(OTHER, concepts=("D2", "D3"))
PLAIN = Document("S1", "p53 binds DNA", (GENE, OTHER))
KNOWN = Document("S1", "p53 binds DNA", (ONE, TWO))


def related(*targets: Entity | str, role: str = "", note: str = "", on: Document = PLAIN) -> Document:
    arguments = tuple(Argument(target, role) for target in targets)
    return replace(on, relations=(Relation("Binds", arguments, note),))


@dataclass(frozen=True)
class Content:
    """A document that carries something, and how to get that from it."""

    kind: ContentKind
    document: Document
    part: Callable[[Document], Any] = field(repr=False)


def entities(document: Document) -> Any:
    return [entity.key for entity in document.entities]


def concepts(document: Document) -> Any:
    return [entity.concepts for entity in document.entities]


def confidences(document: Document) -> Any:
    return [entity.confidence for entity in document.entities]


def relations(document: Document) -> Any:
    """Relations by the ranges of mentions: concepts that are unwritable are not missed in them."""
    return [
        (relation.type, relation.note, [(each.role, shown(each.target)) for each in relation.arguments])
        for relation in document.relations
    ]


def shown(target: Entity | str) -> Any:
    return target.key if isinstance(target, Entity) else target


def notes(document: Document) -> Any:
    return document.annotation_notes


SPLIT = Entity(0, 13, "GENE", fragments=((0, 3), (10, 13)))
CONTENTS = {
    "a concept": Content("concepts", replace(KNOWN, entities=(ONE, OTHER)), concepts),
    "several concepts": Content("concepts", KNOWN, concepts),
    "a relation of mentions": Content("relations", related(GENE, OTHER), relations),
    "a relation of mentions with concepts": Content("relations", related(ONE, TWO, on=KNOWN), relations),
    "a relation of concepts": Content("relations", related("D1", "D2", on=KNOWN), relations),
    "a relation of unknown concepts": Content("relations", related("D7", "D8"), relations),
    "a relation of a mention and a concept": Content("relations", related(ONE, "D2", on=KNOWN), relations),
    "a relation of three": Content("relations", related(GENE, OTHER, GENE), relations),
    "a relation with roles": Content("relations", related(GENE, OTHER, role="Theme"), relations),
    "a relation with a note": Content("relations", related("D1", "D2", note="Novel", on=KNOWN), relations),
    "a relation of a discontinuous mention": Content(
        "relations", related(SPLIT, GENE, on=replace(PLAIN, entities=(GENE, SPLIT))), relations
    ),
    "confidences": Content(
        "confidences", replace(PLAIN, entities=(replace(GENE, confidence=0.5), OTHER)), confidences
    ),
    "metadata": Content("metadata", replace(PLAIN, metadata={"year": 1996}), lambda each: each.metadata),
    "the corpus": Content("corpora", replace(PLAIN, corpus="made"), lambda each: each.corpus),
    "notes from elsewhere": Content("notes", replace(PLAIN, annotation_notes={"elsewhere": [1]}), notes),
    "a discontinuous entity": Content("entities", replace(PLAIN, entities=(SPLIT,)), entities),
    "a nested entity": Content(
        "entities", replace(PLAIN, entities=(GENE, Entity(0, 9, "GENE"))), lambda each: set(entities(each))
    ),
    "an entity in one fragment": Content(
        "entities", replace(PLAIN, entities=(Entity(0, 3, "GENE", fragments=((0, 3),)),)), entities
    ),
    "a type": Content("entities", replace(PLAIN, entities=(Entity(0, 3, "two words"),)), entities),
    "given words": Content(
        "borders", replace(PLAIN, words=((0, 3), (4, 9), (10, 13))), lambda each: each.words
    ),
    "given sentences": Content(
        "borders", replace(PLAIN, sentences=((0, 9), (10, 13))), lambda each: each.sentences
    ),
}


def written(document: Document, format: str, folder: Path) -> tuple[Document, list[Unwritable]]:
    """What is read again, and what was counted as unwritable."""
    unwritable: list[Unwritable] = []
    write([document], folder / "corpus", format=format, lossy=True, unwritable=unwritable)
    (found,) = read(folder / "corpus", format=format).documents
    return found, unwritable


@ALL
@pytest.mark.parametrize("name", CONTENTS)
def test_what_is_not_read_again_is_counted_and_nothing_else_is(
    tmp_path: Path, format: str, name: str
) -> None:
    pytest.importorskip(EXTRAS.get(format, "spanwright"))
    content = CONTENTS[name]
    found, unwritable = written(content.document, format, tmp_path)
    survived = content.part(found) == content.part(content.document)
    assert survived is not any(line.kind == content.kind for line in unwritable)


BRAT = "T1\tGENE 0 3\tp53\nE1\tGENE:T1\nA1\tNegation E1\n#1\tAnnotatorNotes T1\tsure\n"
PUBTATOR = "S1|t|p53 binds DNA\nS1|a|\nS1\t0\t3\tp53\tGENE\tD1|D2\tp5|3\n"
GENIA = (
    '<set><article><title>\n<sentence><cons lex="p-53" sem="GENE">p53</cons> binds DNA</sentence>\n'
    "</title></article></set>"
)
BIOC: dict[str, Any] = {
    "id": "S1",
    "passages": [
        {
            "offset": 0,
            "text": "p53 binds DNA",
            "annotations": [
                {"id": "7", "infons": {"type": "GENE"}, "locations": [{"offset": 0, "length": 3}]}
            ],
            "relations": [{"id": "R1", "infons": {"sure": "yes"}, "nodes": [{"refid": "7", "role": "x"}]}],
        }
    ],
}
SCIERC = {"sentences": [["p53", "binds"]], "ner": [[[0, 0, "GENE"]]], "clusters": [[[0, 0], [1, 1]]]}
FILES = {
    "brat": {"S1.txt": "p53 binds DNA", "S1.ann": BRAT},
    "pubtator": {"S1.pubtator": PUBTATOR},
    "genia-xml": {"genia.xml": GENIA},
    "bc2gm": {
        "S.in": "S1 p53 binds DNA\n",
        "GENE.eval": "S1|0 2|p53\n",
        "ALTGENE.eval": "S1|0 7|p53 binds\n",
    },
    "bioc-json": {"bioc.json": json.dumps(BIOC)},
    "scierc": {"scierc.jsonl": json.dumps(SCIERC)},
}
"""Files with more about annotations than entities and relations hold."""


@ALL
@pytest.mark.parametrize("source", FILES)
def test_notes_of_a_reader_are_carried_or_counted(tmp_path: Path, source: str, format: str) -> None:
    pytest.importorskip(EXTRAS.get(format, "spanwright"))
    folder = tmp_path / "source"
    folder.mkdir()
    for name, content in FILES[source].items():
        (folder / name).write_text(content, encoding="utf-8")
    path = folder if len(FILES[source]) > 1 else folder / name
    (document,) = read(path, format=source).documents
    assert document.annotation_notes
    found, unwritable = written(document, format, tmp_path)
    assert (found.annotation_notes == document.annotation_notes) is not any(
        line.kind == "notes" for line in unwritable
    )


@pytest.mark.parametrize("name", ["a concept", "a relation of mentions", "a relation of concepts"])
def test_concepts_and_relations_are_not_left_out_without_leave(tmp_path: Path, name: str) -> None:
    with pytest.raises(
        InputError, match=r"^conll cannot express the (concepts|relation) .*let it be left out"
    ):
        write([CONTENTS[name].document], tmp_path / "corpus.conll")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["confidences", "metadata", "the corpus", "notes from elsewhere"])
def test_by_products_are_left_out_without_leave_but_counted(tmp_path: Path, name: str) -> None:
    unwritable: list[Unwritable] = []
    write([CONTENTS[name].document], tmp_path / "corpus.conll", unwritable=unwritable)
    assert counted_by_kind(unwritable).startswith("1 loss (1 ")


def test_unwritable_things_are_counted_by_kind() -> None:
    unwritable = [Unwritable("concepts", "a", 2), Unwritable("relations", "b"), Unwritable("concepts", "c")]
    assert (count_unwritable(unwritable), counted_by_kind(unwritable)) == (
        4,
        "4 losses (3 concepts, 1 relation)",
    )
    assert counted_by_kind([]) == "0 losses"
