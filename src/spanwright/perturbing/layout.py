"""Perturbations of what stands between and around names: punctuation, white space, other documents."""

from __future__ import annotations

import re
from random import Random

from spanwright.perturbing.edits import Edit, OffsetMap, edited
from spanwright.text import Document, sentences, words

_BLANK_SHARE = 0.2
"""Share of the blanks that are changed."""
_BLANKS = ("  ", "\t", "\n")
_ONE_BLANK = re.compile(r"(?<=\S) (?=\S)")
_MARKS = r"[.,;:!?()\[\]{}\"'\u2018\u2019\u201c\u201d\u2026]"
# At least one side of a run must be free, or its neighbours would become one word.
_LOOSE_MARKS = re.compile(rf"(?<!\S){_MARKS}++|(?<!{_MARKS}){_MARKS}++(?!\S)")
_BETWEEN = " "


def no_punctuation(document: Document, random: Random) -> list[Edit]:
    """No full stops, commas, brackets or quotation marks beside white space; those in entities stay."""
    solid = list(document.text)
    for entity in document.entities:
        for start, end in entity.ranges:
            solid[start:end] = "x" * (end - start)
    return [Edit(*match.span(), "") for match in _LOOSE_MARKS.finditer("".join(solid))]


def white_space(document: Document, random: Random) -> list[Edit]:
    """One blank in five becomes two blanks, a tab or a line break, inside entities too."""
    return [
        Edit(*match.span(), random.choice(_BLANKS))
        for match in _ONE_BLANK.finditer(document.text)
        if random.random() < _BLANK_SHARE
    ]


def joined_documents(documents: list[Document], random: Random) -> list[Document]:
    """Two documents each as one text with a blank between; the last of an odd number stays alone."""
    order = list(range(len(documents)))
    random.shuffle(order)
    pairs = sorted(sorted(order[start : start + 2]) for start in range(0, len(order), 2))
    return [
        _joined(documents[pair[0]], documents[pair[1]]) if len(pair) == 2 else documents[pair[0]]
        for pair in pairs
    ]


def _joined(left: Document, right: Document) -> Document:
    insertion = Edit(0, 0, left.text + _BETWEEN)
    moved, offsets = edited(right, [insertion]), OffsetMap([insertion])
    # Where one document gives its words or sentences, those of the other must be given, too.
    give_words = left.words is not None or right.words is not None
    give_sentences = left.sentences is not None or right.sentences is not None
    return Document(
        id=f"{left.id} + {right.id}",
        text=moved.text,
        entities=left.entities + moved.entities,
        relations=left.relations + moved.relations,
        words=(*words(left), *offsets.ranges(words(right))) if give_words else None,
        sentences=(*sentences(left), *offsets.ranges(sentences(right))) if give_sentences else None,
        corpus=left.corpus if left.corpus == right.corpus else None,
        generated_id=left.generated_id or right.generated_id,
    )
