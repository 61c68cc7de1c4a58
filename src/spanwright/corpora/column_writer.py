"""Writing column files: IOB2, tab separated, with a mark before each document."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from spanwright.corpora.rows import MARK
from spanwright.corpora.standoff import named
from spanwright.corpora.tokens import Tokens, disjoint, tokens_of
from spanwright.text import Document, Entity
from spanwright.text.tags import Run, tags_from_runs

_UNWRITABLE = re.compile(r"[\s\ud800-\udfff]")
_UNWRITABLE_IN_ID = re.compile(r"[\t\r\n\ud800-\udfff]")


def serialise(documents: Iterable[Document]) -> Iterator[str]:
    """The text of a column file, document by document."""
    for document in documents:
        tokens = tokens_of(document)
        runs, _ = _expressible(document, tokens)
        tags = iter(tags_from_runs(runs, len(tokens.words)))
        hidden = document.generated_id or _UNWRITABLE_IN_ID.search(document.id)
        yield f"{MARK}\tO\n\n" if hidden else f"{MARK} ({document.id})\tO\n\n"
        for words in tokens.sentences:
            yield "".join(f"{_written(word)}\t{next(tags)}\n" for word in words) + "\n"


def _written(word: str) -> str:
    """A word as it can stand in a column: without white space, and never as a document mark."""
    return MARK.replace("-", "_") if word == MARK else _UNWRITABLE.sub("_", word)


def losses(document: Document) -> Iterator[str]:
    """A line for each thing of a document that a column file cannot express."""
    if not document.generated_id and _UNWRITABLE_IN_ID.search(document.id):
        yield f"the id of document {document.id!r}"
    tokens = tokens_of(document)
    for word in tokens.words:
        if _written(word) != word:
            yield f"the word {word!r} of document {document.id!r}, which becomes {_written(word)!r}"
    yield from _expressible(document, tokens)[1]


def _expressible(document: Document, tokens: Tokens) -> tuple[list[Run], list[str]]:
    """The runs that can be written, and a loss for each entity that cannot, and for text outside of words."""
    sentence_of = [number for number, words in enumerate(tokens.sentences) for _ in words]
    found = list(tokens.losses)
    writable: list[tuple[Run, Entity]] = []
    for run, entity in tokens.runs:
        if sentence_of[run[0]] != sentence_of[run[1] - 1]:
            found.append(f"the entity {named(document, entity)}, which crosses a sentence border")
        elif _UNWRITABLE.search(entity.type):
            found.append(f"the entity {named(document, entity)}, whose type has white space")
        else:
            writable.append((run, entity))
    runs, overlapping = disjoint(document, writable)
    return runs, [*found, *overlapping]
