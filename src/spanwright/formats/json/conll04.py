"""CoNLL04 as a JSON list: sentences of tokens with BILOU tags and relations.

    [{"tokens": ["Anna", "Berg", "sang"], "tags": ["B-Peop", "L-Peop", "O"], "relations": [], "orig_id": 7}]

An item is a document with `orig_id` as its id; a relation, `{"head": 0, "tail": 1, "type": "Kill"}`, relates
two entities by their positions. Other keys are kept in the metadata and written again, and annotation notes
are written under the key `annotation_notes`. One layer of tags holds no nested, crossing or discontinuous
entities.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from spanwright.errors import InputError
from spanwright.formats.format import Format, ReadingLog
from spanwright.formats.io.ids import Ids
from spanwright.formats.json.lists import read_items, written_list
from spanwright.formats.json.records import (
    NOTES,
    Record,
    checked_tokens,
    first_keys,
    given_id,
    given_notes,
    notes_record,
    other_keys,
    unwritable_metadata,
    write_record,
)
from spanwright.formats.token_texts import (
    Tokens,
    disjoint,
    entity_of,
    joined,
    plain_pair,
    stray_starts,
    stray_tag,
    tokens_of,
    unreadable_tag,
    untyped_tag,
    unwritable_borders,
)
from spanwright.formats.unwritable import Unwritable, unwritable_relation
from spanwright.text import Argument, Document, Entity, Relation
from spanwright.text.tags import WordRun, runs_from_tags, tags_from_runs, unknown_tags

_KEYS = frozenset(("orig_id", "tokens", "tags", "relations", NOTES))
_WHOLE_NUMBER = re.compile(r"0|-?[1-9][0-9]{0,17}")


def recognises(path: Path, head: str) -> bool:
    """Whether the file is a list whose first item has tokens and tags, or an empty list."""
    start = head.lstrip()
    if not start.startswith("["):
        return False
    return start.rstrip() == "[]" or {"tokens", "tags"} <= first_keys(start[1:])


def read(path: Path, log: ReadingLog) -> Iterator[Document]:
    """Yield the documents of a file, one for each item of its list."""
    ids = Ids(path, log)
    return read_items(path, log, _count, lambda record, line: _document(record, ids, path, line, log))


def _count(item: Any) -> int:
    """How many entities the tags of an item hold, which may be anything."""
    tags = item.get("tags") if isinstance(item, dict) else None
    is_readable = isinstance(tags, list) and all(isinstance(tag, str) for tag in tags)
    return len(runs_from_tags(tags)) if is_readable and tags else 0


def _document(record: Record, ids: Ids, path: Path, line: int, log: ReadingLog) -> Document:
    tokens = checked_tokens(record.get("tokens"), "tokens")
    tags = checked_tokens(record.get("tags"), "tags")
    if len(tokens) != len(tags):
        raise InputError(
            f"there are {len(tokens)} tokens and {len(tags)} tags; expected one tag for each token"
        )
    id, generated = ids.take(given_id(record, "orig_id"), line)
    unreadable = unknown_tags(tags)
    for position in unreadable:
        log.reject_entity(path, line, f"document {id!r}: {unreadable_tag(tags[position])}")
        tags[position] = "O"
    runs = runs_from_tags(tags)
    for position in stray_starts(tags, runs):
        log.remark(path, line, f"document {id!r}: {stray_tag(tags[position], 'BILOU')}")
    for first, _, type_ in runs:
        if not type_.strip():
            log.remark(path, line, f"document {id!r}: {untyped_tag(tags[first])}")
    text, words, sentences = joined([tokens] if tokens else [])
    entities = tuple(entity_of(run, words) for run in runs)
    return Document(
        id,
        text,
        entities,
        words,
        sentences,
        generated_id=generated,
        metadata=other_keys(record, _KEYS),
        # Positions of entities mean something else where a tag could not be read.
        relations=tuple(
            _relations(record.get("relations"), () if unreadable else entities, id, path, line, log)
        ),
        annotation_notes=given_notes(record),
    )


def _relations(
    value: Any, entities: tuple[Entity, ...], id: str, path: Path, line: int, log: ReadingLog
) -> Iterator[Relation]:
    """The relations of an item; wrong ones are rejected."""
    places = range(len(entities))
    for each in value if isinstance(value, list) else [] if value is None else [value]:
        match each:
            case {"head": int(head), "tail": int(tail), "type": str(type_)} if (
                head in places and tail in places
            ):
                yield Relation(type_, (Argument(entities[head]), Argument(entities[tail])))
            case _:
                expected = f"expected a type, and head and tail below {len(entities)}, whose tags can be read"
                log.reject_relation(path, line, f"document {id!r}: the relation is {each!r:.80}; {expected}")


def serialise(documents: Iterable[Document]) -> Iterator[str]:
    """A list with one item for each document, an item a line."""
    return written_list(write_record(_record(document), document.id) for document in documents)


def _record(document: Document) -> Record:
    tokens = tokens_of(document)
    runs, _ = disjoint(document, tokens.runs)
    words = tokens.words
    record: Record = {"tokens": words, "tags": tags_from_runs(runs, len(words), "BILOU")}
    record["relations"] = [each for each in _written_relations(document, tokens, runs) if each]
    record |= other_keys(document.metadata, _KEYS) | notes_record(document.annotation_notes)
    if not document.generated_id:
        record["orig_id"] = int(document.id) if _WHOLE_NUMBER.fullmatch(document.id) else document.id
    return record


def _written_relations(document: Document, tokens: Tokens, runs: list[WordRun]) -> Iterator[Record]:
    """The records of relations; an empty one for a relation that cannot be written."""
    numbers = {run: number for number, run in enumerate(runs)}
    places = {entity: numbers[run] for run, entity in tokens.runs if run in numbers}
    for relation in document.relations:
        found = [places[entity] for entity in plain_pair(relation) if entity in places]
        yield {"head": found[0], "tail": found[1], "type": relation.type} if len(found) == 2 else {}


def unwritable(document: Document) -> Iterator[Unwritable]:
    """A line for each thing of a document that one layer of tags cannot express."""
    tokens = tokens_of(document)
    yield from tokens.unwritable
    runs, overlapping = disjoint(document, tokens.runs)
    yield from overlapping
    for relation, record in zip(document.relations, _written_relations(document, tokens, runs), strict=True):
        if not record:
            yield unwritable_relation(document, relation)
    yield from unwritable_borders(document)
    yield from unwritable_metadata(document, _KEYS)


FORMAT = Format(
    name="conll04",
    description="a JSON list of sentences: tokens, BILOU tags and relations",
    suffixes=(),
    recognises=recognises,
    read=read,
    serialise=serialise,
    holds=frozenset(("metadata", "notes", "relations")),
    own_unwritable=unwritable,
)
