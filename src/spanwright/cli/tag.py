"""`spanwright tag`: find entities in files, folders or standard input."""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from spanwright.cli.command import interruptible
from spanwright.cli.completion import output_formats
from spanwright.cli.devices import Device, PrecisionName, tell_device
from spanwright.cli.job import job_command
from spanwright.cli.linking import LinkCounts, LinkTo, check_types, linker_of
from spanwright.cli.reading import (
    FOLDERS_HELP,
    InputOptions,
    Lossy,
    OutputOptions,
    parse_options,
    parse_types,
    report,
    report_unwritable,
)
from spanwright.cli.tag_view import TaggingView
from spanwright.cli.tagging import (
    STANDARD_STREAM,
    AnswerAs,
    AnsweringCorpus,
    DescribedTypes,
    InputFormat,
    MinimumConfidence,
    ModelFolder,
    RuntimeName,
    TunedThresholds,
    check_readable,
    expand,
)
from spanwright.devices import AUTO
from spanwright.errors import InputError, counted
from spanwright.formats.files import (
    FORMATS,
    TABLES,
    check_place,
    check_streamable,
    named,
    stream,
    with_options,
    write,
    write_stream,
    writer_for,
)
from spanwright.formats.format import Format, ReadingLog
from spanwright.formats.io.file_names import FoundFile
from spanwright.formats.io.ids import with_distinct_ids
from spanwright.formats.io.lines import Undecodable, decode_lines
from spanwright.formats.io.whole_files import is_device
from spanwright.formats.unwritable import Unwritable
from spanwright.text import Document

if TYPE_CHECKING:
    from spanwright.predicting.tagging_options import TaggingOptions

_Inputs = Annotated[
    list[str],
    typer.Argument(
        help="Files, folders or globs, also of .gz, .bz2, .xz and .zst; `-` reads one text per line."
    ),
]
_Output = Annotated[
    str,
    typer.Option(help=f"Output file, {FOLDERS_HELP}, or `-` to print, as JSON lines unless FORMAT is given."),
]
_OutputFormat = Annotated[
    str | None,
    typer.Option(
        help=f"Output format: {', '.join((*TABLES, *FORMATS))}; by the ending of OUT unless given.",
        autocompletion=output_formats,
    ),
]
_Threads = Annotated[int | None, typer.Option(min=1, help="Threads of the network; all cores unless given.")]


_ShortForms = Annotated[
    bool, typer.Option("--short-forms", help="Give abbreviations the type of their long form.")
]


