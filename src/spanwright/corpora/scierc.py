"""SciERC and its relatives: JSON lines of documents as sentences of tokens, with entities by token.

    {"doc_key": "A1", "sentences": [["We", "parse", "."], ["It", "works", "."]],
     "ner": [[[1, 1, "Task"]], []], "relations": [[], []], "clusters": []}

Entity offsets count tokens from the start of the document, and the last token is included. Entities may nest
and cross. Other keys (`relations`, `clusters`) are kept in the metadata and written again.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import accumulate
from pathlib import Path
from typing import Any

from spanwright.corpora.format import Format, ReadingLog
from spanwright.corpora.ids import Ids
from spanwright.corpora.odd_entities import remark_odd_entities
from spanwright.corpora.records import (
    Record,
    checked_list,
    checked_run,
    checked_tokens,
    first_keys,
    given_id,
    json_lines,
    list_length,
    metadata_losses,
    other_keys,
    write_record,
)
from spanwright.corpora.tokens import Tokens, entity_of, joined, tokens_of
from spanwright.errors import InputError
from spanwright.text import Document, Entity, Range

_KEYS = frozenset(("doc_key", "sentences", "ner"))


def recognises(path: Path, head: str) -> bool:
    """Whether the first line is an object with sentences and `ner`, or with a `doc_key` besides sentences."""
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
        yield Document(
            id,
            text,
            entities,
            words,
            borders,
            generated_id=generated,
            metadata=other_keys(record, _KEYS),
        )


def _sentences(record: Record) -> list[list[str]]:
    return [checked_tokens(each, "sentences") for each in checked_list(record.get("sentences"), "sentences")]


def _ner(record: Record, sentences: int) -> list[list[Any]]:
    ner = [checked_list(each, "ner") for each in checked_list(record.get("ner", [[]] * sentences), "ner")]
    if len(ner) != sentences:
        raise InputError(f"'ner' has {len(ner)} lists; legal is one for each of the {sentences} sentences")
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
                raise InputError(f"the entity {value!r:.80} was found; legal is a list [first, last, type]")
            first, last, type_ = value[:3]
            end = last + 1 if type(last) is int else last
            yield entity_of(checked_run(first, end, type_, len(words)), words)
        except InputError as error:
            log.reject_entity(path, line, str(error))


def serialise(documents: Iterable[Document]) -> Iterator[str]:
    """One line for each document."""
    for document in documents:
        tokens = tokens_of(document)
        record: Record = {} if document.generated_id else {"doc_key": document.id}
        record |= {"sentences": tokens.sentences, "ner": _written_entities(tokens)}
        yield write_record(record | other_keys(document.metadata, _KEYS), document.id) + "\n"


def _written_entities(tokens: Tokens) -> list[list[tuple[int, int, str]]]:
    """The entities by the sentence that they begin in."""
    starts = list(accumulate(map(len, tokens.sentences), initial=0))
    ner: list[list[tuple[int, int, str]]] = [[] for _ in tokens.sentences]
    for (first, end, type_), _ in tokens.runs:
        ner[bisect_right(starts, first) - 1].append((first, end - 1, type_))
    return ner


def losses(document: Document) -> Iterator[str]:
    """A line for each thing of a document that sentences of tokens cannot express."""
    yield from tokens_of(document).losses
    yield from metadata_losses(document, _KEYS)


FORMAT = Format(
    name="scierc",
    description="one document a line in JSON: sentences of tokens, and entities that may nest",
    suffixes=(),
    recognises=recognises,
    read=read,
    serialise=serialise,
    losses=losses,
)
