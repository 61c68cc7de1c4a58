"""The tables of tagging: what is found, what a job has done, and the ways to run a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.text import Text

from spanwright.cli.tables.table import Table
from spanwright.text import Document

if TYPE_CHECKING:
    from spanwright.model_files.folders import InstalledModel
    from spanwright.predicting.jobs.running import JobOutcome
    from spanwright.predicting.onnx.runtimes import RuntimeFigures

_CAPTION = (
    "difference: the largest of a confidence from torch's, over random texts; "
    "same: F1 of the entities found against those that torch finds"
)


def found_entities_table(document: Document) -> Table:
    """A row for each entity, with its confidence."""
    table = Table("start", "end", "type", "mention", "confidence", title=escape(document.text))
    for entity in document.entities:
        table.add_row(
            str(entity.start),
            str(entity.end),
            entity.type,
            escape(document.mention(entity)),
            f"{entity.confidence or 0:.3f}",
        )
    return table


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


def installed_models_table(models: Sequence[InstalledModel]) -> Table:
    """A few rows for each model, as its types and folder are too long for columns of their own."""
    table = Table("", "", title="models", title_justify="left", show_header=False)
    for model in models:
        rows = {
            "about": model.about,
            "types": ", ".join(model.types),
            "size": f"{model.size / 1e6:.1f} MB",
            "licence": model.licence,
            "where": str(model.folder),
        }
        table.add_row("name", Text(model.name, "bold"))
        for name, value in rows.items():
            table.add_row(name, Text(value))
        table.add_section()
    return table


def runtime_figures_table(figures: list[RuntimeFigures], texts: str) -> Table:
    """A row for each runtime: how near it is to torch, how fast and how large."""
    with_gold = figures[0].f1 is not None
    table = Table("runtime", title=f"on {texts}", caption=_CAPTION)
    columns = ["difference", "same", "words/s", "x torch", "MB", *(["F1"] if with_gold else [])]
    for column in columns:
        table.add_column(column, justify="right")
    for row in figures:
        cells = [f"{row.difference:.1e}", f"{100 * row.same:.1f}", f"{row.words_per_second:,.0f}"]
        cells += [f"{row.speed:.2f}", f"{row.size / 1e6:.1f}"]
        table.add_row(row.runtime, *cells, *([f"{100 * row.f1:.2f}"] if row.f1 is not None else []))
    return table
