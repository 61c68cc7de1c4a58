"""Digests: `spanwright.json` names the SHA-256 of every file that a model is made of, and of its own values.

They show that files belong together and are whole. They are no signature: whoever makes a folder makes them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spanwright.errors import ModelError
from spanwright.model_files import json_files

DESCRIPTION = "spanwright.json"
WEIGHTS = "model.safetensors"
LABELS = "labels.json"
TOKENIZER = "tokenizer.json"
VOCABULARY = "vocabulary.json"
TRAINING_IDS = "training-ids.json"
GRAPHS = "*.onnx"
REQUIRED = (DESCRIPTION, LABELS, WEIGHTS, TOKENIZER)
"""The files of every model."""
KEY = "digests"
RUNTIME = "runtime"
"""In the description of an export: what runs it by default."""


@dataclass(frozen=True, slots=True)
class Digests:
    """What the files of a model directory must be; all is well for models made before there were digests."""

    folder: Path
    by_name: Mapping[str, str] | None

    @classmethod
    def stored(cls, description: dict[str, Any], folder: Path, *, expected: bool) -> Digests:
        """Those in the values of `spanwright.json`, which must themselves be what was written."""
        if not expected:
            return cls(folder, None)
        found = cls(folder, json_files.section(description, KEY, folder / DESCRIPTION))
        found.check(DESCRIPTION, _of_values(description))
        return found

    def check(self, name: str, digest: str) -> None:
        """Refuse a file that is not the one of the model."""
        if self.by_name is None or self.by_name.get(name) == digest:
            return
        known = name in self.by_name
        reason = "has changed since the model was saved" if known else "is no file of this model"
        raise ModelError(
            f"{self.folder / name}: {reason}: its SHA-256 is not the one in {DESCRIPTION}. Get the whole "
            f"folder again from where it came from; to change a model, load it and save it again"
        )

    def content(self, name: str, largest: int = json_files.LARGEST) -> bytes:
        """The bytes of a file that is the one of the model."""
        content = json_files.content_of(self.folder / name, largest)
        self.check(name, hashlib.sha256(content).hexdigest())
        return content


def write_description(folder: Path, description: dict[str, Any]) -> None:
    """Write `spanwright.json`, as the last file, with the digests of all others."""
    files = [folder / name for name in (LABELS, WEIGHTS, TOKENIZER, VOCABULARY, TRAINING_IDS)]
    present = [file for file in (*files, *sorted(folder.glob(GRAPHS))) if file.is_file()]
    digests = {file.name: _of_file(file) for file in present}
    own = _of_values({**description, KEY: digests})
    json_files.write(folder / DESCRIPTION, {**description, KEY: {**digests, DESCRIPTION: own}})


def _of_file(path: Path) -> str:
    with path.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def _of_values(description: dict[str, Any]) -> str:
    """The digest of values without itself; how they are spaced or sorted does not matter."""
    others = {name: digest for name, digest in description[KEY].items() if name != DESCRIPTION}
    text = json.dumps({**description, KEY: others}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()
