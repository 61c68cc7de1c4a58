"""`spanwright tag`: find entities in files, folders or standard input."""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.console import Console
from rich.progress import Progress, TaskID, TextColumn, TimeElapsedColumn

from spanwright.cli.job import job_command
from spanwright.cli.linking import LinkTo, linker_of
from spanwright.cli.reading import InputOptions, parse_options, parse_types, report, report_unwritable
from spanwright.cli.tagging import (
    STANDARD_STREAM,
    AnswerAs,
    AnsweringCorpus,
    DescribedTypes,
    InputFormat,
    Lossy,
    MinimumConfidence,
    ModelFolder,
    RuntimeName,
    TunedThresholds,
    expand,
)
from spanwright.errors import InputError
from spanwright.formats.files import FORMATS, named, stream, write, write_stream, writer_for
from spanwright.formats.format import ReadingLog
from spanwright.formats.io.lines import Undecodable, decode_lines
from spanwright.formats.unwritable import Unwritable
from spanwright.text import Document

if TYPE_CHECKING:
    from spanwright.predicting.tagging_options import TaggingOptions

_COLUMNS = (
    TextColumn("{task.completed:,.0f} documents, {task.fields[entities]:,} entities"),
    TimeElapsedColumn(),
)


_Inputs = Annotated[
    list[str],
    typer.Argument(
        help="Files, folders or globs, also of .gz, .bz2, .xz and .zst; `-` reads one text per line."
    ),
]
_Output = Annotated[
    str, typer.Option(help="Output file, a folder for brat and bc2gm, or `-` for JSON lines.")
]
_OutputFormat = Annotated[
    str | None,
    typer.Option(help=f"Output format: {', '.join(FORMATS)}; by the ending of OUT unless given."),
]
_Threads = Annotated[int | None, typer.Option(min=1, help="Threads of torch; all cores unless given.")]


def tag_command(
    context: typer.Context,
    model: ModelFolder,
    inputs: _Inputs,
    out: _Output = STANDARD_STREAM,
    format: _OutputFormat = None,
    input_format: InputFormat = None,
    option: InputOptions = None,
    type: DescribedTypes = None,
    corpus: AnsweringCorpus = None,
    answer_as: AnswerAs = "own",
    minimum_confidence: MinimumConfidence = 0.0,
    tuned_thresholds: TunedThresholds = False,
    lossy: Lossy = False,
    runtime: RuntimeName = None,
    threads: _Threads = None,
    link: LinkTo = None,
    short_forms: Annotated[
        bool, typer.Option("--short-forms", help="Give abbreviations the type of their long form.")
    ] = False,
    processes: Annotated[int | None, typer.Option(hidden=True, min=1)] = None,
    engine: Annotated[Literal["local", "ray"] | None, typer.Option(hidden=True)] = None,
    address: Annotated[str | None, typer.Option(hidden=True)] = None,
    shard_documents: Annotated[int | None, typer.Option(hidden=True, min=1)] = None,
) -> None:
    """Find the entities of texts. Offsets count characters of the untouched text.

    For millions of documents there is `spanwright job`, which uses several processes and can be restarted.

    Example: spanwright tag runs/plain/model abstracts/*.txt --out tagged.jsonl
    """
    if processes is not None or engine is not None:
        if link or short_forms:
            raise InputError(
                "--link and --short-forms are not for jobs; run `spanwright link` on their outputs"
            )
        _run_as_job(context)
        return
    _refuse_job_options({"--address": address, "--shard-documents": shard_documents})
    paths = expand(inputs)

    from spanwright.predicting.tagging_options import TaggingOptions

    options = TaggingOptions(
        model=str(model),
        runtime=runtime,
        threads=threads,
        types=parse_types(type or ()),
        corpus=corpus,
        shared_types=answer_as == "shared",
        minimum_confidence=minimum_confidence,
        tuned_thresholds=tuned_thresholds,
        format=format or (writer_for(Path(out)).name if out != STANDARD_STREAM else "jsonl"),
        lossy=lossy,
    )
    log = ReadingLog()
    after = _Afterwards(link or (), short_forms=short_forms)
    _tag(_documents(paths, log, input_format, parse_options(option or ())), out, options, after)
    report(log)


def _run_as_job(context: typer.Context) -> None:
    """The old spelling of `spanwright job`, whose options have the names that they had here."""
    typer.echo("note: a tagging job is `spanwright job` now, with the same options", err=True)
    after = ("link", "short_forms")
    job_command(**{k: v for k, v in context.params.items() if v is not None and k not in after})


def _refuse_job_options(given: Mapping[str, object]) -> None:
    for name, value in given.items():
        if value is not None:
            raise InputError(f"{name} is for jobs; run one with `spanwright job`")


class _Afterwards:
    """What happens to documents once they are tagged: short forms become entities, entities are linked."""

    def __init__(self, link: Sequence[str], *, short_forms: bool) -> None:
        self._linker = linker_of(link) if link else None
        self._short_forms = short_forms

    def __call__(self, documents: Iterator[Document]) -> Iterator[Document]:
        if self._short_forms:
            from spanwright.predicting.short_forms import with_short_forms

            documents = map(with_short_forms, documents)
        return documents if self._linker is None else self._linker.link(documents)


def _tag(
    documents: Generator[Document, None, None], out: str, options: TaggingOptions, after: _Afterwards
) -> None:
    """Tag a stream of documents into one output."""
    from spanwright.predicting.tagging_options import load_tagger, tag_documents

    target = named(options.format)
    tagger = load_tagger(options)
    unwritable: list[Unwritable] = []
    # Closed at once if writing fails, not whenever the memory of the failure is cleared.
    with closing(documents), Progress(*_COLUMNS, console=Console(stderr=True)) as progress:
        task = progress.add_task("tag", total=None, entities=0)
        tagged = _counted(after(tag_documents(tagger, documents, options)), progress, task)
        if out == STANDARD_STREAM:
            write_stream(tagged, sys.stdout, target, lossy=options.lossy, unwritable=unwritable)
        else:
            write(tagged, out, format=target.name, lossy=options.lossy, unwritable=unwritable)
    report_unwritable(unwritable)


def _documents(
    paths: list[Path], log: ReadingLog, format: str | None, options: Mapping[str, str]
) -> Generator[Document, None, None]:
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
