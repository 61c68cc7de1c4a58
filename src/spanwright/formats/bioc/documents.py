"""BioC documents, in the form that its JSON has, to and from `Document`; the XML is converted to that form.

    {"id": "17", "infons": {}, "passages": [{"offset": 0, "infons": {"type": "title"}, "text": "Delirium",
     "annotations": [...], "relations": []}], "relations": []}

The text is made of the passages such that `text[offset:]` is what the file means (see `passages`), and
the sentences of the file are the document's when all its passages have some. Relations are read by
`relations`. What `Document` has no place for is written again, as far as text, entities and relations
are still the same: passages and their infons are kept in `metadata["bioc"]`, ids and infons of annotations,
and relations as they stand in the file, in `annotation_notes["bioc"]`.

BC5CDR has annotations of their own for the parts of a composite mention (infon `CompositeRole` with the value
IndividualMention). By default they are read as entities; the option `individual_mentions=drop` leaves them
out, which gives the entities of the PubTator release. Offsets count characters unless the option `offsets`
says something else: `utf-16` or `bytes`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, get_args

from spanwright.errors import InputError
from spanwright.formats.bioc.annotations import entity_of, is_individual_mention, kept
from spanwright.formats.bioc.passages import Placement, Section, objects, place
from spanwright.formats.bioc.relations import relation_of
from spanwright.formats.bioc.writing import METADATA, record_of
from spanwright.formats.format import ReadingLog
from spanwright.formats.io.ids import Ids
from spanwright.formats.json.records import Record, given_id, other_keys
from spanwright.formats.odd_entities import remark_odd_entities
from spanwright.formats.offsets import Offsets, Unit, offsets_in, unit_named
from spanwright.formats.standoff import remark_other_mention
from spanwright.text import Document, Entity

IndividualMentions = Literal["keep", "drop"]
"""What to do with the parts of composite mentions."""

_KEYS = frozenset(("id", "line", "passages", "annotations", "relations"))


def _choice(*allowed: str) -> Callable[[str], str]:
    """Reads the value of an option that is one of a few words."""

    def read(value: str) -> str:
        if value not in allowed:
            raise ValueError(f"expected {', '.join(allowed)}")
        return value

    return read


OPTIONS = {
    "individual_mentions": _choice(*get_args(IndividualMentions)),
    "offsets": unit_named,
}
"""What both formats leave to the user."""


class RecordReader:
    """Makes the documents of one file from their records."""

    def __init__(
        self,
        path: Path,
        log: ReadingLog,
        *,
        individual_mentions: IndividualMentions = "keep",
        offsets: Unit = "characters",
    ) -> None:
        self._path = path
        self._log = log
        self._ids = Ids(path, log)
        self._mode = individual_mentions
        self._unit = offsets
        self._parts = 0
        """Individual mentions."""
        self.header: Record = {}
        """What the file says of the whole collection: source, date, key and infons."""

    def document(self, record: Record, line: int) -> Document | None:
        """The document of a record that stands in a line of the file; None if it was rejected."""
        try:
            id, generated = self._ids.take(given_id(record, "id"), line)
            placement = place(objects(record, "passages"), self._unit)
            annotations = list(_annotations(record, placement))
        except InputError as error:
            where = f"document {record.get('id')!r:.80}"
            self._log.reject_document(self._path, line, f"{where}: {error}", entities=_count(record))
            return None
        for section, reason in placement.remarks:
            self._log.remark(self._path, _line(section, line), f"document {id!r}: {reason}")
        bare = Document(id, placement.text, sentences=placement.sentences, generated_id=generated)
        return self._marked_document(bare, record, placement, annotations, line)

    def _marked_document(
        self,
        bare: Document,
        record: Record,
        placement: Placement,
        annotations: list[tuple[Record, Section]],
        line: int,
    ) -> Document:
        """The document with its entities, and with metadata where writing it would else lose something."""
        offsets = offsets_in(bare.text, self._unit)
        entities: list[Entity] = []
        table: dict[str, list[Record]] = {}
        by_id: dict[str, Entity] = {}
        repeated: list[str] = []
        for annotation, section in annotations:
            entity = self._entity(annotation, offsets, section, bare, line)
            if entity is not None:
                entities.append(entity)
                table.setdefault(entity.note_key, []).append(kept(annotation))
                id = str(annotation.get("id"))
                repeated += [id] if id in by_id else []
                by_id.setdefault(id, entity)
        relations = list(self._relations(bare, record, placement, line))
        if relations and repeated:
            reason = f"several annotations have the id {repeated[0]!r}; what refers to it means the first"
            self._log.remark(self._path, line, f"document {bare.id!r}: {reason}")
        types = {entity.type for entity in entities}
        found = (relation_of(each["relation"], by_id, types) for each in relations)
        related = tuple(each for each in found if each is not None)
        document = replace(bare, entities=tuple(entities), relations=related)
        remark_odd_entities(entities, self._path, line, self._log, where=f"document {bare.id!r}")
        other = {name: value for name, value in other_keys(record, _KEYS).items() if value}
        other |= {"collection": dict(self.header)} if self.header else {}
        other |= {"passages": [each.kept() for each in placement.passages]}
        notes = {"annotations": table} | ({"relations": relations} if relations else {})
        full = replace(document, metadata={METADATA: other}, annotation_notes={METADATA: notes})
        return document if not self.header and record_of(document) == record_of(full) else full

    def _relations(
        self, document: Document, record: Record, placement: Placement, line: int
    ) -> Iterator[Record]:
        """The relations of a document as they stand in the file, and the section that each is in."""
        for position, holder in _holders(record, placement):
            value = holder.get("relations")
            for each in value if isinstance(value, list) else [value] if value else []:
                if isinstance(each, dict):
                    # An empty list and none look the same in XML.
                    yield {"place": position, "relation": {**each, "nodes": each.get("nodes") or []}}
                else:
                    reason = f"a relation is {each!r:.80}; expected an object"
                    self._log.reject_relation(self._path, line, f"document {document.id!r}: {reason}")

    def _entity(
        self, annotation: Record, offsets: Offsets, section: Section, document: Document, line: int
    ) -> Entity | None:
        line = _line(annotation, line)
        where = f"document {document.id!r}, annotation {annotation.get('id')!r:.80}"
        try:
            if is_individual_mention(annotation):
                self._parts += 1
                if self._mode == "drop":
                    self._log.entities_rejected += 1
                    return None
            entity, given = entity_of(annotation, offsets, section.shift)
        except InputError as error:
            self._log.reject_entity(self._path, line, f"{where}: {error}")
            return None
        if given != list(entity.ranges):
            reason = f"the locations {given} overlap or are out of order; read as {list(entity.ranges)}"
            self._log.remark(self._path, line, f"{where}: {reason}")
        if isinstance(mention := annotation.get("text"), str):
            found = document.mention(entity)
            in_file_order = " ".join(document.text[start:end] for start, end in given)
            mention = found if mention == in_file_order else mention
            # In the section alone, as offsets of sections were taken at their word.
            text, start = section.text, section.start
            remark_other_mention(
                entity, found, mention, self._path, line, self._log, where=where, text=text, text_start=start
            )
        return entity

    def finish(self) -> None:
        """Put into the log what concerns the file as a whole."""
        if self._parts:
            what = "are read as entities; leave them out with" if self._mode == "keep" else "were left out by"
            self._log.notes.append(
                f"{self._path}: {self._parts} annotations are parts of composite mentions (CompositeRole "
                f"IndividualMention) and {what} individual_mentions=drop"
            )


def _line(record: Record, default: int) -> int:
    """Where a part of a document begins, which only the XML says."""
    line = record.get("line")
    return line if isinstance(line, int) else default


def _annotations(record: Record, placement: Placement) -> Iterator[tuple[Record, Section]]:
    """The annotations of a document, and the section that each belongs to, which may be the whole text."""
    for passage in placement.passages:
        for section in (passage, *passage.sentences):
            for annotation in objects(section.record, "annotations"):
                yield annotation, section
    for annotation in objects(record, "annotations"):
        yield annotation, Section(record, 0, placement.text, 0, 0)


def _holders(record: Record, placement: Placement) -> Iterator[tuple[list[int], Record]]:
    """A document, its passages and their sentences, each with its place: no, one or two positions."""
    yield [], record
    for number, passage in enumerate(placement.passages):
        yield [number], passage.record
        for position, sentence in enumerate(passage.sentences):
            yield [number, position], sentence.record


def _count(value: Any) -> int:
    """How many annotations there are anywhere in a record, which may be anything."""
    if isinstance(value, list):
        return sum(map(_count, value))
    if not isinstance(value, dict):
        return 0
    own = value.get("annotations")
    inner = (value.get(name) for name in ("documents", "passages", "sentences"))
    return sum(map(_count, inner)) + (len(own) if isinstance(own, list) else 0)
