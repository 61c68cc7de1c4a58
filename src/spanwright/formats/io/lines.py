"""The lines of a UTF-8 file as a stream, and whole UTF-8 texts: what the readers of text formats stand on.

Bytes that are not UTF-8 do not stop the reading. They come out as an `Undecodable` in place of the line (or
the text), and its reason says where they are, so that the reader can reject the record around them:

    for number, line in read_lines(path):
        if isinstance(line, Undecodable):
            log.reject_entity(path, number, line.reason)
            continue
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from spanwright.errors import InputError
from spanwright.formats.io.encodings import narrow_reason, wide_encoding, wide_reason
from spanwright.formats.io.opening import open_bytes

_CHUNK_BYTES = 1 << 20
_HEAD_BYTES = 1 << 16
_RETURNS = re.compile(r"\r+\n?")


@dataclass(frozen=True, slots=True)
class Undecodable:
    """A line or a text that is not valid UTF-8."""

    line: int
    """Of the first byte that is not UTF-8, counted from 1."""
    reason: str
    """Names that byte and its offset, in the words of a problem of the log."""
    replaced: str
    """The line with U+FFFD for what is not UTF-8: good enough to see what kind of line it was."""


def read_lines(path: Path) -> Iterator[tuple[int, str | Undecodable]]:
    """Yield (line number from 1, line without its end) of a file, one line in memory at a time.

    Lines end with LF, CRLF or CR, as `split_lines` says; a form feed or U+2028 is text. A byte order mark is
    left out. A file that ends with a line end has no empty line after it. One in UTF-16 is an `InputError`.
    """
    with open_bytes(path) as file:
        yield from decode_lines(file, path)


def decode_lines(stream: BinaryIO, path: Path | None = None) -> Iterator[tuple[int, str | Undecodable]]:
    """Yield (line number from 1, line without its end) of a byte stream, as of a file.

    `path` is what errors name.
    """
    offset = 0
    for number, raw in enumerate(split_lines(stream), start=1):
        if (number == 1 or b"\0" in raw) and (wide := wide_encoding(raw, offset)):
            raise InputError(f"{path or 'standard input'}:{number}: {wide_reason(wide, path)}")
        try:
            line = raw.decode("utf-8")
        except UnicodeDecodeError as error:
            yield number, _undecodable(error, number, offset, path)
        else:
            yield number, (line.removeprefix("\ufeff") if number == 1 else line).rstrip("\r\n")
        offset += len(raw)


def split_lines(stream: BinaryIO) -> Iterator[bytes]:
    """Yield the lines of a byte stream with their ends, which may be of several kinds in one file.

    A line ends with LF, CRLF or CR. Several CR before an LF are one end, too: such files come from writing
    CRLF through a stream that makes CRLF of each LF.
    """
    parts: list[bytes] = []  # of a line that is longer than a chunk
    # Up to each LF, or fewer bytes, so that a file without LF is not read at once.
    while chunk := stream.readline(_CHUNK_BYTES):
        if not parts and b"\r" not in chunk and chunk.endswith(b"\n"):
            yield chunk
            continue
        while chunk.endswith(b"\r") and (more := stream.readline(_CHUNK_BYTES)):
            chunk += more  # a CRLF may have been cut
        body = chunk.rstrip(b"\r\n") if chunk.endswith(b"\n") else chunk
        *ended, last = body.split(b"\r")
        for line in ended:
            yield b"".join([*parts, line, b"\r"])
            parts.clear()
        parts.append(last + chunk[len(body) :])
        if chunk.endswith(b"\n"):
            yield b"".join(parts)
            parts.clear()
    if rest := b"".join(parts):
        yield rest


def read_text(path: Path) -> str | Undecodable:
    """The whole text of a file with its line ends as they are, without a byte order mark."""
    with open_bytes(path) as file:
        raw = file.read()
    if wide := wide_encoding(raw[:_HEAD_BYTES]):
        return Undecodable(1, wide_reason(wide, path), "")
    try:
        return raw.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError:
        lines = (line for _, line in decode_lines(io.BytesIO(raw), path))
        return next(line for line in lines if isinstance(line, Undecodable))


def read_marked_text(path: Path) -> tuple[str, dict[int, str]]:
    """The whole text of a file with LF as its line ends, and by number why lines are not UTF-8.

    In the text, such a line has replacement characters.
    """
    text = read_text(path)
    if isinstance(text, str):
        return with_line_feeds(text), {}
    lines: list[str] = []
    reasons: dict[int, str] = {}
    for number, line in read_lines(path):
        if isinstance(line, Undecodable):
            reasons[number] = line.reason
        lines.append(line if isinstance(line, str) else line.replaced)
    return "\n".join(lines), reasons


def read_head(path: Path) -> str:
    """The beginning of a file with LF as its line ends, good enough to recognise its format."""
    with open_bytes(path) as file:
        raw = file.read(_HEAD_BYTES)
    wide = wide_encoding(raw)
    text = raw.decode(wide.encoding if wide else "utf-8", errors="replace")
    return with_line_feeds(text.removeprefix("\ufeff"))


def with_line_feeds(text: str) -> str:
    """A text with LF for each line end, of whatever kind `split_lines` knows."""
    text = text.replace("\r\n", "\n")
    return _RETURNS.sub(_line_feeds, text) if "\r" in text else text


def _line_feeds(returns: re.Match[str]) -> str:
    return "\n" if returns[0].endswith("\n") else "\n" * len(returns[0])


def _undecodable(error: UnicodeDecodeError, number: int, offset: int, path: Path | None) -> Undecodable:
    """`offset`: of the line, which is the object of the error, in the file."""
    line, at = error.object.rstrip(b"\r\n"), error.start
    return Undecodable(
        number,
        f"byte 0x{line[at]:02x} at offset {at} of the line (offset {offset + at} of the file) is not valid "
        f"UTF-8: {error.reason}; expected UTF-8{narrow_reason(line, at, path)}",
        line.decode("utf-8", errors="replace"),
    )
