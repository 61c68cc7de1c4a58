"""`spanwright corpus abbreviations`: the abbreviations that texts define, with their exact places."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from spanwright.cli.reading import FormatOfAll, InputOptions, report, streamed
from spanwright.cli.tables.corpora import abbreviations_table
from spanwright.formats.format import ReadingLog
from spanwright.text import Document
from spanwright.text.abbreviations import find_abbreviations


def abbreviations_command(
    paths: Annotated[list[Path], typer.Argument(help="Files or folders of texts, in any format.")],
    format: FormatOfAll = None,
    option: InputOptions = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print each definition as a line of JSON, with its offsets.")
    ] = False,
) -> None:
    """List the short and long forms that texts define, as in `tumour necrosis factor (TNF)`.

    Example: spanwright corpus abbreviations abstracts.jsonl --json > abbreviations.jsonl
    """
    log = ReadingLog()
    with streamed(paths, log, format=format, options=option or ()) as documents:
        found = _definitions(documents)
        if as_json:
            for each in found:
                typer.echo(json.dumps(each, ensure_ascii=False))
        else:
            counts = Counter((each["short"]["text"], each["long"]["text"]) for each in found)
            Console().print(abbreviations_table(counts))
    report(log)


def _definitions(documents: Iterable[Document]) -> Iterator[dict[str, Any]]:
    for document in documents:
        for each in find_abbreviations(document.text):
            yield {
                "document": document.id,
                **{
                    name: {"start": start, "end": end, "text": document.text[start:end]}
                    for name, (start, end) in (("short", each.short), ("long", each.long))
                },
            }
