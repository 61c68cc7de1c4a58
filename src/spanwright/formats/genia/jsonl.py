"""JSON lines of tokens with mentions, one sentence a line, as the GENIA splits are given out.

    {"doc_id": "M:1", "sent_id": "M:1-2", "tokens": ["IL-4", "gene"],
     "entity_mentions": [{"start": 0, "end": 2, "entity_type": "DNA", "text": "IL-4 gene"}]}

Mention offsets count tokens and are half open; mentions may nest and cross. A line is a document with
`sent_id` as its id; other keys, `doc_id` among them, are kept in the metadata and written again. Annotation
notes are written under the key `annotation_notes`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from spanwright.errors import InputError
from spanwright.formats.format import Format, ReadingLog
from spanwright.formats.io.ids import Ids
from spanwright.formats.json.records import (
    NOTES,
    Record,
    checked_list,
    checked_run,
    checked_tokens,
    first_keys,
    given_id,
    given_notes,
    json_lines,
    list_length,
    notes_record,
    other_keys,
    unwritable_metadata,
    write_record,
)
from spanwright.formats.odd_entities import remark_odd_entities
from spanwright.formats.standoff import remark_other_mention
from spanwright.formats.token_texts import entity_of, joined, tokens_of, unwritable_borders
from spanwright.formats.unwritable import Unwritable
from spanwright.text import Document, Entity, Range

_KEYS = frozenset(("sent_id", "tokens", "entity_mentions", NOTES))


def recognises(path: Path, head: str) -> bool:
    """Whether the first line is an object with tokens and mentions."""
    return {"tokens", "entity_mentions"} <= first_keys(head)


def read(path: Path, log: ReadingLog) -> Iterator[Document]:
    """Yield the documents of a file, one a line; a wrong mention is rejected alone."""
    ids = Ids(path, log)
    for line, record in json_lines(path, log, count=_count):
        try:
            id, generated = ids.take(given_id(record, "sent_id"), line)
            tokens = checked_tokens(record.get("tokens"), "tokens")
            mentions = checked_list(record.get("entity_mentions"), "entity_mentions")
        except InputError as error:
            log.reject_document(path, line, str(error), entities=_count(record))
            continue
        text, words, sentences = joined([tokens] if tokens else [])
        entities = tuple(_entities(text, words, mentions, path, line, log))
        remark_odd_entities(entities, path, line, log)
        yield Document(
            id,
            text,
            entities,
            words,
            sentences,
            generated_id=generated,
            metadata=other_keys(record, _KEYS),
            annotation_notes=given_notes(record),
        )


def _count(record: Record) -> int:
    return list_length(record.get("entity_mentions"))


def _entities(
    text: str, words: tuple[Range, ...], mentions: list[Any], path: Path, line: int, log: ReadingLog
) -> Iterator[Entity]:
    for number, mention in enumerate(mentions):
        try:
            if not isinstance(mention, dict):
                raise InputError(f"{mention!r:.80} was found; expected an object")
            run = checked_run(
                mention.get("start"), mention.get("end"), mention.get("entity_type"), len(words)
            )
        except InputError as error:
            log.reject_entity(path, line, f"mention {number}: {error}")
            continue
        entity = entity_of(run, words)
        given, found = str(mention.get("text", "")), text[entity.start : entity.end]
        # The given mention may be spaced as in the article, while tokens are always apart.
        if given:
            is_same = "".join(given.split()) == "".join(found.split())
            remark_other_mention(entity, found, found if is_same else given, path, line, log)
        yield entity


def serialise(documents: Iterable[Document]) -> Iterator[str]:
    """One line for each document."""
    for document in documents:
        tokens = tokens_of(document)
        words = tokens.words
        mentions = [
            {"start": first, "end": end, "entity_type": type_, "text": " ".join(words[first:end])}
            for (first, end, type_), _ in tokens.runs
        ]
        record: Record = other_keys(document.metadata, _KEYS)
        if not document.generated_id:
            record["sent_id"] = document.id
        record |= {"tokens": words, "entity_mentions": mentions} | notes_record(document.annotation_notes)
        yield write_record(record, document.id) + "\n"


def unwritable(document: Document) -> Iterator[Unwritable]:
    """A line for each thing of a document that tokens with mentions cannot express."""
    yield from tokens_of(document).unwritable
    yield from unwritable_borders(document)
    yield from unwritable_metadata(document, _KEYS)


FORMAT = Format(
    name="genia-jsonl",
    description="one sentence a line in JSON: tokens, and mentions that may nest",
    suffixes=(),
    recognises=recognises,
    read=read,
    serialise=serialise,
    holds=frozenset(("metadata", "notes")),
    own_unwritable=unwritable,
)
