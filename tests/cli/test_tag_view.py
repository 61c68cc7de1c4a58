"""What `spanwright tag` tells while it works, when it is interrupted, and when nothing could be read."""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

import tiny
from cli.running import run
from spanwright import artifact
from spanwright.cli.tag_view import TaggingView
from spanwright.errors import InputError
from spanwright.formats.files import stream, write
from spanwright.formats.format import ReadingLog
from spanwright.predicting.tagger import Tagger
from spanwright.text import Document


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tag-view") / "model"
    artifact.save(tiny.model(), folder)
    return folder


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    path = tmp_path / "texts.jsonl"
    write([Document(str(number), "a cell of lot " * 50) for number in range(400)], path)
    return path


def shown(view: TaggingView) -> str:
    return str(view._progress.tasks[0].fields["documents"])


def test_the_total_is_about_right_from_the_first_document_and_exact_at_the_end(texts: Path) -> None:
    view = TaggingView([texts], console=Console(file=StringIO()))
    documents = view.tagging(view.reading(texts, stream(texts, ReadingLog())))
    with view:
        next(documents)
        assert shown(view).startswith("1 of about ")
        assert 200 <= int(shown(view).split()[-2]) <= 800
        next(documents)
        fields = view._progress.tasks[0].fields
        assert fields["speed"] != "0 words/s" and fields["left"] != "left -:--:--"
        for _ in documents:
            pass
        view.all_read()
        assert shown(view) == "400 of 400 documents" and view.tagged == 400


def test_a_stream_has_no_total(tmp_path: Path) -> None:
    view = TaggingView([Path("-")], console=Console(file=StringIO()))
    with view:
        list(view.tagging(view.reading(Path("-"), iter([Document("1", "a cell")]))))
        assert shown(view) == "1 document"


def drawn(tagged: int, total: int, columns: int) -> str:
    """The line after so many documents, in a terminal of so many columns."""
    console = Console(file=StringIO(), width=columns, force_terminal=True, color_system=None)
    view = TaggingView([], console=console)
    view.tagged, view._read, view._entities, view._words = tagged, total, 7 * tagged, 200 * tagged
    view._began -= 40
    view.all_read()
    with console.capture() as captured:
        console.print(view._progress.get_renderable())
    return captured.get().rstrip()


@pytest.mark.parametrize("columns", [30, 40, 60, 80, 99, 100, 120, 200])
@pytest.mark.parametrize(("tagged", "total"), [(1, 4), (12, 400), (123_456, 1_000_000)])
def test_the_time_left_is_whole_on_any_terminal(columns: int, tagged: int, total: int) -> None:
    line = drawn(tagged, total, columns)
    assert "\n" not in line and "…" not in line
    assert re.search(r"left \d+:\d\d:\d\d$", line) and len(line) <= columns
    assert columns < 80 or f"{tagged:,} of {total:,} documents" in line
    assert bool({"━", "╸"} & {*line}) is (columns >= 100)


def test_nouns_agree_with_their_numbers() -> None:
    line = drawn(1, 1, 200)
    assert "1 of 1 document, 7 entities" in line and line.endswith("left 0:00:00")


def test_a_single_text_ends_with_a_total(tmp_path: Path) -> None:
    path = tmp_path / "long.txt"
    path.write_text("a cell of lot " * 500)
    view = TaggingView([path], console=Console(file=StringIO()))

    def source() -> Iterator[Document]:
        yield from view.reading(path, stream(path, ReadingLog()))
        view.all_read()

    list(view.tagging(source()))
    assert shown(view) == "1 of 1 document"


def test_the_first_answers_come_before_much_is_read(model: Path) -> None:
    taken = 0

    def source() -> Iterator[str]:
        nonlocal taken
        for _ in range(1000):
            taken += 1
            yield "a cell of lot " * 20

    next(Tagger(artifact.load(model)).tag(source()))
    assert taken * 280 < 10_000


@pytest.mark.parametrize("wrong", [5, None, 2.5, [5], [["a"]]])
def test_what_is_no_text_is_refused_at_once(model: Path, wrong: object) -> None:
    with pytest.raises(InputError, match="expected a text, a Document, or a list or an iterator of these"):
        found = Tagger(artifact.load(model)).tag(wrong)  # type: ignore[call-overload]
        if isinstance(wrong, list):
            list(found)


def test_a_file_that_cannot_be_read_is_an_error(model: Path, tmp_path: Path) -> None:
    (tmp_path / "bad.txt").write_bytes(b"\xff\xfe\x00broken \x80")
    (tmp_path / "good.txt").write_text("a cell")
    outcome = run("tag", model, tmp_path / "bad.txt", "--input-format", "text")
    assert outcome.code == 2 and "no document could be read" in outcome.error
    both = run("tag", model, tmp_path / "bad.txt", tmp_path / "good.txt", "--input-format", "text")
    assert both.code == 0 and "1 problem in reading; left out: 1 document" in both.stderr


