"""The table of verdicts on the claims of a plan."""

from __future__ import annotations

from rich.box import SIMPLE_HEAD
from rich.text import Text

from spanwright.cli.tables.table import Table
from spanwright.comparing.claims import ClaimResult
from spanwright.comparing.result_texts import CLAIM_COLUMNS, claim_row


def claim_verdicts_table(claims: tuple[ClaimResult, ...]) -> Table:
    """What the runs say about each claim."""
    table = Table(title="claims", title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for number, name in enumerate(CLAIM_COLUMNS):
        table.add_column(name, justify="right" if number > 1 else "left")
    for claim in claims:
        table.add_row(*map(Text, claim_row(claim)))
    return table
