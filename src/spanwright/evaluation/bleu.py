"""BLEU of generated texts, over a whole corpus: how many of their n-grams are those of a reference."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from spanwright.errors import InputError

Words = Sequence[str]
NGrams = Counter[tuple[str, ...]]


def corpus_bleu(candidates: Sequence[Words], references: Sequence[Sequence[Words]], order: int = 2) -> float:
    """BLEU, from 0 to 1, of candidates with one or more references each (Papineni et al., 2002).

    The geometric mean of the precisions of n-grams up to an order, all of the same weight, times the penalty
    of candidates that are together shorter than their references. An n-gram counts as often as in the one
    reference that has it most often; the reference whose length is closest (the shorter of two) gives the
    length. Nothing is smoothed: without a match of any one order the answer is 0.
    """
    _check(candidates, references, order)
    matches, totals = [0] * order, [0] * order
    length = reference_length = 0
    for candidate, own in zip(candidates, references, strict=True):
        length += len(candidate)
        reference_length += _closest_length(len(candidate), own)
        for position in range(order):
            found = _ngrams(candidate, position + 1)
            matches[position] += (found & _most(own, position + 1)).total()
            totals[position] += found.total()
    if not all(matches):
        return 0.0
    logarithms = [math.log(match / total) for match, total in zip(matches, totals, strict=True)]
    penalty = min(0.0, 1 - reference_length / length)
    return math.exp(penalty + sum(logarithms) / order)


def _check(candidates: Sequence[Words], references: Sequence[Sequence[Words]], order: int) -> None:
    if order < 1:
        raise InputError(f"BLEU of order {order}; expected 1 and above")
    if len(candidates) != len(references):
        raise InputError(
            f"BLEU of {len(candidates)} candidates with references for {len(references)}; expected as many"
        )
    for position, own in enumerate(references):
        if not own:
            raise InputError(f"candidate {position} of BLEU has no reference; expected one or more")


def _ngrams(words: Words, size: int) -> NGrams:
    return Counter(tuple(words[start : start + size]) for start in range(len(words) - size + 1))


def _most(references: Sequence[Words], size: int) -> NGrams:
    """The n-grams of references, each as often as in the one that has it most often."""
    most: NGrams = Counter()
    for words in references:
        most |= _ngrams(words, size)
    return most


def _closest_length(length: int, references: Sequence[Words]) -> int:
    return min((len(words) for words in references), key=lambda other: (abs(other - length), other))
