"""The figures of a corpus as a picture (extra `report`)."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from spanwright.corpora.statistics import Statistics
from spanwright.errors import InputError
from spanwright.palette import SYSTEM_COLOURS, type_colours
from spanwright.pictures import new_figure, save, styled

_ENDINGS = (".png", ".svg", ".pdf")
_MOST_TYPES = 20
_WIDEST = 10
_BAR = SYSTEM_COLOURS[0][0]


def draw_statistics(figures: Statistics, path: Path, *, title: str) -> None:
    """Draw entities per type, entity widths and how entities lie to each other (extra `report`)."""
    if path.suffix.lower() not in _ENDINGS:
        raise InputError(f"{path}: expected a picture with one of the endings {', '.join(_ENDINGS)}")
    with styled():
        figure = new_figure(13, 4.2)
        types, widths, nesting = figure.subplots(1, 3)
        figure.suptitle(
            f"{title}: {_counted(figures.documents, 'document', 'documents')}, "
            f"{_counted(figures.entities, 'entity', 'entities')}",
        )
        _draw_types(types, figures.types)
        _draw_widths(widths, figures.widths)
        _draw_nesting(nesting, figures)
        save(figure, path)


def _counted(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"


def _draw_types(axes: Any, types: dict[str, int]) -> None:
    commonest = sorted(types, key=lambda name: types[name])[-_MOST_TYPES:]
    colours = type_colours(types)
    bars = axes.barh(
        commonest, [types[name] for name in commonest], color=[colours[name] for name in commonest]
    )
    axes.bar_label(bars, fmt="{:,.0f}", padding=3, fontsize=8.5)
    _name_axes(axes, "Entities of each type", "entities", along="x")


def _draw_widths(axes: Any, widths: dict[int, int]) -> None:
    shown = range(1, _WIDEST + 1)
    counts = [widths.get(width, 0) for width in shown]
    wider = sum(count for width, count in widths.items() if width > _WIDEST)
    axes.bar([*map(str, shown), "more"], [*counts, wider], color=_BAR)
    axes.set_xlabel("words")
    _name_axes(axes, "Words of an entity", "entities", along="y")


def _draw_nesting(axes: Any, figures: Statistics) -> None:
    nesting = figures.nesting
    rows = {
        "inside another": nesting.inside_another,
        "around another": nesting.around_another,
        "crossing another": nesting.crossing,
        "of two types": nesting.same_span,
        "with gaps": nesting.discontinuous,
        "cutting words": nesting.cutting_words,
    }
    share = 100 / max(1, figures.entities)
    shares = [count * share for count in rows.values()][::-1]
    bars = axes.barh(list(rows)[::-1], shares, color=_BAR)
    axes.bar_label(bars, labels=[f"{value:.1f} %" for value in shares], padding=3, fontsize=8.5)
    _name_axes(axes, "How entities lie", "% of the entities", along="x")
    axes.set_xlim(0, 1.25 * max(1.0, *shares))


def _name_axes(axes: Any, title: str, unit: str, *, along: Literal["x", "y"]) -> None:
    """Title and unit; the grid crosses the axis of numbers only, whose ticks keep their distance."""
    axes.set_title(title)
    (axes.set_xlabel if along == "x" else axes.set_ylabel)(unit)
    axes.grid(axis="y" if along == "x" else "x", visible=False)
    axes.locator_params(axis=along, nbins=5)
    (axes.xaxis if along == "x" else axes.yaxis).set_major_formatter("{x:,.0f}")
    axes.margins(**{along: 0.18 if along == "x" else 0.05})
