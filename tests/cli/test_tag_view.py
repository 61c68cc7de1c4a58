"""What `spanwright tag` tells while it works, when it is interrupted, and when nothing could be read."""

from __future__ import annotations

import json
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
    return str(view._progress.tasks[0].fields["of"])


def test_the_total_is_about_right_from_the_first_document_and_exact_at_the_end(texts: Path) -> None:
    view = TaggingView([texts], console=Console(file=StringIO()))
    documents = view.tagging(view.reading(texts, stream(texts, ReadingLog())))
    with view:
        next(documents)
        assert shown(view).startswith(" of about ")
        assert 200 <= int(shown(view).split()[-1]) <= 800
        next(documents)
        assert view._progress.tasks[0].fields["speed"] > 0
        for _ in documents:
            pass
        view.all_read()
        view._show()
        assert shown(view) == " of 400" and view.tagged == 400


def test_a_stream_has_no_total(tmp_path: Path) -> None:
    view = TaggingView([Path("-")], console=Console(file=StringIO()))
    with view:
        list(view.tagging(view.reading(Path("-"), iter([Document("1", "a cell")]))))
        assert shown(view) == ""


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
