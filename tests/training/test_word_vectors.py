"""Word vectors come back from every form of file, and broken files say where they are broken."""

from __future__ import annotations

import gzip
import itertools
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spanwright.training.writer.word_vectors as word_vectors
from spanwright.arrays import Floats32
from spanwright.errors import InputError
from spanwright.training.writer.word_vectors import read_word_vectors, vector_table

Rows = list[tuple[str, list[float]]]
ROWS: Rows = [("cell", [0.5, -1.25, 3e-05]), ("Gene", [1.0, 0.0, -2.0]), ("größe", [7.5, 8.0, 9.0])]


def header(rows: Rows) -> str:
    return f"{len(rows)} {len(rows[0][1])}\n"


def glove(rows: Rows) -> bytes:
    return "".join(f"{word} {' '.join(map(repr, row))}\n" for word, row in rows).encode()


def word2vec_text(rows: Rows) -> bytes:
    """With a blank after the last number, as the original program writes it."""
    return header(rows).encode() + glove(rows).replace(b"\n", b" \n")


def fasttext(rows: Rows) -> bytes:
    return header(rows).encode() + glove(rows)


def binary(rows: Rows, end: bytes = b"\n") -> bytes:
    return header(rows).encode() + b"".join(
        word.encode() + b" " + np.array(row, dtype="<f4").tobytes() + end for word, row in rows
    )


def binary_without_line_ends(rows: Rows) -> bytes:
    return binary(rows, end=b"")


def with_tabs(rows: Rows) -> bytes:
    return glove(rows).replace(b" ", b"\t")


def with_windows_line_ends(rows: Rows) -> bytes:
    return b"\xef\xbb\xbf" + fasttext(rows).replace(b"\n", b"\r\n")


FORMS = [
    glove,
    word2vec_text,
    fasttext,
    binary,
    binary_without_line_ends,
    with_tabs,
    with_windows_line_ends,
]
Write = Callable[[Rows], bytes]
every_form = pytest.mark.parametrize("form", FORMS)


def written(folder: Path, content: bytes, name: str = "vectors") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def as_lists(found: dict[str, Floats32]) -> dict[str, list[float]]:
    return {word: row.tolist() for word, row in found.items()}


def as_floats(rows: Rows) -> dict[str, list[float]]:
    return {word: np.array(row, dtype=np.float32).tolist() for word, row in rows}


@every_form
@pytest.mark.parametrize("compress", [bytes, gzip.compress])
def test_every_form_comes_back(form: Write, compress: Callable[[bytes], bytes], tmp_path: Path) -> None:
    found, size = read_word_vectors(written(tmp_path, compress(form(ROWS))), [word for word, _ in ROWS])
    assert size == 3
    assert as_lists(found) == as_floats(ROWS)
    assert all(row.dtype == np.float32 for row in found.values())


words = st.text(st.characters(codec="utf-8", exclude_categories=("Z", "C")), min_size=1, max_size=8)
numbers = st.floats(-100, 100, width=32)


@every_form
@settings(max_examples=30)
@given(
    table=st.integers(2, 5).flatmap(
        lambda size: st.dictionaries(words, st.lists(numbers, min_size=size, max_size=size), min_size=1)
    )
)
def test_any_words_and_numbers_come_back(form: Write, table: dict[str, list[float]]) -> None:
    rows = list(table.items())
    if "binary" in form.__name__:
        # Real files have thousands of numbers, among which is one that cannot be text.
        rows = [(word, [*row, 0.5]) for word, row in rows]
    with TemporaryDirectory() as folder:
        found, size = read_word_vectors(written(Path(folder), form(rows)), list(table))
    assert size == len(rows[0][1])
    assert as_lists(found) == as_floats(rows)


@every_form
def test_only_wanted_words_are_kept_and_unknown_ones_left_out(form: Write, tmp_path: Path) -> None:
    found, _ = read_word_vectors(written(tmp_path, form(ROWS)), ["größe", "absent"])
    assert list(found) == ["größe"]


def test_a_word_is_looked_up_as_it_is_and_then_in_lower_case(tmp_path: Path) -> None:
    path = written(tmp_path, glove([("gene", [1.0, 1.0]), ("Gene", [2.0, 2.0]), ("DNA", [3.0, 3.0])]))
    found, _ = read_word_vectors(path, ["Gene", "gene", "GENE", "dna"])
    assert as_lists(found) == {"Gene": [2.0, 2.0], "gene": [1.0, 1.0], "GENE": [1.0, 1.0]}


