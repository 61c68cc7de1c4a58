"""Files that appear when they are complete."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from spanwright.formats.io.whole_files import whole_file, write_whole


def test_a_file_is_on_the_disk_before_it_has_its_name_and_then_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, partial = tmp_path / "scores.json", tmp_path / ".scores.json.partial"
    steps: list[tuple[str, str, bool]] = []

    def note(descriptor: int) -> None:
        files = [each for each in (partial, tmp_path) if each.exists()]
        (synced,) = [each for each in files if each.stat().st_ino == os.fstat(descriptor).st_ino]
        steps.append((synced.name, synced.read_text() if synced.is_file() else "", path.exists()))

    monkeypatch.setattr(os, "fsync", note)
    write_whole(path, "{}\n")
    assert steps == [(partial.name, "{}\n", False), (tmp_path.name, "", True)]
    assert path.read_text() == "{}\n"


def test_what_fails_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "scores.json"
    path.write_text("old")

    def fail() -> None:
        with whole_file(path) as partial:
            partial.write_text("new")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("scores.json", "old")]


def test_a_pipe_is_written_to_as_it_is(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.jsonl"
    os.mkfifo(pipe)
    found: list[str] = []
    reader = threading.Thread(target=lambda: found.append(pipe.read_text()), daemon=True)
    reader.start()
    write_whole(pipe, "one\n")
    reader.join(10)
    assert found == ["one\n"] and pipe.is_fifo() and list(tmp_path.iterdir()) == [pipe]


def test_the_pipe_of_a_shell_is_written_to(tmp_path: Path) -> None:
    source, target = os.pipe()
    write_whole(Path(f"/dev/fd/{target}"), "one\n")
    os.close(target)
    with os.fdopen(source) as opened:
        assert opened.read() == "one\n"


@pytest.mark.parametrize("old", ["old", None])
def test_a_link_is_followed(tmp_path: Path, old: str | None) -> None:
    (tmp_path / "there").mkdir()
    file, link = tmp_path / "there" / "file.jsonl", tmp_path / "link.jsonl"
    link.symlink_to("there/file.jsonl")
    if old is not None:
        file.write_text(old)
    write_whole(link, "new")
    assert link.is_symlink() and file.read_text() == "new"
    assert [each.name for each in file.parent.iterdir()] == [file.name]
