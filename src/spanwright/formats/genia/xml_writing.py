"""Writing GENIA term XML. For how documents look in it, see `xml`, which reads it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from spanwright.formats.io.safe_xml import escape, escape_attribute, is_legal
from spanwright.formats.standoff import given_borders
from spanwright.formats.unwritable import Unwritable, shown_entity
from spanwright.text import Document, Entity, Range, sentences

LEX, PARTS, TITLE_END = "genia_lex", "genia_parts", "genia_title_end"
"""Keys of the annotation notes and, the last one, of the metadata."""
_HEADER = '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE set SYSTEM "gpml.dtd">\n<set>\n\n'
_MOST_NESTED = 90
"""Readers of XML refuse elements that are nested much deeper."""


class _Mark(NamedTuple):
    """An element in the text of a document."""

    start: int
    end: int
    tag: str
    attributes: str = ""


def title_end(text: str, sentence_ranges: Sequence[Range]) -> int:
    """Where the title ends, as far as a text shows it.

    That is the first line break outside of sentences; a text without one, or with nothing after it, is all
    title.
    """
    position = 0
    for start, end in (*sentence_ranges, (len(text), len(text))):
        found = text.find("\n", position, start)
        if found >= 0:
            return found if found + 1 < len(text) else len(text)
        position = end
    return len(text)


def serialise(documents: Iterable[Document]) -> Iterator[str]:
    """The header, an article for each document, and the end. What `unwritable` names is left out."""
    yield _HEADER
    for document in documents:
        yield _article(document)
    yield "</set>\n"


def _article(document: Document) -> str:
    ranges = _sentence_ranges(document)
    end = _given_title_end(document, ranges)
    marks = _marks(document, ranges)
    lines = ["<article>"]
    if not document.generated_id:
        lines += ["<articleinfo>", f"<bibliomisc>{escape(document.id)}</bibliomisc>", "</articleinfo>"]
    for tag, start, stop in (("title", 0, end), ("abstract", end + 1, len(document.text))):
        lines += [f"<{tag}>", _marked(document.text, marks, start, stop), f"</{tag}>"]
    return "\n".join([*lines, "</article>", "", ""])


def _sentence_ranges(document: Document) -> tuple[Range, ...]:
    """The sentences of a document; those that rules found grow together where an entity crosses a border."""
    if document.sentences is not None:
        return document.sentences
    entities = ((entity.start, entity.end) for entity in document.entities if not entity.fragments)
    grown: list[Range] = []
    for start, end in sorted((*sentences(document), *entities)):
        if grown and start < grown[-1][1]:
            grown[-1] = (grown[-1][0], max(end, grown[-1][1]))
        else:
            grown.append((start, end))
    return tuple(grown)


def _given_title_end(document: Document, ranges: Sequence[Range]) -> int:
    """Where the title ends: as the metadata has it, if that can be."""
    given, text = document.metadata.get(TITLE_END), document.text
    if type(given) is int and 0 <= given <= len(text):
        is_break = given == len(text) or text[given] == "\n"
        if is_break and not any(start <= given < end for start, end in ranges):
            return given
    return title_end(text, ranges)


def _marks(document: Document, ranges: Sequence[Range]) -> list[_Mark]:
    """The elements of a document in the order of their opening tags."""
    terms, _ = _expressible(document, ranges)
    lexes = {name: list(values) for name, values in _lexes(document).items()}
    marks = [_Mark(start, end, "sentence") for start, end in ranges]
    outer = [*marks, *(_Mark(term.start, term.end, "cons") for term in terms)]
    for part in _parts(document):
        if not any(_cross(part, mark) for mark in outer):
            marks.append(part)
            outer.append(part)
    for term in terms:
        given = lexes.get(term.note_key, [])
        lex = f' lex="{escape_attribute(str(given.pop(0)))}"' if given else ""
        marks.append(_Mark(term.start, term.end, "cons", f'{lex} sem="{escape_attribute(term.type)}"'))
    # Sorting is stable: of one range, the sentence is outermost, and a part is around its term.
    return sorted(marks, key=lambda mark: (mark.start, -mark.end))


def _lexes(document: Document) -> dict[str, list[Any]]:
    """Base forms by the keys of entities, from notes that need not come from this library."""
    given = document.annotation_notes.get(LEX)
    lexes = given if isinstance(given, dict) else {}
    return {name: values for name, values in lexes.items() if isinstance(values, list)}


def _parts(document: Document) -> Iterator[_Mark]:
    """The elements without a class, from notes that need not come from this library."""
    given = document.annotation_notes.get(PARTS)
    for part in given if isinstance(given, list) else ():
        match part:
            case [int(start), int(end), (str() | None) as lex] if 0 <= start < end <= len(document.text):
                yield _Mark(start, end, "cons", "" if lex is None else f' lex="{escape_attribute(lex)}"')


def _cross(part: _Mark, other: _Mark) -> bool:
    """Whether a part and an element overlap without one holding the other, or the part holds a sentence."""
    if part.end <= other.start or other.end <= part.start:
        return False
    inside = other.start <= part.start and part.end <= other.end
    around = part.start <= other.start and other.end <= part.end and other.tag != "sentence"
    return not inside and not around


def _expressible(document: Document, ranges: Sequence[Range]) -> tuple[list[Entity], list[Unwritable]]:
    """The entities that nested elements can hold, outer ones first, and a line for each other one."""
    kept: list[Entity] = []
    unwritable: list[Unwritable] = []
    around: list[Entity] = []
    for entity in sorted(document.entities, key=lambda each: (each.start, -each.end)):
        while around and around[-1].end <= entity.start:
            around.pop()
        if len(entity.ranges) > 1:
            unwritable.append(
                Unwritable("entities", f"the discontinuous entity {shown_entity(document, entity)}")
            )
        elif not any(start <= entity.start and entity.end <= end for start, end in ranges):
            unwritable.append(_unwritable(document, entity, "which is not inside one sentence"))
        elif around and around[-1].end < entity.end:
            unwritable.append(_unwritable(document, entity, "which crosses one that begins before it"))
        elif len(around) >= _MOST_NESTED:
            unwritable.append(_unwritable(document, entity, f"which is inside {len(around)} others"))
        else:
            kept.append(entity)
            around.append(entity)
    return kept, unwritable


def _unwritable(document: Document, entity: Entity, reason: str) -> Unwritable:
    return Unwritable("entities", f"the entity {shown_entity(document, entity)}, {reason}")


def _marked(text: str, marks: Sequence[_Mark], start: int, end: int) -> str:
    """The part of a text between two offsets with its elements."""
    chunks: list[str] = []
    open_marks: list[_Mark] = []
    position = start

    def pass_on(offset: int) -> None:
        """Write the text up to an offset and the closing tags in it."""
        nonlocal position
        while open_marks and open_marks[-1].end <= offset:
            mark = open_marks.pop()
            chunks.append(f"{escape(text[position : mark.end])}</{mark.tag}>")
            position = mark.end
        chunks.append(escape(text[position:offset]))
        position = offset

    for mark in marks:
        if start <= mark.start < end:
            pass_on(mark.start)
            chunks.append(f"<{mark.tag}{mark.attributes}>")
            open_marks.append(mark)
    pass_on(end)
    return "".join(chunks)


def unwritable(document: Document) -> Iterator[Unwritable]:
    """One line for each thing of a document that a reader would not get back."""
    id = document.id
    if not document.generated_id and (not id or id != id.strip() or not is_legal(id)):
        yield Unwritable("ids", f"the id {id!r} of a document")
    if not is_legal(document.text):
        yield Unwritable("texts", f"the control characters in the text of document {id!r}")
    yield from given_borders(replace(document, sentences=None))
    yield from _expressible(document, _sentence_ranges(document))[1]
    for entity in document.entities:
        if not is_legal(entity.type):
            yield Unwritable(
                "types", f"the control characters in the type of {shown_entity(document, entity)}"
            )
