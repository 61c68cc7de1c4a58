"""`spanwright corpus convert`: from any format to any other."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from spanwright.cli.reading import (
    FOLDERS_HELP,
    FORMAT_HELP,
    InputOptions,
    Lossy,
    OutputFormat,
    OutputOptions,
    parse_options,
    report,
    streamed,
)
from spanwright.errors import counted
from spanwright.formats.files import write
from spanwright.formats.format import ReadingLog
from spanwright.formats.unwritable import Unwritable, counted_by_kind


def convert_command(
    inputs: Annotated[list[Path], typer.Argument(help="Files or folders to convert.")],
    out: Annotated[Path, typer.Option(help=f"Output file, or {FOLDERS_HELP}.")],
    to: OutputFormat = None,
    format: Annotated[str | None, typer.Option(help=f"Input format: {FORMAT_HELP}.")] = None,
    option: InputOptions = None,
    out_option: OutputOptions = None,
    lossy: Lossy = False,
    list_unwritable: Annotated[
        bool, typer.Option("--list-losses", help="Name each thing left out; implies --lossy.")
    ] = False,
) -> None:
    """Convert corpora. What the output format cannot express is an error unless it may be left out.

    By-products (confidences, metadata, annotation notes, names of corpora) are left out and counted anyhow.

    Example: spanwright corpus convert genia.jsonl --out genia.conll --list-losses
    """
    log = ReadingLog()
    unwritable: list[Unwritable] = []
    with streamed(inputs, log, format=format, options=option or ()) as documents:
        options = parse_options(out_option or (), "--out-option")
        write(
            documents, out, format=to, options=options, lossy=lossy or list_unwritable, unwritable=unwritable
        )
    report(log)
    for line in unwritable if list_unwritable else ():
        typer.echo(f"{line.fate}: {line}")
    related = f", {counted(log.relations_read, 'relation')}" if log.relations_read else ""
    typer.echo(
        f"{out}: {counted(log.documents_read, 'document')}, {counted(log.entities_read, 'entity')}{related} "
        f"read; {counted_by_kind(unwritable)}"
    )
