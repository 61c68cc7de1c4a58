"""Where models are: in folders, and under the names that installed packages list.

A package lists a model under a name, as `biomed = "spanwright_biomed:FOLDER"` in the group
`spanwright.models`; `FOLDER` is the path of its model directory. Wherever a model directory is taken, such a
name is taken, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spanwright.errors import ModelError, did_you_mean
from spanwright.model_files import json_files
from spanwright.model_files.digests import DESCRIPTION, GRAPHS, LABELS, REQUIRED, RUNTIME
from spanwright.outside import Known

MODELS: Mapping[str, Path] = Known({}, group="spanwright.models", expected=Path)
"""The folders of installed models, by name."""
_IN_FLOATS = ("encoder.onnx", "head.onnx")
MAKE_BIOMED = "`make model` in a clone of Spanwright trains biomed"


def located(model: str | Path) -> Path:
    """The path itself or, where no folder is there, the folder of the installed model of that name."""
    path, name = Path(model), str(model)
    return MODELS[name] if not path.is_dir() and name in MODELS else path


def model_folder(model: str | Path) -> Path:
    """The model directory of that path or name; anything else is refused."""
    folder = located(model)
    if not folder.is_dir():
        raise ModelError(missing_message(model, "model directory"))
    for name in REQUIRED:
        file = folder / name
        if not file.is_file() or file.is_symlink():
            raise ModelError(
                f"{folder}: not a model directory: {name} is missing or not a plain file; a model directory "
                f"holds {', '.join(REQUIRED)} and is made by `spanwright train` as RUN/model"
            )
    return folder


def usual_runtime(folder: Path) -> str:
    """What runs the network of a model by default: what its export was made for, or graphs in
    floats where there are some of the whole network, which need no torch; else torch.

    A copy without the graphs of an export is run by torch.
    """
    named = _values(folder / DESCRIPTION).get(RUNTIME)
    if named is not None and any(folder.glob(GRAPHS)):
        return str(named)
    return "onnx" if all((folder / name).is_file() for name in _IN_FLOATS) else "torch"


def missing_message(model: str | Path, expected: str) -> str:
    """What to say where neither a path, at which something is expected, nor a model of that name is there."""
    if str(model) in MODELS:
        return f"{model}: the package of this model has no weights; {MAKE_BIOMED}"
    if len(Path(model).parts) > 1:
        return f"{model}: no such {expected}"
    return (
        f"{model}: no such {expected}, and no installed model has this name"
        f"{did_you_mean(str(model), installed_names())}; installed: "
        f"{', '.join(installed_names()) or f'none; {MAKE_BIOMED}'}"
    )


def installed_names() -> list[str]:
    """The names of installed models, sorted; packages without weights are none."""
    return sorted(name for name, folder in MODELS.items() if folder.is_dir())


@dataclass(frozen=True, slots=True)
class InstalledModel:
    """What an installed model says of itself, without loading it."""

    name: str
    folder: Path
    about: str
    """In one line."""
    types: tuple[str, ...]
    licence: str
    size: int
    """Bytes of all files."""


def installed_models() -> Iterator[InstalledModel]:
    """The installed models, sorted by name."""
    for name in installed_names():
        # Whatever is called like it where the command is run.
        folder = model_folder(MODELS[name])
        described, labels = (_values(folder / file) for file in (DESCRIPTION, LABELS))
        facts = described.get("facts", {})
        yield InstalledModel(
            name,
            folder,
            about=str(facts.get("summary") or described.get("settings", {}).get("description", "")),
            types=tuple(dict.fromkeys(map(str, labels.get("types", ())))),
            licence=str(facts.get("license", "not known")),
            size=sum(file.stat().st_size for file in folder.iterdir() if file.is_file()),
        )


def _values(path: Path) -> dict[str, Any]:
    return json_files.parse(json_files.content_of(path), path)
