from __future__ import annotations

import io
import re
import tracemalloc
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from naughty import BAD_BYTES
from spanwright.formats.io.lines import (
    Undecodable,
    read_lines,
    read_marked_text,
    read_text,
    split_lines,
    with_line_feeds,
)


def lines_of(folder: Path, content: bytes) -> list[tuple[int, str | Undecodable]]:
    path = folder / "file.txt"
    path.write_bytes(content)
    return list(read_lines(path))


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\r\r\n"])
def test_lines_end_with_any_usual_line_end(tmp_path: Path, end: str) -> None:
    content = f"one{end}two{end}{end}four".encode()
    assert lines_of(tmp_path, content) == [(1, "one"), (2, "two"), (3, ""), (4, "four")]
    assert read_marked_text(tmp_path / "file.txt") == ("one\ntwo\n\nfour", {})


def test_line_ends_may_be_of_several_kinds_in_one_file(tmp_path: Path) -> None:
    assert lines_of(tmp_path, b"one\r\ntwo\rthree\n\rfive\r\rseven\r\r\neight\r") == list(
        enumerate(["one", "two", "three", "", "five", "", "seven", "eight"], start=1)
    )


@given(
    text=st.text(alphabet=st.sampled_from("ab\r\n")),
    chunk=st.integers(1, 5),
)
def test_line_ends_are_found_wherever_a_long_line_is_cut(text: str, chunk: int) -> None:
    expected = re.sub("\r*\n|\r", "\n", text)
    with patch("spanwright.formats.io.lines._CHUNK_BYTES", chunk):
        found = [raw.rstrip(b"\r\n").decode() for raw in split_lines(io.BytesIO(text.encode()))]
    assert found == expected.removesuffix("\n").split("\n") if text else found == []
    assert with_line_feeds(text) == expected
    assert b"".join(split_lines(io.BytesIO(text.encode()))) == text.encode()


def test_memory_does_not_grow_with_a_file_of_many_lines_that_end_with_cr() -> None:
    stream = io.BytesIO(b"some words of a line\r" * 20_000)
    tracemalloc.start()
    try:
        with patch("spanwright.formats.io.lines._CHUNK_BYTES", 1 << 10):
            assert sum(1 for _ in split_lines(stream)) == 20_000
        assert tracemalloc.get_traced_memory()[1] < 100_000
    finally:
        tracemalloc.stop()


def test_no_empty_line_follows_the_last_line_end(tmp_path: Path) -> None:
    assert lines_of(tmp_path, b"one\n") == [(1, "one")]


@pytest.mark.parametrize("character", "\u2028\u2029\x0b\x0c\x1c\x1d\x1e\x85")
def test_other_separators_are_text(tmp_path: Path, character: str) -> None:
    assert lines_of(tmp_path, f"a{character}b\n".encode()) == [(1, f"a{character}b")]


def test_only_the_first_byte_order_mark_is_left_out(tmp_path: Path) -> None:
    assert lines_of(tmp_path, "\ufeff\ufeffone\n\ufefftwo".encode()) == [(1, "\ufeffone"), (2, "\ufefftwo")]


@given(lines=st.lists(st.text().map(lambda text: text.replace("\n", "").replace("\r", ""))))
def test_any_lines_are_read_as_they_were_written(lines: list[str]) -> None:
    with TemporaryDirectory() as folder:
        found = lines_of(Path(folder), ("\ufeff" + "".join(f"{line}\n" for line in lines)).encode())
    assert found == (list(enumerate(lines, start=1)) or [(1, "")])


@pytest.mark.parametrize("bad", BAD_BYTES.values(), ids=BAD_BYTES)
def test_an_illegal_byte_is_told_by_line_and_byte_and_the_reading_goes_on(tmp_path: Path, bad: bytes) -> None:
    first, second, third = lines_of(tmp_path, b"good\nab" + bad + b"|\nagain\n")
    assert (first, third) == ((1, "good"), (3, "again"))
    line = second[1]
    assert isinstance(line, Undecodable)
    offset = 4 if bad.startswith(b"na") else 2
    byte = bad[offset - 2]
    assert (
        f"byte 0x{byte:02x} at offset {offset} of the line (offset {offset + 5} of the file)" in line.reason
    )
    assert line.line == second[0] == 2


@pytest.mark.parametrize("bad", BAD_BYTES.values(), ids=BAD_BYTES)
def test_a_whole_text_tells_an_illegal_byte_like_its_lines_do(tmp_path: Path, bad: bytes) -> None:
    _, second, _ = lines_of(tmp_path, b"good\r\nab" + bad + b"|\r\nagain\n")
    assert read_text(tmp_path / "file.txt") == second[1]


def test_an_undecodable_line_still_shows_what_kind_of_line_it_was(tmp_path: Path) -> None:
    ((_, line),) = lines_of(tmp_path, b"1\t0\t\xff\r\n")
    assert isinstance(line, Undecodable)
    assert line.replaced == "1\t0\t\ufffd"


def test_a_whole_text_keeps_its_line_ends_and_loses_its_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "file.txt"
    path.write_bytes("\ufeffone\r\ntwo\rthree\n".encode())
    assert read_text(path) == "one\r\ntwo\rthree\n"


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_a_whole_text_counts_lines_like_the_lines_do(tmp_path: Path, end: bytes) -> None:
    lines = lines_of(tmp_path, end.join([b"one", b"two", b"th\xffee", b"four"]))
    text = read_text(tmp_path / "file.txt")
    assert isinstance(text, Undecodable)
    assert (text.line, lines[2]) == (3, (3, text))
