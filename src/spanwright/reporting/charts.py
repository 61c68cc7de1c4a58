"""Charts of scores, confusions, confidences and curves, each as one SVG element."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from spanwright.arrays import Integers
from spanwright.evaluation import Bin, Confidences, Interval, Matches
from spanwright.reporting.content import Point
from spanwright.reporting.drawing import (
    Scale,
    across,
    box,
    line,
    percent,
    svg,
    system_style,
    text,
    ticks,
    title,
    up,
)
from spanwright.reporting.markup import Element, Node, make

_ROW = 24
_BAR = 13
_CELL = 34
_MOST_TYPES = 20
_LONGEST_LABEL = 14
_QUARTERS = (0.0, 0.25, 0.5, 0.75, 1.0)
_LABELS = ("0", "25", "50", "75", "100")
_BARS = 20


def interval_chart(name: str, intervals: Mapping[str, Interval], low: float, high: float) -> Element:
    """A point with its range for each system key, on an axis from `low` to `high`."""
    width, left, top = 330, 24, 8
    bottom = top + _ROW * len(intervals)
    scale = Scale(low, high, left, width - 16)
    values = ticks(low, high)
    nodes: list[Node] = across(scale, values, top, bottom, [f"{100 * value:g}" for value in values])
    for position, (key, found) in enumerate(intervals.items()):
        y = top + _ROW * (position + 0.5)
        ends = [line(scale(x), y - 4, scale(x), y + 4, "whisker") for x in (found.low, found.high)]
        whisker = line(scale(found.low), y, scale(found.high), y, "whisker")
        hint = title(f"{key}: {percent(found.value)} ({percent(found.low)} to {percent(found.high)})")
        point = make("circle", {"cx": scale(found.value), "cy": y, "r": 5, "class": "mark"}, hint)
        nodes += [text(4, y, key, "key"), make("g", {"class": system_style(position)}, whisker, *ends, point)]
    return svg(width, bottom + 24, f"{name} with 95 % intervals", *nodes)


def bucket_chart(name: str, systems: Mapping[str, Mapping[str, Matches]]) -> Element:
    """Bars of F1 for every bucket and system key, with the number of gold entities of the bucket."""
    buckets = list(next(iter(systems.values())))
    label = 12 + 6.4 * max(len(bucket) for bucket in buckets)
    width, top, group = 335, 22, _BAR * len(systems) + 11
    left, right = label + (14 if len(systems) > 1 else 0), width - 82
    scale = Scale(0, 1, left, right)
    bottom = top + group * len(buckets)
    head = [text(right + 40, 8, "F1", "tick", anchor="end"), text(width - 2, 8, "gold", "tick", anchor="end")]
    grid = across(scale, _QUARTERS, top - 4, bottom, _LABELS)
    nodes: list[Node] = [*head, *grid]
    for row, bucket in enumerate(buckets):
        y = top + group * row
        middle = y + _BAR * len(systems) / 2
        golds = next(iter(systems.values()))[bucket].gold
        nodes += [
            text(0, middle, bucket, "label"),
            text(width - 2, middle, f"{golds:,}", "tick", anchor="end"),
        ]
        for position, (key, found) in enumerate(systems.items()):
            nodes += _bar(
                scale, y + _BAR * position, key if len(systems) > 1 else "", position, found[bucket]
            )
    return svg(width, bottom + 22, f"F1 by {name}", *nodes)


def _bar(scale: Scale, y: float, key: str, position: int, found: Matches) -> list[Node]:
    middle = y + _BAR / 2
    mark = [text(scale(0) - 5, middle, key, "key small", anchor="end")] if key else []
    if not found.gold and not found.predicted:
        return [*mark, text(scale(0) + 5, middle, "no entities", "tick")]
    hint = title(
        f"precision {percent(found.precision)} ({found.correct:,} of {found.predicted:,} predicted), "
        f"recall {percent(found.recall)} ({found.found:,} of {found.gold:,} gold)"
    )
    bar = box(scale(0), y + 1.5, scale(found.f1) - scale(0), _BAR - 3, f"mark {system_style(position)}", hint)
    return [*mark, bar, text(scale(1) + 40, middle, percent(found.f1), "value", anchor="end")]


def line_chart(
    name: str, curves: Mapping[str, tuple[int, Sequence[Point]]], *, x: str, ratio: bool
) -> Element:
    """A line for each key, which comes with the position of its system; ratios are written in percent."""
    width, height, left, top = 335, 210, 44, 12
    points = [point for _, curve in curves.values() for point in curve]
    low, high = _range([y for _, y in points], ratio)
    first, last = min(x for x, _ in points), max(x for x, _ in points)
    horizontal = Scale(first, last if last > first else first + 1, left, width - 22)
    vertical = Scale(low, high, height - 38, top)
    labels = ticks(low, high)
    written = [f"{100 * value:g}" if ratio else f"{value:g}" for value in labels]
    steps = [value for value in ticks(first, max(last, first + 1)) if value == round(value)]
    nodes: list[Node] = [
        *up(vertical, labels, left, width - 22, written),
        *across(horizontal, steps, height - 38, height - 38, [f"{value:,.0f}" for value in steps]),
        text((left + width - 22) / 2, height - 8, x, "tick", anchor="middle"),
    ]
    for key, (position, curve) in curves.items():
        nodes.append(_curve(key, position, curve, horizontal, vertical))
    return svg(width, height, name, *nodes)


def _curve(key: str, position: int, curve: Sequence[Point], horizontal: Scale, vertical: Scale) -> Element:
    places = [(horizontal(x), vertical(y)) for x, y in curve]
    nodes: list[Node] = [
        make(
            "polyline",
            {"points": " ".join(f"{x},{y}" for x, y in places), "class": f"curve dash-{position % 4}"},
        )
    ]
    if len(places) <= 60:
        nodes += [
            make(
                "circle",
                {"cx": x, "cy": y, "r": 2.5, "class": "mark"},
                title(f"{key}: {point[0]:g}, {point[1]:.4g}"),
            )
            for point, (x, y) in zip(curve, places, strict=True)
        ]
    nodes.append(text(places[-1][0] + 7, places[-1][1], key, "key"))
    return make("g", {"class": system_style(position)}, *nodes)


def _range(values: Sequence[float], ratio: bool) -> tuple[float, float]:
    """Where an axis begins and ends: at the values, with some air around them."""
    low, high = min(values), max(values)
    air = 0.08 * (high - low) or (0.05 if ratio else max(abs(high), 1) * 0.1)
    low, high = low - air, high + air
    return (max(low, 0.0), min(high, 1.0)) if ratio else (low, high)


def confusion_chart(name: str, types: Sequence[str], matrix: Integers) -> Element:
    """Gold types (rows) by predicted types; the darker, the larger the share of the gold type.

    Of many types those with most gold entities have a row of their own, and the others share one.
    """
    names, cells = _largest(types, matrix)
    labels = [_short(each) for each in names]
    left = 16 + 6.6 * max(map(len, labels))
    top = 34 + 4.8 * max(map(len, labels))
    size = _CELL * len(names)
    nodes: list[Node] = [text(left, 8, "predicted →", "tick"), text(0, top - 10, "gold ↓", "tick")]
    for position, label in enumerate(labels):
        middle = _CELL * (position + 0.5)
        turned = {"transform": f"translate({left + middle:g} {top - 8:g}) rotate(-45)", "class": "label"}
        nodes += [
            make("text", turned, label),
            text(left - 8, top + middle, label, "label", anchor="end"),
        ]
    for row, numbers in enumerate(cells.tolist()):
        for column, number in enumerate(numbers):
            if (row, column) != (len(names) - 1, len(names) - 1):
                hint = f"gold {names[row]}, predicted {names[column]}: {number:,}"
                place = (left + _CELL * column, top + _CELL * row)
                nodes += _cell(place, number, number / max(sum(numbers), 1), row == column, hint)
    return svg(left + size + 40, top + size + 2, f"confusion matrix of {name}", *nodes)


def _cell(place: tuple[float, float], number: int, share: float, right: bool, hint: str) -> list[Node]:
    x, y = place
    style = f"cell {'right' if right else 'wrong'} shade-{_shade(number, share)}"
    written = f"{number}" if number < 10_000 else f"{number / 1000:.0f}k"
    nodes: list[Node] = [box(x + 1, y + 1, _CELL - 2, _CELL - 2, style, title(hint))]
    if number:
        nodes.append(text(x + _CELL / 2, y + _CELL / 2, written, f"count {style}", anchor="middle"))
    return nodes


def _shade(number: int, share: float) -> int:
    """0 for nothing, then 1 to 5 with the share."""
    return 0 if not number else 1 + min(4, int(5 * share**0.6))


def _largest(types: Sequence[str], matrix: Integers) -> tuple[list[str], Integers]:
    """The types with most gold entities, what the others have together, and none."""
    order = np.argsort(-matrix[:-1].sum(axis=1), kind="stable")
    if len(types) <= _MOST_TYPES:
        kept = [*order.tolist(), len(types)]
        return [*(types[position] for position in order), "none"], matrix[np.ix_(kept, kept)]
    home = np.full(len(types) + 1, _MOST_TYPES)
    home[order[:_MOST_TYPES]] = np.arange(_MOST_TYPES)
    home[-1] = _MOST_TYPES + 1
    joined = np.zeros((_MOST_TYPES + 2, _MOST_TYPES + 2), np.int64)
    np.add.at(joined, (home[:, None], home[None, :]), matrix)
    return [*(types[position] for position in order[:_MOST_TYPES]), "other types", "none"], joined


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST_LABEL else f"{name[: _LONGEST_LABEL - 1]}…"


def reliability_chart(name: str, position: int, bins: tuple[Bin, ...]) -> Element:
    """The share of correct predictions over the confidence; points on the dashed line are calibrated."""
    size, left, top = 290, 40, 10
    across_scale = Scale(0, 1, left, size - 10)
    up_scale = Scale(0, 1, size - 40, top)
    nodes: list[Node] = [
        *up(up_scale, _QUARTERS, left, size - 10, _LABELS),
        *across(across_scale, _QUARTERS, top, size - 40, _LABELS),
        line(across_scale(0), up_scale(0), across_scale(1), up_scale(1), "ideal"),
        text((left + size - 10) / 2, size - 8, "confidence in %", "tick", anchor="middle"),
        make(
            "text",
            {
                "transform": f"translate(10 {size / 2 - 14:g}) rotate(-90)",
                "text-anchor": "middle",
                "class": "tick",
            },
            "correct in %",
        ),
    ]
    filled = [each for each in bins if each.count]
    places = [(across_scale(each.confidence), up_scale(each.accuracy)) for each in filled]
    most = max((each.count for each in filled), default=1)
    nodes.append(make("polyline", {"points": " ".join(f"{x},{y}" for x, y in places), "class": "curve"}))
    for each, (x, y) in zip(filled, places, strict=True):
        hint = title(
            f"confidence {percent(each.low)} to {percent(each.high)}: {each.count:,} predictions, "
            f"mean confidence {percent(each.confidence)}, correct {percent(each.accuracy)}"
        )
        radius = round(3 + 6 * (each.count / most) ** 0.5, 2)
        nodes.append(make("circle", {"cx": x, "cy": y, "r": radius, "class": "mark see-through"}, hint))
    return svg(
        size, size, f"reliability diagram of {name}", make("g", {"class": system_style(position)}, *nodes)
    )


def spread_chart(name: str, position: int, found: Confidences) -> Element:
    """Numbers of predictions by confidence: the right ones above, the wrong ones below, each with its scale.

    With one scale for both, a few wrong ones among many right ones could not be seen.
    """
    width, left, height, gap = 460, 50, 122, 30
    across_scale = Scale(0, 1, left, width - 10)
    nodes: list[Node] = []
    for number, (label, chosen, style) in enumerate(
        (("right", found.correct, "mark"), ("wrong", ~found.correct, "wrong-mark"))
    ):
        top = 18 + number * (height + gap)
        counts: list[int] = np.histogram(found.confidence[chosen], np.linspace(0, 1, _BARS + 1))[0].tolist()
        nodes += _histogram(across_scale, Scale(0, max(*counts, 1), top + height, top), counts, label, style)
    bottom = 18 + 2 * height + gap
    return svg(
        width,
        bottom + 40,
        f"confidences of right and wrong predictions of {name}",
        make("g", {"class": system_style(position)}, *nodes),
        across(across_scale, _QUARTERS, bottom, bottom, _LABELS),
        text((left + width - 10) / 2, bottom + 32, "confidence in %", "tick", anchor="middle"),
    )


def _histogram(
    across_scale: Scale, up_scale: Scale, counts: Sequence[int], label: str, style: str
) -> list[Node]:
    """Bars of one kind of predictions, on an axis of their own."""
    whole = [value for value in ticks(0, up_scale.high, 3) if value == round(value)]
    nodes = up(up_scale, whole, across_scale.first, across_scale.last, [f"{value:,.0f}" for value in whole])
    for place, count in enumerate(counts):
        low, high = place / _BARS, (place + 1) / _BARS
        hint = title(f"confidence {percent(low)} to {percent(high)}: {count:,} {label}")
        size = (across_scale(high) - across_scale(low) - 2, up_scale(0) - up_scale(count))
        nodes.append(box(across_scale(low) + 1, up_scale(count), *size, style, hint))
    nodes.append(line(across_scale.first, up_scale(0), across_scale.last, up_scale(0), "axis"))
    nodes.append(text(across_scale.first + 6, up_scale.last - 9, f"{label}: {sum(counts):,}", "label"))
    return nodes
