"""Charts of confidences: the reliability diagram, and how right and wrong predictions are spread."""

from __future__ import annotations

import numpy as np

from spanwright.evaluation import Bin, Confidences
from spanwright.reporting.drawing import (
    Scale,
    across,
    box,
    line,
    percent,
    series,
    svg,
    text,
    ticks,
    title,
    up,
)
from spanwright.reporting.markup import Element, Node, make

_QUARTERS = (0.0, 0.25, 0.5, 0.75, 1.0)
_LABELS = ("0", "25", "50", "75", "100")
_BARS = 20


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
        told = title(
            f"confidence {percent(each.low)} to {percent(each.high)}: {each.count:,} predictions, "
            f"mean confidence {percent(each.confidence)}, correct {percent(each.accuracy)}"
        )
        radius = round(3 + 6 * (each.count / most) ** 0.5, 2)
        nodes.append(make("circle", {"cx": x, "cy": y, "r": radius, "class": "mark see-through"}, told))
    return svg(size, size, f"reliability diagram of {name}", make("g", {"class": series(position)}, *nodes))


def spread_chart(name: str, position: int, found: Confidences) -> Element:
    """Numbers of predictions by confidence: the right ones upwards, the wrong ones downwards."""
    width, height, left, top = 460, 290, 50, 10
    limits = np.linspace(0, 1, _BARS + 1)
    right, wrong = (
        np.histogram(found.confidence[chosen], limits)[0].tolist()
        for chosen in (found.correct, ~found.correct)
    )
    most = max(*right, *wrong, 1)
    across_scale, up_scale = Scale(0, 1, left, width - 10), Scale(-most, most, height - 40, top)
    labels = sorted(
        {sign * value for value in ticks(0, most, 3) for sign in (1, -1) if value == round(value)}
    )
    bars = [
        node
        for low, high, above, below in zip(
            limits[:-1].tolist(), limits[1:].tolist(), right, wrong, strict=True
        )
        for node in _two_bars(across_scale, up_scale, (low, high), above, below)
    ]
    return svg(
        width,
        height,
        f"confidences of right and wrong predictions of {name}",
        up(up_scale, labels, left, width - 10, [f"{abs(value):,.0f}" for value in labels]),
        across(across_scale, _QUARTERS, top, height - 40, _LABELS),
        make("g", {"class": series(position)}, *bars),
        line(left, up_scale(0), width - 10, up_scale(0), "axis"),
        text(left + 6, top + 8, f"right: {sum(right):,}", "label"),
        text(left + 6, height - 48, f"wrong: {sum(wrong):,}", "label"),
        text((left + width - 10) / 2, height - 8, "confidence in %", "tick", anchor="middle"),
    )


def _two_bars(
    across_scale: Scale, up_scale: Scale, limits: tuple[float, float], above: int, below: int
) -> list[Node]:
    x, width = across_scale(limits[0]) + 1, across_scale(limits[1]) - across_scale(limits[0]) - 2
    middle = up_scale(0)
    told = f"confidence {percent(limits[0])} to {percent(limits[1])}"
    return [
        box(x, up_scale(above), width, middle - up_scale(above), "mark", title(f"{told}: {above:,} right")),
        box(x, middle, width, up_scale(-below) - middle, "wrong-mark", title(f"{told}: {below:,} wrong")),
    ]
