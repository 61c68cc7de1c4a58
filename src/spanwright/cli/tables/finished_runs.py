"""The table of finished runs, while a comparison goes on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from spanwright.comparing import RunOutcome


def finished_runs_table(outcomes: Sequence[RunOutcome]) -> Table:
    """Test F1 of the finished runs, in the order of their seeds."""
    rows: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for outcome in outcomes:
        rows[outcome.corpus, outcome.recipe].append(f"{100 * outcome.measure('f1'):.2f}")
    table = Table("corpus", "recipe", "test F1 per seed", title="finished so far", title_justify="left")
    for names, scores in rows.items():
        table.add_row(*map(Text, names), " ".join(scores))
    return table
