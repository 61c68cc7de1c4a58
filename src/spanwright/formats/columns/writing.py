"""Writing column files: tab separated, with a mark before each document and one layer of IOB2 tags.

One layer of tags holds no nested or crossing entities; the option `layers=4` writes four columns of tags, the
outermost entities in the first. No layer holds discontinuous entities, nor those that cut a word or cross a
sentence border of the corpus. The white space between words, concepts, confidences and metadata have no place
in a column file and are not written.

`scheme=BIOES` chooses another tag scheme, and `marks=no` leaves the marks out, as in files in which each
sentence is a document.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from spanwright.formats.columns.rows import MARK
from spanwright.formats.format import yes_or_no
from spanwright.formats.token_texts import Tokens, disjoint, tokens_of
from spanwright.formats.unwritable import Unwritable, shown_entity
from spanwright.text import Document, Entity
from spanwright.text.tags import Scheme, WordRun, scheme_named, tags_from_runs

_UNWRITABLE = re.compile(r"[\s\ud800-\udfff]")
_UNWRITABLE_IN_ID = re.compile(r"[\t\r\n\ud800-\udfff]")


def _layer_count(text: str) -> int:
    """The number of layers that a user names; ValueError for anything else."""
    if not text.isascii() or not text.isdigit() or not 1 <= len(text) <= 2 or int(text) < 1:
        raise ValueError("expected a number of layers from 1 to 99")
    return int(text)


WRITING_OPTIONS = {"layers": _layer_count, "scheme": scheme_named, "marks": yes_or_no}


def serialise(
    documents: Iterable[Document], *, layers: int = 1, scheme: Scheme = "IOB2", marks: bool = True
) -> Iterator[str]:
    """The text of a column file, document by document."""
    for document in documents:
        tokens = tokens_of(document)
        runs, _ = _expressible(document, tokens, layers)
        if marks:
            hidden = document.generated_id or _UNWRITABLE_IN_ID.search(document.id)
            mark = MARK if hidden else f"{MARK} ({document.id})"
            yield "\t".join([mark, *["O"] * layers]) + "\n\n"
        for words, inside in _by_sentence(tokens, runs):
            columns = [tags_from_runs(layer, len(words), scheme) for layer in _dealt(inside, layers)]
            rows = zip(map(_written, words), *columns, strict=True)
            yield "".join("\t".join(row) + "\n" for row in rows) + "\n"


def _by_sentence(tokens: Tokens, runs: Sequence[WordRun]) -> Iterator[tuple[list[str], list[WordRun]]]:
    """The words of each sentence and the runs in it, which count its words."""
    position = start = 0
    for words in tokens.sentences:
        end = start + len(words)
        inside: list[WordRun] = []
        while position < len(runs) and runs[position][0] < end:
            first, run_end, type_ = runs[position]
            inside.append((first - start, run_end - start, type_))
            position += 1
        yield words, inside
        start = end


def _dealt(runs: Sequence[WordRun], layers: int) -> list[list[WordRun]]:
    """The runs of each layer. A run is in the first layer that is free where it begins.

    In the order of their beginnings, outer runs first, they need no more layers than lie over one word.
    """
    dealt: list[list[WordRun]] = [[] for _ in range(layers)]
    for run in runs:
        next(layer for layer in dealt if not layer or layer[-1][1] <= run[0]).append(run)
    return dealt


def _written(word: str) -> str:
    """A word as it can stand in a column: without white space, and never as a document mark."""
    return MARK.replace("-", "_") if word == MARK else _UNWRITABLE.sub("_", word)


def unwritable(
    document: Document, *, layers: int = 1, scheme: Scheme = "IOB2", marks: bool = True
) -> Iterator[Unwritable]:
    """A line for each thing of a document that a column file cannot express, in whatever scheme."""
    if not document.generated_id and (not marks or _UNWRITABLE_IN_ID.search(document.id)):
        yield Unwritable("ids", f"the id of document {document.id!r}")
    tokens = tokens_of(document)
    if not marks and len(tokens.sentences) != 1:
        line = f"that the {len(tokens.sentences)} sentences of document {document.id!r} are one document"
        yield Unwritable("borders", line)
    for word in tokens.words:
        if _written(word) != word:
            became = f"which becomes {_written(word)!r}"
            yield Unwritable("texts", f"the word {word!r} of document {document.id!r}, {became}")
    yield from _expressible(document, tokens, layers)[1]


def _expressible(document: Document, tokens: Tokens, layers: int) -> tuple[list[WordRun], list[Unwritable]]:
    """The runs that can be written, and a line for each entity that cannot, and for text outside of words."""
    sentence_of = [number for number, words in enumerate(tokens.sentences) for _ in words]
    found = list(tokens.unwritable)
    writable: list[tuple[WordRun, Entity]] = []
    for run, entity in tokens.runs:
        if sentence_of[run[0]] != sentence_of[run[1] - 1]:
            line = f"the entity {shown_entity(document, entity)}, which crosses a sentence border"
            found.append(Unwritable("entities", line))
        elif _UNWRITABLE.search(entity.type):
            line = f"the entity {shown_entity(document, entity)}, whose type has white space"
            found.append(Unwritable("entities", line))
        else:
            writable.append((run, entity))
    runs, overlapping = disjoint(document, writable, layers)
    return runs, [*found, *overlapping]
