"""Writing spaCy's binary files. For how documents look in them, see `documents`, which reads them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from spanwright.errors import InputError, MissingExtraError
from spanwright.formats.io.whole_files import whole_file
from spanwright.formats.json.records import Record, write_record
from spanwright.formats.json.relations import relation_records
from spanwright.formats.unwritable import Unwritable, shown_entity, unwritable_concepts, unwritable_relation
from spanwright.text import Document, Entity, Range, words

ID, REST = "id", "spanwright"
"""Keys of the user data of a `Doc`."""
GROUP = "sc"
"""The group of spans with all entities."""
_ATTRIBUTES = ("ENT_IOB", "ENT_TYPE", "ENT_KB_ID", "SENT_START")


def import_spacy() -> Any:
    """The package `spacy`."""
    try:
        import spacy.tokens
        import spacy.vocab
    except ImportError:
        raise MissingExtraError("the format 'spacy'", "spacy", "spacy") from None
    return spacy


def words_of(text: str, tokens: Iterable[Range]) -> tuple[Range, ...]:
    """The tokens that are not white space."""
    return tuple((start, end) for start, end in tokens if not text[start:end].isspace())


def sentences_of(text: str, tokens: Iterable[Range], starts: set[int]) -> tuple[Range, ...]:
    """The sentences that begin at some tokens, without tokens of white space at their borders."""
    found: list[Range] = []
    is_new = True
    for start, end in tokens:
        is_new = is_new or start in starts
        if not text[start:end].isspace():
            if is_new:
                found.append((start, end))
            else:
                found[-1] = (found[-1][0], end)
            is_new = False
    return tuple(found)


def write(documents: Iterable[Document], path: Path) -> None:
    """Write a file. What `unwritable` names is left out."""
    spacy = import_spacy()
    vocab = spacy.vocab.Vocab()
    docs = spacy.tokens.DocBin(attrs=_ATTRIBUTES, store_user_data=True)
    for document in documents:
        try:
            docs.add(_doc(document, vocab))
        except UnicodeEncodeError as error:
            raise InputError(f"document {document.id!r} cannot be written: {error}") from None
    with whole_file(path) as partial:
        docs.to_disk(partial)


def _doc(document: Document, vocab: Any) -> Any:
    """The `Doc` of a document."""
    tokens, spaces = _tokens(document)
    starts = None
    if document.sentences is not None:
        sentence_starts = {start for start, _ in document.sentences}
        starts = [start in sentence_starts for start, _ in tokens]
    shown = [document.text[start:end] for start, end in tokens]
    doc = import_spacy().tokens.Doc(vocab, words=shown, spaces=spaces, sent_starts=starts)
    spans = {entity: _span(doc, entity) for entity in document.entities if not entity.fragments}
    written = [entity for entity in document.entities if spans.get(entity) is not None]
    doc.spans[GROUP] = [spans[entity] for entity in written]
    doc.ents = _flat(doc.spans[GROUP])
    if not document.generated_id:
        doc.user_data[ID] = document.id
    rest: Record = {"words": document.words is not None, "sentences": document.sentences is not None}
    rest |= {"corpus": document.corpus, "metadata": dict(document.metadata)}
    rest |= {"annotation_notes": dict(document.annotation_notes)} if document.annotation_notes else {}
    if relations := document.with_entities(tuple(written)).relations:
        rest["relations"] = relation_records(relations, written)
    doc.user_data[REST] = write_record(rest, document.id)
    return doc


def _span(doc: Any, entity: Entity) -> Any:
    """The span of an entity; None when it cuts a token."""
    concept = entity.concepts[0] if len(entity.concepts) == 1 else ""
    return doc.char_span(entity.start, entity.end, label=entity.type, kb_id=concept)


def _flat(spans: Iterable[Any]) -> list[Any]:
    """The longest spans that do not overlap; spaCy takes a span without a label for none."""
    kept: list[Any] = []
    taken: set[int] = set()
    for span in sorted((span for span in spans if span.label), key=len, reverse=True):
        positions = range(span.start, span.end)
        if taken.isdisjoint(positions):
            taken.update(positions)
            kept.append(span)
    return kept


def _tokens(document: Document) -> tuple[list[Range], list[bool]]:
    """The tokens of a document, and whether a blank follows each: together, they are its whole text."""
    text = document.text
    entities = [entity for entity in document.entities if not entity.fragments]
    starts, ends = {entity.start for entity in entities}, {entity.end for entity in entities}
    borders = sorted(starts.union(ends, *(document.sentences or ())))
    tokens: list[Range] = []
    spaces: list[bool] = []

    def add(start: int, end: int, *, whole: bool) -> None:
        inside = [] if whole else borders[bisect_right(borders, start) : bisect_left(borders, end)]
        tokens.extend(pairwise((start, *inside, end)) if start < end else ())
        spaces.extend([False] * (len(tokens) - len(spaces)))

    position = 0
    for start, end in (*words(document), (len(text), len(text))):
        # A blank after a token belongs to it, unless an entity begins or ends with that blank.
        blank = bool(tokens) and position < start and text[position] == " "
        if blank and position not in starts and position + 1 not in ends:
            spaces[-1] = True
            position += 1
        add(position, start, whole=False)
        add(start, end, whole=document.words is not None)
        position = end
    return tokens, spaces


def unwritable(document: Document) -> Iterator[Unwritable]:
    """One line for each thing of a document that a reader would not get back."""
    text, (tokens, _) = document.text, _tokens(document)
    if document.words is not None and words_of(text, tokens) != document.words:
        line = f"the given words of document {document.id!r}, which leave out text or are white space"
        yield Unwritable("borders", line)
    if document.sentences is not None:
        starts = {start for start, _ in document.sentences}
        if sentences_of(text, tokens, starts) != document.sentences:
            reason = "which do not end with their last words"
            yield Unwritable("borders", f"the given sentences of document {document.id!r}, {reason}")
    yield from _unwritable_entities(document, tokens)


def _unwritable_entities(document: Document, tokens: list[Range]) -> Iterator[Unwritable]:
    """One line for each entity that cannot be written, and for each relation of such."""
    starts, ends = {start for start, _ in tokens}, {end for _, end in tokens}
    unwritable: set[Entity] = set()
    for entity in document.entities:
        if len(entity.ranges) > 1:
            unwritable.add(entity)
            yield Unwritable("entities", f"the discontinuous entity {shown_entity(document, entity)}")
        elif entity.start not in starts or entity.end not in ends:
            unwritable.add(entity)
            line = f"the entity {shown_entity(document, entity)}, which does not begin and end with a word"
            yield Unwritable("entities", line)
        elif len(entity.concepts) > 1 or "" in entity.concepts:
            yield unwritable_concepts(document, entity)
    for relation in document.relations:
        if not unwritable.isdisjoint(relation.mentions):
            yield unwritable_relation(document, relation)
