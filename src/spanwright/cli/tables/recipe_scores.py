"""The table of scores by recipe, of a comparison."""

from __future__ import annotations

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from spanwright.comparing.result_texts import SCORE_COLUMNS, score_row
from spanwright.comparing.results import CorpusResult

_MAY_WRAP = ("P", "R", "F1", "F1 per seed")
"""Columns that a narrow terminal breaks at their blanks."""


def recipe_scores_table(result: CorpusResult) -> Table:
    """The scores of all recipes on a corpus."""
    # Few lines and little padding, so that it fits into 80 columns.
    table = Table(
        title=f"{result.corpus} (test)", title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0)
    )
    for number, name in enumerate(SCORE_COLUMNS):
        table.add_column(name, justify="right" if number else "left", no_wrap=name not in _MAY_WRAP)
    for recipe in result.recipes:
        # Text, because the path of a recipe may hold square brackets, which rich would take for markup.
        table.add_row(*map(Text, score_row(recipe)))
    return table
