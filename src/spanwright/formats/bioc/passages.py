"""The passages of BioC, in the form that its JSON has, to and from the text of a document.

    {"offset": 60, "infons": {"type": "abstract"}, "text": "A report. Two cases.", "annotations": []}

Offsets count from the beginning of the document, so the text is built such that they hold as they are: a gap
before a passage is filled with a line break and blanks, a gap before a sentence in a passage with blanks. A
passage has a text, or sentences that have theirs, or both; then its own text is the one that counts.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from spanwright.errors import InputError
from spanwright.formats.json.records import Record, other_keys
from spanwright.formats.offsets import Unit, length_in, offsets_in
from spanwright.formats.standoff import whole_number
from spanwright.text import Document, Range

_KEYS = frozenset(("offset", "length", "line", "text", "sentences", "annotations", "relations"))
_MOST_FILLING = 1_000_000
"""Characters between passages; more is a wrong offset, and might fill the memory."""


@dataclass(slots=True)
class Section:
    """A passage, or a sentence of one, at its place in the text of a document."""

    record: Record
    offset: int
    """As the file gives it."""
    text: str
    start: int
    """Of its text, in characters of the document."""
    shift: int
    """What to add to offsets of the file, in their unit, where the section could not stand at its own."""
    sentences: list[Section] = field(default_factory=list)

    def kept(self) -> Record:
        """Everything but texts, annotations and relations, for the metadata."""
        kept = {name: value for name, value in other_keys(self.record, _KEYS).items() if value}
        is_empty = not self.text and not self.sentences
        kept |= {"offset": self.offset if is_empty else self.start, "length": len(self.text)}
        return kept | ({"sentences": [each.kept() for each in self.sentences]} if self.sentences else {})


@dataclass(slots=True)
class Placement:
    """The passages of a document and the text that they make."""

    text: str
    passages: list[Section]
    sentences: tuple[Range, ...] | None
    """None unless every passage with a text has sentences."""
    remarks: list[tuple[Record, str]]
    """Passages and sentences that are not where the file says, and the reason."""


def place(records: list[Record], unit: Unit = "characters") -> Placement:
    """Build the text of passages whose offsets count a unit."""
    builder = _Builder(unit)
    passages = [builder.passage(record) for record in records]
    text = "".join(builder.parts)
    return Placement(text, passages, _sentences(text, passages, builder.remarks), builder.remarks)


class _Builder:
    """Puts texts one after the other."""

    def __init__(self, unit: Unit) -> None:
        self._unit = unit
        self._length = 0
        self._size = 0
        """The length in the unit of the offsets."""
        self._filling = 0
        self.parts: list[str] = []
        self.remarks: list[tuple[Record, str]] = []

    def passage(self, record: Record) -> Section:
        passage = self._section(record, "\n")
        inner = objects(record, "sentences")
        if passage.text:
            passage.sentences = [self._inside(passage, each) for each in inner]
        elif inner:
            passage.sentences = [
                self._section(each, " " if position else "\n") for position, each in enumerate(inner)
            ]
            passage.start, passage.shift = passage.sentences[0].start, passage.sentences[0].shift
        return passage

    def _section(self, record: Record, filler: str) -> Section:
        """Put a section after the text, at its offset if that is free."""
        offset, text = _offset(record), _text(record)
        if not text:
            return Section(record, offset, "", self._length, 0)
        gap = offset - self._size
        if gap < 0:
            reason = f"the text at offset {offset} begins before the end of the text before it; it is moved"
            self.remarks.append((record, reason))
            gap = 1
        self._fill(gap, filler if self._length else " ")
        section = Section(record, offset, text, self._length, self._size - offset)
        self.parts.append(text)
        self._length += len(text)
        self._size += length_in(text, self._unit)
        return section

    def _fill(self, gap: int, filler: str) -> None:
        self._filling += gap
        if self._filling > _MOST_FILLING:
            raise InputError(
                f"the gaps between passages sum up to {self._filling} characters; expected {_MOST_FILLING}"
            )
        self.parts.append(filler.ljust(gap) if gap else "")
        self._length += gap
        self._size += gap

    def _inside(self, passage: Section, record: Record) -> Section:
        """A sentence of a passage that has a text of its own."""
        offset = _offset(record)
        before = max(0, offset - passage.offset)
        positions = offsets_in(passage.text, self._unit).positions
        if positions is not None:
            before = max(position for given, position in positions.items() if given <= before)
        return Section(record, offset, _text(record), passage.start + before, passage.shift)


def _sentences(
    text: str, passages: list[Section], remarks: list[tuple[Record, str]]
) -> tuple[Range, ...] | None:
    ranges: list[Range] = []
    if any(passage.text and not passage.sentences for passage in passages):
        return None
    for sentence in (each for passage in passages for each in passage.sentences if each.text):
        start, end = sentence.start, sentence.start + len(sentence.text)
        if text[start:end] != sentence.text or (ranges and start < ranges[-1][1]):
            reason = "a sentence is not in the text of its passage; all borders of sentences are left out"
            remarks.append((sentence.record, reason))
            return None
        ranges.append((start, end))
    return tuple(ranges) or None


def objects(record: Record, key: str) -> list[Record]:
    """The objects in the list under a key; none if it is absent."""
    value = record.get(key)
    if value is not None and not (isinstance(value, list) and all(isinstance(each, dict) for each in value)):
        raise InputError(f"{key!r} is {value!r:.80}; expected a list of objects")
    return value or []


def number(value: Any) -> int | None:
    """A whole number of a file, which may be given as its digits; None for anything else."""
    if isinstance(value, str):
        return whole_number(value)
    return value if type(value) is int and value >= 0 else None


def _offset(record: Record) -> int:
    offset = number(record.get("offset"))
    if offset is None:
        raise InputError(f"a passage has the offset {record.get('offset')!r:.80}; expected a whole number")
    return offset


def _text(record: Record) -> str:
    text = record.get("text")
    if text is not None and not isinstance(text, str):
        raise InputError(f"the text of a passage is {text!r:.80}; expected a string")
    return text or ""


def passages_of(document: Document, kept: Any) -> list[Record]:
    """The passages of a document: as it was read, if `kept` still has them, else made from its text."""
    for candidate in (_kept_passages(document.text, kept), _sentence_passages(document)):
        try:
            placement = place(candidate)
        except InputError:
            continue
        if candidate and placement.text == document.text and placement.sentences == document.sentences:
            return candidate
    return [{"offset": 0, "text": document.text}]


def _kept_passages(text: str, kept: Any) -> list[Record]:
    """Sections of metadata, which may come from anywhere, with their texts."""
    sections: list[Record] = []
    for each in kept if isinstance(kept, list) else ():
        own: Record = each if isinstance(each, dict) else {}
        offset, length = number(own.get("offset")), number(own.get("length"))
        if offset is None or length is None:
            return []
        section = other_keys(own, _KEYS) | {"offset": offset, "text": text[offset : offset + length]}
        inner = _kept_passages(text, own.get("sentences"))
        sections.append(section | ({"sentences": inner} if inner else {}))
    return sections


def _sentence_passages(document: Document) -> list[Record]:
    """Passages with the given sentences of a document: a line break before a sentence begins a passage."""
    passages: list[Record] = []
    previous = 0
    for start, end in document.sentences or ():
        if not passages or document.text[previous:start].startswith("\n"):
            passages.append({"offset": start, "sentences": []})
        passages[-1]["sentences"].append({"offset": start, "text": document.text[start:end]})
        previous = end
    return passages
