"""Small jobs for tests: inputs of many kinds, and what a job left."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pretending_tagger

from spanwright.formats.files import read, write
from spanwright.formats.io.file_names import FoundFile
from spanwright.predicting.jobs.running import Events, Job
from spanwright.predicting.jobs.shard_tagging import tag_shard
from spanwright.predicting.jobs.shards import GroupEnd, Reading, list_inputs, unfinished
from spanwright.predicting.tagging_options import TaggingOptions
from spanwright.text import Document

SMALL = Reading(shard_documents=4, group_bytes=600)


class InlineEngine:
    """Does everything in this process, in order: what other engines are compared with."""

    def run(self, job: Job, groups: Sequence[Any], finished: Any) -> Events:
        """Read, tag, read on."""
        tagger = pretending_tagger.load(job.tagging)
        for item in unfinished(groups, job.reading, finished):
            yield item if isinstance(item, GroupEnd) else tag_shard(tagger, item, job.tagging)


def model_folder(folder: Path) -> Path:
    """A folder that looks like a model to whoever does not load it."""
    folder.mkdir(exist_ok=True)
    (folder / "spanwright.json").write_text("{}")
    return folder


def texts(count: int, prefix: str = "text", more: str = "") -> list[Document]:
    """Documents with a gene each."""
    return [Document(f"{prefix}-{number}", f"the b{'c' * number}ase {more}") for number in range(count)]


def write_inputs(folder: Path, files: int = 10, documents: int = 5, more: str = "") -> list[Path]:
    """Files of so many documents each."""
    paths = [folder / f"{number:03}.jsonl" for number in range(files)]
    for path in paths:
        write(texts(documents, path.stem, more), path)
    return paths


def make_job(
    folder: Path, paths: Sequence[Path | FoundFile], reading: Reading = SMALL, **tagging: Any
) -> Job:
    """A job over some files with the pretending tagger."""
    model = str(model_folder(folder / "model"))
    return Job(inputs=list_inputs(paths), reading=reading, tagging=TaggingOptions(model=model, **tagging))


def content(folder: Path) -> dict[str, bytes]:
    """Every file of a folder."""
    return {
        file.relative_to(folder).as_posix(): file.read_bytes() for file in folder.rglob("*") if file.is_file()
    }


def tagged(folder: Path) -> list[Document]:
    """The documents of all shards, in order."""
    return [document for shard in sorted((folder / "shards").iterdir()) for document in read(shard).documents]