def tag_command(
    context: typer.Context,
    model: ModelFolder,
    inputs: _Inputs,
    out: _Output = STANDARD_STREAM,
    format: _OutputFormat = None,
    input_format: InputFormat = None,
    option: InputOptions = None,
    out_option: OutputOptions = None,
    type: DescribedTypes = None,
    corpus: AnsweringCorpus = None,
    answer_as: AnswerAs = "own",
    minimum_confidence: MinimumConfidence = 0.0,
    tuned_thresholds: TunedThresholds = False,
    lossy: Lossy = False,
    runtime: RuntimeName = None,
    device: Device = AUTO,
    precision: PrecisionName = "float32",
    threads: _Threads = None,
    link: LinkTo = None,
    short_forms: _ShortForms = False,
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
        _run_as_job(context)
        return
    _refuse_job_options({"--address": address, "--shard-documents": shard_documents})
    target = _target(out, format, parse_options(out_option or (), "--out-option"))
    files = expand(inputs)
    check_readable(files, input_format)

    from spanwright.predicting.tagging_options import TaggingOptions

    options = TaggingOptions(
        model=str(model),
        runtime=runtime,
        device=device,
        precision=precision,
        threads=threads,
        types=parse_types(type or ()),
        corpus=corpus,
        shared_types=answer_as == "shared",
        minimum_confidence=minimum_confidence,
        tuned_thresholds=tuned_thresholds,
        format=target.name,
        lossy=lossy,
    )
    after = _Afterwards(link or (), short_forms=short_forms)
    reading = _Reading(files, input_format, parse_options(option or ()))
    _tag_and_tell(reading, out, target, options, after)


def _target(out: str, format: str | None, options: Mapping[str, str]) -> Format:
    """The format to write; what cannot be written is refused before a model is loaded."""
    if out == STANDARD_STREAM:
        target = named(format or "jsonl")
        check_streamable(target)
    else:
        target = writer_for(Path(out), format)
        check_place(Path(out), target)
    return with_options(target, options)


def _tag_and_tell(
    reading: _Reading, out: str, target: Format, options: TaggingOptions, after: _Afterwards
) -> None:
    """Tag everything, and report what was noteworthy, or what an interruption left."""
    view, log = TaggingView([file.path for file in reading.files]), ReadingLog()
    with interruptible(lambda: _kept(view.tagged, out, target)):
        _tag(reading.documents(view, log), out, target, options, after, view)
    report(log)
    after.tell()
    if log.documents_rejected and not log.documents_read:
        raise InputError("no document could be read, so nothing is tagged")


def _kept(tagged: int, out: str, target: Format) -> str:
    """What an interrupted tagging leaves."""
    done = counted(tagged, "document")
    if out == STANDARD_STREAM:
        return f"{done} tagged and printed"
    if is_device(Path(out)):
        return f"{done} tagged and written to {out}"
    if target.serialise_folder is not None:
        return f"{done} tagged, those that are complete stand in {out}"
    return (
        f"{done} tagged, nothing is kept, as {out} is written whole or not at all; `spanwright job` goes "
        f"on where it was stopped"
    )


def _run_as_job(context: typer.Context) -> None:
    """The old spelling of `spanwright job`, whose options have the names that they had here."""
    given = {name: value for name, value in context.params.items() if value is not None}
    newer = {name: given.pop(name, None) for name in ("link", "short_forms", "out_option")}
    if newer["link"] or newer["short_forms"]:
        raise InputError("--link and --short-forms are not for jobs; run `spanwright link` on their outputs")
    if newer["out_option"]:
        raise InputError("--out-option is not for jobs; run `spanwright corpus convert` on their outputs")
    typer.echo("note: a tagging job is `spanwright job` now, with the same options", err=True)
    job_command(**given)


def _refuse_job_options(given: Mapping[str, object]) -> None:
    for name, value in given.items():
        if value is not None:
            raise InputError(f"{name} is for jobs; run one with `spanwright job`")


class _Afterwards:
    """What happens to documents once they are tagged: short forms become entities, entities are linked."""

    def __init__(self, link: Sequence[str], *, short_forms: bool) -> None:
        self._counts = LinkCounts(linker_of(link)) if link else None
        self._short_forms = short_forms

    def check(self, types: Sequence[str]) -> None:
        """Refuse a lexicon for none of the types that a model finds, before anything is tagged."""
        if self._counts is not None:
            check_types(self._counts.linker, types, "--link")

    def __call__(self, documents: Iterator[Document]) -> Iterator[Document]:
        if self._short_forms:
            from spanwright.predicting.short_forms import with_short_forms

            documents = map(with_short_forms, documents)
        if self._counts is None:
            return documents
        return self._counts.counting(self._counts.linker.link(documents))

    def tell(self) -> None:
        """Say on stderr how many entities were linked."""
        if self._counts is not None:
            self._counts.tell_others()
            typer.echo(self._counts, err=True)


def _tag(
    documents: Generator[Document, None, None],
    out: str,
    target: Format,
    options: TaggingOptions,
    after: _Afterwards,
    view: TaggingView,
) -> None:
    """Tag a stream of documents into one output."""
    from spanwright.predicting.tagging_options import load_tagger, tag_documents

    tagger = load_tagger(options)
    after.check(tagger.types)
    tell_device(tagger.device)
    unwritable: list[Unwritable] = []
    # Closed at once if writing fails, not whenever the memory of the failure is cleared.
    with closing(documents), view:
        tagged = view.tagging(after(tag_documents(tagger, documents, options)))
        if out == STANDARD_STREAM:
            write_stream(tagged, sys.stdout, target, lossy=options.lossy, unwritable=unwritable)
        else:
            write(tagged, out, format=target, lossy=options.lossy, unwritable=unwritable)
    report_unwritable(unwritable)


@dataclass(frozen=True, slots=True)
class _Reading:
    """The inputs, and how they are read."""

    files: list[FoundFile]
    format: str | None
    options: Mapping[str, str]

    def documents(self, view: TaggingView, log: ReadingLog) -> Generator[Document, None, None]:
        """All documents one by one, with distinct ids; the view sees them."""
        inputs = ((file.path, view.reading(file.path, self._of(file, log))) for file in self.files)
        yield from with_distinct_ids(inputs, log)
        view.all_read()

    def _of(self, file: FoundFile, log: ReadingLog) -> Iterator[Document]:
        if str(file.path) == STANDARD_STREAM:
            return _lines(log)
        return stream(file, log, format=self.format, options=self.options)


def _lines(log: ReadingLog) -> Iterator[Document]:
    for number, line in decode_lines(sys.stdin.buffer):
        if isinstance(line, Undecodable):
            log.reject_document(Path("standard input"), number, line.reason)
        else:
            yield log.accept(Document(id=f"line-{number}", text=line, generated_id=True))
