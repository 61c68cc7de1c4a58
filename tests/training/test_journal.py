from __future__ import annotations

from pathlib import Path

from spanwright.training.journal import Journal, read_journal


def test_lines_are_read_as_they_were_written(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.write("data", removed=2)
    journal.write("epoch", epoch=1, types={"基因": 0.5})
    assert read_journal(tmp_path) == [
        {"event": "data", "removed": 2},
        {"event": "epoch", "epoch": 1, "types": {"基因": 0.5}},
    ]


def test_each_event_is_one_line(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.write("note", text="two\nlines")
    journal.write("note", text="one")
    assert journal.path.read_text(encoding="utf-8").count("\n") == 2


def test_a_journal_is_cut_back_to_the_size_it_had_at_a_checkpoint(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.write("step", step=1)
    size = journal.size
    journal.write("step", step=2)
    Journal(tmp_path, size=size).write("step", step="2 again")
    assert [line["step"] for line in read_journal(tmp_path)] == [1, "2 again"]


def test_a_new_journal_is_empty_even_where_an_old_one_was(tmp_path: Path) -> None:
    Journal(tmp_path).write("step", step=1)
    assert Journal(tmp_path).size == 0


def test_wall_clock_figures_do_not_go_into_the_journal(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.time("epoch", seconds=1.5)
    assert read_journal(tmp_path) == []
    assert journal.timings.read_text(encoding="utf-8") == '{"event": "epoch", "seconds": 1.5}\n'
