"""Pictures of the page of claims: effects beside the paper's, trends, dev curves, F1 by width."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any

from spanwright.comparing import RunOutcome
from spanwright.comparing.claims import ClaimResult, verdict_on
from spanwright.evaluation import Effect
from spanwright.pictures import DIVERGING, INK, QUIET, RULE, new_figure, save, styled

COLOURS = {"confirmed": DIVERGING[-1], "not confirmed": QUIET, "contradicted": DIVERGING[0]}
_PAPER = {
    "marker": "D",
    "markeredgecolor": INK,
    "markerfacecolor": "none",
    "markersize": 6,
    "linestyle": "none",
}
_WIDTHS = "width to 10"


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the picture of effects: ours, the paper's, or both."""

    name: str
    ours: Effect | None
    paper: float | None
    first: bool
    """Whether a new claim begins."""


def short(recipe: str) -> str:
    """A recipe as pictures and tables name it."""
    return Path(recipe).stem if recipe.endswith(".toml") else recipe


def rows_of(result: ClaimResult) -> list[Row]:
    """Our effects on each corpus, then all together, and what the paper has besides."""
    claim, scale = result.claim, 100 if result.claim.in_points else 1
    ours = dict(result.by_corpus) if claim.test != "correlation" else {}
    if len(ours) != 1 and result.effect is not None:
        ours |= {"together": result.effect}
    names = [*ours, *(name for name in claim.reported if name not in ours)]
    return [
        Row(
            f"{claim.name}: {name}",
            _scaled(ours[name], scale) if name in ours else None,
            claim.reported_effect(name),
            first=not number,
        )
        for number, name in enumerate(names)
    ]


def _scaled(effect: Effect, scale: float) -> Effect:
    return Effect(scale * effect.value, scale * effect.low, scale * effect.high, effect.p_value)


@styled()
def draw_effects(results: Sequence[ClaimResult], path: Path, title: str) -> bool:
    """Effects with their intervals beside the paper's, those in points apart. False if there is none."""
    judged = [result for result in results if result.effect is not None]
    sides = {
        "points": [row for result in judged if result.claim.in_points for row in rows_of(result)],
        "no unit": [row for result in judged if not result.claim.in_points for row in rows_of(result)],
    }
    sides = {unit: rows for unit, rows in sides.items() if rows}
    if not sides:
        return False
    heights = [len(rows) + 2 for rows in sides.values()]
    figure = new_figure(9, 1.2 + 0.24 * sum(heights))
    panels = figure.subplots(len(sides), 1, squeeze=False, height_ratios=heights)[:, 0]
    for axes, (unit, rows) in zip(panels, sides.items(), strict=True):
        _draw_rows(axes, rows)
        axes.set_xlabel("effect in points of F1 or of a share" if unit == "points" else "effect, no unit")
    figure.suptitle(f"{title}: effects with 95 % intervals; blue confirms, brown contradicts, ◇ the paper")
    _save(figure, path)
    return True


