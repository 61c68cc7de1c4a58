"""What every command does around reading corpora: read, and tell on stderr what was noteworthy."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import typer

from spanwright.corpora.files import FORMATS, Corpus, read
from spanwright.corpora.format import ReadingLog

FORMAT_HELP = f"one of {', '.join(FORMATS)}; recognised from the file unless given"
_SHOWN_PROBLEMS = 5


def read_and_report(paths: Sequence[Path], *, format: str | None, strict: bool) -> Corpus:
    """Read corpus files; notes and problems go to stderr."""
    corpus = read(*paths, format=format, strict=strict)
    report(corpus.log)
    return corpus


def report(log: ReadingLog) -> None:
    """Tell on stderr what was noteworthy in a reading."""
    for note in log.notes:
        typer.echo(f"note: {note}", err=True)
    if not log.problems:
        return
    typer.echo(
        f"{len(log.problems)} problems in reading; left out: {log.documents_rejected} documents, "
        f"{log.entities_rejected} entities",
        err=True,
    )
    for problem in log.problems[:_SHOWN_PROBLEMS]:
        typer.echo(f"  {problem}", err=True)
    if len(log.problems) > _SHOWN_PROBLEMS:
        typer.echo(f"  ... and {len(log.problems) - _SHOWN_PROBLEMS} more", err=True)
