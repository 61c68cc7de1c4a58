"""`spanwright select`, through the command itself."""

from __future__ import annotations

from pathlib import Path

import pytest
from running import run

import making
import tiny
from spanwright import artifact
from spanwright.formats.files import read, write


def test_texts_are_chosen_from_a_folder_and_written_with_reasons(tmp_path: Path) -> None:
    artifact.save(tiny.model(), tmp_path / "model")
    (tmp_path / "texts").mkdir()
    documents = making.documents(6)
    for document in documents:
        (tmp_path / "texts" / f"{document.id}.txt").write_text(document.text)
    write(documents[:2], tmp_path / "done.jsonl")
    out = tmp_path / "next.jsonl"
    arguments = (tmp_path / "model", tmp_path / "texts", "--annotated", tmp_path / "done.jsonl")
    result = run("select", *arguments, "--count", 3, "--out", out)
    assert (result.code, result.stdout) == (0, f"{out}: 3 of 6 texts, the most worthwhile first\n")
    chosen = read(out, strict=True).documents
    assert {document.id for document in chosen} <= {document.id for document in documents[2:]}
    assert all("mistakes expected" in document.metadata["selection"]["reason"] for document in chosen)
    studio = tmp_path / "next.label-studio.json"
    assert run("select", *arguments, "--count", 3, "--out", studio).code == 0
    assert [each.text for each in read(studio).documents] == [each.text for each in chosen]


LEFT_OUT = "left out: the same as, or nearly the same as, annotated ones or one another, or empty"


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--count", 2, "--by", "random"), "2 of 3 texts, drawn at random"),
        (("--annotated", "texts.jsonl"), f"0 of 3 texts; 3 {LEFT_OUT}"),
        (("--annotated", "one.jsonl"), f"2 of 3 texts, the most worthwhile first; 1 {LEFT_OUT}"),
    ],
)
def test_the_order_and_what_is_left_out_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[object, ...], told: str
) -> None:
    monkeypatch.chdir(tmp_path)
    artifact.save(tiny.model(), Path("model"))
    documents = making.documents(3)
    write(documents, "texts.jsonl")
    write(documents[:1], "one.jsonl")
    result = run("select", "model", "texts.jsonl", *options, "--out", "next.jsonl")
    assert (result.code, result.stdout) == (0, f"next.jsonl: {told}\n"), result.stderr


def test_a_model_without_two_views_is_refused_with_what_to_do(tmp_path: Path) -> None:
    artifact.save(tiny.model(), tmp_path / "model")
    write(making.documents(2), tmp_path / "texts.jsonl")
    result = run(
        "select",
        tmp_path / "model",
        tmp_path / "texts.jsonl",
        "--by",
        "disagreement",
        "--out",
        tmp_path / "x.jsonl",
    )
    assert result.code == 2
    assert "--set auxiliaries.tagger.kind=softmax" in result.stderr


def test_an_output_that_cannot_be_written_is_told_before_any_work(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("p53")
    result = run("select", "no-such-model", tmp_path / "a.txt", "--out", tmp_path / "next.foo")
    assert result.code == 2 and "the ending does not say which format it is" in result.stderr
