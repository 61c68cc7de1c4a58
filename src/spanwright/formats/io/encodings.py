"""What bytes that are not UTF-8 look like, and the command that makes UTF-8 of them.

Corpora are read as UTF-8. These guesses change nothing about that: they go into the messages that refuse a
file or a line, because a user who knows the encoding can put it right with one command.
"""

from __future__ import annotations

import codecs
import re
import shlex
from pathlib import Path
from typing import NamedTuple

from spanwright.formats.io.opening import bare_path, is_compressed

_MARKS = (  # The longer ones first: the mark of UTF-16 LE begins that of UTF-32 LE.
    ("UTF-32LE", codecs.BOM_UTF32_LE),
    ("UTF-32BE", codecs.BOM_UTF32_BE),
    ("UTF-16LE", codecs.BOM_UTF16_LE),
    ("UTF-16BE", codecs.BOM_UTF16_BE),
)
_FEWEST_BYTES = 16
_HIGH_BYTES = re.compile(rb"[\x80-\xff]+")
_HAN = re.compile(r"[\u3000-\u303f\u3400-\u9fff\uff00-\uffef]+")
_MOST_ACCENTS = 2
"""High bytes in a row, in languages that Windows-1252 is made for."""
_SHOWN_CHARACTERS = 12


class Wide(NamedTuple):
    """An encoding of two or four bytes a character, and how it shows."""

    encoding: str
    sign: str


def wide_encoding(raw: bytes, offset: int = 0) -> Wide | None:
    """The encoding of bytes that stand at an offset of a file and are UTF-16 or UTF-32; None if they are not.

    A mark at the beginning of the file shows it, or NUL in nearly every second byte and in no other.
    """
    for encoding, mark in _MARKS if offset == 0 else ():
        if raw.startswith(mark):
            return Wide(encoding, f"it starts with {mark.hex(' ').upper()}")
    if b"\0" not in raw or len(raw) < _FEWEST_BYTES:
        return None
    even, odd = raw[offset % 2 :: 2], raw[1 - offset % 2 :: 2]
    for encoding, high, low in (("UTF-16LE", odd, even), ("UTF-16BE", even, odd)):
        if high.count(0) >= 0.7 * len(high) and not low.count(0):
            return Wide(encoding, "every second byte is NUL")
    return None


def wide_reason(found: Wide, path: Path | None) -> str:
    """Why a file in a wide encoding is refused, and what to do."""
    return f"looks like {found.encoding}: {found.sign}; expected UTF-8; {_fix(found.encoding, path)}"


def narrow_reason(line: bytes, at: int, path: Path | None) -> str:
    """What a line whose byte at `at` is not UTF-8 looks like, and what to do; '' if that is not clear."""
    encoding = _narrow_encoding(line)
    if encoding is None:
        return ""
    shown, before = line.decode(encoding), len(line[:at].decode(encoding))
    excerpt = shown[max(0, before - _SHOWN_CHARACTERS) : before + _SHOWN_CHARACTERS]
    return f"; in {encoding} it reads {excerpt.strip()!r}: if so, {_fix(encoding, path)}"


def _narrow_encoding(line: bytes) -> str | None:
    """GB18030 or Windows-1252 (which holds Latin-1), where a line without any good UTF-8 fits one of them."""
    if b"\0" in line or not line.decode("utf-8", errors="ignore").isascii():
        return None
    runs = _HIGH_BYTES.findall(line)
    try:
        if all(len(run) % 2 == 0 and _HAN.fullmatch(run.decode("gb18030")) for run in runs):
            return "GB18030"
    except UnicodeDecodeError:
        pass
    try:
        line.decode("cp1252")
    except UnicodeDecodeError:
        return None
    return "WINDOWS-1252" if all(len(run) <= _MOST_ACCENTS for run in runs) else None


def _fix(encoding: str, path: Path | None) -> str:
    command = f"iconv -f {encoding} -t UTF-8"
    if path is None:
        return f"send it through {command}"
    plain = bare_path(path)
    first = "decompress it and convert it" if is_compressed(path) else "convert it"
    return f"{first} with: {command} {shlex.quote(str(plain))} > {shlex.quote(f'utf8-{plain.name}')}"
