"""`spanwright corpus check`: list every problem of corpus files."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from spanwright.cli.reading import FORMAT_HELP, InputOptions, parse_options
from spanwright.errors import InputError, counted
from spanwright.formats.files import reader_of, stream
from spanwright.formats.format import ReadingLog


def check_command(
    paths: Annotated[list[Path], typer.Argument(help="Files or folders to check.")],
    format: Annotated[str | None, typer.Option(help=f"Format: {FORMAT_HELP}.")] = None,
    option: InputOptions = None,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with code 2 if there is a problem.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")] = False,
) -> None:
    """List everything in corpus files that could not be read as it stands, with line and reason.

    Example: spanwright corpus check corpus/*.pubtator --strict
    """
    problems = 0
    answers = []
    for path in paths:
        log = ReadingLog()
        name = reader_of(path, format).name
        for _ in stream(path, log, format=name, options=parse_options(option or ())):
            pass
        problems += len(log.problems)
        answers.append({"path": str(path), "format": name, **asdict(log)})
        if not as_json:
            _show(path, name, log)
    if as_json:
        typer.echo(json.dumps(answers, indent=2, ensure_ascii=False))
    if strict and problems:
        raise InputError(f"{counted(problems, 'problem')} in {counted(len(paths), 'file')}")


def _show(path: Path, format: str, log: ReadingLog) -> None:
    for problem in log.problems:
        typer.echo(str(problem))
    for note in log.notes:
        typer.echo(f"note: {note}")
    typer.echo(
        f"{path}: {format}; read {counted(log.documents_read, 'document')} and "
        f"{counted(log.entities_read, 'entity')}; rejected {counted(log.documents_rejected, 'document')} and "
        f"{counted(log.entities_rejected, 'entity')}"
    )
