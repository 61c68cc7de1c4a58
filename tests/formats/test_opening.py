"""Compressed files are read as if they were not."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from spanwright.errors import InputError, MissingExtraError
from spanwright.formats.files import FORMATS, read, write
from spanwright.formats.io import opening
from spanwright.formats.io.opening import bare_path, bytes_read, open_bytes
from spanwright.text import Document, Entity

DOCUMENTS = [
    Document(f"d-{number}", f"number {number} base", (Entity(0, 6, "GENE"),)) for number in range(20)
]


def zstandard(content: bytes) -> bytes:
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    sink = pyarrow.BufferOutputStream()
    with pyarrow.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(content)
    return bytes(sink.getvalue())


COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": zstandard,
}
FORMATS_OF_TEXT = [
    name for name, format in FORMATS.items() if format.serialise is not None and format.compressible
]


def compressed(path: Path, ending: str) -> Path:
    """The file compressed beside itself, under its name and the ending."""
    target = path.with_name(path.name + ending)
    target.write_bytes(COMPRESS[ending](path.read_bytes()))
    path.unlink()
    return target


@pytest.mark.parametrize("ending", COMPRESS)
def test_every_ending_is_read_in_every_way_of_compressing(tmp_path: Path, ending: str) -> None:
    write(DOCUMENTS, tmp_path / "docs.jsonl")
    assert read(compressed(tmp_path / "docs.jsonl", ending), strict=True).documents == DOCUMENTS


@pytest.mark.parametrize("format", FORMATS_OF_TEXT)
def test_every_reader_of_text_takes_compressed_files_for_the_same_documents(
    tmp_path: Path, format: str
) -> None:
    path = tmp_path / f"docs{next(iter(FORMATS[format].suffixes), '.json')}"
    write(DOCUMENTS if format != "text" else DOCUMENTS[:1], path, format=format, lossy=True)
    plain = read(path, strict=True)
    packed = read(compressed(path, ".gz"), strict=True)
    assert packed.documents == plain.documents and plain.documents
    assert packed.log.documents_read == plain.log.documents_read


def test_ids_that_are_made_up_do_not_tell_of_the_compression(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl.GZ").write_bytes(gzip.compress(b'{"text": "one"}\n'))
    assert read(tmp_path / "a.jsonl.GZ").documents[0].id == "a#1"


def test_several_parts_one_after_another_are_one_content(tmp_path: Path) -> None:
    for ending, compress in COMPRESS.items():
        (tmp_path / f"a.txt{ending}").write_bytes(compress(b"one ") + compress(b"two"))
        assert read(tmp_path / f"a.txt{ending}").documents[0].text == "one two", ending


def test_a_path_keeps_all_but_the_ending_of_its_compression() -> None:
    assert bare_path(Path("in.d/docs.jsonl.xz")) == Path("in.d/docs.jsonl")
    assert bare_path(Path("in.gz/docs.jsonl")) == Path("in.gz/docs.jsonl")


@pytest.mark.parametrize("ending", COMPRESS)
def test_a_file_that_is_cut_off_is_told_after_what_is_good(tmp_path: Path, ending: str) -> None:
    lines = b"".join(b'{"text": "%s"}\n' % os.urandom(400).hex().encode() for _ in range(2000))
    whole = COMPRESS[ending](lines)
    path = tmp_path / f"docs.jsonl{ending}"
    path.write_bytes(whole[: len(whole) * 3 // 4])
    found = 0
    told = rf"docs.jsonl\{ending}: not a whole \{ending} file"
    with open_bytes(path) as file, pytest.raises(InputError, match=told):
        for _ in file:
            found += 1
    assert found >= (0 if ending == ".bz2" else 500)


@pytest.mark.parametrize("ending", COMPRESS)
def test_a_file_that_is_not_what_its_ending_says_is_an_error(tmp_path: Path, ending: str) -> None:
    (tmp_path / f"docs.jsonl{ending}").write_bytes(b'{"text": "plain"}\n' * 10)
    with pytest.raises(InputError, match="not a whole"):
        read(tmp_path / f"docs.jsonl{ending}")


@pytest.mark.parametrize("ending", COMPRESS)
def test_a_small_file_that_unfolds_without_end_is_refused(
    tmp_path: Path, ending: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "_FREE_BYTES", 1 << 20)
    path = tmp_path / f"bomb.txt{ending}"
    path.write_bytes(COMPRESS[ending](bytes(1 << 25)))
    with pytest.raises(InputError, match="expands to more than 250 times its size, as no text does"):
        read(path)


def test_texts_that_repeat_a_lot_are_no_bombs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "_FREE_BYTES", 1 << 10)
    lines = b"".join(b'{"text": "a text that is nearly the same, %d"}\n' % number for number in range(9999))
    (tmp_path / "docs.jsonl.gz").write_bytes(gzip.compress(lines))
    assert len(read(tmp_path / "docs.jsonl.gz").documents) == 9999


@pytest.mark.parametrize("name", ["table.parquet.gz", "docs.spacy.gz", "pair.ann.gz"])
def test_formats_that_cannot_be_read_as_a_stream_say_so(tmp_path: Path, name: str) -> None:
    format = {"table": "parquet", "docs": "spacy", "pair": "brat"}[name.partition(".")[0]]
    (tmp_path / name).write_bytes(gzip.compress(b"PAR1"))
    with pytest.raises(InputError, match=f"'{format}' cannot be read compressed; expected .*: decompress it"):
        read(tmp_path / name, format=format)


def test_zstandard_without_pyarrow_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.txt.zst").write_bytes(COMPRESS[".zst"](b"one"))
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"spanwright\[parquet\]"):
        read(tmp_path / "a.txt.zst")


def test_it_can_be_asked_how_far_an_open_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "large.bin"
    path.write_bytes(bytes(1 << 22))
    assert bytes_read(path) == 0
    with open_bytes(path) as file:
        file.read(1 << 21)
        assert bytes_read(path) == 1 << 21
    assert bytes_read(path) == 0
