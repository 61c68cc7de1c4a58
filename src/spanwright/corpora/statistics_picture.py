"""The figures of a corpus as a picture (extra `report`)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from spanwright.corpora.statistics import Statistics
from spanwright.errors import InputError, MissingExtraError

_ENDINGS = (".png", ".svg", ".pdf")
_MOST_TYPES = 20
_WIDEST = 15


def draw_statistics(figures: Statistics, path: Path, *, title: str) -> None:
    """Draw entities per type, entity widths and how entities lie to each other."""
    if path.suffix.lower() not in _ENDINGS:
        raise InputError(f"{path}: legal endings of a picture are {', '.join(_ENDINGS)}")
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("a picture", "matplotlib", "report") from None
    figure = Figure(figsize=(13, 4), layout="constrained")
    types, widths, nesting = figure.subplots(1, 3)
    figure.suptitle(f"{title}: {figures.documents:,} documents, {figures.entities:,} entities")
    _draw_types(types, figures.types)
    _draw_widths(widths, figures.widths)
    _draw_nesting(nesting, figures)
    figure.savefig(path)


def _draw_types(axes: Any, types: dict[str, int]) -> None:
    commonest = sorted(types, key=lambda name: types[name])[-_MOST_TYPES:]
    bars = axes.barh(commonest, [types[name] for name in commonest])
    axes.bar_label(bars, fmt="{:,.0f}", padding=2, fontsize=8)
    axes.set_title("entities per type")
    axes.margins(x=0.15)


def _draw_widths(axes: Any, widths: dict[int, int]) -> None:
    shown = range(1, _WIDEST + 1)
    counts = [widths.get(width, 0) for width in shown]
    wider = sum(count for width, count in widths.items() if width > _WIDEST)
    axes.bar([*map(str, shown), f">{_WIDEST}"], [*counts, wider])
    axes.tick_params(axis="x", labelsize=8)
    axes.set_title("words of an entity")


def _draw_nesting(axes: Any, figures: Statistics) -> None:
    nesting = figures.nesting
    rows = {
        "inside another": nesting.inside_another,
        "around another": nesting.around_another,
        "crossing": nesting.crossing,
        "two types": nesting.same_span,
        "discontinuous": nesting.discontinuous,
        "cutting words": nesting.cutting_words,
    }
    share = 100 / max(1, figures.entities)
    bars = axes.barh(list(rows)[::-1], [count * share for count in rows.values()][::-1])
    axes.bar_label(bars, labels=[f"{count:,}" for count in rows.values()][::-1], padding=2, fontsize=8)
    axes.set_title("share of the entities, in %")
    axes.set_xlim(0, 1.2 * max(1.0, *(count * share for count in rows.values())))
