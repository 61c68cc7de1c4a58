"""From the command line: descriptions in training, distant labels, and types that were never trained."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from running import Outcome, run

import making
from spanwright.formats.files import read, write

SMALL = (
    "windows.pieces=64",
    "windows.overlap=6",
    "candidates.width_limit=4",
    "representation.size=16",
    "representation.width_size=4",
    "optimiser.learning_rates={encoder=2e-3, head=1e-2}",
    "training.epochs=2",
)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with train and dev files and with descriptions."""
    folder = tmp_path_factory.mktemp("corpus")
    write(making.documents(30), folder / "train.jsonl")
    write(making.documents(6, prefix="dev"), folder / "dev.jsonl")
    (folder / "types.toml").write_text('Gene = "names that end in ase"\nCell = "names of cells"\n')
    return folder


def train(corpus: Path, out: Path, encoder: str, recipe: str, *arguments: object) -> Outcome:
    settings = [argument for change in SMALL for argument in ("--set", change)]
    files = ("--train", corpus / "train.jsonl", "--dev", corpus / "dev.jsonl")
    return run("train", recipe, *files, "--out", out, "--encoder", encoder, *settings, *arguments)


@pytest.fixture(scope="module")
def model(corpus: Path, tiny_encoder: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "binder"
    outcome = train(corpus, out, tiny_encoder, "binder", "--descriptions", corpus / "types.toml")
    assert outcome.code == 0, outcome.stderr
    return out / "model"


def test_descriptions_of_a_file_go_into_the_model(model: Path) -> None:
    labels = json.loads((model / "labels.json").read_text())
    assert dict(zip(labels["types"], labels["descriptions"], strict=True)) == {
        "Cell": "names of cells",
        "Gene": "names that end in ase",
    }


def test_types_without_a_description_are_named(corpus: Path, tiny_encoder: str, tmp_path: Path) -> None:
    outcome = train(corpus, tmp_path / "run", tiny_encoder, "binder")
    assert outcome.code == 0
    assert "types without a description, read by their names in words: Cell, Gene" in outcome.stderr


def test_a_description_of_no_type_is_refused(corpus: Path, tiny_encoder: str, tmp_path: Path) -> None:
    file = tmp_path / "types.json"
    file.write_text('{"Gene": "a gene", "Cel": "a cell"}')
    outcome = train(corpus, tmp_path / "run", tiny_encoder, "binder", "--descriptions", file)
    assert outcome.code == 2
    assert "Cel" in outcome.stderr and "Cell" in outcome.stderr


def test_a_type_is_looked_for_by_its_description(model: Path, tmp_path: Path) -> None:
    texts = tmp_path / "texts.txt"
    texts.write_text("the bcase cell and gdfase were seen in a kl cell")
    known, more = tmp_path / "known.jsonl", tmp_path / "more.jsonl"
    assert run("tag", model, texts, "--out", known).code == 0
    assert run("tag", model, texts, "--out", more, "--type", "Animal=names of animals").code == 0
    before, after = (
        {(entity.start, entity.end, entity.type) for entity in read(path).documents[0].entities}
        for path in (known, more)
    )
    assert {entity for entity in after if entity[2] != "Animal"} <= before


@pytest.mark.parametrize("entry", ["Gene", "=text", "Gene=", " = "])
def test_a_type_without_name_or_text_is_refused(entry: str, model: Path, tmp_path: Path) -> None:
    texts = tmp_path / "texts.txt"
    texts.write_text("a cell")
    outcome = run("tag", model, texts, "--type", entry)
    assert outcome.code == 2
    assert 'expected NAME=description, such as --type Gene="names of genes"' in outcome.error


def test_a_model_that_reads_no_descriptions_refuses_new_types(
    corpus: Path, tiny_encoder: str, tmp_path: Path
) -> None:
    assert train(corpus, tmp_path / "run", tiny_encoder, "plain").code == 0
    outcome = run("tag", tmp_path / "run" / "model", corpus / "dev.jsonl", "--type", "Animal=animals")
    assert outcome.code == 2
    assert "cannot meet new types" in outcome.error and "recipe binder" in outcome.error


def test_distant_labels_train_a_model_that_stops_early(
    corpus: Path, tiny_encoder: str, tmp_path: Path
) -> None:
    lexicon = tmp_path / "genes.tsv"
    genes = {
        document.mention(entity)
        for document in read(corpus / "train.jsonl", corpus / "dev.jsonl").documents
        for entity in document.entities
        if entity.type == "Gene"
    }
    lexicon.write_text("".join(["surface\ttype\n", *(f"{gene}\tGene\n" for gene in sorted(genes)[::2])]))
    for split in ("train", "dev"):
        labelled = run(
            "corpus",
            "label",
            corpus / f"{split}.jsonl",
            "--lexicon",
            lexicon,
            "--out",
            tmp_path / f"{split}.jsonl",
        )
        assert labelled.code == 0, labelled.stderr
    often = ("training.patience=1", "training.epochs=6", "training.score_steps=2")
    patience = [word for setting in often for word in ("--set", setting)]
    rate = ("--set", "optimiser.learning_rates={encoder=0, head=0}")
    outcome = train(tmp_path, tmp_path / "run", tiny_encoder, "binder/distant", *patience, *rate)
    assert outcome.code == 0, outcome.stderr
    journal = (tmp_path / "run" / "journal.jsonl").read_text().splitlines()
    scored = [line for line in journal if json.loads(line)["event"] == "epoch"]
    assert len(scored) == 2  # nothing is learnt, so dev is no better when it is scored again