@pytest.mark.parametrize(
    ("out", "kept"),
    [
        ("-", "3 documents tagged and printed"),
        ("out.jsonl", "nothing is kept, as out.jsonl is written whole or not at all; `spanwright job`"),
        ("out.brat", "those that are complete stand in out.brat"),
    ],
)
def test_an_interruption_tells_what_is_kept(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, out: str, kept: str
) -> None:
    def interrupted(self: TaggingView, documents: Iterator[Document]) -> Iterator[Document]:
        for document in documents:
            self.tagged += 1
            yield document
            if self.tagged == 3:
                raise KeyboardInterrupt

    monkeypatch.setattr(TaggingView, "tagging", interrupted)
    monkeypatch.chdir(tmp_path)
    write([Document(str(number), "a cell") for number in range(9)], "texts.jsonl")
    outcome = run("tag", model, "texts.jsonl", "--out", out)
    assert outcome.code == 130 and kept in outcome.stderr
    assert len(outcome.stdout.splitlines()) == (3 if out == "-" else 0)
    assert not (tmp_path / "out.jsonl").exists()


def test_tag_writes_tables_and_the_text_of_mentions(model: Path, tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("The xvase cell of lot cells was not an oxidase.")
    table = run("tag", model, tmp_path / "text.txt", "--format", "csv").stdout.splitlines()
    assert (
        table[0] == "document,start,end,text,type,confidence,concepts,fragments,sentence" and len(table) > 1
    )
    lines = run("tag", model, tmp_path / "text.txt", "--out-option", "mentions=yes").stdout
    entities = json.loads(lines)["entities"]
    assert len(entities) == len(table) - 1 and all(entity["text"] for entity in entities)


def test_a_pipe_as_output_stays_one(model: Path, tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("a cell")
    pipe = tmp_path / "pipe.jsonl"
    os.mkfifo(pipe)
    found: list[str] = []
    reader = threading.Thread(target=lambda: found.append(pipe.read_text()), daemon=True)
    reader.start()
    assert run("tag", model, tmp_path / "text.txt", "--out", pipe).code == 0
    reader.join(10)
    assert json.loads(found[0])["id"] == "text" and pipe.is_fifo()


def test_ids_that_repeat_over_inputs_are_numbered_with_a_note(model: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "in" / "fa", tmp_path / "in" / "fb"
    for folder in (first, second):
        folder.mkdir(parents=True)
        (folder / "abstract.txt").write_text(f"a cell of {folder.name}")
    out = tmp_path / "out"
    outcome = run("tag", model, first, second, "--format", "brat", "--out", out)
    assert outcome.code == 0
    assert sorted(file.name for file in out.glob("*.txt")) == ["abstract#2.txt", "abstract.txt"]
    note = f"earlier one: 1; their ids got a number, such as 'abstract#2' in {second}/abstract.txt"
    assert note in outcome.stderr
    whole = run("tag", model, tmp_path / "in")
    assert [json.loads(line)["id"] for line in whole.stdout.splitlines()] == ["fa/abstract", "fb/abstract"]
    assert "got a number" not in whole.stderr


REFUSED = {
    "an unknown format in a folder": (("many",), "many/zz.md: the format was not recognised"),
    "a folder as a file": (("a.txt", "--out", "many", "--format", "jsonl"), "such as many/documents.jsonl"),
    "a file as a folder": (("a.txt", "--out", "a.txt", "--format", "brat"), "a.txt: no folder, but"),
    "a folder as a stream": (
        ("a.txt", "--format", "brat"),
        "cannot go to a stream of text: name one with --out",
    ),
    "a choice without a value": (("a.txt", "--out-option", "foo"), "--out-option 'foo': expected name=value"),
}


@pytest.mark.parametrize(("arguments", "told"), REFUSED.values(), ids=REFUSED)
def test_what_would_fail_late_is_refused_before_the_model_is_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], told: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "many").mkdir()
    for name in ("a.txt", "many/a.txt", "many/zz.md"):
        (tmp_path / name).write_text("a cell")
    outcome = run("tag", tmp_path / "no-model", *arguments)
    assert outcome.code == 2 and told in outcome.error


def test_a_text_with_a_line_end_goes_to_pubtator_and_breaks_become_blanks(
    model: Path, tmp_path: Path
) -> None:
    (tmp_path / "one.txt").write_text("a cell of lot\n")
    (tmp_path / "many.txt").write_text("a cell\nof\nlot\n")
    out = tmp_path / "out.pubtator"
    assert run("tag", model, tmp_path / "one.txt", "--out", out).code == 0
    assert out.read_text().startswith("one|t|a cell of lot\none|a|\n")
    refused = run("tag", model, tmp_path / "many.txt", "--out", out)
    assert refused.code == 2 and "let it be turned into blanks" in refused.error
    lossy = run("tag", model, tmp_path / "many.txt", "--out", out, "--lossy")
    assert "turned into blanks: the line breaks of document 'many'" in lossy.stderr
