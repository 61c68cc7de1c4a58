"""Pictures in the report: PNG files become a part of the page, and nothing else does."""

from __future__ import annotations

import base64
import re
import struct
import zlib
from pathlib import Path

import pytest
from report_making import ORIGIN, content_of, damaged, page_of
from typer.testing import CliRunner

import making
from spanwright.cli.main import app
from spanwright.errors import InputError
from spanwright.formats.files import write
from spanwright.reporting import Picture, read_picture, render_page, select_passages

GOLD = making.documents(6)
CONTENT = content_of(GOLD, damaged(GOLD, seed=1))


def chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def png(width: int = 3, height: int = 2) -> bytes:
    """A grey picture."""
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    rows = zlib.compress(bytes((width + 1) * height))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def shown(page: str) -> list[tuple[str, bytes]]:
    """The caption and the data of each picture of a page."""
    found = re.findall(r'<bdi>([^<]*)</bdi></figcaption><img [^>]*src="data:image/png;base64,([^"]*)"', page)
    return [(caption, base64.b64decode(data, validate=True)) for caption, data in found]


def with_pictures(*pictures: Picture) -> str:
    return render_page(CONTENT, ORIGIN, select_passages(CONTENT), pictures)


def test_pictures_have_a_section_with_their_captions_and_sizes() -> None:
    page = with_pictures(Picture("spans by type", png()), Picture("others", png(9, 7)))
    assert shown(page) == [("spans by type", png()), ("others", png(9, 7))]
    assert '<a href="#pictures"><span>Pictures</span></a>' in page
    assert 'alt="spans by type" width="3" height="2"' in page


def test_a_page_without_pictures_has_no_section_for_them() -> None:
    assert 'id="pictures"' not in page_of(CONTENT)


def test_a_hostile_caption_stays_text() -> None:
    page = with_pictures(Picture('"><script>window.hacked=1</script>', png()))
    assert page.count("<script") == page.count("</script>") == 2
    assert page.count("<img") == 1


def test_the_policy_of_the_page_lets_it_show_data_and_nothing_else() -> None:
    assert "default-src 'none'; img-src data:;" in with_pictures(Picture("one", png()))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>',
        b"\xff\xd8\xff\xe0 JFIF",
        png()[:-1],
        b" " + png(),
        png() + b"<script>",
    ],
    ids=["empty", "svg", "jpeg", "cut off", "moved", "more behind it"],
)
def test_other_files_are_refused(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "picture.png"
    path.write_bytes(data)
    with pytest.raises(
        InputError, match=r"picture\.png: not a whole PNG file; expected pictures in PNG form"
    ):
        read_picture(path, "picture")


def test_a_picture_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"absent\.png: the picture cannot be read: No such file"):
        read_picture(tmp_path / "absent.png", "picture")


def report(folder: Path, *pictures: Path) -> str:
    write(GOLD, folder / "gold.jsonl")
    write(damaged(GOLD, seed=1), folder / "mine.jsonl")
    options = [part for path in pictures for part in ("--picture", str(path))]
    files = [str(folder / "mine.jsonl"), "--gold", str(folder / "gold.jsonl")]
    result = CliRunner().invoke(app, ["report", *files, *options, "--out", str(folder / "page.html")])
    if result.exception is not None:
        raise result.exception
    return (folder / "page.html").read_text(encoding="utf-8")


def test_the_command_calls_pictures_by_the_words_of_their_names(tmp_path: Path) -> None:
    path = tmp_path / "heat-map_of-genes.png"
    path.write_bytes(png())
    page = report(tmp_path, path)
    assert shown(page) == [("heat map of genes", png())]
    assert f"<bdi>{path.name}</bdi>" in page[page.index('id="about"') :]


def test_pictures_of_the_same_name_are_told_apart_by_their_folders(tmp_path: Path) -> None:
    paths = [tmp_path / run / "the-spans.png" for run in ("a-run", "b")]
    for width, path in enumerate(paths, 1):
        path.parent.mkdir()
        path.write_bytes(png(width))
    captions = [caption for caption, _ in shown(report(tmp_path, *paths))]
    assert captions == ["the spans (a-run/the-spans.png)", "the spans (b/the-spans.png)"]


def test_the_command_writes_no_page_with_a_picture_that_is_none(tmp_path: Path) -> None:
    path = tmp_path / "script.png"
    path.write_text("<script>")
    with pytest.raises(InputError, match="not a whole PNG file"):
        report(tmp_path, path)
    assert not (tmp_path / "page.html").exists()
