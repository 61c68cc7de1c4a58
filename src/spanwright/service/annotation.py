"""Texts that are annotated on the page: their order, what was saved of them, and who was first.

Everything is in a folder: `train.jsonl` and, of every fifth text, `dev.jsonl`, so that a training needs no
more; `conflicts.jsonl` has what was refused because somebody else had saved the same text meanwhile.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from spanwright.errors import InputError, SpanwrightError
from spanwright.formats.files import read, write
from spanwright.formats.json.documents import record_of
from spanwright.formats.json.records import write_record
from spanwright.text import Document, Entity

_SPLITS = ("train", "dev")
_DEV_EVERY = 5
_CONFLICTS = "conflicts.jsonl"


class ConflictError(SpanwrightError):
    """Somebody else has saved the text since it was opened."""


class AnnotationFolder:
    """The texts in their order, and a folder with those that are annotated. One process at a time has it."""

    def __init__(self, texts: Sequence[Document], folder: Path) -> None:
        """What the folder holds already is gone on with."""
        self.texts = texts
        self._folder = folder
        self._lock = threading.Lock()
        self._saved: dict[str, Document] = {}
        self._splits: dict[str, str] = {}
        """Of the texts that were saved."""
        # A text may have had several conflicts, and then stands there as often.
        self._conflicts = _read(folder / _CONFLICTS, strict=False)
        twice = len(texts) - len({document.id for document in texts})
        if twice:
            raise InputError(f"{twice} texts have the id of another one; expected distinct ids")
        of_ids = {document.id: document for document in texts}
        for split in _SPLITS:
            for document in _read(folder / f"{split}.jsonl"):
                if document.id in of_ids and of_ids[document.id].text != document.text:
                    raise InputError(
                        f"{folder / split}.jsonl has another text with the id {document.id!r}; expected a "
                        f"folder of these texts, or a new one"
                    )
                self._saved[document.id] = document
                self._splits[document.id] = split

    def is_done(self, document: Document) -> bool:
        """Whether a text is annotated."""
        return document.id in self._saved

    def latest(self, document: Document) -> tuple[Document, str]:
        """A text as it was saved, or with its suggestions, and the version of what was saved."""
        saved = self._saved.get(document.id)
        return (document, "") if saved is None else (saved, _version(saved))

    def save(self, document: Document, entities: Sequence[Entity], version: str) -> str:
        """Keep the entities of a text that was opened at that version; the new version.

        What has returned is on the disk. If somebody else was first, both are kept, and this is refused.
        """
        annotated = replace(document.with_entities(tuple(entities)), relations=())
        with self._lock:
            _, present = self.latest(document)
            if version != present and _version(annotated) != present:
                conflicts = [*self._conflicts, annotated]
                write(conflicts, self._folder / _CONFLICTS)
                self._conflicts = conflicts
                raise ConflictError(
                    f"somebody else has saved the text {document.id!r} meanwhile; theirs stays, and yours is "
                    f"in {_CONFLICTS}"
                )
            self._write(annotated)
        return _version(annotated)

    def _write(self, annotated: Document) -> None:
        """Write the file of a text again, with what is new of it; if that fails, nothing has changed."""
        saved = {**self._saved, annotated.id: annotated}
        splits = {**self._splits, annotated.id: self._split(annotated.id)}
        split = splits[annotated.id]
        write((each for each in saved.values() if splits[each.id] == split), self._folder / f"{split}.jsonl")
        self._saved, self._splits = saved, splits

    def _split(self, id: str) -> str:
        """Where a text goes: to dev with every fifth that is saved, and always where it went first."""
        is_dev = (list(self._splits.values()).count("dev") + 1) * _DEV_EVERY <= len(self._splits) + 1
        return self._splits.get(id, "dev" if is_dev else "train")


def _read(path: Path, *, strict: bool = True) -> list[Document]:
    return read(path, format="jsonl", strict=strict).documents if path.exists() else []


def _version(document: Document) -> str:
    """What tells what was saved of a text from anything else."""
    entities: Any = sorted(entity.key for entity in document.entities)
    record = record_of(replace(document, entities=(), relations=())) | {"entities": entities}
    return hashlib.sha256(write_record(record, document.id).encode()).hexdigest()[:16]
