"""The folder of a run: what identifies the run, whether one is there, and whether it is the same."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

from spanwright import __version__
from spanwright.errors import InputError
from spanwright.identity import Values, changed_names, write_down, written_down
from spanwright.origin import commit
from spanwright.settings import Settings, check
from spanwright.training.selection import Documents

_RECORD = "settings.json"


def has_run(folder: Path) -> bool:
    """Whether a run has begun in a folder."""
    return (folder / _RECORD).exists()


def check_folder(folder: Path, resume: bool) -> None:
    """Refuse a folder with a run that is not resumed, and one without a run that is."""
    if resume and not has_run(folder):
        raise InputError(f"{folder}: there is no run to resume; leave out --resume to start one")
    if has_run(folder) and not resume:
        raise InputError(
            f"{folder}: a run is there already; continue it with --resume or choose another --out"
        )


def open_folder(folder: Path, values: dict[str, Any], resume: bool) -> None:
    """Write what identifies a run, or check that a resumed run is the same."""
    if not resume:
        write_down(folder / _RECORD, values)
        return
    old = read_record(folder)
    for key in ("settings", "corpora"):
        if changed := sorted(changed_names(deciding(old[key]), deciding(values[key]))):
            raise InputError(
                f"{folder}: the run was started with other {key} ({', '.join(changed)}); give the same, or "
                f"choose another --out"
            )


def deciding(values: Values) -> dict[str, Any]:
    """What decides a run, of its settings as plain values: all but the words about its recipe."""
    return {name: value for name, value in values.items() if name != "description"}


def read_record(folder: Path) -> dict[str, Any]:
    """What identifies the run of a folder."""
    path = folder / _RECORD
    record = written_down(path)
    # Through the settings of this version, as an older one may have had fewer of them.
    record["settings"] = check(record["settings"], str(path)).model_dump(mode="json")
    return record


def provenance(settings: Settings, documents: Mapping[str, Documents]) -> dict[str, Any]:
    """What a reader needs to repeat a run: settings, versions, commit and digests of the data."""
    packages = ("torch", "transformers", "tokenizers", "numpy")
    versions = {"python": platform.python_version(), "spanwright": __version__}
    return {
        "settings": settings.model_dump(mode="json"),
        "corpora": {name: digest(split) for name, split in documents.items()},
        "versions": {**versions, **{name: version(name) for name in packages}},
        "threads": torch.get_num_threads(),
        "commit": commit(),
    }


def digest(documents: Documents) -> str:
    """A digest of the ids, texts, entities, words and sentences of documents."""
    state = hashlib.blake2b(digest_size=16)
    for document in documents:
        more = (document.words, document.sentences, *((document.corpus,) if document.corpus else ()))
        state.update(repr((document.id, document.text, document.entities, *more)).encode())
    return state.hexdigest()