def _draw_rows(axes: Any, rows: Sequence[Row]) -> None:
    axes.axvline(0, color=INK, linewidth=0.8)
    for place, row in enumerate(rows):
        if row.first and place:
            axes.axhline(place - 0.5, color=RULE, linewidth=0.8)
        if row.ours is not None:
            value, sides = row.ours.value, (row.ours.value - row.ours.low, row.ours.high - row.ours.value)
            margins = [[side] if isfinite(side) else [0.0] for side in sides]
            axes.errorbar(
                [value], [place], xerr=margins, fmt="o", capsize=3, color=COLOURS[verdict_on(row.ours)]
            )
        if row.paper is not None:
            axes.plot([row.paper], [place], **_PAPER)
    axes.set_yticks(range(len(rows)), [row.name for row in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)


@styled()
def draw_trends(result: ClaimResult, outcomes: Sequence[RunOutcome], path: Path) -> bool:
    """F1 along the recipes of a trend, less that of the first, with the paper's. False if there is none."""
    claim = result.claim
    if not claim.order or not result.by_corpus:
        return False
    figure = new_figure(2.5 + 0.9 * len(claim.order), 3.4)
    axes = figure.subplots()
    places = range(len(claim.order))
    for corpus in result.by_corpus:
        scores = [
            [100 * run.measure("f1") for run in outcomes if (run.corpus, run.recipe) == (corpus, recipe)]
            for recipe in claim.order
        ]
        start = fmean(scores[0])
        means = [fmean(own) - start for own in scores]
        axes.errorbar(
            places, means, yerr=[pstdev(own) for own in scores], marker="o", capsize=3, label=corpus
        )
    for name, numbers in claim.reported.items():
        if len(numbers) == len(claim.order):
            axes.plot(places, [number - numbers[0] for number in numbers], "D--", label=f"paper: {name}")
    axes.set_xticks(places, [short(recipe) for recipe in claim.order], rotation=20, ha="right")
    axes.set_ylabel("F1, less that of the first")
    axes.set_title(f"{claim.place}: {claim.name}")
    axes.legend(fontsize=8)
    _save(figure, path)
    return True


@styled()
def draw_curves(outcomes: Sequence[RunOutcome], path: Path, title: str) -> bool:
    """Dev F1 after each epoch, as a mean over seeds, with every seed behind it. False if there is none."""
    corpora = list(dict.fromkeys(run.corpus for run in outcomes if run.record.dev_f1))
    if not corpora:
        return False
    figure = new_figure(3.4 * len(corpora) + 2, 3.4)
    recipes = list(dict.fromkeys(run.recipe for run in outcomes))
    panels = figure.subplots(1, len(corpora), squeeze=False)[0]
    for axes, corpus in zip(panels, corpora, strict=True):
        for number, recipe in enumerate(recipes):
            own = [
                run for run in outcomes if (run.corpus, run.recipe) == (corpus, recipe) and run.record.dev_f1
            ]
            _draw_curve(axes, [run.record.dev_f1 for run in own], f"C{number % 10}", short(recipe))
        axes.set_title(corpus)
        axes.set_xlabel("epoch")
        axes.xaxis.get_major_locator().set_params(integer=True)
    panels[0].set_ylabel("dev F1")
    handles = {
        text: line for axes in panels for line, text in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    figure.legend(list(handles.values()), list(handles), loc="outside right upper")
    figure.suptitle(f"{title}: dev F1 by epoch")
    _save(figure, path)
    return True


def _draw_curve(axes: Any, curves: Sequence[Sequence[float]], colour: str, name: str) -> None:
    for curve in curves:
        axes.plot(
            range(1, len(curve) + 1), [100 * f1 for f1 in curve], color=colour, alpha=0.25, linewidth=0.8
        )
    if curves:
        # Runs that stopped early have fewer epochs.
        epochs = range(max(map(len, curves)))
        means = [fmean(100 * curve[epoch] for curve in curves if len(curve) > epoch) for epoch in epochs]
        axes.plot([epoch + 1 for epoch in epochs], means, color=colour, marker="o", markersize=3, label=name)


@styled()
def draw_widths(outcomes: Sequence[RunOutcome], path: Path, title: str) -> bool:
    """F1 by words of the entity and by nesting, where entities nest (DSpERT, figures 2 and 3)."""
    nested = [run for run in outcomes if _nests(run)]
    if not nested:
        return False
    figure = new_figure(9, 3.4)
    recipes = list(dict.fromkeys(run.recipe for run in nested))
    for axes, attribute in zip(figure.subplots(1, 2), (_WIDTHS, "nesting"), strict=True):
        buckets = [
            place[1] for place, gold in nested[0].buckets.items() if place[0] == attribute and gold.gold
        ]
        for recipe in recipes:
            own = [run for run in nested if run.recipe == recipe]
            means = [100 * fmean(run.buckets[attribute, bucket].f1 for run in own) for bucket in buckets]
            line = "-" if attribute == _WIDTHS else ":"
            axes.plot(range(len(buckets)), means, line, marker="o", markersize=4, label=short(recipe))
        gold = [nested[0].buckets[attribute, bucket].gold for bucket in buckets]
        names = [f"{bucket}\n({count})" for bucket, count in zip(buckets, gold, strict=True)]
        axes.set_xticks(range(len(buckets)), names, fontsize=7)
        axes.set_xlabel("words of the entity (gold entities)" if attribute == _WIDTHS else "nesting, by gold")
    figure.axes[0].set_ylabel("test F1")
    figure.axes[0].legend(fontsize=8)
    figure.suptitle(title)
    _save(figure, path)
    return True


def _nests(run: RunOutcome) -> bool:
    return (_WIDTHS, "1") in run.buckets and any(
        run.buckets[place].gold for place in run.buckets if place[0] == "nesting" and place[1] != "flat"
    )


def _save(figure: Any, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    save(figure, path)
