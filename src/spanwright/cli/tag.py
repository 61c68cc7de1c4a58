"""`spanwright tag`: find entities in files, folders or standard input, at once or as a restartable job."""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.console import Console
from rich.progress import Progress, TaskID, TextColumn, TimeElapsedColumn

from spanwright.cli.reading import FORMAT_HELP, OPTION_HELP, parse_options, parse_types, report, report_losses
from spanwright.cli.tag_inputs import STANDARD_STREAM, expand
from spanwright.cli.tag_job import Workforce, tag_job
from spanwright.errors import InputError
from spanwright.formats.files import FORMATS, named, stream, write, write_stream, writer_for
from spanwright.formats.format import ReadingLog
from spanwright.formats.io.lines import Undecodable, decode_lines
from spanwright.formats.unwritable import Loss
from spanwright.text import Document

if TYPE_CHECKING:
    from spanwright.predicting.jobs.shard_tagging import Tagging
    from spanwright.predicting.jobs.shards import Reading

_COLUMNS = (
    TextColumn("{task.completed:,.0f} documents, {task.fields[entities]:,} entities"),
    TimeElapsedColumn(),
)


def tag_command(
    model: Annotated[Path, typer.Argument(help="A model directory, such as RUN/model.")],
    inputs: Annotated[
        list[str],
        typer.Argument(
            help="Files, folders or globs, also of .gz, .bz2, .xz and .zst; `-` reads one text per line."
        ),
    ],
    out: Annotated[
        str,
        typer.Option(
            help="Output file, a folder for brat and bc2gm, `-` for JSON lines, or the folder of a job."
        ),
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
    runtime: Annotated[
        Literal["torch", "onnx", "onnx-int8"],
        typer.Option(help="What runs the network; the last two need a model of `spanwright export`."),
    ] = "torch",
    processes: Annotated[
        int | None, typer.Option(min=1, help="Run a job with so many processes; each loads the model.")
    ] = None,
    engine: Annotated[
        Literal["local", "ray"] | None,
        typer.Option(help="Run a job on this machine or on a Ray cluster; local unless given."),
    ] = None,
    address: Annotated[
        str | None,
        typer.Option(help="Of the Ray cluster; one is started on this machine unless given or known to Ray."),
    ] = None,
    threads: Annotated[
        int | None,
        typer.Option(
            min=1, help="Threads of torch of each process: 1 in a job, else all cores, unless given."
        ),
    ] = None,
    shard_documents: Annotated[
        int | None,
        typer.Option(min=1, help="Documents in each file that a job writes, at most; 500 unless given."),
    ] = None,
) -> None:
    """Find the entities of texts. Offsets count characters of the untouched text.

    With --processes or --engine it is a job: OUT is a folder, and the same command goes on where it stopped.

    Example: spanwright tag runs/plain/model abstracts/*.txt --out tagged.jsonl

    Example: spanwright tag runs/plain/model abstracts/ --processes 4 --out tagged/
    """
    is_job = processes is not None or engine is not None
    _check_job_options(is_job, engine, {"--address": address, "--shard-documents": shard_documents})
    paths = expand(inputs)
    described = parse_types(type or ())

    from spanwright.predicting.jobs.shard_tagging import Tagging
    from spanwright.predicting.jobs.shards import SHARD_DOCUMENTS, Reading

    reading = Reading(
        format=input_format,
        options=parse_options(option or ()),
        shard_documents=shard_documents or SHARD_DOCUMENTS,
    )
    tagging = Tagging(
        model=str(model),
        runtime=runtime,
        threads=threads or (1 if is_job else None),
        types=described,
        corpus=corpus,
        shared_types=answer_as == "shared",
        minimum_confidence=minimum_confidence,
        tuned_thresholds=tuned_thresholds,
        format=format or (writer_for(Path(out)).name if not is_job and out != STANDARD_STREAM else "jsonl"),
        lossy=lossy,
    )
    if is_job:
        tag_job(paths, out, reading, tagging, Workforce(engine or "local", processes, address))
    else:
        _tag_at_once(paths, out, reading, tagging)


def _check_job_options(is_job: bool, engine: str | None, given: dict[str, object]) -> None:
    """Refuse options that would have no effect."""
    for name, value in given.items():
        if value is not None and not is_job:
            raise InputError(f"{name} is for jobs; make it one with --processes or --engine")
    if given["--address"] is not None and engine != "ray":
        raise InputError("--address is for --engine ray; legal is both or neither")


def _tag_at_once(paths: list[Path], out: str, reading: Reading, tagging: Tagging) -> None:
    """Tag all documents in this process, into one output."""
    from spanwright.predicting.jobs.shard_tagging import load_tagger, tag_documents

    target = named(tagging.format)
    tagger = load_tagger(tagging)
    log = ReadingLog()
    losses: list[Loss] = []
    # Closed at once if writing fails, not whenever the memory of the failure is cleared.
    with (
        closing(_documents(paths, reading, log)) as documents,
        Progress(*_COLUMNS, console=Console(stderr=True)) as progress,
    ):
        task = progress.add_task("tag", total=None, entities=0)
        tagged = _counted(tag_documents(tagger, documents, tagging), progress, task)
        if out == STANDARD_STREAM:
            write_stream(tagged, sys.stdout, target, lossy=tagging.lossy, losses=losses)
        else:
            write(tagged, out, format=target.name, lossy=tagging.lossy, losses=losses)
    report_losses(losses)
    report(log)


def _documents(paths: list[Path], reading: Reading, log: ReadingLog) -> Generator[Document, None, None]:
    for path in paths:
        if str(path) == STANDARD_STREAM:
            yield from _lines(log)
        else:
            yield from stream(path, log, format=reading.format, options=reading.options)


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
