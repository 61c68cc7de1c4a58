"""What types mean, in words: the texts from which a bi-encoder makes its type vectors.

Descriptions of public corpora ship as TOML; anyone's own come from a TOML or JSON file (`description_file`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path

from spanwright.descriptions.description_file import Description, DescriptionFile
from spanwright.descriptions.label_words import label_in_words
from spanwright.errors import InputError

__all__ = [
    "Description",
    "check_used",
    "describe",
    "description_names",
    "label_in_words",
    "read_descriptions",
    "undescribed",
]


def description_names() -> list[str]:
    """The names of the shipped descriptions."""
    entries = (entry.name for entry in resources.files(__name__).iterdir())
    return sorted(name.removesuffix(".toml") for name in entries if name.endswith(".toml"))


def read_descriptions(source: str | Path) -> dict[str, Description]:
    """Type to description: the shipped ones of a name (`bc5cdr`), or those of a TOML or JSON file."""
    if str(source) in description_names():
        shipped = resources.files(__name__) / f"{source}.toml"
        return DescriptionFile(str(source), ".toml").parsed(shipped.read_bytes())
    path = Path(source)
    try:
        data = path.read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(
            f"{path}: cannot be read ({reason}), and no descriptions of that name are shipped; "
            f"expected a TOML or JSON file, or one of {', '.join(description_names())}"
        ) from None
    return DescriptionFile(str(path), path.suffix.lower()).parsed(data)


def describe(types: Sequence[str], given: Mapping[str, Description]) -> dict[str, Description]:
    """The description of each type: the one given under its name, else its name in words.

    A given name that differs from the type only in case serves where none is equal.
    """
    return {type_: _given_or_words(type_, given) for type_ in types}


def undescribed(types: Sequence[str], given: Mapping[str, Description]) -> list[str]:
    """The types for which `describe` has nothing but their names."""
    return [type_ for type_ in types if _given_name(type_, given) is None]


def check_used(types: Sequence[str], given: Mapping[str, Description], where: str) -> None:
    """Refuse descriptions that `describe` would not use, such as one with a typo; `where` is their file."""
    used = {_given_name(type_, given) for type_ in types}
    if unused := [name for name in given if name not in used]:
        raise InputError(
            f"{where}: describes {', '.join(map(repr, unused))}, which would be used for no type; "
            f"expected the types {', '.join(map(repr, types)) or '(none)'}, each once"
        )


def _given_or_words(type_: str, given: Mapping[str, Description]) -> Description:
    name = _given_name(type_, given)
    words = label_in_words(type_)
    return Description(words, words) if name is None else given[name]


def _given_name(type_: str, given: Mapping[str, Description]) -> str | None:
    """The name under which a type is described: its own, else the one that differs only in case."""
    if type_ in given:
        return type_
    alike = [name for name in given if name.casefold() == type_.casefold()]
    if len(alike) > 1:
        raise InputError(
            f"the type {type_!r} has descriptions under {', '.join(map(repr, alike))}; "
            "expected one of them, or one that is spelt like the type"
        )
    return alike[0] if alike else None
