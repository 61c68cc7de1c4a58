"""Settings from recipes and changes, and what is wrong in them in words."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence, Set
from copy import deepcopy
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from spanwright.errors import SettingsError, did_you_mean
from spanwright.recipes import recipe_text
from spanwright.settings.listing import all_settings
from spanwright.settings.part import PARTS
from spanwright.settings.settings import Settings
from spanwright.toml_files import allowed_keys, expectation, models_at
from spanwright.wrong_values import reason

Changes = Sequence[str] | Mapping[str, Any]
"""Changes of settings: `key=value` as on the command line, or values by their dotted keys."""


def load_settings(
    recipe: str | Path | Settings,
    changes: Changes = (),
    *,
    encoder: str | Path | None = None,
    descriptions: str | Path | None = None,
    start_from: str | Path | None = None,
) -> Settings:
    """Settings of a recipe (a shipped name, the path of a TOML file, or settings) with changes.

    A recipe with `extends = "other"` changes the settings of another recipe. Changes go over the encoder, the
    descriptions and the model to start from that are named.
    """
    named = {"encoder.name": encoder, "labels.descriptions": descriptions, "start.model": start_from}
    given = [(key, str(value)) for key, value in named.items() if value]
    given += deepcopy(list(changes.items())) if isinstance(changes, Mapping) else map(_read_change, changes)
    if isinstance(recipe, Settings) and not given:
        return recipe
    where = recipe.name if isinstance(recipe, Settings) else str(recipe)
    values = recipe.model_dump(mode="json") if isinstance(recipe, Settings) else _values(where)
    written = {key for key, _ in given}
    for key, value in given:
        _apply(values, key, value, where, written)
    return check(values, where)


def check(values: dict[str, Any], where: str) -> Settings:
    """Settings from plain values, or an error that names each wrong key and what is expected."""
    values = _with_present_names(values, where)
    try:
        return Settings.model_validate(values)
    except ValidationError as error:
        reasons = "; ".join(_explain(entry, values) for entry in error.errors())
        raise SettingsError(f"{where}: {reasons}") from None


def _with_present_names(values: dict[str, Any], where: str) -> dict[str, Any]:
    """The values with `training.leaked` where it has its former name, `corpora.leaked`."""
    corpora, training = values.get("corpora"), values.get("training", {})
    if not (isinstance(corpora, dict) and "leaked" in corpora and isinstance(training, dict)):
        return values
    former = corpora["leaked"]
    if training.get("leaked", former) != former:
        raise SettingsError(
            f"{where}: training.leaked is {training['leaked']!r}, but corpora.leaked, its former name, is "
            f"{former!r}; leave out corpora.leaked"
        )
    others = {key: value for key, value in corpora.items() if key != "leaked"}
    return {**values, "corpora": others, "training": {**training, "leaked": former}}


def _values(recipe: str, extended_by: tuple[str, ...] = ()) -> dict[str, Any]:
    try:
        values = tomllib.loads(_text(recipe))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{recipe}: not valid TOML: {error}") from None
    base = values.pop("extends", None)
    if base is None:
        return values
    chain = (*extended_by, recipe)
    if not isinstance(base, str) or base in chain:
        raise SettingsError(
            f"{recipe}: extends {base!r}; expected another recipe, which does not extend this one"
        )
    return _merged(_values(base, chain), values)


def _text(recipe: str) -> str:
    path = Path(recipe)
    if not recipe.endswith(".toml"):
        return recipe_text(recipe)
    if not path.is_file():
        raise SettingsError(f"{recipe}: no such recipe file")
    return path.read_text(encoding="utf-8")


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


def _read_change(change: str) -> tuple[str, Any]:
    """Key and value of `key=value`; the value is read as TOML, else taken as a string."""
    key, equals, text = change.partition("=")
    if not equals or not key:
        raise SettingsError(f"--set {change!r}: expected key=value, such as --set training.epochs=3")
    try:
        return key, tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return key, text


def _apply(values: dict[str, Any], key: str, value: Any, where: str, written: Set[str]) -> None:
    """Set one dotted key, of those that the user wrote; another kind loses what is foreign to it."""
    *path, last = key.split(".")
    table = values
    for name in path:
        if table.get(name) is None or table[name] is False:  # also a part that is off
            table[name] = {}
        table = table[name]
        if not isinstance(table, dict):
            raise SettingsError(f"{where}: setting {key!r}: {name!r} is a value, not a table of settings")
    is_other_kind = last == "kind" and value != table.get(last)
    table[last] = value
    if is_other_kind:
        _drop_foreign(table, path, written)


def _drop_foreign(part: dict[str, Any], path: Sequence[str], written: Set[str]) -> None:
    """Drop what a part has from its former kind and its new one refuses, but for what the user wrote."""
    model = _part_of_kind(path, part["kind"])
    if model is None:
        return
    try:
        model.model_validate(part)
    except ValidationError as error:
        refused = {str(entry["loc"][0]) for entry in error.errors() if entry["loc"]}
        for name in refused & part.keys():
            if ".".join((*path, name)) not in written:
                del part[name]


def _part_of_kind(path: Sequence[str], kind: Any) -> type[BaseModel] | None:
    """The settings class of a kind of part, of our own or of another package; None where there is none."""
    if not isinstance(kind, str):
        return None
    own = [each for each in models_at(Settings, (*path, kind)) if "kind" in each.model_fields]
    found = own[0] if len(own) == 1 else PARTS.get(kind)
    return found if found is not None and issubclass(found, BaseModel) else None


def _explain(error: Any, values: Any) -> str:
    """One wrong setting in words."""
    key = ".".join(_given_keys(error["loc"], values))
    if not error["loc"]:
        return reason(error)
    if error["type"] == "extra_forbidden":
        return f"unknown setting {key!r}{_nearest(key)}; expected {', '.join(_allowed_keys(error['loc']))}"
    if error["type"] == "missing":
        return f"the setting {'.'.join(filter(None, (key, str(error['loc'][-1]))))!r} is missing"
    return f"setting {key!r} is {error['input']!r}: {expectation(error)}"


def _nearest(key: str) -> str:
    """The setting that a misspelt one may be: beside it, or of its name in another group."""
    known = list(dict.fromkeys(setting.key for setting in all_settings()))
    if key in known:
        return " here, as it belongs to a part of another kind"
    of_its_name = [each for each in known if each.rpartition(".")[2] == key.rpartition(".")[2]]
    as_deep = [each for each in known if each.count(".") == key.count(".")]
    return did_you_mean(key, as_deep) or (f" (did you mean {of_its_name[0]!r}?)" if of_its_name else "")


def _given_keys(location: tuple[Any, ...], values: Any) -> Iterator[str]:
    """The parts of a place that the user wrote; pydantic puts the branches of unions between them."""
    for part in location:
        if (isinstance(values, dict) and part in values) or (
            isinstance(values, list) and isinstance(part, int) and part < len(values)
        ):
            values = values[part]
            yield str(part)


def _allowed_keys(location: tuple[int | str, ...]) -> list[str]:
    """The settings beside a wrong one, which are many: by name."""
    return sorted(allowed_keys(Settings, location[:-1]))
