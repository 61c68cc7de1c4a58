"""The tables of recipes, of the data of a training, and of comparisons and searches."""

from __future__ import annotations

import tomllib
from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.box import SIMPLE_HEAD
from rich.text import Text

from spanwright.cli.tables.table import Table
from spanwright.recipes import overlay_names, recipe_names, recipe_text

if TYPE_CHECKING:
    from spanwright.comparing import RunOutcome
    from spanwright.comparing.claims import ClaimResult
    from spanwright.comparing.results import CorpusResult
    from spanwright.training.data import SplitReport
    from spanwright.tuning import TrialOutcome

_UNREACHABLE = (
    ("too_wide", "wider than the limit"),
    ("cutting_words", "cut a word"),
    ("discontinuous", "discontinuous"),
    ("across_windows", "across a sentence border"),
    ("repeated", "repeated in the file"),
    ("second_types", "on a span with another type"),
)


def shipped_recipes_table(*, unfolded: bool = False) -> Table:
    """A row for each recipe, with the names of its variants, or unfolded, a row for each of these, too."""
    table = Table("recipe", "what it is", *([] if unfolded else ["variants"]), box=None)
    for recipe in recipe_names():
        variants = overlay_names(recipe)
        if unfolded:
            for entry in (recipe, *variants):
                table.add_row(entry, _description(entry))
        else:
            names = ", ".join(variant.partition("/")[2] for variant in variants)
            table.add_row(recipe, _description(recipe), names)
    return table


def _description(recipe: str) -> str:
    return str(tomllib.loads(recipe_text(recipe)).get("description", ""))


def splits_table(reports: dict[str, SplitReport]) -> Table:
    """Documents, words and entities of each split, and the recall ceiling of its candidates."""
    table = Table("", *reports, title="data", title_justify="left")
    rows = [
        ("documents", [f"{report.documents:,}" for report in reports.values()]),
        ("words", [f"{report.words:,}" for report in reports.values()]),
        ("entities", [f"{report.entities:,}" for report in reports.values()]),
        ("recall ceiling", [f"{100 * report.ceiling:.2f} %" for report in reports.values()]),
        ("- of unknown type", [str(report.unknown_types.total()) for report in reports.values()]),
    ]
    rows += [
        (f"- {words}", [str(getattr(report, name)) for report in reports.values()])
        for name, words in _UNREACHABLE
    ]
    rows.append(("words shortened", [str(report.shortened_words) for report in reports.values()]))
    for name, values in rows:
        table.add_row(name, *values)
    return table


def split_types_table(reports: dict[str, SplitReport]) -> Table:
    """Entities per type of each split."""
    table = Table("type", *reports, title="entities per type", title_justify="left")
    for name in sorted({type_ for report in reports.values() for type_ in report.types}):
        table.add_row(name, *(f"{report.types[name]:,}" for report in reports.values()))
    return table


def finished_runs_table(outcomes: Sequence[RunOutcome]) -> Table:
    """Test F1 of the finished runs, in the order of their seeds."""
    rows: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for outcome in outcomes:
        rows[outcome.corpus, outcome.recipe].append(f"{100 * outcome.measure('f1'):.2f}")
    table = Table("corpus", "recipe", "test F1 per seed", title="finished so far", title_justify="left")
    for names, scores in rows.items():
        table.add_row(*map(Text, names), " ".join(scores))
    return table


def recipe_scores_table(result: CorpusResult) -> Table:
    """The scores of all recipes on a corpus."""
    from spanwright.comparing.result_texts import SCORE_COLUMNS, score_row

    # Few lines and little padding, so that it fits into 80 columns.
    table = Table(
        title=f"{result.corpus} (test)", title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0)
    )
    for number, name in enumerate(SCORE_COLUMNS):
        table.add_column(name, justify="right" if number else "left")
    for recipe in result.recipes:
        # Text, because the path of a recipe may hold square brackets, which rich would take for markup.
        table.add_row(*map(Text, score_row(recipe)))
    return table


def trials_table(outcomes: Sequence[TrialOutcome], best: TrialOutcome) -> Table:
    """All trials, the best first."""
    keys = list(best.settings)
    # A key may hold square brackets only if it is misspelt, and then no trial would have begun.
    table = Table("trial", "", "dev F1", "epochs", *keys, title="trials", title_justify="left")
    for outcome in sorted(outcomes, key=lambda each: (each is not best, -(each.f1 or 0.0))):
        chosen = (_short(outcome.settings.get(key)) for key in keys)
        state = "best" if outcome is best and best.f1 else outcome.state
        row = (str(outcome.number), state, _percent(outcome.f1), str(outcome.epochs), *chosen)
        table.add_row(*map(Text, row))
    return table


def _percent(f1: float | None) -> str:
    return "" if f1 is None else f"{100 * f1:.2f}"


def _short(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def claim_verdicts_table(claims: tuple[ClaimResult, ...]) -> Table:
    """What the runs say about each claim."""
    from spanwright.comparing.result_texts import CLAIM_COLUMNS, claim_row

    table = Table(title="claims", title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for number, name in enumerate(CLAIM_COLUMNS):
        table.add_column(name, justify="right" if number > 1 else "left")
    for claim in claims:
        table.add_row(*map(Text, claim_row(claim)))
    return table
