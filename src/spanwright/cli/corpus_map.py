"""`spanwright corpus map`: suggest which types correspond, or apply such a map."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from spanwright.cli.reading import (
    FORMAT_HELP,
    InputOptions,
    Lossy,
    OutputFormat,
    read_and_report,
    report_unwritable,
)
from spanwright.cli.tables.corpora import suggested_types_table
from spanwright.corpora.label_map import LabelMap, load_map, map_toml
from spanwright.corpora.maps import map_names
from spanwright.corpora.suggest_map import Suggestion, suggest_map, suggested_map
from spanwright.errors import InputError, counted
from spanwright.formats.files import write
from spanwright.formats.io.whole_files import write_whole
from spanwright.formats.unwritable import Unwritable
from spanwright.text import Document


def map_command(
    a: Annotated[Path, typer.Argument(help="File or folder of the corpus whose types are mapped.")],
    b: Annotated[
        Path | None, typer.Argument(help="With --suggest: the corpus with the wanted types.")
    ] = None,
    suggest: Annotated[
        bool, typer.Option("--suggest", help="Suggest a map from the types of A to those of B.")
    ] = False,
    map_name: Annotated[
        str | None,
        typer.Option("--map", help=f"Apply a map: a TOML file, or one of {', '.join(map_names())}."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Write the suggested map (TOML), or the mapped corpus, here.")
    ] = None,
    corpus: Annotated[
        str | None,
        typer.Option(help="Name of A in the map; the file name without ending, or the map's only one."),
    ] = None,
    to: OutputFormat = None,
    format: Annotated[str | None, typer.Option(help=f"Input format: {FORMAT_HELP}.")] = None,
    option: InputOptions = None,
    lossy: Lossy = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print suggestions as JSON.")] = False,
) -> None:
    """Suggest how the types of A correspond to those of B, or write A with the types of a map.

    Example: spanwright corpus map mine.jsonl biored.pubtator --suggest --out mine.toml

    Then, after a look at mine.toml: spanwright corpus map mine.jsonl --map mine.toml --out mapped.jsonl
    """
    if suggest == (map_name is not None) or suggest != (b is not None):
        raise InputError("corpus map: expected A B --suggest [--out MAP.toml], or A --map MAP --out FILE")
    documents = read_and_report([a], format=format, options=option or ()).documents
    if b is not None:
        others = read_and_report([b], format=format, options=option or ()).documents
        _suggest(documents, others, corpus or a.stem, out, as_json)
    elif map_name is not None:
        _apply(documents, load_map(map_name), corpus, out, to, lossy)


def _suggest(
    documents: Sequence[Document], others: Sequence[Document], corpus: str, out: Path | None, as_json: bool
) -> None:
    suggestions = suggest_map(documents, others)
    if out is not None:
        types = sorted({entity.type for document in others for entity in document.entities})
        label_map = suggested_map(corpus, suggestions, types)
        comments = {(corpus, found.type): _comment(found) for found in suggestions}
        write_whole(out, map_toml(label_map, comments))
    if as_json:
        typer.echo(json.dumps([asdict(found) for found in suggestions], indent=2, ensure_ascii=False))
    else:
        Console().print(suggested_types_table(suggestions))


def _comment(found: Suggestion) -> list[str]:
    lacking = f" (nearest: {found.nearest})" if found.target is None else ""
    return [f"confidence {found.confidence:.2f}{lacking}", *(f"- {line}" for line in found.evidence)]


def _apply(
    documents: Sequence[Document],
    label_map: LabelMap,
    corpus: str | None,
    out: Path | None,
    to: str | None,
    lossy: bool,
) -> None:
    if out is None:
        raise InputError("corpus map --map: where to? Name the mapped corpus with --out FILE")
    if unknown := label_map.unknown_types(documents, corpus):
        named = ", ".join(f"{type_} ({count})" for type_, count in sorted(unknown.items()))
        raise InputError(
            f"the label map does not list these types of the corpus: {named}. "
            f'Add a line for each, such as Type = "" for one without a shared type'
        )
    mapped = [label_map.apply(document, corpus) for document in documents]
    unwritable: list[Unwritable] = []
    write(mapped, out, format=to, lossy=lossy, unwritable=unwritable)
    report_unwritable(unwritable)
    before, after = (_mentions(side) for side in (documents, mapped))
    typer.echo(
        f"{out}: {counted(len(mapped), 'document')}; of {before.total()} entities {after.total()} are kept "
        f"as {', '.join(f'{type_} {count}' for type_, count in sorted(after.items()))}"
    )
    if gone := sum(
        len(old.relations) - len(new.relations) for old, new in zip(documents, mapped, strict=True)
    ):
        typer.echo(f"note: relations of entities that are gone are gone with them: {gone:,}", err=True)


def _mentions(documents: Sequence[Document]) -> Counter[str]:
    return Counter(entity.type for document in documents for entity in document.entities)
