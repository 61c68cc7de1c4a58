"""`spanwright inspect generate` with a tiny trained model that keeps its auto-encoders."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from running import Outcome, run

import making
import spanwright
import tiny
from analysis.writing_models import writing_model
from spanwright import artifact
from spanwright.formats.files import write
from spanwright.settings import load_settings
from spanwright.text import Document, Entity


def documents(count: int, prefix: str = "made") -> list[Document]:
    """Documents with concepts, and with types that rich would take for markup."""
    return [
        document.with_entities(tuple(replace(each, type=f"[b]{each.type}") for each in document.entities))
        for document in making.with_concepts(making.documents(count, prefix=prefix))
    ]


TRAIN = documents(40)
GOLD = documents(4, "dev")
TEXT = "the xvase cell"
SMALL = (
    *making.SMALL_JOINT_IB,
    "auxiliaries.span_vae.keep=true",
    "objective.phases=[]",
    "training.batch_windows=2",
    "training.epochs=4",
)


@pytest.fixture(scope="module")
def folder(tiny_encoder: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Corpora, a lexicon, and models with both auto-encoders, with one of spans alone, and without any."""
    made = tmp_path_factory.mktemp("generate")
    write(TRAIN, made / "train.jsonl")
    write(GOLD, made / "gold.jsonl")
    (made / "names.tsv").write_text("cell\tCell\tD1\nlymphocyte\tCell\tD1\nwhite cell\tCell\tD1\n")
    settings = load_settings("joint-ib", [f"encoder.name={tiny_encoder}", *SMALL])
    kept = spanwright.train(settings, train=TRAIN, dev=GOLD, out=made / "run").model
    artifact.save(kept, made / "model")
    artifact.save(writing_model(synonyms=()), made / "without-synonyms")
    artifact.save(tiny.model(), made / "plain")
    return made


def generate(folder: Path, *arguments: object, model: str = "model") -> Outcome:
    return run("inspect", "generate", folder / model, *arguments)


def answered(done: Outcome) -> dict[str, Any]:
    assert done.code == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_entities_that_are_found_are_written_anew(folder: Path) -> None:
    found = answered(generate(folder, "--text", TEXT, "--file", folder / "gold.jsonl", "--json"))
    texts = [Document("text-1", TEXT), *GOLD]
    tagged = spanwright.load(folder / "model").tag(texts)
    expected = {(d.id, e.start, e.end): d.mention(e) for d in tagged for e in d.entities}
    assert {(s["document"], s["start"], s["end"]): s["text"] for s in found["spans"]} == expected
    assert expected
    assert "scores" not in found
    assert all(isinstance(each["synonym"], str) for each in found["spans"])


def test_the_table_shows_entities_types_and_texts_as_they_are(folder: Path) -> None:
    call = ("--text", TEXT, "--file", folder / "gold.jsonl")
    spans = answered(generate(folder, *call, "--json"))["spans"]
    assert spans[0]["document"] == "text-1"
    assert rows(generate(folder, *call).stdout) == [
        [each["text"], ", ".join(each["types"]), each["reconstruction"], each["synonym"]] for each in spans
    ]


def rows(table: str) -> list[list[str]]:
    """The rows of a table; long cells go on in the next line, whose first cell is empty."""
    found: list[list[str]] = []
    for line in table.splitlines():
        cells = [cell.strip() for cell in line.split("│")[1:-1]]
        if cells and cells[0]:
            found.append(cells)
        elif cells:
            found[-1] = [f"{old} {more}".strip() for old, more in zip(found[-1], cells, strict=True)]
    return found


def test_gold_spans_are_scored(folder: Path) -> None:
    call = ("--gold", folder / "gold.jsonl", "--corpus-ids", folder / "train.jsonl")
    found = answered(generate(folder, *call, "--json"))
    scores = found["scores"]
    assert scores["spans"] == len(found["spans"]) == len({(d.id, e.ranges) for d in GOLD for e in d.entities})
    assert scores["one_word"] == sum(" " not in each["text"] for each in found["spans"])
    assert 0 < scores["with_synonyms"] <= scores["spans"]
    assert 0 < scores["reconstruction"]["unknown_share"] < 1
    assert 0 <= scores["synonyms"]["bleu"] <= 1
    shown = generate(folder, *call).stdout
    assert f"{scores['spans']} gold spans, {scores['one_word']} of them of one word" in shown
    assert f"{100 * scores['reconstruction']['unknown_share']:.1f} %" in shown
    assert f"{scores['with_synonyms']} spans have synonyms" in shown


def test_a_lexicon_is_a_source_of_synonyms(folder: Path) -> None:
    write([Document("1", "a cell", (Entity(2, 6, "[b]Cell"),))], folder / "cell.jsonl")
    call = ("--gold", folder / "cell.jsonl", "--lexicon", folder / "names.tsv", "--json")
    scores = answered(generate(folder, *call))["scores"]
    assert (scores["spans"], scores["with_synonyms"]) == (1, 1)
    # lymphocyte, white and cell, of which training texts have the last one only.
    assert (scores["synonyms"]["words"], scores["synonyms"]["words_unknown"]) == (3, 2)


def test_without_sources_only_reconstructions_are_scored_and_it_is_said(folder: Path) -> None:
    done = generate(folder, "--gold", folder / "gold.jsonl", "--json")
    assert answered(done)["scores"]["synonyms"] is None
    assert "note: synonyms are not scored, as no span has any" in done.stderr


def test_the_answer_is_the_same_every_time(folder: Path) -> None:
    call = ("--gold", folder / "gold.jsonl", "--corpus-ids", folder / "train.jsonl", "--json")
    assert generate(folder, *call).stdout == generate(folder, *call).stdout


def test_a_model_that_learnt_no_synonyms_writes_reconstructions_alone(folder: Path) -> None:
    write(making.documents(2), folder / "plain.jsonl")
    done = generate(folder, "--gold", folder / "plain.jsonl", "--json", model="without-synonyms")
    assert {each["synonym"] for each in answered(done)["spans"]} == {None}
    assert "not scored" not in done.stderr
    refused = generate(
        folder, "--gold", folder / "plain.jsonl", "--lexicon", folder / "names.tsv", model="without-synonyms"
    )
    assert refused.code == 2
    assert "this model never learnt synonyms (auxiliaries.span_vae.synonyms is empty)" in refused.error


def test_a_model_without_auto_encoders_is_refused_with_the_setting(folder: Path) -> None:
    done = generate(folder, "--text", TEXT, model="plain")
    assert done.code == 2
    assert "the model has no auto-encoders to write with" in done.error
    assert done.error.endswith("--set auxiliaries.span_vae.keep=true")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "found nothing to write; expected --gold FILE, or --text TEXT and --file FILE"),
        (("--text", "a", "--gold", "gold.jsonl"), "found --gold beside --text or --file"),
        (("--text", "a", "--lexicon", "names.tsv"), "give them with --gold FILE"),
    ],
    ids=["nothing", "both", "sources without gold"],
)
def test_calls_that_make_no_sense_are_refused(folder: Path, arguments: tuple[str, ...], message: str) -> None:
    done = generate(folder, *arguments)
    assert done.code == 2
    assert message in done.error
