"""The reference of settings: every key, its values, what is usual, and what its docstring says."""

from __future__ import annotations

import functools
import re
import typing
from collections.abc import Iterator
from types import UnionType
from typing import Annotated, Any, Literal, get_args, get_origin

import griffe
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from spanwright.settings import Settings
from spanwright.settings.part import OUTSIDE

HEAD = """# Settings

Every setting that a recipe, `--set` or `set=` can change. This page is made from the settings themselves.

```console
$ spanwright train plain --train train.jsonl --dev dev.jsonl --out runs/mine --set training.epochs=5
```

`spanwright recipes plain` prints what a recipe sets. Parts are chosen by `kind`: a part of another kind takes
the place of the recipe's, with usual values for what is not said. What cannot work together is refused with
the reason.
"""


def text() -> str:
    """The page, in Markdown."""
    top = [name for name, field in Settings.model_fields.items() if not _models(field.annotation)]
    lines = [HEAD, "## The top of a recipe\n", *_table(Settings, "", top)]
    for name, field in Settings.model_fields.items():
        models = _models(field.annotation)
        if not models:
            continue
        lines += ["", f"## {name}\n"]
        about = _docs(Settings).get(name)
        lines += [about, ""] if about else []
        for model in models:
            lines += _section(model, name, heading=len(models) > 1)
    return "\n".join(lines) + "\n"


def _section(model: type[BaseModel], key: str, *, heading: bool) -> Iterator[str]:
    """A table of the fields of a model; those of the models in it follow."""
    if heading:
        kinds = get_args(model.model_fields["kind"].annotation) if "kind" in model.model_fields else ()
        yield f"\n### {key}: {' or '.join(f'`{kind}`' for kind in kinds) or _words(model.__name__)}\n"
        yield (model.__doc__ or "").strip() + "\n"
    yield from _table(model, f"{key}.", list(model.model_fields))
    for name, field in model.model_fields.items():
        inner = _models(field.annotation)
        for each in inner:
            yield f"\n### {key}.{name}{'' if len(inner) == 1 else ': ' + _words(each.__name__)}\n"
            yield (each.__doc__ or "").strip() + "\n"
            yield from _table(each, f"{key}.{name}.", list(each.model_fields))


def _table(model: type[BaseModel], prefix: str, names: list[str]) -> Iterator[str]:
    docs = _docs(model)
    yield "| setting | values | usual | what it does |"
    yield "|---|---|---|---|"
    for name in names:
        field = model.model_fields[name]
        cells = (f"`{prefix}{name}`", _values(field), _usual(field), docs.get(name, ""))
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _docs(model: type[BaseModel]) -> dict[str, str]:
    """The docstrings of the fields of a class, also of those that it inherits."""
    found: dict[str, str] = {}
    for base in reversed(model.__mro__):
        if base.__module__.startswith("spanwright"):
            members = _module(base.__module__).members[base.__name__].members
            found |= {
                name: " ".join(member.docstring.value.split())
                for name, member in members.items()
                if member.docstring is not None
            }
    return found


@functools.cache
def _module(name: str) -> Any:
    return griffe.load(name)


def _models(annotation: Any) -> list[type[BaseModel]]:
    """The settings classes that a value may have; parts of other packages are not listed."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    if get_origin(annotation) is Annotated:
        if OUTSIDE in str(annotation.__metadata__):
            return []
        return _models(get_args(annotation)[0])
    if get_origin(annotation) in (dict, Literal):
        return []
    return [model for part in get_args(annotation) for model in _models(part)]


def _values(field: FieldInfo) -> str:
    """What a field may be, in words."""
    described = dict.fromkeys(_alternatives(field.annotation))
    limits = [_limit(each) for each in field.metadata]
    return " or ".join(described) + "".join(f", {limit}" for limit in limits if limit)


def _limit(constraint: Any) -> str:
    signs = {"ge": "at least", "gt": "above", "le": "at most", "lt": "below"}
    told = [
        f"{word} {getattr(constraint, name):g}"
        for name, word in signs.items()
        if hasattr(constraint, name) and abs(getattr(constraint, name)) < 1e9  # that of seeds says nothing
    ]
    return " and ".join(told)


WORDS = {int: "a whole number", float: "a number", str: "a text", bool: "`true` or `false`"}


def _alternatives(annotation: Any) -> Iterator[str]:
    origin, inside = get_origin(annotation), get_args(annotation)
    if annotation in WORDS:
        yield WORDS[annotation]
    elif annotation is type(None):
        yield "nothing"
    elif origin is Literal:
        yield from (f"`{value}`" for value in inside)
    elif origin is Annotated:
        limits = [told for each in inside[1:] for told in [*_inner_limits(each)] if told]
        yield " or ".join(_alternatives(inside[0])) + "".join(f" {limit}" for limit in limits)
    elif origin in (typing.Union, UnionType):
        for part in inside:
            yield from _alternatives(part)
    elif origin is dict:
        yield f"a table of {' or '.join(_alternatives(inside[1]))}"
    elif origin is tuple:
        items = dict.fromkeys(told for part in inside if part is not ... for told in _alternatives(part))
        yield f"a list of {' or '.join(items)}"
    else:
        yield "a table"


def _inner_limits(constraint: Any) -> Iterator[str]:
    yield _limit(constraint)
    for each in getattr(constraint, "metadata", ()):
        yield _limit(each)


def _usual(field: FieldInfo) -> str:
    default = field.get_default(call_default_factory=True)
    if default is PydanticUndefined:
        return "must be given"
    if default is None:
        return ""
    if isinstance(default, BaseModel):
        return f"`{default.kind}`" if hasattr(default, "kind") else ""
    shown = str(list(default)) if isinstance(default, tuple) else str(default)
    return f"`{shown.lower() if isinstance(default, bool) else shown}`" if shown else ""


def _words(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name.removesuffix("Settings")).lower()
