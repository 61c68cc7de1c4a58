"""SciERC and its relatives: JSON lines of documents as sentences of tokens, with entities by token.

    {"doc_key": "A1", "sentences": [["We", "parse", "."], ["It", "works", "."]],
     "ner": [[[1, 1, "Task"]], []], "relations": [[], []], "clusters": []}

Entity offsets count tokens from the start of the document, and the last token is included. Entities may nest
and cross. A relation, `[1, 1, 4, 5, "Used-for"]`, has the offsets of two entities. `clusters` are kept in the
annotation notes, others of which are written under the key `annotation_notes`; other keys are kept in the
metadata and written again.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate
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
from spanwright.formats.token_texts import Tokens, entity_of, joined, plain_pair, tokens_of
from spanwright.formats.unwritable import Unwritable, unwritable_relation
from spanwright.text import Argument, Document, Entity, Range, Relation

_CLUSTERS = "clusters"
_KEYS = frozenset(("doc_key", "sentences", "ner", "relations", _CLUSTERS, NOTES))


def recognises(path: Path, head: str) -> bool:
    """Whether the first line is an object with sentences and `ner`, or with sentences and a `doc_key`."""
    keys = first_keys(head)
    return "sentences" in keys and "text" not in keys and not keys.isdisjoint(("ner", "doc_key"))


def read(path: Path, log: ReadingLog) -> Iterator[Document]:
    """Yield the documents of a file, one a line; a wrong entity is rejected alone."""
    ids = Ids(path, log)
    for line, record in json_lines(path, log, count=_count):
        try:
            id, generated = ids.take(given_id(record, "doc_key"), line)
            sentences = _sentences(record)
            marked = [each for entities in _ner(record, len(sentences)) for each in entities]
        except InputError as error:
            log.reject_document(path, line, str(error), entities=_count(record))
            continue
        for number, tokens in enumerate(sentences):
            if not tokens:
                log.remark(path, line, f"sentence {number} has no tokens and is left out")
        text, words, borders = joined([tokens for tokens in sentences if tokens])
        entities = tuple(_entities(marked, words, path, line, log))
        remark_odd_entities(entities, path, line, log)
        clusters = {_CLUSTERS: record[_CLUSTERS]} if _CLUSTERS in record else {}
        yield Document(
            id,
            text,
            entities,
            words,
            borders,
            generated_id=generated,
            metadata=other_keys(record, _KEYS),
            relations=tuple(_relations(record.get("relations"), entities, words, path, line, log)),
            annotation_notes=given_notes(record) | clusters,
        )


def _sentences(record: Record) -> list[list[str]]:
    return [checked_tokens(each, "sentences") for each in checked_list(record.get("sentences"), "sentences")]


def _ner(record: Record, sentences: int) -> list[list[Any]]:
    ner = [checked_list(each, "ner") for each in checked_list(record.get("ner", [[]] * sentences), "ner")]
    if len(ner) != sentences:
        raise InputError(f"'ner' has {len(ner)} lists; expected one for each of the {sentences} sentences")
    return ner


def _count(record: Record) -> int:
    ner = record.get("ner")
    return sum(map(list_length, ner)) if isinstance(ner, list) else 0


def _entities(
    marked: list[Any], words: tuple[Range, ...], path: Path, line: int, log: ReadingLog
) -> Iterator[Entity]:
    for value in marked:
        try:
            if not isinstance(value, list) or len(value) < 3:
                raise InputError(f"the entity {value!r:.80} was found; expected a list [first, last, type]")
            first, last, type_ = value[:3]
            end = last + 1 if type(last) is int else last
            yield entity_of(checked_run(first, end, type_, len(words)), words)
        except InputError as error:
            log.reject_entity(path, line, str(error))


def _relations(
    value: Any, entities: tuple[Entity, ...], words: tuple[Range, ...], path: Path, line: int, log: ReadingLog
) -> Iterator[Relation]:
    """The relations in the lists of all sentences; wrong ones are rejected."""
    marked = {(entity.start, entity.end): entity for entity in reversed(entities)}
    for group in value if isinstance(value, list) else [] if value is None else [value]:
        for each in group if isinstance(group, list) else [group]:
            relation = _relation(each, marked, words)
            if relation is not None:
                yield relation
            else:
                expected = "expected a list [first, last, first, last, type] of the tokens of two entities"
                log.reject_relation(path, line, f"the relation {each!r:.80} was found; {expected}")


def _relation(value: Any, marked: Mapping[Range, Entity], words: tuple[Range, ...]) -> Relation | None:
    match value:
        case [int(a), int(b), int(c), int(d), str(type_), *_] if all(
            0 <= place < len(words) for place in (a, b, c, d)
        ):
            first, second = marked.get((words[a][0], words[b][1])), marked.get((words[c][0], words[d][1]))
            if first is not None and second is not None:
                return Relation(type_, (Argument(first), Argument(second)))
    return None


def serialise(documents: Iterable[Document]) -> Iterator[str]:
    """One line for each document."""
    for document in documents:
        tokens = tokens_of(document)
        record: Record = {} if document.generated_id else {"doc_key": document.id}
        record |= {"sentences": tokens.sentences, "ner": _by_sentence(_written_entities(tokens), tokens)}
        record["relations"] = _by_sentence(filter(None, _written_relations(document, tokens)), tokens)
        notes = document.annotation_notes
        record |= {_CLUSTERS: notes[_CLUSTERS]} if _CLUSTERS in notes else {}
        record |= notes_record(other_keys(notes, frozenset((_CLUSTERS,))))
        yield write_record(record | other_keys(document.metadata, _KEYS), document.id) + "\n"


_Row = tuple[Any, ...]
"""What stands in the list of a sentence; it begins with a token of it."""


def _by_sentence(rows: Iterable[_Row], tokens: Tokens) -> list[list[_Row]]:
    """Rows by the sentence that they begin in."""
    starts = list(accumulate(map(len, tokens.sentences), initial=0))
    found: list[list[_Row]] = [[] for _ in tokens.sentences]
    for row in rows:
        found[bisect_right(starts, row[0]) - 1].append(row)
    return found


def _written_entities(tokens: Tokens) -> Iterator[_Row]:
    return ((first, end - 1, type_) for (first, end, type_), _ in tokens.runs)


def _written_relations(document: Document, tokens: Tokens) -> Iterator[_Row]:
    """The rows of relations; an empty one for a relation that would not be read again."""
    spans = {entity: (first, end - 1) for (first, end, _), entity in tokens.runs}
    first_of = {span: entity for entity, span in reversed(spans.items())}
    for relation in document.relations:
        found = [spans[entity] for entity in plain_pair(relation) if entity in spans]
        # A relation is read as one of the first entity of a span.
        is_read = [first_of[span] for span in found] == [*relation.mentions]
        yield (*found[0], *found[1], relation.type) if len(found) == 2 and is_read else ()


def unwritable(document: Document) -> Iterator[Unwritable]:
    """A line for each thing of a document that sentences of tokens cannot express."""
    tokens = tokens_of(document)
    yield from tokens.unwritable
    for relation, row in zip(document.relations, _written_relations(document, tokens), strict=True):
        if not row:
            yield unwritable_relation(document, relation)
    yield from unwritable_metadata(document, _KEYS)


FORMAT = Format(
    name="scierc",
    description="one document a line in JSON: sentences of tokens, and entities that may nest",
    suffixes=(),
    recognises=recognises,
    read=read,
    serialise=serialise,
    holds=frozenset(("metadata", "notes", "relations")),
    own_unwritable=unwritable,
)
