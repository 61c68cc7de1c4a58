"""Entities from the emissions of a tagger of words, whatever computed them.

Tag 0 is O; type t has the tags 1 + 2t (B, its first word) and 2 + 2t (I, a further word). The answer is the
likeliest allowed path of tags through each window, in which I follows only B or I of its type.

Windows are padded in here: emissions are (windows, words, tags), and the mask (windows, words) is True at the
real words, which come first; there is at least one column. What stands at padding never matters. Recursions
walk over words, all windows at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from spanwright.arrays import Integers
from spanwright.batches.batch import Array

Scores = npt.NDArray[np.floating]
NO_TAG = -1
"""Fills paths beyond a window's words."""


@dataclass(frozen=True, slots=True)
class Chain:
    """The weights of a linear-chain CRF, which are added to emissions."""

    start: Scores
    """(tags,)."""
    end: Scores
    """(tags,)."""
    transitions: Scores
    """(tags, tags): from the tag of the row to that of the column."""


@dataclass(frozen=True, slots=True)
class TaggedEntities:
    """The entities that tags say; each column is (entities,)."""

    window: Integers
    first: Integers
    """Packed position of its first word."""
    last: Integers
    """Packed position of its last word (inclusive)."""
    type: Integers
    confidence: Scores
    """The mean probability of its tags."""


def tagged_entities(emissions: Scores, word_counts: Integers, chain: Chain | None) -> TaggedEntities:
    """The entities of the best allowed paths; emissions are those of packed words, (words, tags)."""
    tags, probabilities = best_tags(emissions, word_counts, chain)
    first, last = entity_ends(tags, word_counts)
    window = np.repeat(np.arange(len(word_counts)), word_counts)[first]
    # Entities cover every word that is not O, so what is left of the row is entity after entity.
    confidence = _means(probabilities[tags != 0], last - first + 1)
    return TaggedEntities(window, first, last, _types(tags[first]), confidence)


def best_tags(emissions: Scores, word_counts: Integers, chain: Chain | None) -> tuple[Integers, Scores]:
    """(words,) each: the tag of each packed word on the best allowed path, and its probability.

    Without a chain each word has its own distribution over tags; with one, each window has one over paths.
    """
    return _of_words(emissions, word_counts) if chain is None else _of_paths(emissions, word_counts, chain)


def _of_words(emissions: Scores, word_counts: Integers) -> tuple[Integers, Scores]:
    scores = emissions - _log_sum(emissions, axis=1)[:, None]
    tags: Integers = scores.argmax(1)
    if not _all_allowed(tags, word_counts):
        mask = _word_mask(word_counts)
        free, moves = allowed_moves(scores.shape[1])
        start, transitions = (
            _barred(np.zeros(allowed.shape, scores.dtype), allowed) for allowed in (free, moves)
        )
        chain = Chain(start, np.zeros_like(start), transitions)
        tags = best_paths(_padded(scores, mask), mask, chain)[0][mask]
    return tags, np.exp(np.take_along_axis(scores, tags[:, None], 1))[:, 0]


def _of_paths(emissions: Scores, word_counts: Integers, chain: Chain) -> tuple[Integers, Scores]:
    mask = _word_mask(word_counts)
    padded = _padded(emissions, mask)
    free, moves = allowed_moves(emissions.shape[1])
    allowed = Chain(_barred(chain.start, free), chain.end, _barred(chain.transitions, moves))
    tags = best_paths(padded, mask, allowed)[0][mask]
    probabilities = marginals(padded, mask, chain)[mask]
    return tags, np.take_along_axis(probabilities, tags[:, None], 1)[:, 0]


def best_paths(emissions: Scores, mask: Array, chain: Chain) -> tuple[Integers, Scores]:
    """Viterbi's algorithm: paths (windows, words), filled with `NO_TAG`, and their scores (windows,)."""
    emissions = np.where(mask[:, :, None], emissions, 0)
    best = chain.start + emissions[:, 0]
    stay = np.arange(len(chain.start))
    origins = []
    for word in range(1, emissions.shape[1]):
        moved = best[:, :, None] + (chain.transitions + emissions[:, word, None, :])
        inside = mask[:, word, None]
        # Beyond its last word a window stays where it is, so that all windows end in the last column.
        origins.append(np.where(inside, moved.argmax(1), stay))
        best = np.where(inside, moved.max(1), best)
    final = best + chain.end
    path = [final.argmax(1)[:, None]]
    for origin in reversed(origins):
        path.append(np.take_along_axis(origin, path[-1], 1))
    return np.where(mask, np.concatenate(path[::-1], 1), NO_TAG), final.max(1)


