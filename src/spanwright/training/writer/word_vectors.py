"""Word vectors from files: word2vec (text and binary), GloVe, and fastText's .vec, each also as .gz.

    word2vec text, .vec    a line `rows size`, then lines of a word and its numbers
    word2vec binary        a line `rows size`, then a word, a blank and its numbers as little-endian float32
    GloVe                  lines of a word and its numbers

The content decides the form, not the name. Files are read as a stream and only the rows of wanted words are
parsed and kept, so memory is bounded by the vocabulary. Words are compared as bytes: one that is not UTF-8 is
wanted by nobody. A word of a text file may hold blanks, as some of GloVe's do.

They are for the decoders of Joint-IB, which begin with word vectors in its paper; without
`auxiliaries.span_vae.vectors` they begin at random, so that what vectors are worth can be measured.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

import numpy as np

from spanwright.arrays import Floats32
from spanwright.errors import InputError

Stream = gzip.GzipFile | BinaryIO

_EXPECTED = "expected word2vec (text or binary), GloVe or fastText's .vec (not its .bin), each also as .gz"
_GZIP_MARK = b"\x1f\x8b"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_CONTROL = bytes(set(range(32)) - set(b"\t\r\n"))
_LARGEST_SIZE = 1 << 16
_LONGEST_LINE = 1 << 21
_HEAD_BYTES = 1 << 16
_BLOCK_BYTES = 1 << 20


def read_word_vectors(path: str | Path, words: Collection[str]) -> tuple[dict[str, Floats32], int]:
    """The vectors (size,) of those of the words that a file has, and the size of its vectors.

    A word that is not in the file has the vector of its lower-cased form, if that is there. Of several rows
    of a word the first counts.
    """
    path = Path(path)
    if not path.is_file():
        raise InputError(f"{path}: no such file of word vectors")
    try:
        with _opened(path) as file:
            rows, size = _rows(path, file, {form.encode() for word in words for form in _forms(word)})
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InputError(f"{path}: not a whole gzip file ({error}); fetch it again") from error
    found: dict[str, Floats32] = {}
    for word in words:
        for form in _forms(word):
            if form.encode() in rows:
                found.setdefault(word, rows[form.encode()])
    return found, size


def vector_table(words: Sequence[str], vectors: Mapping[str, Floats32], size: int) -> Floats32:
    """(words, size): a row for each word, of NaN where it has no vector."""
    table = np.full((len(words), size), np.nan, dtype=np.float32)
    for number, word in enumerate(words):
        if word in vectors:
            table[number] = vectors[word]
    return table


def _forms(word: str) -> tuple[str, str]:
    """The spellings under which a word is looked up, the better one first."""
    return word, word.lower()


def _opened(path: Path) -> Stream:
    with path.open("rb") as file:
        compressed = file.read(len(_GZIP_MARK)) == _GZIP_MARK
    return gzip.open(path) if compressed else path.open("rb", buffering=_BLOCK_BYTES)


def _rows(path: Path, file: Stream, wanted: set[bytes]) -> tuple[dict[bytes, Floats32], int]:
    """The rows of wanted words, and the size of rows."""
    line = file.readline(_LONGEST_LINE)
    start = len(_BYTE_ORDER_MARK) if line.startswith(_BYTE_ORDER_MARK) else 0
    first = line[start:].split()
    if len(first) == 2 and all(map(bytes.isdigit, first)):
        count, size = map(int, first)
        if not 1 <= size <= _LARGEST_SIZE:
            raise InputError(f"{path}:1: vectors of size {size}; expected sizes from 1 to {_LARGEST_SIZE}")
        read = _text_rows if _is_text(file) else _binary_rows
        found = read(path, file, wanted, size=size, count=count)
    elif len(first) > 1 and all(map(_is_number, first[1:])):
        size = len(first) - 1
        file.seek(start)
        found = _text_rows(path, file, wanted, size=size, count=None)
    else:
        raise InputError(f"{path}:1: no word vectors in {_shown(line)}; {_EXPECTED}")
    rows: dict[bytes, Floats32] = {}
    for word, row in found:
        rows.setdefault(word, row)
    return rows, size


def _is_text(file: Stream) -> bool:
    """Whether text follows and not binary rows, whose numbers are seldom ASCII and hardly ever printable."""
    place = file.tell()
    head = file.read(_HEAD_BYTES)
    file.seek(place)
    _, _, numbers = head.partition(b"\n")[0].partition(b" ")
    return numbers.isascii() and head.translate(None, _CONTROL) == head


def _text_rows(
    path: Path, file: Stream, wanted: set[bytes], *, size: int, count: int | None
) -> Iterator[tuple[bytes, Floats32]]:
    """The rows of wanted words after a line `count size`, or without such a line."""
    seen = 0
    for number, raw in enumerate(file, start=1 if count is None else 2):
        line = raw.rstrip()
        if not line:
            continue
        seen += 1
        # Counting blanks is a tenth of the work of taking a row apart, and nearly all rows are unwanted.
        word, _, numbers = line.partition(b" ")
        if not numbers or numbers.count(b" ") != size - 1:
            word, numbers = _taken_apart(line, size, f"{path}:{number}")
        if word in wanted:
            yield word, _parsed(numbers, size, f"{path}:{number}")
    if count is not None and seen != count:
        raise InputError(f"{path}: {seen} rows; expected {count}, as its first line says; fetch it again")


def _taken_apart(line: bytes, size: int, where: str) -> tuple[bytes, bytes]:
    """Word and numbers of a row with blanks in its word, or with tabs or several blanks between numbers."""
    word, *numbers = line.rsplit(None, size)
    extra = word.split()[1:]
    found = len(numbers) + (len(extra) if all(map(_is_number, extra)) else 0)
    if found != size:
        raise InputError(f"{where}: {found} numbers after the word {_shown(word)}; expected {size}")
    return word, b" ".join(numbers)


def _parsed(numbers: bytes, size: int, where: str) -> Floats32:
    """(size,): a row of numbers in text."""
    fields = numbers.split()
    try:
        row = np.array(list(map(float, fields)))
    except ValueError:
        wrong = next(field for field in fields if not _is_number(field))
        raise InputError(
            f"{where}: {_shown(wrong)} is not a number; expected {size} finite numbers"
        ) from None
    with np.errstate(over="ignore"):
        return _checked(row.astype(np.float32), size, where)


def _binary_rows(
    path: Path, file: Stream, wanted: set[bytes], *, size: int, count: int
) -> Iterator[tuple[bytes, Floats32]]:
    """The rows of wanted words after a line `count size`."""
    width = size * np.dtype(np.float32).itemsize
    block, place = b"", 0
    for number in range(1, count + 1):
        blank = block.find(b" ", place)
        while blank < 0 or len(block) < blank + 1 + width:
            more = file.read(_BLOCK_BYTES)
            if not more:
                raise InputError(
                    f"{path}: ends in row {number} of {count} rows of size {size}; fetch it again"
                )
            block, place = block[place:] + more, 0
            blank = block.find(b" ")
        # Some writers end rows with a line end, others do not.
        word = block[place:blank].lstrip(b"\n")
        if word in wanted:
            row = np.frombuffer(block, "<f4", size, blank + 1).astype(np.float32)
            yield word, _checked(row, size, f"{path}: row {number}")
        place = blank + 1 + width
    if (block[place:] + file.read(_HEAD_BYTES)).strip():
        raise InputError(f"{path}: more than the {count} rows that its first line says; {_EXPECTED}")


def _checked(row: Floats32, size: int, where: str) -> Floats32:
    if len(row) != size or not np.isfinite(row).all():
        found = f"{len(row)} numbers" if len(row) != size else "a number that is not finite"
        raise InputError(f"{where}: {found}; expected {size} finite numbers")
    return row


def _is_number(field: bytes) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def _shown(found: bytes) -> str:
    return repr(found[:40].decode("utf-8", "replace"))
