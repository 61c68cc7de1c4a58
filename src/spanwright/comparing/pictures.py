"""Pictures of a comparison (extra `report`): F1 with its interval, heat maps of buckets, lines and bars."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from spanwright.comparing.plan import Plan, PlotPlan
from spanwright.comparing.results import Cell, CorpusResult, Results
from spanwright.pictures import DIVERGING, INK, QUIET, heat_map, new_figure, save, styled

_WEIGHT = re.compile(r"(?:(?P<family>.*)/)?weight-(?P<weight>\d+(?:\.\d+)?)")
_PALEST = 0.02
"""The colours reach at least so far, so that differences of nothing do not glow."""


def plots_of(plan: Plan) -> dict[str, PlotPlan]:
    """The plots of a plan, and a line for each family of recipes that differ in a weight only."""
    families: defaultdict[str, list[tuple[float, str]]] = defaultdict(list)
    for recipe in plan.recipes:
        if found := _WEIGHT.fullmatch(recipe.removesuffix(".toml")):
            name = Path(found["family"] or "").name or "recipe"
            families[f"{name}-weight"].append((float(found["weight"]), recipe))
    sweeps = {
        name: PlotPlan(kind="line", recipes=tuple(recipe for _, recipe in sorted(found)))
        for name, found in families.items()
        if len(found) > 1
    }
    return sweeps | plan.plots


def draw_heat_map(result: CorpusResult, path: Path, *, title: str) -> None:
    """F1 of the base by bucket, and below it how much better or worse each other recipe is, in points."""
    rows: defaultdict[str, list[Cell]] = defaultdict(list)
    for cell in result.heat_map:
        rows[cell.recipe].append(cell)
    base = rows.pop(result.base)
    differences = [[0.0] * len(base), *([cell.difference for cell in cells] for cells in rows.values())]
    furthest = max(_PALEST, *(abs(each) for row in differences for each in row))
    with styled():
        figure = new_figure(2.4 + 0.66 * len(base), 1.9 + 0.38 * len(rows))
        axes = figure.subplots()
        ink = heat_map(axes, differences, colours=DIVERGING, limits=(-furthest, furthest))
        for row, cells in enumerate((base, *rows.values())):
            for column, cell in enumerate(cells):
                value = f"{100 * cell.difference:+.1f}" if row else f"{100 * cell.f1:.1f}"
                colour = ink(differences[row][column])
                written = value if cell.gold else ""
                axes.text(column, row, written, ha="center", va="center", fontsize=8.5, color=colour)
        _name_axes(axes, [f"{result.base} (F1)", *rows], base)
        figure.suptitle(title)
        save(figure, path)


def draw_plot(plot: PlotPlan, results: Results, path: Path, *, title: str) -> None:
    """Mean F1 of recipes with its deviation; one line, or one colour of bars, for each corpus."""
    with styled():
        names = _short(plot.recipes)
        figure = new_figure(2.5 + len(names) * max(0.75, 0.095 * max(map(len, names))), 4)
        axes = figure.subplots()
        for number, result in enumerate(results.corpora):
            _draw_corpus(axes, plot, result, number, len(results.corpora))
        if plot.kind == "bars":
            # From 0, bars of close scores all look alike.
            axes.set_ylim(bottom=_floor(results, plot.recipes))
        axes.set_xticks(range(len(names)), names)
        axes.grid(axis="x", visible=False)
        axes.set_ylabel("test F1, mean and deviation")
        axes.set_title(title)
        if len(results.corpora) > 1:
            figure.legend(loc="outside right upper")
        save(figure, path)


def _draw_corpus(axes: Any, plot: PlotPlan, result: CorpusResult, number: int, corpora: int) -> None:
    spreads = [result.of(recipe).spread("f1") for recipe in plot.recipes]
    means = [100 * spread.mean for spread in spreads]
    deviations = [100 * (spread.deviation or 0.0) for spread in spreads]
    if plot.kind == "line":
        axes.errorbar(range(len(means)), means, yerr=deviations, marker="o", label=result.corpus)
        return
    share = 0.8 / corpora
    places = [place + (number - (corpora - 1) / 2) * share for place in range(len(means))]
    axes.bar(places, means, yerr=deviations, width=0.92 * share, ecolor=QUIET, label=result.corpus)


def _name_axes(axes: Any, rows: Sequence[str], cells: Sequence[Cell]) -> None:
    """Recipes beside the rows, buckets below the columns, and a line between attributes."""
    axes.set_yticks(range(len(rows)), rows)
    names = [f"{cell.bucket}\n({cell.gold:,})" for cell in cells]
    axes.set_xticks(range(len(cells)), names, fontsize=7.5)
    attributes = [cell.attribute for cell in cells]
    for name in dict.fromkeys(attributes):
        first, count = attributes.index(name), attributes.count(name)
        axes.text(first + (count - 1) / 2, -0.6, name, ha="center", va="bottom", fontsize=9, color=QUIET)
        if first:
            axes.axvline(first - 0.5, color=INK, linewidth=1)
    axes.axhline(0.5, color=INK, linewidth=1)


def _short(recipes: Sequence[str]) -> list[str]:
    """Recipes without the folder and the words that all of them begin with."""
    names = [recipe.removesuffix(".toml").rpartition("/")[2] for recipe in recipes]
    if len(set(names)) < len(names):
        return list(recipes)
    weights = all(name.startswith("weight-") for name in names)
    return [name.removeprefix("weight-") for name in names] if weights else names


def _floor(results: Results, recipes: Sequence[str]) -> float:
    """A round number below all runs, in percent."""
    lowest = min(
        outcome.measure("f1")
        for result in results.corpora
        for recipe in recipes
        for outcome in result.of(recipe).outcomes
    )
    return max(0.0, 5 * (100 * lowest // 5 - 1))


def draw_f1(results: Results, path: Path) -> None:
    """A point for the mean F1 of each recipe, and a line for its 95 % interval; a panel for each corpus."""
    rows = max(len(result.recipes) for result in results.corpora)
    longest = max(len(each.recipe) for result in results.corpora for each in result.recipes)
    with styled():
        figure = new_figure((3.2 + 0.09 * longest) * len(results.corpora), 1.4 + 0.36 * rows)
        panels = figure.subplots(1, len(results.corpora), squeeze=False)[0]
        for axes, result in zip(panels, results.corpora, strict=True):
            _draw_f1_of(axes, result)
        figure.supxlabel(
            "test F1 in percent, mean over seeds with its 95 % interval", fontsize=9, color=QUIET
        )
        save(figure, path)


def _draw_f1_of(axes: Any, result: CorpusResult) -> None:
    # The first recipe on top, as in the tables.
    shown = list(reversed(result.recipes))
    intervals = [recipe.f1_interval for recipe in shown]
    values = [100 * each.value for each in intervals]
    below = [100 * (each.value - each.low) for each in intervals]
    above = [100 * (each.high - each.value) for each in intervals]
    axes.errorbar(values, range(len(shown)), xerr=(below, above), fmt="o")
    for place, (value, upper) in enumerate(zip(values, above, strict=True)):
        axes.annotate(
            f"{value:.1f}", (value + upper, place), xytext=(5, -3), textcoords="offset points", fontsize=9
        )
    axes.set_yticks(range(len(shown)), [recipe.recipe for recipe in shown])
    axes.set_ylim(-0.6, len(shown) - 0.4)
    axes.grid(axis="y", visible=False)
    axes.margins(x=0.2)
    axes.set_title(result.corpus)
