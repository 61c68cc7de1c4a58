"""`spanwright job`, with a real model, and its old spelling."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from running import run

import making
import tiny
from spanwright import artifact
from spanwright.formats.files import read, write
from spanwright.text import Document

DOCUMENTS = making.documents(12)
HINT = "note: a tagging job is `spanwright job` now, with the same options"


def tagged(job: Path) -> list[Document]:
    """The documents of all shards, in order."""
    return read(*sorted((job / "shards").iterdir())).documents


def content(job: Path) -> dict[Path, bytes]:
    """Every file of a job."""
    return {file.relative_to(job): file.read_bytes() for file in job.rglob("*") if file.is_file()}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("job") / "model"
    artifact.save(tiny.model(), folder)
    return folder


@pytest.fixture
def inputs(tmp_path: Path) -> Path:
    """A folder with documents in a file, in a compressed one and in a table."""
    folder = tmp_path / "in"
    write(DOCUMENTS[:4], folder / "a.jsonl")
    write(DOCUMENTS[4:8], folder / "b.jsonl")
    (folder / "b.jsonl.gz").write_bytes(gzip.compress((folder / "b.jsonl").read_bytes()))
    (folder / "b.jsonl").unlink()
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    write(DOCUMENTS[8:], folder / "c.parquet")
    return folder


def test_a_job_finds_what_the_plain_command_finds(model: Path, inputs: Path, tmp_path: Path) -> None:
    plain = run("tag", model, inputs, "--out", tmp_path / "plain.jsonl", "--threads", 1)
    assert plain.code == 0, plain.stderr
    job = run("job", model, inputs, "--out", tmp_path / "job", "--processes", 2)
    assert job.code == 0, job.stderr
    # One shard holds all of it, so both tag the same documents together.
    assert tagged(tmp_path / "job") == read(tmp_path / "plain.jsonl").documents
    assert [document.id for document in tagged(tmp_path / "job")] == [document.id for document in DOCUMENTS]
    for line in ("documents read", "12", f"tagged documents: {tmp_path / 'job' / 'shards'}"):
        assert line in job.stderr
    before = content(tmp_path / "job")
    again = run("job", model, inputs, "--out", tmp_path / "job", "--processes", 1)
    assert again.code == 0 and content(tmp_path / "job") == before


def test_options_reach_the_workers(model: Path, inputs: Path, tmp_path: Path) -> None:
    options = ("--minimum-confidence", 1, "--shard-documents", 5, "--format", "parquet", "--engine", "local")
    outcome = run("job", model, inputs, "--out", tmp_path / "job", *options, "--processes", 1)
    assert outcome.code == 0, outcome.stderr
    assert [path.name for path in sorted((tmp_path / "job/shards").iterdir())] == [
        f"part-00000-0000{number}.parquet" for number in range(3)
    ]
    assert all(
        entity.confidence == 1 for document in tagged(tmp_path / "job") for entity in document.entities
    )


def test_what_the_model_cannot_do_is_an_error_of_the_call(model: Path, inputs: Path, tmp_path: Path) -> None:
    outcome = run("job", model, inputs, "--out", tmp_path / "job", "--processes", 1, "--tuned-thresholds")
    assert outcome.code == 2
    assert "tuned thresholds: the model has none" in outcome.error


def test_a_job_with_an_unreadable_input_ends_with_one_and_says_where_it_is_told(
    model: Path, tmp_path: Path
) -> None:
    (tmp_path / "a.jsonl").write_bytes(b"\x00\x01")
    outcome = run("job", model, tmp_path / "a.jsonl", "--out", tmp_path / "job", "--processes", 1)
    assert outcome.code == 1
    assert f"1 problem: {tmp_path / 'job' / 'problems.jsonl'}" in outcome.stderr
    assert json.loads((tmp_path / "job/summary.json").read_text())["unreadable_inputs"] == 1


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["tag", "--processes", "1"], "--out: a job needs a folder"),
        (["job", "--out", "-"], "--out: a job needs a folder"),
        (["tag", "--shard-documents", "3", "--out", "x.jsonl"], "--shard-documents is for jobs"),
        (["tag", "--address", "auto", "--out", "x.jsonl"], "--address is for jobs"),
        (["tag", "--processes", "1", "--out", "x", "--address", "auto"], "--address is for --engine ray"),
        (["job", "--out", "x", "--address", "auto"], "--address is for --engine ray"),
        (["tag", "--processes", "1", "--out", "x", "-"], "standard input cannot be read again"),
        (["job", "--out", "x", "-"], "standard input cannot be read again"),
    ],
)
def test_options_that_would_have_no_effect_are_refused(
    model: Path, inputs: Path, arguments: list[str], told: str
) -> None:
    outcome = run(arguments[0], model, inputs, *arguments[1:])
    assert outcome.code == 2 and told in outcome.error


def test_a_job_without_a_folder_is_a_wrong_call(model: Path, inputs: Path) -> None:
    outcome = run("job", model, inputs)
    assert outcome.code == 2 and "--out" in outcome.stderr


def test_the_old_spelling_gives_the_same_bytes_and_names_the_new_one(
    model: Path, inputs: Path, tmp_path: Path
) -> None:
    new = run("job", model, inputs, "--out", tmp_path / "new", "--processes", 1)
    old = run("tag", model, inputs, "--out", tmp_path / "old", "--processes", 1)
    assert (new.code, old.code) == (0, 0), old.stderr
    assert content(tmp_path / "old") == content(tmp_path / "new") != {}
    assert [line for line in old.stderr.splitlines() if "spanwright job" in line] == [HINT]
    assert "spanwright job" not in new.stderr and old.stdout == ""


@pytest.mark.parametrize(
    "options",
    [
        ["--processes", "3"],
        ["--engine", "ray"],
        ["--engine", "ray", "--address", "auto", "--shard-documents", "7", "--threads", "2"],
        ["--engine", "local", "--format", "pubtator", "--lossy", "--input-format", "jsonl"],
        ["--processes", "1", "--type", "Gene=names of genes", "--corpus", "one", "--as", "shared"],
        ["--processes", "1", "--minimum-confidence", "0.5", "--tuned-thresholds", "--runtime", "onnx"],
        ["--processes", "1", "--option", "tag_column=3", "--option", "word_column=1"],
    ],
    ids=" ".join,
)
def test_the_old_spelling_runs_the_same_job(
    model: Path, inputs: Path, options: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[object] = []
    monkeypatch.setattr("spanwright.cli.job._engine", lambda *chosen: chosen)
    monkeypatch.setattr("spanwright.cli.job._run", lambda *run: made.append(run))
    for verb in ("job", "tag"):
        outcome = run(verb, model, inputs, "--out", "tagged", *options)
        assert outcome.code == 0, outcome.stderr
    new, old = made
    assert new == old
    assert outcome.stderr.splitlines() == [HINT]


def test_only_the_help_of_job_has_the_options_of_jobs() -> None:
    tag, job = (run(verb, "--help").stdout for verb in ("tag", "job"))
    for option in ("--processes", "--engine", "--address", "--shard-documents"):
        assert option in job and option not in tag


def test_plain_tagging_reads_compressed_files(model: Path, tmp_path: Path) -> None:
    (tmp_path / "text.txt.gz").write_bytes(gzip.compress(b"abase of things"))
    outcome = run("tag", model, tmp_path / "text.txt.gz")
    assert outcome.code == 0, outcome.stderr
    assert json.loads(outcome.stdout)["id"] == "text"
