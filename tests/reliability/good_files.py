"""The same three small documents in many formats, well formed: what the mutations are made of.

Document 1 has one entity, document 2 has two and document 3 has one. The mutations change document 2, so that
documents before and after the damage show that they are left alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

DOCUMENTS = 3
ENTITIES = 4


@dataclass(frozen=True, slots=True)
class GoodFile:
    """The files of a small corpus by their names, and what to read: one of them, or '' for the folder."""

    files: dict[str, str]
    path: str

    def put(self, folder: Path, changed: dict[str, bytes | None]) -> Path:
        """Write the files into a folder, some with other bytes or (with None) not at all; what to read."""
        contents: dict[str, bytes | None] = {name: text.encode() for name, text in self.files.items()}
        for name, content in (contents | changed).items():
            if content is not None:
                (folder / name).write_bytes(content)
        return folder / self.path


def _alone(name: str, content: str) -> GoodFile:
    return GoodFile({name: content}, name)


_PUBTATOR = """\
1|t|Famotidine helps
1|a|A report.
1\t0\t10\tFamotidine\tChemical\tD015738

2|t|Delirium and fever
2|a|Aspirin was given.
2\t0\t8\tDelirium\tDisease\tD003693
2\t19\t26\tAspirin\tChemical\tD001241

3|t|Fever again
3|a|No more.
3\t0\t5\tFever\tDisease\tD005334
"""

_COLUMNS = """\
-DOCSTART- (1)\tO

Famotidine\tB-Chemical
helps\tO
.\tO

-DOCSTART- (2)\tO

Acute\tB-Disease
delirium\tI-Disease
and\tO
fever\tB-Disease
.\tO

It\tO
ended\tO
.\tO

-DOCSTART- (3)\tO

