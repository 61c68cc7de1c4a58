"""The lines of a UTF-8 file as a stream, and whole UTF-8 texts: what the readers of text formats stand on.

Bytes that are not UTF-8 do not stop the reading. They come out as an `Undecodable` in place of the line (or
the text), and its reason tells where they are, so that the reader can reject the record around them:

    for number, line in read_lines(path):
        if isinstance(line, Undecodable):
            log.reject_entity(path, number, line.reason)
            continue
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from spanwright.corpora.opening import open_bytes


@dataclass(frozen=True, slots=True)
class Undecodable:
    """A line or a text that is not valid UTF-8."""

    line: int
    """Of the first illegal byte, counted from 1."""
    reason: str
    """Names the illegal byte and its offset, in the words of a problem of the log."""
    replaced: str
    """The line with U+FFFD for what is illegal: good enough to tell what kind of line it was."""


def read_lines(path: Path) -> Iterator[tuple[int, str | Undecodable]]:
    """Yield (line number from 1, line without its end) of a file, one line in memory at a time.

    Lines end with LF or CRLF and nothing else: a lone carriage return, a form feed or U+2028 is text. A byte
    order mark is left out. A file that ends with a line end has no empty line behind it.
    """
    with open_bytes(path) as file:
        yield from decode_lines(file)


def decode_lines(raw_lines: Iterable[bytes]) -> Iterator[tuple[int, str | Undecodable]]:
    """Yield (line number from 1, line without its end) of the lines of a byte stream, as of a file."""
    offset = 0
    for number, raw in enumerate(raw_lines, start=1):
        try:
            line = raw.decode("utf-8")
        except UnicodeDecodeError as error:
            yield number, _undecodable(error, number, line_start=0, offset=offset)
        else:
            if number == 1:
                line = line.removeprefix("\ufeff")
            if line.endswith("\r\n"):
                line = line[:-2]
            elif line.endswith("\n"):
                line = line[:-1]
            yield number, line
        offset += len(raw)


def read_text(path: Path) -> str | Undecodable:
    """The whole text of a file with its line ends as they are, without a byte order mark."""
    with open_bytes(path) as file:
        raw = file.read()
    try:
        return raw.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        return _undecodable(error, line, line_start=raw.rfind(b"\n", 0, error.start) + 1, offset=0)


def read_marked_text(path: Path) -> tuple[str, dict[int, str]]:
    """The whole text of a file with LF as its line ends, and by number why lines are not UTF-8.

    In the text, such a line has replacement characters.
    """
    text = read_text(path)
    if isinstance(text, str):
        return text.replace("\r\n", "\n"), {}
    lines: list[str] = []
    reasons: dict[int, str] = {}
    for number, line in read_lines(path):
        if isinstance(line, Undecodable):
            reasons[number] = line.reason
        lines.append(line if isinstance(line, str) else line.replaced)
    return "\n".join(lines), reasons


def _undecodable(error: UnicodeDecodeError, line: int, *, line_start: int, offset: int) -> Undecodable:
    """`line_start`: of the line, in the bytes of the error; `offset`: of those bytes, in the file."""
    byte = error.object[error.start]
    return Undecodable(
        line,
        f"byte 0x{byte:02x} at offset {error.start - line_start} of the line (offset {offset + error.start} "
        f"of the file) is not valid UTF-8: {error.reason}; legal are files in UTF-8",
        error.object[line_start:].decode("utf-8", errors="replace").partition("\n")[0].removesuffix("\r"),
    )
