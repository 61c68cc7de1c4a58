"""`spanwright corpus convert`: from any format to any other."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from spanwright.cli.reading import FORMAT_HELP, InputOptions, parse_options, report, streamed
from spanwright.formats.files import write
from spanwright.formats.format import ReadingLog
from spanwright.formats.unwritable import Unwritable, told_by_kind


def convert_command(
    inputs: Annotated[list[Path], typer.Argument(help="Files or folders to convert.")],
    out: Annotated[Path, typer.Option(help="Output file, or a folder for brat and bc2gm.")],
    to: Annotated[str | None, typer.Option(help="Output format; by the ending of OUT unless given.")] = None,
    format: Annotated[str | None, typer.Option(help=f"Input format: {FORMAT_HELP}.")] = None,
    option: InputOptions = None,
    out_option: Annotated[
        list[str] | None,
        typer.Option(
            help="A choice of the output format as name=value, such as layers=4 for nested entities in "
            "column files; may be repeated."
        ),
    ] = None,
    lossy: Annotated[
        bool, typer.Option("--lossy", help="Leave out what the output format cannot express, and count it.")
    ] = False,
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
        options = parse_options(out_option or ())
        write(
            documents, out, format=to, options=options, lossy=lossy or list_unwritable, unwritable=unwritable
        )
    report(log)
    for line in unwritable if list_unwritable else ():
        typer.echo(f"left out: {line}")
    related = f", {log.relations_read} relations" if log.relations_read else ""
    typer.echo(
        f"{out}: {log.documents_read} documents, {log.entities_read} entities{related} read; "
        f"{told_by_kind(unwritable)}"
    )
