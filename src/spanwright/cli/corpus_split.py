"""`spanwright corpus split`: cut a corpus into train, dev and test."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from spanwright.cli.reading import (
    FORMAT_HELP,
    InputOptions,
    Lossy,
    OutputFormat,
    report,
    report_unwritable,
    streamed,
)
from spanwright.cli.tables.corpora import split_sizes_table
from spanwright.corpora.splitting import split_documents
from spanwright.errors import InputError
from spanwright.formats.files import write, writer_for
from spanwright.formats.format import ReadingLog
from spanwright.formats.unwritable import Unwritable


def split_command(
    inputs: Annotated[list[Path], typer.Argument(help="Files or folders to split.")],
    out: Annotated[list[Path], typer.Option(help="Output file of each part; repeat for each.")],
    share: Annotated[list[float], typer.Option(help="Share of each part, in the order of --out.")],
    seed: Annotated[int, typer.Option(help="Another seed gives another split.")] = 1,
    format: Annotated[str | None, typer.Option(help=f"Input format: {FORMAT_HELP}.")] = None,
    option: InputOptions = None,
    to: OutputFormat = None,
    lossy: Lossy = False,
) -> None:
    """Split corpora by document, each type in proportion; the same seed gives the same split.

    Passages of one article (documents with the same `doc_id`, or that repeat an id) go to the same part.

    Example: spanwright corpus split all.jsonl --out train.jsonl --share 80 --out dev.jsonl --share 20
    """
    if len(out) != len(share):
        raise InputError(
            f"{len(out)} times --out and {len(share)} times --share; give one share for each file"
        )
    if len(set(out)) != len(out):
        raise InputError(f"--out names a file twice: {', '.join(map(str, out))}; expected distinct files")
    for path in out:
        writer_for(path, to)
    log = ReadingLog()
    with streamed(inputs, log, format=format, options=option or ()) as read:
        documents = list(read)
    report(log)
    parts = split_documents(documents, share, seed=seed)
    unwritable: list[Unwritable] = []
    for path, part in zip(out, parts, strict=True):
        write(part, path, format=to, lossy=lossy, unwritable=unwritable)
    report_unwritable(unwritable)
    Console().print(split_sizes_table(out, parts))