@every_form
def test_of_several_rows_of_a_word_the_first_counts(form: Write, tmp_path: Path) -> None:
    found, _ = read_word_vectors(written(tmp_path, form([("a", [0.5, 1.0]), ("a", [2.0, 2.0])])), ["a"])
    assert found["a"].tolist() == [0.5, 1.0]


def test_words_of_glove_may_hold_blanks(tmp_path: Path) -> None:
    content = b". . . 1 2 3\nat name@example.org 4 5 6\ncell 7 8 9\n"
    path = written(tmp_path, b"first 0 0 0\n" + content)
    found, _ = read_word_vectors(path, ["cell", "at", ". . ."])
    assert as_lists(found) == {"cell": [7, 8, 9], ". . .": [1, 2, 3]}


def test_words_that_are_not_utf_8_are_passed_over(tmp_path: Path) -> None:
    path = written(tmp_path, b"2 2\n\xff\xfe 1 2\ncell 3 4\n")
    assert as_lists(read_word_vectors(path, ["cell"])[0]) == {"cell": [3, 4]}


def test_binary_rows_across_blocks_come_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows: Rows = [(f"word{number}", [number + 0.5, -number, 0.1]) for number in range(50)]
    path = written(tmp_path, binary(rows))
    for size in (2, 7, 64):
        monkeypatch.setattr(word_vectors, "_BLOCK_BYTES", size)
        assert as_lists(read_word_vectors(path, [word for word, _ in rows])[0]) == as_floats(rows)


def test_a_table_has_a_row_for_each_word_and_nan_where_there_is_no_vector() -> None:
    table = vector_table(["a", "b"], {"b": np.array([1, 2], dtype=np.float32)}, 2)
    assert np.isnan(table[0]).all()
    assert table[1].tolist() == [1, 2]
    assert table.dtype == np.float32


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", r":1: no word vectors in ''; expected word2vec \(text or binary\), GloVe"),
        (b"once upon a time\n", ":1: no word vectors in 'once upon a time.n'; expected"),
        (bytes(range(256)), ":1: no word vectors in"),
        (b"cell 1 2\ngene 1\n", ":2: 1 numbers after the word 'gene'; expected 2"),
        (b"cell 1 2\ngene 1 2 3\n", ":2: 3 numbers after the word 'gene 1'; expected 2"),
        (b"2 2\ncell 1 2\nother\n", ":3: 0 numbers after the word 'other'; expected 2"),
        (b"2 3\ncell 1 2\ngene 1 2\n", ":2: 2 numbers after the word 'cell'; expected 3"),
        (b"cell 1 2\ngene 1 x\n", ":2: 'x' is not a number; expected 2 finite numbers"),
        (b"1 2\ngene nan 1\n", ":2: a number that is not finite; expected 2 finite numbers"),
        (b"1 2\ngene 1e60 1\n", ":2: a number that is not finite"),
        (b"2 2\ngene 1 2\n", ": 1 rows; expected 2, as its first line says"),
        (b"1 2\ngene 1 2\ncell 1 2\n", ": 2 rows; expected 1"),
        (b"5 0\n", ":1: vectors of size 0; expected sizes from 1 to 65536"),
        (b"5 99999999999\n", ":1: vectors of size 99999999999; expected"),
        (binary(ROWS)[:-6], ": ends in row 3 of 3 rows of size 3; fetch it again"),
        (binary(ROWS).replace(b"3 3", b"4 3", 1), ": ends in row 4 of 4 rows"),
        (binary(ROWS).replace(b"3 3", b"2 3", 1), ": more than the 2 rows that its first line says"),
        (binary([("gene", [1.0, float("inf")])]), ": row 1: a number that is not finite; expected 2"),
        (gzip.compress(glove(ROWS), mtime=0)[:-9], "not a whole gzip file"),
        (gzip.compress(glove(ROWS), mtime=0)[:-8] + bytes(8), "not a whole gzip file"),
    ],
    ids=itertools.count(),
)
def test_a_broken_file_says_where_and_what_is_legal(content: bytes, reason: str, tmp_path: Path) -> None:
    path = written(tmp_path, content, "broken.vec")
    with pytest.raises(InputError, match=f"broken.vec(: )?{reason}"):
        read_word_vectors(path, ["gene"])


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nothing\.vec: no such file of word vectors"):
        read_word_vectors(tmp_path / "nothing.vec", ["gene"])
