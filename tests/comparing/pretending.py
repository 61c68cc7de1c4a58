"""Runs of a comparison that were never trained: folders with predictions that a test makes up."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import making
from spanwright.comparing import Plan, Results, Run, RunOutcome, make_plan
from spanwright.comparing.outcomes import analyse
from spanwright.comparing.results import summarise_runs
from spanwright.comparing.runs import CorpusData
from spanwright.formats.files import write
from spanwright.settings import load_settings
from spanwright.text import Document

TRAIN = making.documents(20)
DEV = making.documents(10, prefix="dev")
TEST = making.documents(30, prefix="test")
CORPUS = CorpusData("made", TRAIN, DEV, TEST, TRAIN)

Answer = Callable[[Document, int], Document]
"""What a made-up model answers to a document, by seed."""


def right(document: Document, seed: int) -> Document:
    return document


def nothing(document: Document, seed: int) -> Document:
    return document.with_entities(())


def cells_only(document: Document, seed: int) -> Document:
    """Finds cells; with seed 2, takes them for genes in every other document."""
    wrong = seed == 2 and int(document.id.rpartition("-")[2]) % 2
    cells = (entity for entity in document.entities if entity.type == "Cell")
    return document.with_entities(
        tuple(type(cell)(cell.start, cell.end, "Gene" if wrong else "Cell") for cell in cells)
    )


def plan(*recipes: str, **values: object) -> Plan:
    files = {split: f"{split}.jsonl" for split in ("train", "dev", "test")}
    return make_plan({"recipes": recipes, "corpora": {"made": files}, "seeds": 2, **values}, "made up")


def run(folder: Path, recipe: str, seed: int, answer: Answer) -> Run:
    """A folder as a finished run leaves it, but for the model."""
    own = folder / recipe.replace("/", "-") / f"seed-{seed}"
    for name, documents in (("dev", DEV), ("test", TEST)):
        write([answer(document, seed) for document in documents], own / f"{name}.jsonl")
    timings = [
        {"event": "epoch", "epoch": epoch, "seconds": 2.0, "words_per_second": 50.0} for epoch in (1, 2)
    ]
    (own / "timings.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in timings))
    settings = load_settings(recipe)
    record = {"settings": settings.model_dump(mode="json"), "corpora": CORPUS.digests}
    (own / "settings.json").write_text(json.dumps(record))
    (own / "journal.jsonl").touch()
    return Run(CORPUS, recipe, seed, settings, own)


def outcomes(folder: Path, answers: dict[str, Answer], chosen: Plan) -> list[RunOutcome]:
    return [
        analyse(run(folder, recipe, seed, answer), chosen.heat_map_split)
        for seed in range(1, chosen.seeds + 1)
        for recipe, answer in answers.items()
    ]


def results(folder: Path, answers: dict[str, Answer], **values: object) -> Results:
    """The results of made-up systems, by the names of recipes."""
    chosen = plan(*answers, **values)
    return summarise_runs(chosen, outcomes(folder, answers, chosen))
