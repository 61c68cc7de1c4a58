"""What every command does around reading corpora: read, and report on stderr what was noteworthy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Annotated

import typer

from spanwright.cli.completion import formats, output_formats
from spanwright.errors import InputError, counted
from spanwright.formats.files import FOLDERS, FORMATS, Corpus, read, stream
from spanwright.formats.format import ReadingLog
from spanwright.formats.io.file_names import FoundFile
from spanwright.formats.io.ids import with_distinct_ids
from spanwright.formats.unwritable import Unwritable, counted_by_kind
from spanwright.lexicons import Lexicon
from spanwright.text import Document

FORMAT_HELP = f"one of {', '.join(FORMATS)}; recognised from the file unless given"
InputOptions = Annotated[
    list[str] | None,
    typer.Option(help="A choice of the input format as name=value, such as tag_column=3; may be repeated."),
]
OutputOptions = Annotated[
    list[str] | None,
    typer.Option(
        help="A choice of the output format as name=value, such as mentions=yes for the text of mentions in "
        "jsonl, or layers=4 for nested entities in column files; may be repeated."
    ),
]
OutputFormat = Annotated[
    str | None,
    typer.Option(help="Output format; by the ending of OUT unless given.", autocompletion=output_formats),
]
FOLDERS_HELP = f"a folder for {' and '.join((', '.join(FOLDERS[:-1]), FOLDERS[-1]))}"
Lossy = Annotated[bool, typer.Option("--lossy", help="Leave out what the output format cannot express.")]
FormatOfAll = Annotated[
    str | None, typer.Option(help=f"Format of all files: {FORMAT_HELP}.", autocompletion=formats)
]
StopAtProblems = Annotated[bool, typer.Option("--strict", help="Stop at anything that cannot be read.")]
_SHOWN_PROBLEMS = 5
_EXAMPLES = {"--option": "tag_column=3", "--out-option": "mentions=yes"}
"""Of choices of a format, by the option that takes them."""


def read_and_report(
    paths: Sequence[Path | FoundFile],
    *,
    format: str | None = None,
    options: Sequence[str] = (),
    strict: bool = False,
) -> Corpus:
    """Read corpus files; notes and problems go to stderr. Options are `name=value`."""
    corpus = read(*paths, format=format, options=parse_options(options), strict=strict)
    report(corpus.log)
    return corpus


@contextmanager
def streamed(
    paths: Sequence[Path], log: ReadingLog, *, format: str | None, options: Sequence[str]
) -> Iterator[Iterator[Document]]:
    """The documents of files one by one; the log fills as they come. Options are `name=value`.

    Files are closed after the block, even if it fails: not whenever the memory of the failure is cleared.
    """
    parsed = parse_options(options)
    inputs = ((path, stream(path, log, format=format, options=parsed)) for path in paths)
    with closing(with_distinct_ids(inputs, log)) as documents:
        yield documents


def parse_options(options: Sequence[str], of: str = "--option") -> dict[str, str]:
    """`name=value` strings, which were given with the option `of`, as a dictionary."""
    parsed: dict[str, str] = {}
    for option in options:
        name, equals, value = option.partition("=")
        if not equals:
            raise InputError(f"{of} {option!r}: expected name=value, such as {of} {_EXAMPLES[of]}")
        parsed[name] = value
    return parsed


def parse_types(types: Sequence[str]) -> dict[str, str]:
    """`NAME=description` strings as a dictionary."""
    parsed: dict[str, str] = {}
    for entry in types:
        name, equals, text = (part.strip() for part in entry.partition("="))
        if not (name and equals and text):
            raise InputError(
                f'--type {entry!r}: expected NAME=description, such as --type Gene="names of genes"'
            )
        parsed[name] = text
    return parsed


def path_and_type(argument: str) -> tuple[Path, str | None]:
    """The file and the type of an argument `FILE` or `FILE:TYPE` of `--lexicon`."""
    path, colon, type_ = argument.rpartition(":")
    if not colon or Path(argument).exists():
        return Path(argument), None
    if not type_ or not path:
        raise InputError(f"--lexicon {argument!r}: expected FILE or FILE:TYPE, such as medic.txt:Disease")
    return Path(path), type_


def reported(lexicon: Lexicon) -> Lexicon:
    """The lexicon, after reporting on stderr what was noteworthy in its reading."""
    for line in lexicon.log.summary():
        typer.echo(f"note: {line}", err=True)
    return lexicon


def report_unwritable(unwritable: Sequence[Unwritable]) -> None:
    """Report on stderr what a writing left out or changed: by-products in numbers, the rest by name."""
    for line in unwritable:
        if line.needs_leave:
            typer.echo(f"{line.fate}: {line}", err=True)
    if by_products := [line for line in unwritable if not line.needs_leave]:
        typer.echo(f"the format has no place for everything: {counted_by_kind(by_products)}", err=True)


def report(log: ReadingLog) -> None:
    """Report on stderr what was noteworthy in a reading."""
    for note in log.notes:
        typer.echo(f"note: {note}", err=True)
    if not log.problems:
        return
    related = f", {counted(log.relations_rejected, 'relation')}" if log.relations_rejected else ""
    typer.echo(
        f"{counted(len(log.problems), 'problem')} in reading; left out: "
        f"{counted(log.documents_rejected, 'document')}, {counted(log.entities_rejected, 'entity')}{related}",
        err=True,
    )
    for problem in log.problems[:_SHOWN_PROBLEMS]:
        typer.echo(f"  {problem}", err=True)
    if len(log.problems) > _SHOWN_PROBLEMS:
        typer.echo(f"  ... and {len(log.problems) - _SHOWN_PROBLEMS} more", err=True)
