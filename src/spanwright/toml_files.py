"""TOML files that are checked against a pydantic model: reading one, and saying what is wrong in it."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from spanwright.errors import InputError, did_you_mean
from spanwright.wrong_values import reason


def read_toml(path: Path, *, hint: str) -> dict[str, Any]:
    """The values of a file; the hint says what to do if there is none."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; {hint}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: not valid TOML: {error}") from None


def reasons(error: ValidationError, model: type[BaseModel]) -> str:
    """All mistakes in the values of a model in words."""
    return "; ".join(_explain(entry, model) for entry in error.errors())


def _explain(error: Any, model: type[BaseModel]) -> str:
    place = ".".join(map(str, error["loc"]))
    if error["type"] == "missing":
        return f"{place!r} is missing"
    if error["type"] == "extra_forbidden":
        known = allowed_keys(model, error["loc"][:-1])
        near = did_you_mean(str(error["loc"][-1]), known)
        return f"{place!r} is unknown{near}; expected {', '.join(known)}"
    if error["type"] == "value_error":
        # A check of our own, which says what it found.
        return f"{place!r}: {reason(error)}" if place else reason(error)
    return f"{place!r} is {error['input']!r}: {expectation(error)}"


def expectation(error: Any) -> str:
    """What is expected in place of a wrong value, and which of the allowed ones may be meant."""
    if error["type"] != "literal_error":
        return reason(error)
    allowed = [word.strip("'") for word in str(error["ctx"]["expected"]).replace(" or ", ", ").split(", ")]
    return f"{reason(error)}{did_you_mean(str(error['input']), allowed)}"


def allowed_keys(model: type[BaseModel], location: tuple[int | str, ...]) -> list[str]:
    """The keys at a place in a model."""
    # A dictionary, as models of several kinds may share keys.
    return list(
        dict.fromkeys(
            field.alias or name
            for each in models_at(model, location)
            for name, field in each.model_fields.items()
        )
    )


def models_at(model: type[BaseModel], location: tuple[int | str, ...]) -> list[type[BaseModel]]:
    """What a place in a model may be; its path may go through kinds, list positions and free keys."""
    models = [model]
    for part in location:
        fields = [each.model_fields[part] for each in models if part in each.model_fields]
        inner = [found for field in fields for found in _models_in(field.annotation)]
        of_kind = [each for each in models if part == _kind(each)]
        models = inner or of_kind or models
    return models


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [found for argument in get_args(annotation) for found in _models_in(argument)]


def _kind(model: type[BaseModel]) -> str | None:
    kinds = get_args(model.model_fields["kind"].annotation) if "kind" in model.model_fields else ()
    return kinds[0] if kinds else None
