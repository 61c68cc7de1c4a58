"""`spanwright tag`: find entities in files, folders or standard input."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from glob import has_magic
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console
from rich.progress import Progress, TaskID, TextColumn, TimeElapsedColumn

from spanwright.cli.reading import FORMAT_HELP, OPTION_HELP, parse_options, parse_types, report
from spanwright.corpora.files import FORMATS, named, stream, write, write_stream, writer_for
from spanwright.corpora.format import ReadingLog
from spanwright.corpora.lines import Undecodable, decode_lines
from spanwright.errors import InputError
from spanwright.text import Document

STANDARD_STREAM = "-"
_COLUMNS = (
    TextColumn("{task.completed:,.0f} documents, {task.fields[entities]:,} entities"),
    TimeElapsedColumn(),
)


def tag_command(
    model: Annotated[Path, typer.Argument(help="A model directory, such as RUN/model.")],
    inputs: Annotated[
        list[str], typer.Argument(help="Files, folders or globs; `-` reads one text per line.")
    ],
    out: Annotated[
        str, typer.Option(help="Output file, a folder for brat and bc2gm, or `-` for JSON lines.")
    ] = STANDARD_STREAM,
    format: Annotated[
        str | None,
        typer.Option(help=f"Output format: {', '.join(FORMATS)}; by the ending of OUT unless given."),
    ] = None,
    input_format: Annotated[str | None, typer.Option(help=f"Format of the inputs: {FORMAT_HELP}.")] = None,
    option: Annotated[list[str] | None, typer.Option(help=OPTION_HELP)] = None,
    type: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=TEXT",
            help='A type to look for by its description, such as --type Gene="names of genes"; '
            "may be repeated. Only for models that read descriptions (recipe binder).",
        ),
    ] = None,
    corpus: Annotated[
        str | None,
        typer.Option(
            help="Whose types to answer with, for models trained on several corpora: the name of one. Unless "
            "given, that of each document, or the target."
        ),
    ] = None,
    answer_as: Annotated[
        Literal["own", "shared"],
        typer.Option("--as", help="Whether to answer with the corpus's own types or with the shared types."),
    ] = "own",
    minimum_confidence: Annotated[
        float, typer.Option(min=0, max=1, help="Drop entities below this confidence.")
    ] = 0.0,
    tuned_thresholds: Annotated[
        bool,
        typer.Option("--tuned-thresholds", help="Drop entities below the model's threshold for their type."),
    ] = False,
    lossy: Annotated[
        bool, typer.Option("--lossy", help="Leave out what the output format cannot express.")
    ] = False,
) -> None:
    """Find the entities of texts. Offsets count characters of the untouched text.

    Example: spanwright tag runs/plain/model abstracts/*.txt --out tagged.jsonl
    """
    paths = _expand(inputs)
    described = parse_types(type or ())
    to_stream = out == STANDARD_STREAM
    target = named(format or "jsonl") if to_stream else writer_for(Path(out), format)

    from spanwright.predicting.tagger import load

    tagger = load(model)
    if described:
        tagger = tagger.with_types(described)
    if corpus is not None or answer_as == "shared":
        tagger = tagger.answering(corpus=corpus, shared_types=answer_as == "shared")
    log = ReadingLog()
    losses: list[str] = []
    with Progress(*_COLUMNS, console=Console(stderr=True)) as progress:
        documents = _documents(paths, input_format, parse_options(option or ()), log)
        task = progress.add_task("tag", total=None, entities=0)
        found = tagger.tag(
            documents, minimum_confidence=minimum_confidence, tuned_thresholds=tuned_thresholds
        )
        tagged = _counted(found, progress, task)
        if to_stream:
            write_stream(tagged, sys.stdout, target, lossy=lossy, losses=losses)
        else:
            write(tagged, out, format=target.name, lossy=lossy, losses=losses)
    for loss in losses:
        typer.echo(f"left out: {loss}", err=True)
    report(log)


def _expand(inputs: list[str]) -> list[Path]:
    """Input paths with globs expanded; a folder that is no corpus itself stands for its files."""
    return [file for item in inputs for match in _matches(Path(item)) for file in _files(match)]


def _matches(path: Path) -> list[Path]:
    """The path itself, or what it matches when it is a pattern that the shell has left alone."""
    if path.exists() or str(path) == STANDARD_STREAM:
        return [path]
    if not has_magic(str(path)):
        raise InputError(f"{path}: no such file or folder")
    matches = sorted(Path(path.anchor).glob(str(path.relative_to(path.anchor))))
    if not matches:
        raise InputError(f"{path}: no file matches")
    return matches


def _files(path: Path) -> list[Path]:
    if not path.is_dir() or any(path.rglob("*.ann")):
        return [path]
    files = sorted(file for file in path.rglob("*") if file.is_file() and not file.name.startswith("."))
    if not files:
        raise InputError(f"{path}: the folder has no file")
    return files


def _documents(
    paths: list[Path], format: str | None, options: dict[str, str], log: ReadingLog
) -> Iterator[Document]:
    for path in paths:
        if str(path) == STANDARD_STREAM:
            yield from _lines(log)
        else:
            yield from stream(path, log, format=format, options=options)


def _lines(log: ReadingLog) -> Iterator[Document]:
    for number, line in decode_lines(sys.stdin.buffer):
        if isinstance(line, Undecodable):
            log.reject_document(Path("standard input"), number, line.reason)
        else:
            yield log.accept(Document(id=f"line-{number}", text=line, generated_id=True))


def _counted(documents: Iterable[Document], progress: Progress, task: TaskID) -> Iterator[Document]:
    """Hand documents on and show how many there were."""
    entities = 0
    for document in documents:
        entities += len(document.entities)
        progress.update(task, advance=1, entities=entities)
        yield document
