"""The picture of every comparison: F1 of all recipes on each corpus, with its interval."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from spanwright.comparing.results import CorpusResult, Results
from spanwright.pictures import QUIET, new_figure, save, styled


def draw_f1(results: Results, path: Path) -> None:
    """A point for the mean F1 of each recipe, and a line for its 95 % interval; a panel for each corpus."""
    rows = max(len(result.recipes) for result in results.corpora)
    longest = max(len(each.recipe) for result in results.corpora for each in result.recipes)
    with styled():
        figure = new_figure((3.2 + 0.09 * longest) * len(results.corpora), 1.4 + 0.36 * rows)
        panels = figure.subplots(1, len(results.corpora), squeeze=False)[0]
        for axes, result in zip(panels, results.corpora, strict=True):
            _draw_corpus(axes, result)
        figure.supxlabel(
            "test F1 in percent, mean over seeds with its 95 % interval", fontsize=9, color=QUIET
        )
        save(figure, path)


def _draw_corpus(axes: Any, result: CorpusResult) -> None:
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