Fever\tB-Disease
again\tO
.\tO
"""

_BRAT = {
    "1.txt": "Famotidine helps\n",
    "1.ann": "T1\tChemical 0 10\tFamotidine\n",
    "2.txt": "Delirium and fever\n",
    "2.ann": "T1\tDisease 0 8\tDelirium\nT2\tDisease 13 18\tfever\nN1\tReference T1 MESH:D003693\tDelirium\n",
    "3.txt": "Fever again\n",
    "3.ann": "T1\tDisease 0 5\tFever\n",
}

_JSONL = """\
{"id": "1", "text": "Famotidine helps", "entities": [{"start": 0, "end": 10, "type": "Chemical"}]}
{"id": "2", "text": "Delirium and fever", "entities": [{"start": 0, "end": 8, "type": "Disease"}, \
{"start": 13, "end": 18, "type": "Disease", "text": "fever"}]}
{"id": "3", "text": "Fever again", "entities": [{"start": 0, "end": 5, "type": "Disease"}]}
"""

_GENIA = """\
{"sent_id": "1", "tokens": ["Famotidine", "helps"], \
"entity_mentions": [{"start": 0, "end": 1, "entity_type": "Chemical", "text": "Famotidine"}]}
{"sent_id": "2", "tokens": ["Delirium", "and", "fever"], \
"entity_mentions": [{"start": 0, "end": 1, "entity_type": "Disease", "text": "Delirium"}, \
{"start": 2, "end": 3, "entity_type": "Disease", "text": "fever"}]}
{"sent_id": "3", "tokens": ["Fever", "again"], \
"entity_mentions": [{"start": 0, "end": 1, "entity_type": "Disease", "text": "Fever"}]}
"""

_SCIERC = """\
{"doc_key": "1", "sentences": [["Famotidine", "helps"]], "ner": [[[0, 0, "Chemical"]]]}
{"doc_key": "2", "sentences": [["Delirium", "came"], ["So", "did", "fever"]], \
"ner": [[[0, 0, "Disease"]], [[4, 4, "Disease"]]]}
{"doc_key": "3", "sentences": [["Fever", "again"]], "ner": [[[0, 0, "Disease"]]]}
"""

_CONLL04 = """\
[
{"tokens": ["Famotidine", "helps"], "tags": ["U-Chemical", "O"], "orig_id": 1},
{"tokens": ["Acute", "delirium", "and", "fever"], "tags": ["B-Disease", "L-Disease", "O", "U-Disease"], \
"orig_id": 2},
{"tokens": ["Fever", "again"], "tags": ["U-Disease", "O"], "orig_id": 3}
]
"""

_BIOC_XML = """\
<?xml version="1.0" encoding="UTF-8"?>
<collection><source>made</source><date/><key/>
<document><id>1</id>
<passage><offset>0</offset><text>Famotidine helps</text>
<annotation id="a"><infon key="type">Chemical</infon>
<location offset="0" length="10"/><text>Famotidine</text></annotation>
</passage></document>
<document><id>2</id>
<passage><offset>0</offset><text>Delirium and fever</text>
<annotation id="b"><infon key="type">Disease</infon>
<location offset="0" length="8"/><text>Delirium</text></annotation>
<annotation id="c"><infon key="type">Disease</infon>
<location offset="13" length="5"/><text>fever</text></annotation>
</passage></document>
<document><id>3</id>
<passage><offset>0</offset><text>Fever again</text>
<annotation id="d"><infon key="type">Disease</infon>
<location offset="0" length="5"/><text>Fever</text></annotation>
</passage></document>
</collection>
"""

_BIOC_JSON = """\
{"source": "made", "documents": [
{"id": "1", "passages": [{"offset": 0, "text": "Famotidine helps", "annotations": [
 {"id": "a", "infons": {"type": "Chemical"}, "locations": [{"offset": 0, "length": 10}], \
"text": "Famotidine"}]}]},
{"id": "2", "passages": [{"offset": 0, "text": "Delirium and fever", "annotations": [
 {"id": "b", "infons": {"type": "Disease"}, "locations": [{"offset": 0, "length": 8}], "text": "Delirium"},
 {"id": "c", "infons": {"type": "Disease"}, "locations": [{"offset": 13, "length": 5}], "text": "fever"}]}]},
{"id": "3", "passages": [{"offset": 0, "text": "Fever again", "annotations": [
 {"id": "d", "infons": {"type": "Disease"}, "locations": [{"offset": 0, "length": 5}], "text": "Fever"}]}]}
]}
"""

_LABEL_STUDIO = """\
[
{"data": {"id": "1", "text": "Famotidine helps"}, "annotations": [{"result": [{"id": "a", \
"type": "labels", "value": {"start": 0, "end": 10, "labels": ["Chemical"]}}]}]},
{"data": {"id": "2", "text": "Delirium and fever"}, "annotations": [{"result": [{"id": "b", \
"type": "labels", "value": {"start": 0, "end": 8, "labels": ["Disease"]}}, {"id": "c", \
"type": "labels", "value": {"start": 13, "end": 18, "text": "fever", "labels": ["Disease"]}}]}]},
{"data": {"id": "3", "text": "Fever again"}, "annotations": [{"result": [{"id": "d", \
"type": "labels", "value": {"start": 0, "end": 5, "labels": ["Disease"]}}]}]}
]
"""

_DOCCANO = """\
{"id": 1, "text": "Famotidine helps", "label": [[0, 10, "Chemical"]], "Comments": []}
{"id": 2, "text": "Delirium and fever", "label": [[0, 8, "Disease"], [13, 18, "Disease"]], "Comments": []}
{"id": 3, "text": "Fever again", "label": [[0, 5, "Disease"]], "Comments": []}
"""

_PRODIGY = """\
{"answer": "accept", "id": "1", "text": "Famotidine helps", \
"spans": [{"start": 0, "end": 10, "label": "Chemical"}]}
{"answer": "accept", "id": "2", "text": "Delirium and fever", "tokens": [{"start": 0, "end": 8, "id": 0}, \
{"start": 9, "end": 12, "id": 1}, {"start": 13, "end": 18, "id": 2}], "spans": [{"start": 0, "end": 8, \
"label": "Disease"}, {"start": 13, "end": 18, "label": "Disease", "score": 0.5}]}
{"answer": "accept", "id": "3", "text": "Fever again", "spans": [{"start": 0, "end": 5, "label": "Disease"}]}
"""

_ARGILLA = """\
[
{"id": "1", "fields": {"text": "Famotidine helps"}, "responses": {"spans": [{"value": [{"start": 0, \
"end": 10, "label": "Chemical"}]}]}, "suggestions": {}, "metadata": {"number": 1}},
{"id": "2", "fields": {"text": "Delirium and fever"}, "responses": {"spans": [{"value": [{"start": 0, \
"end": 8, "label": "Disease"}, {"start": 13, "end": 18, "label": "Disease"}]}]}, "suggestions": {}, \
"metadata": {"number": 2}},
{"id": "3", "fields": {"text": "Fever again"}, "responses": {"spans": [{"value": [{"start": 0, "end": 5, \
"label": "Disease"}]}]}, "suggestions": {}, "metadata": {"number": 3}}
]
"""

GOOD = {
    "pubtator": _alone("file.pubtator", _PUBTATOR),
    "conll": _alone("file.conll", _COLUMNS),
    "brat": GoodFile(_BRAT, ""),
    "jsonl": _alone("file.jsonl", _JSONL),
    "genia-jsonl": _alone("genia.jsonl", _GENIA),
    "scierc": _alone("scierc.json", _SCIERC),
    "conll04": _alone("conll04.json", _CONLL04),
    "bioc-xml": _alone("file.bioc.xml", _BIOC_XML),
    "bioc-json": _alone("file.bioc.json", _BIOC_JSON),
    "label-studio": _alone("tasks.json", _LABEL_STUDIO),
    "doccano": _alone("doccano.jsonl", _DOCCANO),
    "prodigy": _alone("prodigy.jsonl", _PRODIGY),
    "argilla": _alone("records.json", _ARGILLA),
}
"""By the name of the format."""
