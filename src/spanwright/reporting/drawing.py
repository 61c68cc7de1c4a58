"""What charts are drawn from: scales, texts, grids. Colours are left to the style sheet."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

from spanwright.palette import SYSTEM_COLOURS
from spanwright.reporting.markup import Element, Node, make


@dataclass(frozen=True, slots=True)
class Scale:
    """A straight line from values to places on the page."""

    low: float
    high: float
    first: float
    last: float

    def __call__(self, value: float) -> float:
        """The place of a value."""
        share = (value - self.low) / (self.high - self.low)
        return round(self.first + share * (self.last - self.first), 2)


def ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Round numbers from `low` to `high`, about as many as asked for."""
    rough = (high - low) / about
    power = 10.0 ** floor(log10(rough))
    step = next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor >= rough * 0.999)
    first, last = ceil(low / step - 1e-9), floor(high / step + 1e-9)
    return [round(number * step, 10) for number in range(first, last + 1)]


def svg(width: float, height: float, label: str, *children: Node | Iterable[Node]) -> Element:
    """A picture with the sentence that a screen reader says instead of it."""
    size = {"width": round(width), "height": round(height), "viewBox": f"0 0 {width:g} {height:g}"}
    return make("svg", {**size, "role": "img", "aria-label": label, "class": "chart"}, *children)


def text(x: float, y: float, content: str, style: str = "", *, anchor: str = "start") -> Element:
    """A line of text; `y` is the middle of its letters."""
    place = {"x": x, "y": y, "dy": "0.35em", "text-anchor": anchor}
    return make("text", {**place, "class": style or None}, content)


def line(x1: float, y1: float, x2: float, y2: float, style: str) -> Element:
    """A straight line."""
    return make("line", {"x1": x1, "y1": y1, "x2": x2, "y2": y2, "class": style})


def box(x: float, y: float, width: float, height: float, style: str, *children: Node) -> Element:
    """A rectangle; a title among its children shows when the pointer is over it."""
    bounds = {"x": x, "y": y, "width": round(max(width, 0), 2), "height": round(max(height, 0), 2)}
    return make("rect", {**bounds, "class": style}, *children)


def title(content: str) -> Element:
    """What shows when the pointer is over an element."""
    return make("title", None, content)


def system_style(position: int) -> str:
    """The class that gives a system its colour; later systems have those of the first again."""
    return f"system-{position % len(SYSTEM_COLOURS)}"


def percent(ratio: float) -> str:
    """A score as it is written everywhere on the page."""
    return f"{100 * ratio:.1f}"


def rate(ratio: float) -> str:
    """A share of something as it is written everywhere on the page."""
    return f"{percent(ratio)} %"


def across(
    scale: Scale, values: Sequence[float], top: float, bottom: float, labels: Sequence[str]
) -> list[Node]:
    """Grid lines at values of the horizontal axis, with labels below."""
    return [
        node
        for value, label in zip(values, labels, strict=True)
        for node in (
            line(scale(value), top, scale(value), bottom, "grid"),
            text(scale(value), bottom + 12, label, "tick", anchor="middle"),
        )
    ]


def up(scale: Scale, values: Sequence[float], left: float, right: float, labels: Sequence[str]) -> list[Node]:
    """Grid lines at values of the vertical axis, with labels on the left."""
    return [
        node
        for value, label in zip(values, labels, strict=True)
        for node in (
            line(left, scale(value), right, scale(value), "grid"),
            text(left - 6, scale(value), label, "tick", anchor="end"),
        )
    ]
