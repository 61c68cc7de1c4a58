"""`spanwright job`: tag any number of files with several processes, in a folder, restartable."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, Self

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from spanwright.cli.command import interruptible
from spanwright.cli.devices import Device, PrecisionName
from spanwright.cli.reading import InputOptions, Lossy, parse_options, parse_types
from spanwright.cli.tables.tagging import job_counts_table
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
    expand,
)
from spanwright.devices import AUTO
from spanwright.errors import InputError, counted
from spanwright.formats.files import named
from spanwright.model_files.folders import model_folder

if TYPE_CHECKING:
    from spanwright.predicting.jobs.running import Engine, Job, JobOutcome
    from spanwright.predicting.jobs.shard_tagging import DocumentCounts
    from spanwright.predicting.tagging_options import TaggingOptions

_NOT_WHOLE = 1


_Inputs = Annotated[
    list[str], typer.Argument(help="Files, folders or globs, also of .gz, .bz2, .xz and .zst.")
]
_Folder = Annotated[str, typer.Option(metavar="FOLDER", help="Folder of the job, with the tagged documents.")]
_Processes = Annotated[
    int | None,
    typer.Option(
        min=1, help="How many tag; each loads the model. Unless given, one for each GPU, or for each core."
    ),
]
_EngineName = Annotated[
    Literal["local", "ray"], typer.Option(help="Processes of this machine, or of a Ray cluster.")
]
_Address = Annotated[
    str | None,
    typer.Option(help="Of the Ray cluster; one is started on this machine unless given or known to Ray."),
]
_Threads = Annotated[int, typer.Option(min=1, help="Threads of the network in each process.")]
_ShardDocuments = Annotated[
    int | None, typer.Option(min=1, help="Documents in each output file, at most; 500 unless given.")
]
_OutputFormat = Annotated[
    str, typer.Option(help="Format of the output files: parquet, or any other that is one file.")
]


def job_command(
    model: ModelFolder,
    inputs: _Inputs,
    out: _Folder,
    processes: _Processes = None,
    engine: _EngineName = "local",
    address: _Address = None,
    threads: _Threads = 1,
    shard_documents: _ShardDocuments = None,
    format: _OutputFormat = "jsonl",
    input_format: InputFormat = None,
    option: InputOptions = None,
    type: DescribedTypes = None,
    corpus: AnsweringCorpus = None,
    answer_as: AnswerAs = "own",
    minimum_confidence: MinimumConfidence = 0.0,
    tuned_thresholds: TunedThresholds = False,
    lossy: Lossy = False,
    runtime: RuntimeName = None,
    device: Device = AUTO,
    precision: PrecisionName = "float32",
) -> None:
    """Tag any number of files with several processes. The same command goes on where a job stopped.

    Example: spanwright job runs/plain/model abstracts/ --processes 4 --out tagged/
    """
    files = expand(inputs)
    _check([file.path for file in files], out, engine, address)
    model_folder(model)
    if input_format is not None:
        named(input_format)

    from spanwright.predicting.jobs.running import Job
    from spanwright.predicting.jobs.shards import SHARD_DOCUMENTS, Reading, list_inputs
    from spanwright.predicting.tagging_options import TaggingOptions

    reading = Reading(
        format=input_format,
        options=parse_options(option or ()),
        shard_documents=shard_documents or SHARD_DOCUMENTS,
    )
    tagging = TaggingOptions(
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
        format=format,
        lossy=lossy,
    )
    job = Job(inputs=list_inputs(files), reading=reading, tagging=tagging)
    _run(job, Path(out), _engine(engine, processes, address, tagging))


def _check(paths: list[Path], out: str, engine: str, address: str | None) -> None:
    """Refuse what no job can do, and an option that would have no effect."""
    if out == STANDARD_STREAM:
        raise InputError(
            "--out: a job needs a folder, in which it can go on after a stop, such as --out tagged/"
        )
    if STANDARD_STREAM in map(str, paths):
        raise InputError("-: standard input cannot be read again after a stop; a job needs files")
    if address is not None and engine != "ray":
        raise InputError("--address is for --engine ray; give both or neither")


def _engine(name: str, processes: int | None, address: str | None, tagging: TaggingOptions) -> Engine:
    if name == "ray":
        from spanwright.predicting.jobs.ray_engine import RayEngine

        return RayEngine(processes, address=address)
    from spanwright.predicting.jobs.local_engine import LocalEngine
    from spanwright.predicting.tagging_options import usual_processes

    return LocalEngine(processes or usual_processes(tagging))


def _run(job: Job, out: Path, engine: Engine) -> None:
    """Begin a job or go on with it, with a bar, and a table at the end."""
    from spanwright.predicting.jobs.running import run_job

    # Paths may hold square brackets and colons, which are no markup and no emoji here.
    console = Console(stderr=True, markup=False, emoji=False, highlight=False)
    with (
        interruptible(lambda: f"what is finished is in {out}: go on with the same command"),
        _View(console) as view,
    ):
        outcome = run_job(job, out, engine, view)
    console.print(job_counts_table(outcome, view.seconds))
    console.print(f"tagged documents: {out / 'shards'}", soft_wrap=True)
    _report(outcome, out, console)
    if not outcome.is_whole:
        raise typer.Exit(_NOT_WHOLE)


class _View:
    """Draws the progress of a job; the share that is done is that of the bytes of the inputs."""

    def __init__(self, console: Console) -> None:
        self._progress = Progress(
            BarColumn(),
            TextColumn("{task.percentage:>3.0f}%  {task.fields[documents]}"),
            TextColumn("{task.fields[speed]:,.1f} documents/s  {task.fields[words]:,.0f} words/s"),
            TimeElapsedColumn(),
            TextColumn("left {task.fields[left]}"),
            console=console,
        )
        self._task = self._progress.add_task("tag", total=1, documents="", speed=0.0, words=0.0, left="?")
        self._first: tuple[float, int] | None = None
        self._began = time.monotonic()

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    @property
    def seconds(self) -> float:
        """Since the job was begun or taken up again."""
        return time.monotonic() - self._began

    def moved(self, done: int, total: int, counts: DocumentCounts) -> None:
        """Move the bar."""
        seconds = max(self.seconds, 1e-9)
        self._progress.update(
            self._task,
            completed=done,
            total=max(total, 1),
            documents=counted(counts.tagged, "document"),
            speed=counts.tagged / seconds,
            words=counts.words / seconds,
            left=self._left(done, total),
        )

    def _left(self, done: int, total: int) -> str:
        """The time left by the speed since the first shard: what came before it, earlier runs have done."""
        now = time.monotonic()
        if self._first is None or done == 0:
            self._first = (now, done)
        since, at = self._first
        if done == at:
            return "?"
        minutes, seconds = divmod(int((now - since) * (total - done) / (done - at)), 60)
        return f"{minutes // 60}:{minutes % 60:02}:{seconds:02}"


def _report(outcome: JobOutcome, out: Path, console: Console) -> None:
    """Say where problems are listed, and what is left to do."""
    if outcome.counts.problems:
        console.print(
            f"{counted(outcome.counts.problems, 'problem')}: {out / 'problems.jsonl'}", soft_wrap=True
        )
    if outcome.lost:
        console.print(
            f"{len(outcome.lost)} shards were lost with their workers: {', '.join(outcome.lost[:5])}; the "
            f"same command tries them again",
            soft_wrap=True,
        )
