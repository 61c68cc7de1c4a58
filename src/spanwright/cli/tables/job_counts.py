"""The table of what a job has done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table

if TYPE_CHECKING:
    from spanwright.predicting.jobs.running import JobOutcome


def job_counts_table(outcome: JobOutcome, seconds: float) -> Table:
    """Counts of documents, entities and words, and the time."""
    counts = outcome.counts
    table = Table("", "", title="job", title_justify="left", show_header=False)
    rows: dict[str, str] = {
        "documents read": f"{counts.read:,}",
        "- tagged": f"{counts.tagged:,}",
        "- failed": f"{counts.failed:,}",
        "- lost with their worker": f"{counts.lost:,}",
        "documents rejected in reading": f"{counts.rejected:,}",
        "inputs not read, or not to their end": f"{counts.unreadable_inputs:,}",
        "entities": f"{counts.entities:,}",
        "words": f"{counts.words:,}",
        "by-products that the format has no place for": f"{counts.left_out:,}",
        "shards of earlier runs": f"{outcome.tagged_before:,}",
        "time of this run": f"{seconds:,.1f} s",
    }
    for name, value in rows.items():
        table.add_row(name, value)
    return table
