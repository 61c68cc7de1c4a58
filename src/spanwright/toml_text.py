"""Plain values as TOML: whole documents, and the parts that lines with comments or settings are made of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tomli_w


def document_text(values: Mapping[str, Any]) -> str:
    """A TOML document: single values first, then a section for each table."""
    return tomli_w.dumps(values)


def value_text(value: Any) -> str:
    """A value on one line; tables are inline. There is no text for None.

    Searches know their choices by this text, so another one would end those that are under way.
    """
    if isinstance(value, Mapping):
        inner = ", ".join(f"{key_text(key)} = {value_text(entry)}" for key, entry in value.items())
        return f"{{{inner}}}"
    if isinstance(value, list | tuple):
        # The library would give every entry a line of its own.
        return f"[{', '.join(map(value_text, value))}]"
    try:
        line = document_text({"value": value})
    except TypeError:
        raise TypeError(
            f"{value!r} has no text in TOML; expected strings, numbers, booleans, lists and tables"
        ) from None
    return line.removeprefix("value = ").removesuffix("\n").replace("\t", "\\t")


def key_text(name: str) -> str:
    """A key, in quotation marks where it needs them."""
    return document_text({name: 0}).removesuffix(" = 0\n")
