"""Files of softened documents, which are made once and used again as long as they are whole.

FOLDER/train.jsonl    the annotated documents: a share of each probability is the annotation's
FOLDER/raw.jsonl      texts without annotation: the teachers alone
FOLDER/inputs.json    of each file, what decides its content, and its digest
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from spanwright.errors import InputError
from spanwright.formats.files import write
from spanwright.formats.io.whole_files import digest_of_files, whole_file
from spanwright.identity import changed_names
from spanwright.predicting.softening import DIGITS, Teachers
from spanwright.text import Document, Entity
from spanwright.training.watcher import DistillationWatcher

_RECORD = "inputs.json"
_DIGEST = "digest"


@dataclass(frozen=True, slots=True)
class SoftFile:
    """A file of softened documents that is to be there."""

    name: str
    inputs: dict[str, Any]
    """All that decides its content: plain values, as in JSON."""
    documents: Callable[[Teachers], Iterator[Document]]
    """What goes into it."""


def make_soft_files(
    folder: Path, files: Sequence[SoftFile], load: Callable[[], Teachers], told: DistillationWatcher
) -> list[Path]:
    """Write the files that are not there yet, or not whole, or were made from something else.

    Teachers are loaded only if there is something to do.
    """
    record = _read_record(folder)
    missing = [file for file in files if not _is_made(folder, file, record.get(file.name))]
    teachers = load() if missing else None
    for file in missing:
        assert teachers is not None
        path = folder / file.name
        write(_counted(file.documents(teachers), file.name, told), path)
        record[file.name] = {**file.inputs, _DIGEST: digest_of_files([path])}
        with whole_file(folder / _RECORD) as partial:
            partial.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    return [folder / file.name for file in files]


def check_soft_files(folder: Path, files: Sequence[SoftFile]) -> None:
    """Refuse to go on with a run whose files were made from something else."""
    record = _read_record(folder)
    for file in files:
        known = record.get(file.name, file.inputs)
        if changed := changed_names(known, file.inputs):
            raise InputError(
                f"{folder / file.name}: the run was started with other {', '.join(changed)}; give the same, "
                f"or choose another --out"
            )


def mixed(gold: Document, soft: Document, share: float) -> Document:
    """An annotated document whose entities have `share` of their probability from the annotation.

    The rest is that of the softened document. What only one of them has is 0 in the other, also an entity
    that no teacher could find, such as one wider than their limits.
    """
    taught = {entity.key: (1 - share) * (entity.confidence or 0.0) for entity in soft.entities}
    found = {entity.key: _likely(entity, taught[entity.key]) for entity in soft.entities}
    found |= {entity.key: _likely(entity, share + taught.get(entity.key, 0.0)) for entity in gold.entities}
    return gold.with_entities(tuple(entity for entity in found.values() if entity.confidence))


def _likely(entity: Entity, probability: float) -> Entity:
    return replace(entity, confidence=round(probability, DIGITS))


def _is_made(folder: Path, file: SoftFile, known: dict[str, Any] | None) -> bool:
    path = folder / file.name
    return path.is_file() and known == {**file.inputs, _DIGEST: digest_of_files([path])}


def _read_record(folder: Path) -> dict[str, Any]:
    try:
        found = json.loads((folder / _RECORD).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _counted(documents: Iterable[Document], name: str, told: DistillationWatcher) -> Iterator[Document]:
    """Hand documents on and tell how many there were."""
    targets = 0
    for number, document in enumerate(documents, start=1):
        targets += len(document.entities)
        told.softened(name=name, documents=number, targets=targets)
        yield document
