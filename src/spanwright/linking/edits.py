"""Which words of names may be exchanged: how often names that differ in them alone mean the same.

`renal tumor` and `kidney tumor` are one concept, and so are nearly all pairs of names that differ in `renal`
and `kidney` alone; those that differ in `type 1` and `type 2` are not. This is counted in the names of a
lexicon, also for words that may be left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from spanwright.arrays import Integers

Edits = Mapping[str, Sequence[tuple[str, float]]]
"""The words that may stand in place of each, '' for none, and the probability that the meaning stays."""
_LEAST = 0.3
"""The probability that one or several edits together must have."""
_CONCEPTS = 2
"""Concepts in whose names an exchange must be seen: what one alone has is often chance."""
_DOUBT = 1.0
"""Pairs of names with other meanings that are counted besides those that are seen."""
_MOST = 64
"""Ways to write a mention that are looked up."""


def learn_edits(keys: Sequence[str], concept: Integers) -> dict[str, list[tuple[str, float]]]:
    """The edits of names, by their keys (`names.normal_key`) and the numbers of their concepts."""
    words, places = _places(keys, concept)
    exchanged = _exchanged(places)
    pairs, concepts = _counted(exchanged[:, [0, 1, 2]])
    contexts = _counted(exchanged[:, [0, 1, 3]])[1]
    kept = concepts >= _CONCEPTS
    pairs, concepts, contexts = pairs[kept], concepts[kept], contexts[kept]
    other_meanings = _common_contexts(places, pairs) - contexts
    probability = concepts / (concepts + other_meanings + _DOUBT)
    edits: dict[str, list[tuple[str, float]]] = {}
    for at in np.argsort(-probability, kind="stable").tolist():
        if probability[at] >= _LEAST:
            word, other = (words[number] for number in pairs[at].tolist())
            edits.setdefault(word, []).append((other, float(probability[at])))
    edits.pop("", None)  # words that may be added anywhere would be too many
    return edits


def variants(words: Sequence[str], edits: Edits) -> dict[tuple[str, ...], float]:
    """Other ways to write a name, the likeliest first, and the probability that each means the same."""
    found: dict[tuple[str, ...], float] = {(): 1.0}
    for word in words:
        longer: dict[tuple[str, ...], float] = {}
        for start, probability in found.items():
            for other, share in ((word, 1.0), *edits.get(word, ())):
                if probability * share >= _LEAST:
                    made = (*start, other) if other else start
                    longer[made] = max(longer.get(made, 0.0), probability * share)
        found = dict(sorted(longer.items(), key=lambda item: -item[1])[:_MOST])
    return {made: probability for made, probability in found.items() if made and made != tuple(words)}


def _places(keys: Sequence[str], concept: Integers) -> tuple[list[str], Integers]:
    """All words, the empty one first, and the distinct places of words in names, `(places, 3)`.

    A place is its context, the name's concept, and the number of the word. The context is the sum of random
    numbers of the name's other words, so their order does not matter. The empty word is in each name.
    """
    numbers = {"": 0}
    rows = [[numbers.setdefault(word, len(numbers)) for word in key.split()] for key in keys]
    lengths = np.fromiter(map(len, rows), np.int64, len(rows))
    word = np.fromiter((number for row in rows for number in row), np.int64, int(lengths.sum()))
    row = np.repeat(np.arange(len(rows)), lengths)
    drawn = np.random.default_rng(0).integers(-(1 << 62), 1 << 62, len(numbers))
    drawn[0] = 0
    total = np.zeros(len(rows), dtype=np.int64)
    np.add.at(total, row, drawn[word])
    inner = lengths[row] > 1  # a word that is the whole name has no context
    word = np.concatenate([word[inner], np.zeros(len(rows), dtype=np.int64)])
    row = np.concatenate([row[inner], np.arange(len(rows))])
    return list(numbers), _distinct(np.stack([total[row] - drawn[word], concept[row], word], axis=1))


def _exchanged(places: Integers) -> Integers:
    """Two words that names of one concept have in one context, the concept, the context, `(exchanges, 4)`."""
    changes = np.any(np.diff(places[:, :2], axis=0, prepend=places[:1, :2] - 1) != 0, axis=1)
    starts = np.append(np.flatnonzero(changes), len(places))
    found = [np.zeros((0, 4), dtype=np.int64)]
    several = np.flatnonzero(np.diff(starts) > 1)
    for start, end in zip(starts[several].tolist(), starts[several + 1].tolist(), strict=True):
        own = places[start:end, 2]
        left, right = np.repeat(own, len(own)), np.tile(own, len(own))
        pairs = np.stack([left, right], axis=1)[left != right]
        beside = np.tile(places[start, [1, 0]], (len(pairs), 1))
        found.append(np.concatenate([pairs, beside], axis=1))
    return np.concatenate(found)


def _counted(rows: Integers) -> tuple[Integers, Integers]:
    """The distinct pairs of words in front of some rows, and with how many values beside them each comes."""
    distinct = _distinct(rows)[:, :2]
    changes = np.any(np.diff(distinct, axis=0, prepend=-1) != 0, axis=1)
    starts = np.append(np.flatnonzero(changes), len(distinct))
    return distinct[starts[:-1]], np.diff(starts)


def _common_contexts(places: Integers, pairs: Integers) -> Integers:
    """How many contexts the words of each pair have in common, whatever the concepts, `(pairs,)`."""
    contexts: dict[int, set[int]] = {number: set() for number in np.unique(pairs).tolist()}
    for context, _, word in places.tolist():
        if word in contexts:
            contexts[word].add(context)
    return np.array([len(contexts[one] & contexts[other]) for one, other in pairs.tolist()], dtype=np.int64)


def _distinct(rows: Integers) -> Integers:
    """The distinct rows, sorted by their first column, then by the others."""
    ordered = rows[np.lexsort(rows.T[::-1])]
    changes = np.any(np.diff(ordered, axis=0, prepend=ordered[:1] - 1) != 0, axis=1)
    return ordered[changes]
