"""Restartable tagging jobs: any number of inputs, in shards, by several processes or machines.

    tagging = TaggingOptions(model="runs/plain/model")
    job = Job(inputs=list_inputs(paths), reading=Reading(), tagging=tagging)
    outcome = run_job(job, Path("tagged"), LocalEngine(processes=4))

A job that was stopped, however rudely, goes on when it is run again, and ends with the same bytes. An engine
reads groups and tags shards; this module alone writes the folder, and never loads a model.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import closing
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol

from spanwright import __version__
from spanwright.errors import InputError
from spanwright.formats.io.whole_files import digest_of_files
from spanwright.formats.tables.arrow import import_pyarrow
from spanwright.model_files.digests import GRAPHS
from spanwright.model_files.folders import located, usual_runtime
from spanwright.predicting.jobs.folder import JobFolder, open_folder
from spanwright.predicting.jobs.shard_tagging import DocumentCounts, ShardResult, shard_format
from spanwright.predicting.jobs.shards import Group, GroupEnd, Input, Reading, plan_groups
from spanwright.predicting.tagging_options import TaggingOptions

_FORMAT_VERSION = 1
_MODEL_FILES = ("*.json", "*.safetensors")

RETRIES = 2
"""How often a shard whose worker was lost is tried again, each time by a new process."""


@dataclass(frozen=True, slots=True)
class LostShard:
    """A shard that took its worker down each time it was tried."""

    name: str
    documents: int


Event = ShardResult | LostShard | GroupEnd
Events = Generator[Event, None, None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What is to be tagged, and how."""

    inputs: tuple[Input, ...]
    reading: Reading
    tagging: TaggingOptions

    def identity(self) -> dict[str, Any]:
        """All that the bytes of the outcome depend on, but neither engine nor number of processes."""
        tagging = asdict(self.tagging)
        del tagging["device"]  # a job may go on with another: it can change the last digits of a confidence
        if tagging["precision"] == "float32":
            del tagging["precision"]  # as jobs of older versions have none
        folder = located(self.tagging.model)
        tagging["runtime"] = self.tagging.runtime or usual_runtime(folder)
        engine = "torch" if tagging["runtime"] == "torch" else "onnxruntime"
        tagging["model"] = _model_digest(folder, graphs=tagging["runtime"] != "torch")
        return {
            "format_version": _FORMAT_VERSION,
            "versions": {"spanwright": __version__, engine: version(engine)},
            "tagging": tagging,
            "reading": asdict(self.reading),
            "inputs": {item.path: item.bytes for item in self.inputs},
            **self._folders(),
        }

    def _folders(self) -> dict[str, Any]:
        """In which folders texts have their ids; nothing where that is their own, as in older versions."""
        found = {
            item.path: item.folder
            for item in self.inputs
            if item.folder not in (None, str(Path(item.path).parent))
        }
        return {"folders": found} if found else {}


class Engine(Protocol):
    """Reads groups and tags their shards, in any order."""

    def run(self, job: Job, groups: Sequence[Group], finished: AbstractSet[str]) -> Events:
        """Yield each shard that is not finished as it is tagged or lost, and the end of each group."""
        ...


class JobWatcher(Protocol):
    """Sees how a job goes on."""

    def moved(self, done: int, total: int, counts: DocumentCounts) -> None:
        """Receives the bytes of inputs that are done, those of all, and the counts of this run so far."""
        ...


@dataclass(frozen=True, slots=True)
class JobOutcome:
    """How a job ended."""

    counts: DocumentCounts
    lost: tuple[str, ...]
    """Names of shards that the next run tries again."""
    tagged_before: int
    """Shards that earlier runs had finished."""

    @property
    def is_whole(self) -> bool:
        """Whether every input was read to its end and no shard was lost."""
        return not self.lost and not self.counts.unreadable_inputs


def run_job(job: Job, folder: Path, engine: Engine, watcher: JobWatcher | None = None) -> JobOutcome:
    """Run a job in a folder, or what is left of it; see `folder.py` for what is in the folder then."""
    format = shard_format(job.tagging)
    if format.name == "parquet":
        import_pyarrow()  # before hours of work, not after them
    if len({item.path for item in job.inputs}) < len(job.inputs):
        raise InputError(
            "inputs: a file is named twice; expected once, as its documents would be tagged twice"
        )
    groups = plan_groups(job.inputs, job.reading.group_bytes)
    suffix = next(iter(format.suffixes), f".{format.name}")
    with open_folder(folder, job.identity(), suffix) as store:
        finished = store.finished_shards()
        run = _Run(store, groups, finished, watcher)
        with closing(engine.run(job, run.unfinished_groups, finished)) as events:
            for event in events:
                run.take(event)
        lost = {shard.name: shard.documents for shard in run.lost}
        counts = store.conclude(groups, lost)
    return JobOutcome(counts, tuple(lost), len(finished))


@dataclass
class _Run:
    """Puts what an engine yields into the folder, and keeps account of groups."""

    store: JobFolder
    groups: Sequence[Group]
    finished: AbstractSet[str]
    watcher: JobWatcher | None
    counts: DocumentCounts = field(default_factory=DocumentCounts)
    lost: list[LostShard] = field(default_factory=list)

    def __post_init__(self) -> None:
        done = self.store.finished_groups()
        self.unfinished_groups = [group for group in self.groups if group.name not in done]
        self._bytes = {group.name: group.bytes for group in self.groups}
        self._reached = {name: size if name in done else 0 for name, size in self._bytes.items()}
        self._done, self._total = sum(self._reached.values()), sum(self._bytes.values())
        self._ends: dict[str, GroupEnd] = {}
        self._tagged: dict[str, int] = {group.name: 0 for group in self.unfinished_groups}
        for name in self.finished:
            group = name.partition("-")[0]
            if group in self._tagged:
                self._tagged[group] += 1
        self._tell()

    def take(self, event: Event) -> None:
        """Keep a shard, or note what else happened."""
        match event:
            case ShardResult(name=name):
                self.store.keep_shard(event)
                group = name.partition("-")[0]
                self._tagged[group] += 1
                self.counts += event.counts
                self._reach(group, event.position)
                self._close(group)
            case LostShard():
                self.lost.append(event)
            case GroupEnd(group=group):
                self._ends[group] = event
                self._close(group)

    def _close(self, group: str) -> None:
        """Note a group as finished if it has been read and all of its shards are there."""
        end = self._ends.get(group)
        if end is not None and self._tagged[group] == len(end.sizes):
            self.store.keep_group(end)
            del self._ends[group]
            self._reach(group, self._bytes[group])

    def _reach(self, group: str, position: int) -> None:
        step = max(0, position - self._reached[group])
        self._reached[group] += step
        self._done += step
        self._tell()

    def _tell(self) -> None:
        if self.watcher is not None:
            self.watcher.moved(self._done, self._total, self.counts)


def _model_digest(folder: Path, *, graphs: bool) -> str:
    """What identifies a model: a digest of its files, without loading it."""
    patterns = (*_MODEL_FILES, GRAPHS) if graphs else _MODEL_FILES
    return digest_of_files(sorted(file for pattern in patterns for file in folder.glob(pattern)))
