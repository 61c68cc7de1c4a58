"""Files that appear when they are complete."""

from __future__ import annotations

import os
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
