"""The results of a comparison as texts: markdown and CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from math import isfinite

from spanwright.comparing.claims import ClaimResult
from spanwright.comparing.results import SIGNIFICANT, CorpusResult, RecipeResult, Results
from spanwright.evaluation import Effect, Spread

SCORE_COLUMNS = ("recipe", "P", "R", "F1", "F1 per seed", "p", "seconds", "words/s")
"""The columns of a `score_row`."""
_KINDS = ("boundary", "both", "any boundary", "type", "spurious", "overlapped", "missed")
"""Bundling Learning's BE is `any boundary`, its TE is `type` (Table 7)."""
_LEAST_P = 0.001
CLAIM_COLUMNS = ("claim", "verdict", "effect", "95 %", "p", "seeds", "documents")
"""The columns of a `claim_row`."""
CLAIM_NOTE = (
    "Effects are in points, over all corpora of the claim together, and above 0 where the claim is right; "
    "correlations and numbers of analyses have no unit. Confirmed: the interval lies above 0; contradicted: "
    "below. Still rising: dev F1 rose by more than half a point in the last epoch."
)


def footnote(results: Results) -> str:
    """How to read the table."""
    if results.seeds == 1:
        spread = "of one seed"
        tested = (
            f"p: whether this very model and that of {results.base} are equally good, by swapping documents; "
            f"one seed cannot tell whether the recipes differ, so there are no stars."
        )
    else:
        spread = f"mean and standard deviation over {results.seeds} seeds"
        tested = (
            f"p: whether the recipe and {results.base} are equally good, by swapping documents with all "
            f"their seeds, and by the spread of seeds; * where p < {SIGNIFICANT}."
        )
    seconds = "Seconds: training of a run without scoring."
    return f"P, R and F1: strict, in percent, {spread}. {tested} {seconds}"


def markdown(results: Results, pictures: Iterable[str] = ()) -> str:
    """The whole comparison as a markdown page; `pictures` are shown at its end."""
    lines = ["# Comparison", "", footnote(results), ""]
    for result in results.corpora:
        lines += [
            f"## {result.corpus}",
            "",
            *markdown_rows(SCORE_COLUMNS, map(score_row, result.recipes)),
            "",
        ]
        lines += ["Mistakes on test in percent of false positives and false negatives, mean over seeds:", ""]
        rates = [(each.recipe, *_percentages(each)) for each in result.recipes]
        lines += [*markdown_rows(("recipe", *_KINDS), rates), ""]
        lines += [
            f"F1 by bucket on {results.heat_map_split}, mean over seeds, less that of {results.base}:",
            "",
            f"![heat map of {result.corpus}](heat-map-{result.corpus}.png)",
            "",
        ]
    if results.claims:
        lines += ["## Claims", "", CLAIM_NOTE, ""]
        lines += [*markdown_rows(CLAIM_COLUMNS, map(claim_row, results.claims)), ""]
    for picture in pictures:
        lines += [f"![{picture}]({picture})", ""]
    return "\n".join(lines)


def heat_map_csv(result: CorpusResult) -> str:
    """A line for each cell of the heat map, the base's own included; scores from 0 to 1."""
    header = ("recipe", "attribute", "bucket", "gold", "f1", "base f1", "difference")
    rows = (
        (cell.recipe, cell.attribute, cell.bucket, cell.gold, cell.f1, cell.base_f1, cell.difference)
        for cell in result.heat_map
    )
    return _csv(header, rows)


def mistakes_csv(result: CorpusResult) -> str:
    """A line for each recipe and kind of mistake: mean count of a run, and mean rate from 0 to 1."""
    rows = (
        (each.recipe, kind, each.mistakes.get(kind, ""), each.mistake_rates[kind])
        for each in result.recipes
        for kind in _KINDS
    )
    return _csv(("recipe", "kind", "count", "rate"), rows)


def score_row(result: RecipeResult) -> tuple[str, ...]:
    """A recipe in the table of scores: a text for each of `SCORE_COLUMNS`."""
    star = "*" if result.significant else ""
    against = result.against_base
    return (
        result.recipe,
        _spread(result.spread("precision")),
        _spread(result.spread("recall")),
        f"{_spread(result.spread('f1'))}{star}",
        " ".join(f"{100 * outcome.measure('f1'):.1f}" for outcome in result.outcomes),
        f"{against.p_value:.4f}" if against else "base",
        f"{result.seconds:,.0f}",
        f"{result.words_per_second:,.0f}",
    )


def claim_row(result: ClaimResult) -> tuple[str, ...]:
    """A claim in the table of verdicts: a text for each of `CLAIM_COLUMNS`."""
    verdict = ", ".join((result.verdict, *result.flags))
    counts = (str(result.seeds), f"{result.documents:,}")
    if result.effect is None:
        return (result.claim.name, verdict, "", "", "", *counts)
    return (
        result.claim.name,
        verdict,
        *effect_texts(result.effect, in_points=result.claim.in_points),
        *counts,
    )


def effect_texts(effect: Effect, *, in_points: bool) -> tuple[str, str, str]:
    """An effect, its interval and its p as texts."""
    value, low, high = (
        f"{100 * number:+.1f}" if in_points else f"{number:+.2f}"
        for number in (effect.value, effect.low, effect.high)
    )
    if not isfinite(effect.high - effect.low):  # one seed says nothing about chance
        return value, "–", "–"
    return value, f"{low} to {high}", f"{effect.p_value:.3f}" if effect.p_value >= _LEAST_P else "< 0.001"


def _spread(spread: Spread) -> str:
    deviation = "" if spread.deviation is None else f" ±{100 * spread.deviation:.2f}"
    return f"{100 * spread.mean:.2f}{deviation}"


def _percentages(result: RecipeResult) -> list[str]:
    return [f"{100 * result.mistake_rates[kind]:.1f}" for kind in _KINDS]


def markdown_rows(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A markdown table, line by line; all columns but the first are numbers."""
    alignment = ["---", *("---:" for _ in header[1:])]
    return [f"| {' | '.join(map(_cell, each))} |" for each in (header, alignment, *rows)]


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("*", "\\*")


def _csv(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows((header, *rows))
    return text.getvalue()