def marginals(emissions: Scores, mask: Array, chain: Chain) -> Scores:
    """(windows, words, tags): probability of each tag at each word over all paths; 0 at padding."""
    emissions = np.where(mask[:, :, None], emissions, 0)
    # Forward and backward sums add up to the log partition at every word: the softmax divides by it.
    both = _forward_sums(emissions, chain) + _backward_sums(emissions, mask, chain)
    shares = np.exp(both - both.max(2, keepdims=True))
    found: Scores = np.where(mask[:, :, None], shares / shares.sum(2, keepdims=True), 0)
    return found


def _forward_sums(emissions: Scores, chain: Chain) -> Scores:
    """(windows, words, tags): log-summed scores of all ways to come to a tag at a word."""
    sums: list[Scores] = [chain.start + emissions[:, 0]]
    # No mask in here: whoever reads a sum picks one at a real word, and those depend on real words only.
    for word in range(1, emissions.shape[1]):
        moved = sums[-1][:, :, None] + (chain.transitions + emissions[:, word, None, :])
        sums.append(_log_sum(moved, axis=1))
    return np.stack(sums, axis=1)


def _backward_sums(emissions: Scores, mask: Array, chain: Chain) -> Scores:
    """(windows, words, tags): log-summed scores of all ways to go on from a tag at a word."""
    sums: list[Scores] = [np.broadcast_to(chain.end, (len(emissions), len(chain.end)))]
    for word in reversed(range(1, emissions.shape[1])):
        going_on = chain.transitions + emissions[:, word, None, :] + sums[-1][:, None, :]
        sums.append(np.where(mask[:, word, None], _log_sum(going_on, axis=2), sums[-1]))
    return np.stack(sums[::-1], axis=1)


def allowed_moves(tags: int) -> tuple[Array, Array]:
    """Masks of the tags that may begin a window (tags,) and of allowed moves from tag to tag (tags, tags)."""
    every = np.arange(tags)
    free = (every == 0) | _is_begin(every)
    types = _types(every)
    return free, free | (types[:, None] == types)


def entity_ends(tags: Integers, word_counts: Integers) -> tuple[Integers, Integers]:
    """(entities,) each: packed first and last words of the entities that tags (words,) say, in order.

    The label combiner: B begins an entity, and so does an I that cannot continue the entity before it, since
    there is none, it has another type or it stands in another window.
    """
    types, outside = _types(tags), tags == 0
    before = np.roll(types, 1)
    before[(np.cumsum(word_counts) - word_counts)[word_counts > 0]] = -1
    begins = ~outside & (_is_begin(tags) | (types != before))
    # An entity ends where the next word does not continue it; after the last word stands the first, which
    # continues nothing.
    ends = ~outside & np.roll(begins | outside, -1)
    return np.flatnonzero(begins), np.flatnonzero(ends)


def _all_allowed(tags: Integers, word_counts: Integers) -> bool:
    """Whether no I stands where it continues nothing; then the best tags are the best allowed path."""
    first, _ = entity_ends(tags, word_counts)
    return bool(_is_begin(tags[first]).all())


def _is_begin(tags: Integers) -> Array:
    found: Array = tags % 2 == 1
    return found


def _types(tags: Integers) -> Integers:
    """The type id of each tag; -1 for O."""
    return (tags - 1) // 2


def _means(values: Scores, widths: Integers) -> Scores:
    """(runs,): means over runs of values; the widths of the runs say where each ends."""
    run = np.repeat(np.arange(len(widths)), widths)
    sums = np.bincount(run, weights=values, minlength=len(widths))
    return (sums / widths).astype(values.dtype)


def _log_sum(scores: Scores, axis: int) -> Scores:
    """The logarithm of the summed exponentials along an axis."""
    highest = scores.max(axis=axis, keepdims=True)
    summed = np.log(np.exp(scores - highest).sum(axis=axis, keepdims=True)) + highest
    found: Scores = np.squeeze(summed, axis)
    return found


def _barred(scores: Scores, allowed: Array) -> Scores:
    """Scores with minus infinity where not allowed."""
    return np.where(allowed, scores, -np.inf).astype(scores.dtype)


def _word_mask(word_counts: Integers) -> Array:
    """(windows, longest): True at real words; there is at least one column."""
    longest = int(word_counts.max(initial=1))
    found: Array = np.arange(longest) < word_counts[:, None]
    return found


def _padded(packed: Scores, mask: Array) -> Scores:
    """(windows, longest, tags): packed rows in their windows, zero beyond each window's words."""
    padded = np.zeros((*mask.shape, packed.shape[1]), packed.dtype)
    padded[mask] = packed
    return padded
