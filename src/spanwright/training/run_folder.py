"""The folder of a run: whether one is there, and whether it is the one that shall go on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from spanwright.errors import InputError
from spanwright.identity import changed_names, write_down, written_down
from spanwright.settings import check

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
        if changed := sorted(changed_names(old[key], values[key])):
            raise InputError(
                f"{folder}: the run was started with other {key} ({', '.join(changed)}); give the same, or "
                f"choose another --out"
            )


def read_record(folder: Path) -> dict[str, Any]:
    """What identifies the run of a folder."""
    path = folder / _RECORD
    record = written_down(path)
    # Through the settings of this version, as an older one may have had fewer of them.
    record["settings"] = check(record["settings"], str(path)).model_dump(mode="json")
    return record
