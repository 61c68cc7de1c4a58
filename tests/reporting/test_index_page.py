"""One page for the reports and comparisons of a folder."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from spanwright.reporting.index_page import INDEX, write_index

RECIPE = {
    **{name: {"mean": 0.5, "deviation": None, "runs": 1} for name in ("precision", "recall", "f1")},
    "f1_interval": [0.45, 0.55],
}
RESULTS: dict[str, Any] = {
    "heat_map_split": "test",
    "corpora": {
        "<corpus>": {"recipes": {"plain": {**RECIPE, "p_value": None}, "b": {**RECIPE, "p_value": 0.02}}}
    },
}


def report(path: Path, name: str, age: int = 0) -> None:
    path.write_text(f"<!doctype html><html><head><title>Spanwright report: {name}</title></head></html>")
    os.utime(path, (1_700_000_000 - age, 1_700_000_000 - age))


def test_a_single_report_needs_no_index(tmp_path: Path) -> None:
    report(tmp_path / "report.html", "a")
    (tmp_path / "other.html").write_text("<title>Something else</title>")
    assert write_index(tmp_path) is None and not (tmp_path / INDEX).exists()


def test_reports_are_listed_the_newest_first(tmp_path: Path) -> None:
    report(tmp_path / "old one.html", "a &amp; b", age=1000)
    report(tmp_path / "new.html", "c")
    place = write_index(tmp_path)
    assert place is not None
    page = place.read_text()
    assert page.index("new.html") < page.index("old%20one.html")
    assert "<bdi>a &amp; b</bdi>" in page


def test_a_comparison_shows_its_tables_and_pictures(tmp_path: Path) -> None:
    folder = tmp_path / "compared"
    folder.mkdir()
    (folder / "results.json").write_text(json.dumps(RESULTS))
    (folder / "f1.png").write_bytes(b"")
    for place in (folder, tmp_path):
        index = write_index(place)
        assert index is not None
        page = index.read_text()
        assert "45.0 to 55.0" in page and "0.0200" in page and "base" in page
        assert "&lt;corpus&gt;" in page and "<corpus>" not in page
    assert 'src="compared/f1.png"' in (tmp_path / INDEX).read_text()
    assert 'src="f1.png"' in (folder / INDEX).read_text()


def test_a_page_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "results.json").write_text(json.dumps(RESULTS))
    (tmp_path / INDEX).write_text("mine")
    assert write_index(tmp_path) is None and (tmp_path / INDEX).read_text() == "mine"


def test_it_is_written_again_when_there_is_more(tmp_path: Path) -> None:
    (tmp_path / "results.json").write_text(json.dumps(RESULTS))
    first = write_index(tmp_path)
    assert first is not None and "Reports" not in first.read_text()
    report(tmp_path / "r.html", "later")
    again = write_index(tmp_path)
    assert again is not None and "later" in again.read_text()
