"""All settings in a list: what each is called, its usual value, what it means, and what may be chosen."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, TypeAdapter
from pydantic.fields import FieldInfo

from spanwright.settings.settings import Settings
from spanwright.toml_text import value_text

_BOUNDS = {"gt": "more than", "ge": "at least", "lt": "less than", "le": "at most"}
_ANY = TypeAdapter(Any)
_NAMES = {int: "whole number", float: "number", bool: "true or false", str: "text", type(None): "none"}


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting."""

    key: str
    """With its groups, as `--set` takes it; of a list, that of the list."""
    kind: str
    """The kind of part that has it; empty where all have it."""
    usual: str
    """As TOML would say it; empty where it must be given."""
    choices: str
    meaning: str


@cache
def all_settings() -> tuple[Setting, ...]:
    """Every setting, in the order of a recipe."""
    return tuple(setting for setting, _ in _of_model(Settings, "", "", None))


def with_values(settings: Settings) -> Iterator[tuple[Setting, str]]:
    """Every setting with its value, as TOML would say it; the usual one where the part that has it is off."""
    return _of_model(Settings, "", "", settings)


def _of_model(
    model: type[BaseModel], place: str, kind: str, group: BaseModel | None
) -> Iterator[tuple[Setting, str]]:
    """The settings of a class with their values in a group of that class; the usual ones without a group."""
    meanings = _meanings(model)
    for name, field in model.model_fields.items():
        key = f"{place}{name}"
        inner = _models(field.annotation)
        value = getattr(group, name) if group is not None else None
        if name != "kind" or not _kind(model):
            usual, choices = _usual(field), _choices(field.annotation, field)
            setting = Setting(key, kind, usual, choices, meanings.get(name, _about(inner)))
            yield setting, usual if group is None else _written(value)
        for each in inner:
            yield from _of_model(each, f"{key}.", _kind(each) or kind, _only(each, value))


def _only(model: type[BaseModel], value: Any) -> BaseModel | None:
    """The one group of a class that a value is or has; of several in a list, none stands for all."""
    entries = value.values() if isinstance(value, dict) else value if isinstance(value, tuple) else (value,)
    found = [entry for entry in entries if isinstance(entry, model)]
    return found[0] if len(found) == 1 else None


def _models(annotation: Any) -> list[type[BaseModel]]:
    """The groups of settings that a value may be."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [] if _is_from_outside(annotation) else [annotation]
    found = [model for argument in get_args(annotation) for model in _models(argument)]
    return list(dict.fromkeys(found))


def _is_from_outside(model: type[BaseModel]) -> bool:
    """Whether a class stands for those of other packages, of any kind."""
    return "kind" in model.model_fields and not _kinds(model)


def _kind(model: type[BaseModel]) -> str:
    """The kind that a class is for; empty where `kind` is a choice of its own, as that of taggers."""
    kinds = _kinds(model)
    return str(kinds[0]) if len(kinds) == 1 else ""


def _kinds(model: type[BaseModel]) -> tuple[Any, ...]:
    field = model.model_fields.get("kind")
    return get_args(field.annotation) if field is not None else ()


def _about(models: list[type[BaseModel]]) -> str:
    """What a group is about, from the first line of its class."""
    return (models[0].__doc__ or "").strip().partition("\n")[0] if models else ""


def _usual(field: FieldInfo) -> str:
    return "" if field.is_required() else _written(field.get_default(call_default_factory=True))


def _written(value: Any) -> str:
    """A value as TOML would say it; of a part its kind, as its settings have lines of their own."""
    if isinstance(value, BaseModel):
        return f'kind = "{getattr(value, "kind", "")}"' if hasattr(value, "kind") else "as below"
    return "none" if value is None else value_text(_ANY.dump_python(value, mode="json", exclude_none=True))


def _choices(annotation: Any, field: FieldInfo | None = None) -> str:
    """What may be chosen, in words."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _choices(arguments[0]) + _bounds(arguments[1:])
    if origin in (Union, UnionType):
        named = (_choices(argument) for argument in arguments)
        shown = " or ".join(dict.fromkeys(filter(None, named)))
    elif origin is Literal:
        shown = ", ".join(
            f'"{value}"' if isinstance(value, str) else str(value).lower() for value in arguments
        )
    elif origin is tuple or origin is list:
        shown = f"list of {_choices(arguments[0])}"
    elif origin is dict:
        shown = f"table of {_choices(arguments[1])}"
    elif isinstance(annotation, type) and issubclass(annotation, BaseModel):
        shown = (
            "kind of another package"
            if _is_from_outside(annotation)
            else f'kind "{_kind(annotation)}"'
            if _kind(annotation)
            else "table"
        )
    else:
        shown = _NAMES.get(annotation, "")
    return shown + (_bounds(field.metadata) if field is not None else "")


def _bounds(metadata: Any) -> str:
    """Limits that pydantic keeps beside a type."""
    parts = [part for each in metadata for part in (getattr(each, "metadata", None) or [each])]
    shown = [
        f"{words} {getattr(part, name)}"
        for part in parts
        for name, words in _BOUNDS.items()
        if getattr(part, name, None) is not None
    ]
    return f" ({', '.join(shown)})" if shown else ""


@cache
def _meanings(model: type[BaseModel]) -> dict[str, str]:
    """The texts that stand below the fields of a class and of those it is made from."""
    found: dict[str, str] = {}
    for each in reversed(model.__mro__):
        if issubclass(each, BaseModel) and each.__module__.startswith("spanwright"):
            found |= _written_below(each)
    return found


def _written_below(model: type[BaseModel]) -> dict[str, str]:
    (definition,) = ast.parse(textwrap.dedent(inspect.getsource(model))).body
    assert isinstance(definition, ast.ClassDef)
    pairs = zip(definition.body, definition.body[1:], strict=False)
    return {
        field.target.id: " ".join(text.value.value.split())
        for field, text in pairs
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(text, ast.Expr)
        and isinstance(text.value, ast.Constant)
        and isinstance(text.value.value, str)
    }
