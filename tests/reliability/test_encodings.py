"""Promises 6 and 35: a file in another encoding is refused, with what it looks like and what mends it."""

from __future__ import annotations

import gzip
import io
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from good_files import DOCUMENTS, ENTITIES, GOOD

from spanwright.errors import InputError
from spanwright.formats.files import read
from spanwright.formats.io.lines import decode_lines

LINE_BASED = ("pubtator", "conll", "jsonl", "genia-jsonl", "scierc", "conll04")
WIDE = {
    "UTF-16LE with a mark": ("utf-16-le", "\ufeff", "looks like UTF-16LE: it starts with FF FE"),
    "UTF-16BE with a mark": ("utf-16-be", "\ufeff", "looks like UTF-16BE: it starts with FE FF"),
    "UTF-16LE": ("utf-16-le", "", "looks like UTF-16LE: every second byte is NUL"),
    "UTF-16BE": ("utf-16-be", "", "looks like UTF-16BE: every second byte is NUL"),
    "UTF-32LE with a mark": ("utf-32-le", "\ufeff", "looks like UTF-32LE: it starts with FF FE 00 00"),
}
IN_EACH = pytest.mark.parametrize(("encoding", "mark", "told"), WIDE.values(), ids=WIDE)


def put(folder: Path, format: str, encoding: str, mark: str = "") -> Path:
    good = GOOD[format]
    return good.put(folder, {good.path: (mark + good.files[good.path]).encode(encoding)})


@IN_EACH
@pytest.mark.parametrize("format", LINE_BASED)
def test_a_file_in_utf_16_is_refused_with_its_encoding_and_line(
    tmp_path: Path, format: str, encoding: str, mark: str, told: str
) -> None:
    path = put(tmp_path, format, encoding, mark)
    # A list in JSON begins with a line that is too short to be told by its NUL.
    line = "2" if format == "conll04" and not mark else "1"
    with pytest.raises(InputError) as caught:
        read(path)
    assert str(caught.value).startswith(f"{path}:{line}: {told}; expected UTF-8; convert it with: iconv ")


@pytest.mark.skipif(shutil.which("iconv") is None, reason="there is no iconv")
@IN_EACH
def test_the_command_that_is_told_puts_the_file_right(
    tmp_path: Path, encoding: str, mark: str, told: str
) -> None:
    path = put(tmp_path, "conll", encoding, mark)
    with pytest.raises(InputError) as caught:
        read(path)
    subprocess.run(str(caught.value).partition("with: ")[2], shell=True, check=True, cwd=tmp_path)
    log = read(tmp_path / f"utf8-{path.name}").log
    assert (log.documents_read, log.entities_read, log.problems) == (DOCUMENTS, ENTITIES, [])


@IN_EACH
def test_a_plain_text_in_utf_16_is_rejected_with_its_encoding(
    tmp_path: Path, encoding: str, mark: str, told: str
) -> None:
    (tmp_path / "note.txt").write_bytes((mark + "Aspirin against fever.\n").encode(encoding))
    (problem,) = read(tmp_path / "note.txt").log.problems
    assert (problem.line, problem.reason.partition(";")[0]) == (1, told)


def test_xml_says_its_encoding_itself(tmp_path: Path) -> None:
    path = tmp_path / "file.xml"
    path.write_text(GOOD["bioc-xml"].files["file.bioc.xml"].replace("UTF-8", "UTF-16"), encoding="utf-16")
    log = read(path).log
    assert (log.documents_read, log.entities_read, log.problems) == (DOCUMENTS, ENTITIES, [])


def test_a_compressed_file_is_decompressed_before_it_is_converted(tmp_path: Path) -> None:
    path = tmp_path / "my file.conll.gz"
    path.write_bytes(gzip.compress("fever\tB-Disease\nagain\tO\n".encode("utf-16")))
    told = f"decompress it and convert it with: iconv -f UTF-16LE -t UTF-8 '{tmp_path}/my file.conll' > "
    with pytest.raises(InputError, match=re.escape(told)):
        read(path)


def test_standard_input_in_utf_16_is_refused() -> None:
    with pytest.raises(InputError, match=r"standard input:1: .* send it through iconv -f UTF-16LE -t UTF-8"):
        list(decode_lines(io.BytesIO("Aspirin\nhelps\n".encode("utf-16"))))


@pytest.mark.parametrize(
    ("encoding", "word", "told"),
    [
        ("latin-1", "fièvre", "in WINDOWS-1252 it reads 'fièvre\\tB-Gene'"),
        ("cp1252", "Alzheimer’s", "in WINDOWS-1252 it reads 'Alzheimer’s\\tB-Gene'"),
        ("gb18030", "发烧", "in GB18030 it reads '发烧\\tB-Gene'"),
    ],
)
def test_a_line_in_an_encoding_of_bytes_is_shown_as_it_reads_there(
    tmp_path: Path, encoding: str, word: str, told: str
) -> None:
    path = tmp_path / "file.conll"
    path.write_bytes(b"the\tO\n" + f"{word}\tB-Gene\n".encode(encoding))
    (problem,) = read(path).log.problems
    name = told.split()[1]
    assert problem.line == 2
    assert f"{told}: if so, convert it with: iconv -f {name} -t UTF-8 {path} > " in problem.reason


@pytest.mark.parametrize("line", [b"caf\xc3\xa9 fi\xe8vre", b"\xcf\xf0\xe8", b"a\x00\xe8b", b"\x81"])
def test_no_encoding_is_named_where_none_fits(line: bytes) -> None:
    ((_, found),) = decode_lines(io.BytesIO(line))
    assert "iconv" not in getattr(found, "reason", "iconv")


def test_a_few_nul_characters_are_text(tmp_path: Path) -> None:
    path = tmp_path / "file.conll"
    path.write_text("a\0b\tO\n\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\tO\n")
    assert read(path).log.problems == []
