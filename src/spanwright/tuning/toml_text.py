"""Plain values as TOML, which Python reads but does not write."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def value_text(value: Any) -> str:
    """A value on one line; tables are inline. There is no text for None."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        # A TOML string is a JSON string, but for one control character that JSON leaves as it is.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Mapping):
        inner = ", ".join(f"{_key(key)} = {value_text(entry)}" for key, entry in value.items())
        return f"{{{inner}}}"
    if isinstance(value, Sequence):
        return f"[{', '.join(map(value_text, value))}]"
    raise TypeError(f"{value!r} has no text in TOML; legal are strings, numbers, booleans, lists and tables")


def document_text(values: Mapping[str, Any]) -> str:
    """A TOML document: single values first, then a section for each table."""
    tables = {key: value for key, value in values.items() if isinstance(value, Mapping)}
    lines = [f"{_key(key)} = {value_text(value)}" for key, value in values.items() if key not in tables]
    for name, table in tables.items():
        lines += [
            "",
            f"[{_key(name)}]",
            *(f"{_key(key)} = {value_text(entry)}" for key, entry in table.items()),
        ]
    return "\n".join(lines) + "\n"


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else value_text(name)
