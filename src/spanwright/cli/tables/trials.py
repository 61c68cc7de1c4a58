"""The table of the trials of a search."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from spanwright.tuning import TrialOutcome


def trials_table(outcomes: Sequence[TrialOutcome], best: TrialOutcome) -> Table:
    """All trials, the best first."""
    keys = list(best.settings)
    # A key may hold square brackets only if it is misspelt, and then no trial would have begun.
    table = Table("trial", "", "dev F1", "epochs", *keys, title="trials", title_justify="left")
    for outcome in sorted(outcomes, key=lambda each: (each is not best, -(each.f1 or 0.0))):
        chosen = (_short(outcome.settings.get(key)) for key in keys)
        state = "best" if outcome is best else outcome.state
        row = (str(outcome.number), state, _percent(outcome.f1), str(outcome.epochs), *chosen)
        table.add_row(*map(Text, row))
    return table


def _percent(f1: float | None) -> str:
    return "" if f1 is None else f"{100 * f1:.2f}"


def _short(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
