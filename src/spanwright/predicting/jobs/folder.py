"""The folder of a job, from which it goes on after any stop.

    job.json          what the job is: model, inputs, options; another job is refused
    shards/           part-00003-00012.jsonl and so on: the tagged documents
    done/shards/      00003-00012.json: counts and problems of a shard; it is there if the shard is finished
    done/groups/      00003.json: how many shards a group has; it is there if all of them are finished
    problems.jsonl    what could not be read, tagged or written, in the order of the inputs
    summary.json      the counts of the whole job

Files appear under their name when they are on the disk as a whole. A shard is written before its record, so
what has a record is never done again, and what has none is done from the start.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from spanwright.errors import InputError, SpanwrightError
from spanwright.formats.io.locked_folders import locked_folder
from spanwright.formats.io.whole_files import whole_file
from spanwright.identity import Difference, find_differences
from spanwright.predicting.jobs.shard_tagging import DocumentCounts, ShardResult
from spanwright.predicting.jobs.shards import Group, GroupEnd

_SHOWN_DIFFERENCES = 5
_LOST = "its worker was lost every time, as happens when memory runs out; the next run tries it again"


class JobError(SpanwrightError):
    """A job had to stop; what is finished is kept."""


class JobFolder:
    """Reads and writes the folder of a job; made by `open_folder`."""

    def __init__(self, folder: Path, suffix: str) -> None:
        self.path = folder
        self._suffix = suffix
        self._shard_records = folder / "done" / "shards"
        self._group_records = folder / "done" / "groups"

    def finished_groups(self) -> set[str]:
        """The names of groups that need not be read again: all of their shards are there."""
        shards = Counter(name.partition("-")[0] for name in self.finished_shards())
        records = self._group_records.glob("*.json")
        return {file.stem for file in records if shards[file.stem] == _read_json(file)["shards"]}

    def finished_shards(self) -> set[str]:
        """The names of shards that need not be tagged again: both record and documents are there."""
        names = {file.stem for file in self._shard_records.glob("*.json")}
        return {name for name in names if self._documents(name).exists()}

    def _documents(self, shard: str) -> Path:
        return self.path / "shards" / f"part-{shard}{self._suffix}"

    def keep_shard(self, result: ShardResult) -> None:
        """Write the file of a shard, and then its record."""
        _write(self._documents(result.name), result.content)
        record = {"counts": asdict(result.counts), "problems": result.problems}
        _write(self._shard_records / f"{result.name}.json", _json(record))

    def keep_group(self, end: GroupEnd) -> None:
        """Note that all shards of a group are finished."""
        record = {"shards": len(end.sizes), "notes": end.notes}
        _write(self._group_records / f"{end.group}.json", _json(record))

    def conclude(self, groups: Sequence[Group], lost: Mapping[str, int]) -> DocumentCounts:
        """Write problems and summary from the records; `lost` has the documents of each lost shard."""
        counts = DocumentCounts()
        problems = self.path / "problems.jsonl"
        with (
            _as_job_error(problems),
            whole_file(problems) as partial,
            partial.open("w", encoding="utf-8") as file,
        ):
            for name in sorted(self.finished_shards() | lost.keys(), key=_order):
                found, lines = self._facts(name, lost)
                counts += found
                file.writelines(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        summary = {
            "inputs": sum(len(group.inputs) for group in groups),
            "documents": _documents(counts),
            "entities": counts.entities,
            "words": counts.words,
            "problems": counts.problems,
            "left_out": counts.left_out,
            "unreadable_inputs": counts.unreadable_inputs,
            "shards": len(self.finished_shards()),
            "lost_shards": sorted(lost, key=_order),
        }
        _write(self.path / "summary.json", _json(summary))
        return counts

    def _facts(self, name: str, lost: Mapping[str, int]) -> tuple[DocumentCounts, Iterable[dict[str, Any]]]:
        """Counts and problems of a shard."""
        if name in lost:
            problem = {"shard": name, "documents": lost[name], "reason": _LOST}
            return DocumentCounts(read=lost[name], lost=lost[name], problems=1), [problem]
        record = _read_json(self._shard_records / f"{name}.json")
        return DocumentCounts(**record["counts"]), record["problems"]


def _documents(counts: DocumentCounts) -> dict[str, int]:
    return {name: getattr(counts, name) for name in ("read", "tagged", "failed", "lost", "rejected")}


def _order(name: str) -> tuple[int, ...]:
    return tuple(map(int, name.split("-")))


@contextmanager
def open_folder(folder: Path, identity: Mapping[str, Any], suffix: str) -> Iterator[JobFolder]:
    """The folder of a job for this process alone, made if there is none; that of another job is refused."""
    with _as_job_error(folder):
        folder.mkdir(parents=True, exist_ok=True)
    with locked_folder(folder):
        _check_identity(folder, identity)
        for leftover in folder.rglob(".*.partial"):
            leftover.unlink()
        yield JobFolder(folder, suffix)


def _check_identity(folder: Path, identity: Mapping[str, Any]) -> None:
    path = folder / "job.json"
    if path.exists():
        differences = list(find_differences(_read_json(path), identity))
        if differences and not any((folder / "done").glob("*/*.json")):
            # A call that could not work, such as with a misspelt option, has finished nothing.
            _write(path, _json(identity))
        elif differences:
            shown = "; ".join(map(_phrase, differences[:_SHOWN_DIFFERENCES]))
            more = len(differences) - _SHOWN_DIFFERENCES
            raise InputError(
                f"{folder}: the folder of another job: {shown}{f'; and {more} more' if more > 0 else ''}. "
                f"Expected what it was begun with, or another --out"
            )
        return
    # A job that was killed while it wrote its identity may begin again.
    if any(found.name != f".{path.name}.partial" for found in folder.iterdir()):
        raise InputError(f"{folder}: a folder with other things in it; expected a new one or that of the job")
    _write(path, _json(identity))


def _phrase(difference: Difference) -> str:
    return f"{' '.join(difference.place)}: {_shown(difference.old)} there, {_shown(difference.new)} now"


def _shown(value: Any) -> str:
    return "none" if value is None else f"{value!r:.80}"


def _write(path: Path, content: bytes) -> None:
    with _as_job_error(path), whole_file(path) as partial:
        partial.write_bytes(content)


@contextmanager
def _as_job_error(path: Path) -> Iterator[None]:
    """A full disk stops a job with an error that says how it goes on."""
    try:
        yield
    except OSError as error:
        raise JobError(
            f"{path}: could not be written: {error.strerror or error}. What is finished is kept; run the "
            f"same command again when this is fixed"
        ) from error


def _json(values: Mapping[str, Any]) -> bytes:
    return (json.dumps(values, indent=1, ensure_ascii=False) + "\n").encode("utf-8")


def _read_json(path: Path) -> dict[str, Any]:
    try:
        values: dict[str, Any] = json.loads(path.read_bytes())
    except ValueError as error:
        raise JobError(f"{path}: not a file of a job ({error}); remove it to do this part again") from None
    return values
