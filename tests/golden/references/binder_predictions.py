"""What a bi-encoder predicts from its scores: nested, flat, of windows and of the document."""

from __future__ import annotations

import torch
from torch import Tensor

from golden.references.drawing import Arrays, check_clear, rows

Scores = dict[str, list[dict[tuple[int, ...], Tensor]]]
"""Scores (types,) by kind, window and place; the special token stands at the places (0,) and (0, 0)."""
Row = tuple[int, ...]


def predictions(inputs: Arrays, scores: Scores) -> Arrays:
    """All lists of predictions."""
    found, joint = (above(scores, joint=joint) for joint in (False, True))
    by_window, document = in_words(inputs, found), in_document(inputs, found)
    joint_by_window = in_words(inputs, joint)
    flat = flat_by_window(by_window)
    lists = {
        "pred_nested": found,
        "pred_flat": [row for row in found if set(in_words(inputs, {row: 0.0})) <= flat],
        "pred_nested_words": by_window,
        "pred_flat_words": flat,
        "pred_nested_joint_words": joint_by_window,
        "pred_flat_joint_words": flat_by_window(joint_by_window),
        "pred_document_nested_words": document,
        "pred_document_flat_words": flat_of(document),
    }
    return {name: rows(sorted(each), 3 if "document" in name else 4) for name, each in lists.items()}


def above(scores: Scores, *, joint: bool) -> dict[Row, float]:
    """(window, type, first token, last token) of spans above their threshold, with their scores.

    If joint, their first and last tokens must be above theirs as well.
    """
    found = {}
    for window, spans in enumerate(scores["span"]):
        start, end = (scores[kind][window] for kind in ("start", "end"))
        for (first, last), values in spans.items():
            margins = [values - spans[0, 0]]
            if joint:
                margins += [start[first,] - start[0,], end[last,] - end[0,]]
            for type_, own in enumerate(torch.stack(margins, dim=1).tolist()):
                if (first, last) != (0, 0):
                    check_clear(own)
                    if min(own) > 0:
                        found[window, type_, first, last] = values[type_].item()
    return found


def in_words(inputs: Arrays, found: dict[Row, float]) -> dict[Row, float]:
    """(window, type, first word, word after the last)."""
    words = inputs["word_of_token"].tolist()
    return {
        (window, type_, words[window][first], words[window][last] + 1): score
        for (window, type_, first, last), score in found.items()
    }


def in_document(inputs: Arrays, found: dict[Row, float]) -> dict[Row, float]:
    """(type, first word, word after the last) in the document, with the larger of several scores."""
    offsets, ranked = inputs["window_word_offset"].tolist(), dict[Row, float]()
    for (window, type_, first, end), score in in_words(inputs, found).items():
        row = (type_, first + offsets[window], end + offsets[window])
        ranked[row] = max(score, ranked.get(row, score))
    return ranked


def flat_by_window(ranked: dict[Row, float]) -> set[Row]:
    windows = {row[0] for row in ranked}
    own = ({row: score for row, score in ranked.items() if row[0] == window} for window in windows)
    return {row for each in own for row in flat_of(each)}


def flat_of(ranked: dict[Row, float]) -> list[Row]:
    """Rows that end with half-open positions: the best first, each unless it overlaps one before."""
    order = sorted(ranked, key=lambda row: -ranked[row])
    kept: list[Row] = []
    for row in order:
        rivals = [other for other in order if other != row and overlap(row, other)]
        check_clear(ranked[row] - ranked[other] for other in rivals)
        if not any(overlap(row, other) for other in kept):
            kept.append(row)
    return kept


def overlap(one: Row, other: Row) -> bool:
    return one[-2] < other[-1] and other[-2] < one[-1]
