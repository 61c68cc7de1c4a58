"""BioC documents as records, and files with them in both forms."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from spanwright.formats import files
from spanwright.formats.bioc import json as bioc_json
from spanwright.formats.bioc import xml as bioc_xml
from spanwright.formats.format import Format, ReadingLog
from spanwright.text import Document, Entity

Record = dict[str, Any]

XML, JSON = bioc_xml.FORMAT, bioc_json.FORMAT
BOTH = pytest.mark.parametrize("format", [XML, JSON], ids=["xml", "json"])


def annotation(start: int, length: int, *, id: str = "0", text: str | None = None, **infons: Any) -> Record:
    record: Record = {"id": id, "infons": infons, "locations": [{"offset": start, "length": length}]}
    return record | ({} if text is None else {"text": text})


def passage(offset: int, text: str, *annotations: Record, **infons: str) -> Record:
    return {"offset": offset, "infons": infons, "text": text, "annotations": list(annotations)}


def document(*passages: Record, id: str = "1", **others: Any) -> Record:
    return {"id": id, "passages": list(passages), **others}


def content(format: Format, *records: Record, **header: Any) -> str:
    """A file with these documents; the XML is made by ElementTree from what stands in the JSON."""
    if format is JSON:
        return json.dumps(header | {"documents": records})
    root = ElementTree.Element("collection")
    for tag in ("source", "date", "key"):
        ElementTree.SubElement(root, tag).text = header.get(tag, "")
    _add_infons(root, header)
    for record in records:
        _add(root, "document", record)
    return ElementTree.tostring(root, encoding="unicode")


def _add(parent: ElementTree.Element, tag: str, record: Record) -> None:
    element = ElementTree.SubElement(parent, tag)
    for name in ("id", "infons", "offset", "length", "refid", "role", "locations", "text"):
        if name == "infons":
            _add_infons(element, record)
        elif name == "locations":
            _add_all(element, record, name)
        elif name in record and (tag in ("location", "node") or (tag != "document" and name == "id")):
            element.set(name, str(record[name]))
        elif name in record:
            ElementTree.SubElement(element, name).text = str(record[name])
    _add_all(element, record, "passages", "sentences", "annotations", "nodes", "relations")


def _add_all(element: ElementTree.Element, record: Record, *names: str) -> None:
    for name in names:
        for each in record.get(name, ()):
            _add(element, name.removesuffix("s"), each)


def _add_infons(element: ElementTree.Element, record: Record) -> None:
    for name, value in record.get("infons", {}).items():
        for each in value if isinstance(value, list) else [value]:
            ElementTree.SubElement(element, "infon", key=name).text = each


def read_with(folder: Path, format: Format, text: str, **options: str) -> tuple[list[Document], ReadingLog]:
    path = folder / "corpus.txt"
    path.write_text(text, encoding="utf-8", newline="")
    corpus = files.read(path, format=format.name, options=options)
    return corpus.documents, corpus.log


TITLE = passage(
    0, "Famotidine", annotation(0, 10, type="Chemical", MESH="D015738", text="Famotidine"), type="title"
)
ABSTRACT = passage(
    11,
    "and delirium",
    annotation(15, 8, id="1", type="Disease", MESH="D003693", text="delirium"),
    type="abstract",
)
ENTITIES = (
    Entity(0, 10, "Chemical", concepts=("D015738",)),
    Entity(15, 23, "Disease", concepts=("D003693",)),
)


RELATED = document(
    passage(
        0,
        "Famotidine",
        annotation(0, 10, id="T7", text="Famotidine", type="Chemical", MESH="D1", note="a\tb"),
    ),
    passage(11, "", type="empty"),
    {
        "offset": 12,
        "infons": {"type": "abstract"},
        "sentences": [
            {
                "offset": 12,
                "infons": {"mood": "sad"},
                "text": "Delirium.",
                "annotations": [
                    annotation(12, 8, id="T1", text="Delirium", type="Disease", both=["one", "two"])
                ],
                "relations": [{"id": "R2", "infons": {}, "nodes": [{"refid": "R1", "role": "cause"}]}],
            }
        ],
    },
    infons={"journal": "<&\"'>\r\n"},
    relations=[
        {
            "id": "R1",
            "infons": {"type": "CID"},
            "nodes": [{"refid": "T7", "role": ""}, {"refid": "T1", "role": "x"}],
        },
        {"id": "R3", "infons": {"Chemical": "D1"}},
    ],
)
HEADER = {"source": "PubTator", "date": "2026-11-15", "key": "a.key", "infons": {"licence": "none"}}
