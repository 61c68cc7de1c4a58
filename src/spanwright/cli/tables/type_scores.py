"""The table of scores by type."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text

from spanwright.evaluation import Averages, Counts, Scores


def type_scores_table(scores: Scores) -> Table:
    """A row per type, then the micro and macro averages; ratios in percent."""
    table = Table("type")
    for name in ("P", "R", "F1", "gold", "predicted", "correct"):
        table.add_column(name, justify="right", no_wrap=True)
    for type_, counts in scores.per_type.items():
        # Text, because a type may hold square brackets, which rich would take for markup.
        table.add_row(Text(type_), *_percentages(counts), *_numbers(counts))
    table.add_section()
    table.add_row("micro", *_percentages(scores.micro), *_numbers(scores.micro))
    table.add_row("macro", *_percentages(scores.macro))
    return table


def _percentages(ratios: Counts | Averages) -> list[str]:
    return [f"{100 * ratio:.1f}" for ratio in (ratios.precision, ratios.recall, ratios.f1)]


def _numbers(counts: Counts) -> list[str]:
    return [str(number) for number in (counts.gold, counts.predicted, counts.true_positives)]
