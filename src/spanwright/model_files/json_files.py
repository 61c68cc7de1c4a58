"""JSON files of a model directory, bounded in size and number of values before anything is made of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from spanwright.errors import ModelError

LARGEST = 8 * 1024 * 1024
"""Bytes of a file, unless its reader knows better."""
MOST_VALUES = 500_000
"""Values of a file, likewise: in Python, a value of two bytes takes up to two hundred."""

_MOST_IN_SECTION = 20_000
"""Values of a part of a file, such as the settings, each of which is looked at."""


def content_of(path: Path, largest: int = LARGEST) -> bytes:
    """The bytes of a plain file that is not too large."""
    if path.is_symlink() or not path.is_file():
        raise ModelError(f"{path}: missing, or not a plain file; expected the file of the model")
    if path.stat().st_size > largest:
        raise ModelError(f"{path}: has {path.stat().st_size} bytes; expected at most {largest}")
    return path.read_bytes()


def parse(content: bytes, path: Path, most_values: int = MOST_VALUES) -> dict[str, Any]:
    """The object that the content of a file is."""
    if (values := _count(content)) > most_values:
        raise ModelError(f"{path}: has about {values} values; expected at most {most_values}")
    try:
        text = content.decode("utf-8")
        found = json.loads(text)
        if "\\ud" in text.lower():
            json.dumps(found, ensure_ascii=False).encode("utf-8")  # as no file could hold a lone surrogate
    except RecursionError:
        raise ModelError(f"{path}: lists and objects are nested too deeply") from None
    except UnicodeEncodeError:
        raise ModelError(f"{path}: not valid Unicode: it has a lone surrogate") from None
    except ValueError as error:
        raise ModelError(f"{path}: not valid JSON: {error}") from None
    if not isinstance(found, dict):
        raise ModelError(f"{path}: a JSON object is expected; found {type(found).__name__}")
    return found


def section(
    values: dict[str, Any], name: str, path: Path, most_values: int = _MOST_IN_SECTION
) -> dict[str, Any]:
    """The object of that name in an object."""
    found = values.get(name)
    if not isinstance(found, dict):
        raise ModelError(f"{path}: {name!r} must be an object; found {type(found).__name__}")
    if (count := _count(json.dumps(found).encode())) > most_values:
        raise ModelError(f"{path}: {name!r} has about {count} values; expected at most {most_values}")
    return found


def _count(content: bytes) -> int:
    """About how many values there are: rather too many, as texts may have what begins a value, too."""
    return sum(map(content.count, (b",", b"[", b"{")))


def write(path: Path, values: Any) -> None:
    """Write values as JSON that people can read."""
    path.write_text(json.dumps(values, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
