"""The settings of a run: pydantic models, read from TOML recipes, saved as resolved JSON."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from spanwright.batches.prepare import Context
from spanwright.errors import SettingsError
from spanwright.parts.decoding import Decoding
from spanwright.parts.encoder import EncoderSettings
from spanwright.parts.representations.endpoints import EndpointsSettings
from spanwright.parts.scorers.softmax import SoftmaxSettings
from spanwright.recipes import recipe_text
from spanwright.training.objective import ObjectiveSettings
from spanwright.training.optimiser import OptimiserSettings

Auto = Literal["auto"]


class WindowSettings(BaseModel):
    """How texts are cut for the encoder."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    context: Context = "document"
    """`document`: windows fill up with neighbouring sentences; `sentence`: they stop at sentence borders."""
    pieces: int = Field(default=256, ge=16)
    """Sub-word pieces of a window, with the special ones."""
    overlap: int = Field(default=24, ge=1)
    """Words that neighbouring windows share; raised to the width limit where it is smaller."""


class CandidateSettings(BaseModel):
    """Which spans are scored."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    width_limit: int | Auto = "auto"
    """Words of the widest candidate; `auto` covers 99.5 % of the training entities."""
    negatives: int | Literal["all"] = "all"
    """Candidates without a gold label that train in each window: all, or a number drawn every epoch."""


class TrainingSettings(BaseModel):
    """How long and in which portions to train."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    epochs: int = Field(default=10, ge=1)
    seed: int = Field(default=1, ge=0)
    batch_windows: int = Field(default=16, ge=1)
    """Windows of a batch."""
    batch_pieces: int = Field(default=4096, ge=16)
    """Pieces of a batch, padding included."""
    accumulate: int = Field(default=1, ge=1)
    """Batches whose gradients are added before a step."""
    patience: int | None = Field(default=None, ge=1)
    """Epochs without a better dev F1 after which training stops; never when None."""
    checkpoint_steps: int | None = Field(default=None, ge=1)
    """Steps between checkpoints; only behind each epoch when None."""


class Settings(BaseModel):
    """Everything that decides a run, apart from its data."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    description: str = ""
    encoder: EncoderSettings = EncoderSettings()
    windows: WindowSettings = WindowSettings()
    candidates: CandidateSettings = CandidateSettings()
    representation: EndpointsSettings = EndpointsSettings()
    scorer: SoftmaxSettings = SoftmaxSettings()
    decoding: Decoding | Auto = "auto"
    """Which overlaps a model may answer with; `auto` allows those that training entities have."""
    objective: ObjectiveSettings = ObjectiveSettings()
    optimiser: OptimiserSettings = OptimiserSettings()
    training: TrainingSettings = TrainingSettings()


def load_settings(recipe: str, changes: Sequence[str] = ()) -> Settings:
    """Settings of a recipe (a shipped name or the path of a TOML file) with `key=value` changes.

    A recipe with `extends = "other"` changes the settings of another recipe.
    """
    values = _values(recipe)
    for change in changes:
        _apply(values, change)
    return check(values, recipe)


def check(values: dict[str, Any], where: str) -> Settings:
    """Settings from plain values, or an error that names each wrong key and what is legal."""
    try:
        return Settings.model_validate(values)
    except ValidationError as error:
        raise SettingsError(f"{where}: {'; '.join(_explain(entry) for entry in error.errors())}") from None


def _values(recipe: str) -> dict[str, Any]:
    path = Path(recipe)
    if recipe.endswith(".toml"):
        if not path.is_file():
            raise SettingsError(f"{recipe}: no such recipe file")
        text = path.read_text(encoding="utf-8")
    else:
        text = recipe_text(recipe)
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{recipe}: not valid TOML: {error}") from None
    base = values.pop("extends", None)
    return values if base is None else _merged(_values(base), values)


def _merged(base: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in changes.items():
        old = merged.get(key)
        if isinstance(old, dict) and isinstance(value, dict) and _same_kind(old, value):
            merged[key] = _merged(old, value)
        else:
            merged[key] = value
    return merged


def _same_kind(old: dict[str, Any], new: dict[str, Any]) -> bool:
    """A part of another kind replaces the old one; the old one's settings would be foreign to it."""
    return new.get("kind") in (None, old.get("kind"))


def _apply(values: dict[str, Any], change: str) -> None:
    """Set one dotted key from `key=value`; the value is read as TOML, else taken as a string."""
    key, equals, text = change.partition("=")
    if not equals or not key:
        raise SettingsError(f"--set {change!r}: legal is key=value, such as --set training.epochs=3")
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        value = text
    *path, last = key.split(".")
    table = values
    for name in path:
        table = table.setdefault(name, {})
        if not isinstance(table, dict):
            raise SettingsError(f"--set {change!r}: {name!r} is a value, not a table of settings")
    table[last] = value


def _explain(error: Any) -> str:
    """One wrong setting in words."""
    key = ".".join(str(part) for part in error["loc"])
    if error["type"] == "extra_forbidden":
        return f"unknown setting {key!r}; legal here are {', '.join(_legal_keys(error['loc'][:-1]))}"
    return f"setting {key!r} is {error['input']!r}: {error['msg']}"


def _legal_keys(location: tuple[Any, ...]) -> list[str]:
    model: Any = Settings
    for name in location:
        annotation = (
            model.model_fields[name].annotation if name in getattr(model, "model_fields", {}) else None
        )
        if not (isinstance(annotation, type) and issubclass(annotation, BaseModel)):
            break
        model = annotation
    return sorted(model.model_fields)
