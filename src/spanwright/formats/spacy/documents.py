"""spaCy's binary files (`DocBin`, `.spacy`), which its training commands read.

Written documents have all entities in `doc.spans["sc"]`, where spaCy's span categorizer looks for them; those
that a flat recogniser can learn, the longest of overlapping ones, are also in `doc.ents`. The tokens are
the words of the document; where it gives none, they are split by our own rules and cut where an entity or a
sentence begins or ends, so that no offset moves. Stretches between words are tokens of their own.

Entities are read from `doc.ents` and from all groups of `doc.spans`, once each; the option `groups` names
those to read, separated by commas, with `ents` for `doc.ents`. Words are the tokens that are not white space,
and sentences are read where they are marked. The id is `doc.user_data["id"]`; what else spaCy has no place
for is in `doc.user_data["spanwright"]`. The line of a problem is the number of the document.

A concept is the `kb_id` of its span, so that an entity can have one; confidences have no place. Relations are
in the user data (see `formats/json/relations.py`), and their entities are positions in the group `sc`. A file
is in memory as a whole, because it is compressed in one piece.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from spanwright.errors import InputError
from spanwright.formats.format import Format, ReadingLog
from spanwright.formats.io.ids import Ids
from spanwright.formats.json.records import Record, given_id, parse_record
from spanwright.formats.json.relations import read_relations
from spanwright.formats.spacy.writing import (
    GROUP,
    ID,
    REST,
    import_spacy,
    sentences_of,
    unwritable,
    words_of,
    write,
)
from spanwright.formats.unwritable import EVERYTHING
from spanwright.text import Document, Entity

_SUFFIX = ".spacy"
_ZLIB_HEADER = "x"
_ENTS = "ents"


def recognises(path: Path, head: str) -> bool:
    """Whether a compressed file is named so."""
    return path.suffix.lower() == _SUFFIX and head.startswith(_ZLIB_HEADER)


def group_names(text: str) -> frozenset[str]:
    """The names of groups in a list with commas; ValueError for an empty one."""
    names = frozenset(name.strip() for name in text.split(","))
    if "" in names:
        raise ValueError("expected names separated by commas")
    return names


def read(path: Path, log: ReadingLog, *, groups: frozenset[str] | None = None) -> Iterator[Document]:
    """Yield the documents of a file, with the entities of all groups or of some."""
    ids = Ids(path, log)
    unread: set[str] = set()
    for number, doc in enumerate(_docs(path), start=1):
        unread.update(str(key) for key in doc.user_data if key not in (ID, REST))
        try:
            rest = _rest(doc)
            document = _document(doc, rest, ids, number)
        except InputError as error:
            log.reject_document(path, number, str(error), entities=len(doc.ents))
            continue
        marked = document.with_entities(tuple(_entities(document, doc, groups, path, number, log)))
        yield _with_relations(marked, doc, rest.get("relations"), path, number, log)
    if unread:
        log.notes.append(f"{path}: user data that is not read: {', '.join(sorted(unread))}")


def _docs(path: Path) -> Iterator[Any]:
    spacy = import_spacy()
    try:
        yield from spacy.tokens.DocBin().from_disk(path).get_docs(spacy.vocab.Vocab())
    except (ValueError, LookupError, TypeError, AttributeError, AssertionError, zlib.error) as error:
        reason = " ".join(str(error).split())
        raise InputError(f"{path}: not a DocBin of spaCy ({reason:.200}); expected one") from None


def _rest(doc: Any) -> Record:
    """What else a `Doc` holds for us."""
    rest = doc.user_data.get(REST)
    return parse_record(rest) if isinstance(rest, str) else {}


def _document(doc: Any, record: Record, ids: Ids, number: int) -> Document:
    """The document of a `Doc` without its entities."""
    id, generated = ids.take(given_id(doc.user_data, ID), number)
    tokens = [(token.idx, token.idx + len(token)) for token in doc]
    starts = {token.idx for token in doc if token.is_sent_start}
    has_sentences = record.get("sentences", doc.has_annotation("SENT_START"))
    corpus, metadata, notes = (record.get(name) for name in ("corpus", "metadata", "annotation_notes"))
    return Document(
        id,
        doc.text,
        words=words_of(doc.text, tokens) if record.get("words", True) else None,
        sentences=sentences_of(doc.text, tokens, starts) if has_sentences else None,
        corpus=corpus if isinstance(corpus, str) else None,
        generated_id=generated,
        metadata=metadata if isinstance(metadata, dict) else {},
        annotation_notes=notes if isinstance(notes, dict) else {},
    )


def _entities(
    document: Document, doc: Any, groups: frozenset[str] | None, path: Path, number: int, log: ReadingLog
) -> Iterator[Entity]:
    """The entities of the groups; what one group has, the next ones need not add again."""
    seen: set[Entity] = set()
    for name, spans in (*doc.spans.items(), (_ENTS, doc.ents)):
        if groups is not None and name not in groups:
            continue
        found: list[Entity] = []
        for position in range(len(spans)):
            try:
                found.append(_entity(document, spans[position]))
            except (InputError, LookupError) as error:
                log.reject_entity(path, number, f"a span of {name!r}: {error}")
        yield from (entity for entity in found if entity not in seen)
        seen.update(found)


def _entity(document: Document, span: Any) -> Entity:
    """The entity of a span; an error when it is outside the text or its strings are not in the file."""
    concepts = (span.kb_id_,) if span.kb_id_ else ()
    entity = Entity(span.start_char, span.end_char, span.label_, concepts=concepts)
    Document(document.id, document.text, (entity,))
    return entity


def _with_relations(
    document: Document, doc: Any, values: Any, path: Path, number: int, log: ReadingLog
) -> Document:
    """The document with those relations whose entities were read."""
    if not values or not isinstance(values, list):
        return document
    known = set(document.entities)
    spans = doc.spans.get(GROUP, ())
    entities = [_entity_among(known, document, spans[position]) for position in range(len(spans))]
    return replace(document, relations=tuple(read_relations(values, entities, path, number, log)))


def _entity_among(known: set[Entity], document: Document, span: Any) -> Entity | None:
    try:
        entity = _entity(document, span)
    except (InputError, LookupError):
        return None
    return entity if entity in known else None


FORMAT = Format(
    name="spacy",
    description="binary files of spaCy, with nested entities in doc.spans and flat ones in doc.ents",
    suffixes=(_SUFFIX,),
    recognises=recognises,
    read=read,
    options={"groups": group_names},
    write=write,
    compressible=False,
    holds=EVERYTHING - {"confidences"},
    own_unwritable=unwritable,
)
