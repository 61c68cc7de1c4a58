"""`spanwright evaluate` beyond the scores: criteria, breakdowns, mistakes, two systems."""

from __future__ import annotations

import json
import math
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from running import Outcome, run

import making
from spanwright.evaluation.mistakes import GOLD_KINDS, PREDICTION_KINDS
from spanwright.formats.files import write
from spanwright.text import Document, Entity

TEXT = "Aspirin and naloxone lower blood pressure in rats."
GOLD = (
    Entity(0, 7, "Chemical"),
    Entity(12, 20, "Chemical"),
    Entity(27, 41, "Sign"),
    Entity(45, 49, "Species"),
)
PREDICTED = (
    Entity(0, 7, "Chemical", confidence=0.75),
    Entity(12, 20, "Sign"),
    Entity(33, 41, "Sign"),
    Entity(42, 44, "Species"),
)
"""Correct, a wrong type, a wrong boundary, spurious; rats are missed."""
SCORE_KEYS = {
    "documents",
    "micro",
    "macro",
    "per_type",
    "missing_documents",
    "extra_documents",
    "unseen_types",
    "gold_duplicates",
    "predicted_duplicates",
    "notes",
    "reading",
}


def file(folder: Path, name: str, *documents: Document) -> Path:
    write(documents, folder / name)
    return folder / name


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    return file(tmp_path, "gold.jsonl", Document("1", TEXT, GOLD), Document("2", "Nothing here."))


@pytest.fixture
def predicted(tmp_path: Path) -> Path:
    return file(tmp_path, "predicted.jsonl", Document("1", TEXT, PREDICTED), Document("2", "Nothing here."))


def careless(documents: list[Document], *, seed: int, share: float) -> list[Document]:
    """The documents of a system that forgets and shortens a share of the entities each."""
    chance = random.Random(seed)

    def answer(entity: Entity) -> list[Entity]:
        draw = chance.random()
        if draw < share:
            return []
        return [Entity(entity.start, entity.end - (draw < 2 * share), entity.type)]

    return [
        document.with_entities(tuple(found for entity in document.entities for found in answer(entity)))
        for document in documents
    ]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with gold documents, two systems of different quality, and training documents."""
    folder = tmp_path_factory.mktemp("corpus")
    documents = making.documents(40)
    file(folder, "gold.jsonl", *documents)
    file(folder, "good.pubtator", *careless(documents, seed=1, share=0.05))
    file(folder, "poor.jsonl", *careless(documents, seed=2, share=0.2))
    file(folder, "train.jsonl", *making.documents(20, prefix="train"))
    return folder


def told(*arguments: object) -> Outcome:
    outcome = run("evaluate", *arguments)
    assert outcome.code == 0, outcome.stderr
    return outcome


def answer(*arguments: object) -> dict[str, Any]:
    return dict(json.loads(told(*arguments, "--json").stdout))


def rows(output: str, title: str) -> dict[str, list[str]]:
    """The cells of each row of the table with this title by its first cell."""
    lines = output.split(f"\n{title} ")[1].splitlines()
    end = next(place for place, line in enumerate(lines) if line.startswith("└"))
    cells = [line.strip("│").split("│") for line in lines[:end] if line.startswith("│")]
    return {row[0].strip(): [cell.strip() for cell in row[1:]] for row in cells}


def test_without_options_there_is_nothing_but_the_scores(gold: Path, predicted: Path) -> None:
    assert answer(gold, predicted).keys() == SCORE_KEYS
    assert told(gold, predicted).stdout.count("┏") == 1


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        (["--criteria"], {"criteria"}),
        (["--breakdowns"], {"breakdowns"}),
        (["--train", "train.jsonl"], {"breakdowns"}),
        (["--mistakes"], {"mistakes"}),
        (["--examples", "1"], {"mistakes"}),
        (["--against", "poor.jsonl"], {"against"}),
        (["--full"], {"criteria", "breakdowns", "mistakes"}),
        (["--full", "--against", "poor.jsonl"], {"criteria", "breakdowns", "mistakes", "against"}),
    ],
    ids=lambda value: " ".join(sorted(value)),
)
def test_json_holds_what_was_asked_for_beside_the_scores(
    corpus: Path, options: list[str], parts: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(corpus)
    plain = answer("gold.jsonl", "good.pubtator")
    found = answer("gold.jsonl", "good.pubtator", *options)
    assert found.keys() == SCORE_KEYS | parts
    # What is asked for may bring notes, and reads more files.
    same = SCORE_KEYS - {"notes", "reading"}
    assert {name: found[name] for name in same} == {name: plain[name] for name in same}


def test_each_criterion_counts_by_its_own_rule(gold: Path, predicted: Path) -> None:
    found = rows(told(gold, predicted, "--criteria").stdout, "micro scores by criterion")
    counts = {name: cells[3:] for name, cells in found.items()}
    assert counts["strict"] == ["4", "1", "4", "1"]
    # The shortened blood pressure overlaps, and ends where it should.
    assert counts["loose"] == ["4", "2", "4", "2"]
    assert counts["start"] == ["4", "1", "4", "1"]
    assert counts["end"] == ["4", "2", "4", "2"]
    assert found["loose"][:3] == ["50.0", "50.0", "50.0"]


def test_the_interval_of_a_single_document_is_its_score(tmp_path: Path) -> None:
    one = file(tmp_path, "one.jsonl", Document("1", TEXT, GOLD))
    other = file(tmp_path, "other.jsonl", Document("1", TEXT, PREDICTED))
    strict = answer(one, other, "--criteria")["criteria"]["strict"]
    assert strict["intervals"]["f1"] == {"value": 0.25, "low": 0.25, "high": 0.25}


def test_intervals_lie_around_the_scores_of_many_documents(corpus: Path) -> None:
    criteria = answer(corpus / "gold.jsonl", corpus / "good.pubtator", "--criteria")["criteria"]
    for found in criteria.values():
        for name, interval in found["intervals"].items():
            assert interval["value"] == found["micro"][name]
            assert interval["low"] <= interval["value"] <= interval["high"]
    for interval in criteria["strict"]["intervals"].values():
        assert interval["low"] < interval["value"] < interval["high"]


def test_the_means_over_documents_and_types_are_shown(tmp_path: Path) -> None:
    golds = [Document("1", TEXT, GOLD[:2]), Document("2", TEXT, GOLD[:1]), Document("3", "Nothing here.")]
    found = [golds[0], Document("2", TEXT, ()), golds[2]]
    files = (file(tmp_path, "gold.jsonl", *golds), file(tmp_path, "found.jsonl", *found))
    title = "95 % intervals of micro scores, means over types and documents"
    # The third document has no entity: it counts for n2c2 only.
    assert rows(told(*files, "--criteria").stdout, title)["strict"][3:] == ["80.0", "50.0"]
    assert rows(told(*files, "--criteria", "--n2c2").stdout, title)["strict"][3:] == ["80.0", "33.3"]


def test_n2c2_joins_fragments(tmp_path: Path) -> None:
    parts = Entity(0, 20, "Chemical", fragments=((0, 7), (12, 20)))
    golds = file(tmp_path, "gold.jsonl", Document("1", TEXT, (parts,)))
    found = file(tmp_path, "found.jsonl", Document("1", TEXT, (Entity(0, 20, "Chemical"),)))
    assert answer(golds, found)["micro"]["f1"] == 0
    assert answer(golds, found, "--n2c2")["micro"]["f1"] == 1


def test_n2c2_without_a_document_of_both_sides_is_an_error(gold: Path, tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_text("")
    outcome = run("evaluate", gold, tmp_path / "empty.jsonl", "--format-predicted", "jsonl", "--n2c2")
    assert outcome.code == 2
    assert "no document is in both files" in outcome.error


def test_the_buckets_of_every_breakdown_add_up_to_the_whole(corpus: Path) -> None:
    found = answer(
        corpus / "gold.jsonl", corpus / "good.pubtator", "--breakdowns", "--train", corpus / "train.jsonl"
    )
    attributes = found["breakdowns"]["attributes"]
    assert len(attributes) == 9
    micro = found["micro"]
    whole = {
        "gold": micro["true_positives"] + micro["false_negatives"],
        "found": micro["true_positives"],
        "predicted": micro["true_positives"] + micro["false_positives"],
        "correct": micro["true_positives"],
    }
    for buckets in attributes.values():
        assert {key: sum(bucket[key] for bucket in buckets.values()) for key in whole} == whole


def test_a_breakdown_is_a_table_with_counts(gold: Path, predicted: Path) -> None:
    found = rows(told(gold, predicted, "--breakdowns").stdout, "strict scores by width")
    assert found == {
        "1": ["25.0", "33.3", "28.6", "3", "1", "4", "1"],
        "2": ["-", "0.0", "0.0", "1", "0", "0", "0"],
        "3-4": ["-", "-", "-", "0", "0", "0", "0"],
        "5+": ["-", "-", "-", "0", "0", "0", "0"],
    }


def test_training_files_tell_seen_mentions_from_unseen_ones(
    gold: Path, predicted: Path, tmp_path: Path
) -> None:
    known = file(tmp_path, "one.jsonl", Document("t", "aspirin", (Entity(0, 7, "Chemical"),)))
    other = file(tmp_path, "two.jsonl", Document("u", "rats", (Entity(0, 4, "Sign"),)))
    arguments = ("--train", known, "--train", other)
    mentions = answer(gold, predicted, *arguments)["breakdowns"]["attributes"]["mention"]
    assert {name: bucket["gold"] for name, bucket in mentions.items()} == {
        "seen": 1,
        "seen as another type": 1,
        "unseen": 2,
    }


def test_breakdowns_without_training_files_say_what_they_lack(gold: Path, predicted: Path) -> None:
    outcome = told(gold, predicted, "--breakdowns")
    assert "note: left out for want of training documents: label consistency" in outcome.stderr
    assert "label consistency" not in outcome.stdout


def test_the_kinds_of_mistakes_add_up_to_what_is_wrong(corpus: Path) -> None:
    found = answer(corpus / "gold.jsonl", corpus / "poor.jsonl", "--mistakes")
    counts = found["mistakes"]["counts"]
    assert sum(counts[kind] for kind in PREDICTION_KINDS) == found["micro"]["false_positives"]
    assert sum(counts[kind] for kind in GOLD_KINDS) == found["micro"]["false_negatives"]
    assert found["mistakes"]["examples"] == {}


def test_mistakes_are_shown_with_their_rates(gold: Path, predicted: Path) -> None:
    output = told(gold, predicted, "--mistakes").stdout
    assert rows(output, "mistakes") == {
        "type": ["1", "16.7"],
        "boundary": ["1", "16.7"],
        "both": ["0", "0.0"],
        "spurious": ["1", "16.7"],
        "overlapped": ["2", "33.3"],
        "missed": ["1", "16.7"],
        "any boundary": ["1", "16.7"],
    }
    assert rows(output, "wrong predictions")["category"] == ["1", "33.3", "25.0"]


def matrix(output: str) -> tuple[list[str], list[list[int]]]:
    """Names and cells of the printed confusion matrix."""
    lines = output.split("gold type by predicted type")[1].split("────")[-1].splitlines()
    words = [line.split() for line in lines if line.split()[:1] and line.split()[0].isdigit()]
    size = len(words)
    return [" ".join(row[1:-size]) for row in words], [list(map(int, row[-size:])) for row in words]


def test_the_confusion_matrix_sets_gold_types_against_predicted_ones(gold: Path, predicted: Path) -> None:
    names, cells = matrix(told(gold, predicted, "--mistakes").stdout)
    assert names == ["Chemical", "Sign", "Species", "none"]
    assert cells == [[1, 1, 0, 0], [0, 0, 0, 1], [0, 0, 0, 1], [0, 1, 1, 0]]
    confusion = answer(gold, predicted, "--mistakes")["mistakes"]["confusion"]
    assert confusion == {"types": names[:-1], "gold_by_predicted": cells}


def test_rare_types_share_a_row_and_a_column_of_a_large_matrix(tmp_path: Path) -> None:
    chance = random.Random(0)
    types = [f"type {number}" for number in range(20)]

    def documents() -> list[Document]:
        # Low numbers are frequent.
        entities = [Entity(place, place + 1, types[int(20 * chance.random() ** 2)]) for place in range(40)]
        return [Document("1", "x" * 40, tuple(entities))]

    files = (file(tmp_path, "gold.jsonl", *documents()), file(tmp_path, "found.jsonl", *documents()))
    names, cells = matrix(told(*files, "--mistakes").stdout)
    assert names[-2:] == ["14 other types", "none"]
    whole = answer(*files, "--mistakes")["mistakes"]["confusion"]
    number = {name: place for place, name in enumerate(whole["types"])}
    shown = [number[name] for name in names[:-2]]
    assert [[whole["gold_by_predicted"][i][j] for j in shown] for i in shown] == [
        row[:-2] for row in cells[:-2]
    ]
    assert sum(map(sum, cells)) == sum(map(sum, whole["gold_by_predicted"]))


def test_examples_come_with_document_text_gold_and_prediction(gold: Path, predicted: Path) -> None:
    examples = answer(gold, predicted, "--examples", 2)["mistakes"]["examples"]
    assert examples["boundary"] == [
        {
            "document": "1",
            "before": TEXT[:33],
            "text": "pressure",
            "after": " in rats.",
            "gold": {"start": 27, "end": 41, "type": "Sign", "text": "blood pressure"},
            "predicted": {"start": 33, "end": 41, "type": "Sign", "text": "pressure"},
        }
    ]
    assert examples["spurious"][0]["gold"] is None
    assert examples["missed"][0]["predicted"] is None
    assert {kind: len(found) for kind, found in examples.items()} == {
        "type": 1,
        "boundary": 1,
        "both": 0,
        "spurious": 1,
        "overlapped": 2,
        "missed": 1,
    }


def test_examples_keep_fragments_and_confidences(tmp_path: Path) -> None:
    parts = Entity(0, 20, "Chemical", fragments=((0, 7), (12, 20)), confidence=0.5)
    golds = file(tmp_path, "gold.jsonl", Document("1", TEXT))
    found = file(tmp_path, "found.jsonl", Document("1", TEXT, (parts,)))
    (example,) = answer(golds, found, "--examples", 1)["mistakes"]["examples"]["spurious"]
    assert example["text"] == "Aspirin and naloxone"
    assert example["predicted"] == {
        "start": 0,
        "end": 20,
        "type": "Chemical",
        "text": "Aspirin naloxone",
        "fragments": [[0, 7], [12, 20]],
        "confidence": 0.5,
    }


def test_an_example_is_a_row_with_the_mistake_in_brackets(gold: Path, predicted: Path) -> None:
    output = told(gold, predicted, "--examples", 1).stdout
    assert rows(output, "boundary: 1 of 1")["1"] == [
        "Aspirin and naloxone lower blood [pressure] in rats.",
        "Sign: blood pressure",
        "Sign: pressure",
    ]
    assert rows(output, "overlapped: 1 of 2")["1"][1] == "Chemical: naloxone"
    assert "both: " not in output


def test_there_are_no_more_examples_than_asked_for(corpus: Path) -> None:
    files = (corpus / "gold.jsonl", corpus / "poor.jsonl")
    numbers = {
        options: {len(found) for found in answer(*files, *options)["mistakes"]["examples"].values()}
        for options in (
            ("--examples", 5),
            ("--full",),
            ("--full", "--examples", 1),
            ("--full", "--examples", 0),
        )
    }
    assert [max(found, default=0) for found in numbers.values()] == [5, 3, 1, 0]


def test_documents_that_share_an_id_are_not_mixed_up_in_examples(tmp_path: Path) -> None:
    entity = Entity(0, 3, "Gene")
    golds = [Document("1", "one text"), Document("1", "two texts")]
    found = [golds[0], golds[1].with_entities((entity,))]
    files = (file(tmp_path, "gold.jsonl", *golds), file(tmp_path, "found.jsonl", *found))
    (example,) = answer(*files, "--examples", 1)["mistakes"]["examples"]["spurious"]
    assert example["text"] + example["after"] == "two texts"


def test_an_example_shows_the_text_of_its_own_side_where_white_space_differs(tmp_path: Path) -> None:
    golds = file(tmp_path, "gold.jsonl", Document("1", "a   b c", (Entity(4, 5, "Gene"),)))
    found = file(tmp_path, "found.jsonl", Document("1", "a b c", (Entity(2, 5, "Gene"),)))
    examples = answer(golds, found, "--examples", 1)["mistakes"]["examples"]
    assert [examples["boundary"][0][key] for key in ("before", "text", "after")] == ["a ", "b c", ""]
    assert [examples["overlapped"][0][key] for key in ("before", "text", "after")] == ["a   ", "b", " c"]
    assert examples["boundary"][0]["gold"]["text"] == "b"


def test_markup_and_control_characters_of_files_are_harmless(tmp_path: Path) -> None:
    golds = file(tmp_path, "gold.jsonl", Document("[/1]", "[red]a\n\x1b[31mb", (Entity(5, 6, "[/bold]"),)))
    found = file(tmp_path, "found.jsonl", Document("[/1]", "[red]a\n\x1b[31mb"))
    output = told(golds, found, "--full").stdout
    assert "\x1b" not in output
    assert rows(output, "missed: 1 of 1")["[/1]"] == ["[red][a]  [31mb", "[/bold]: a", "-"]


@pytest.fixture
def sure(tmp_path: Path) -> Path:
    """Predictions of which the first two are correct, and all have a confidence."""
    values = ((GOLD[0], 0.75), (GOLD[1], 0.5), (PREDICTED[2], 0.75), (PREDICTED[3], 0.25))
    entities = tuple(replace(entity, confidence=confidence) for entity, confidence in values)
    return file(tmp_path, "sure.jsonl", Document("1", TEXT, entities), Document("2", "Nothing here."))


def test_full_tells_how_often_predictions_of_a_confidence_are_correct(gold: Path, sure: Path) -> None:
    found = rows(told(gold, sure, "--full").stdout, "confidence of predictions and how many are correct")
    assert found["0.7-0.8"] == ["2", "75.0", "50.0", "25.0"]
    assert found["0.4-0.5"] == ["1", "50.0", "100.0", "50.0"]
    assert found["0.2-0.3"] == ["1", "25.0", "0.0", "25.0"]
    assert found["0.9-1.0"] == ["0", "-", "-", "-"]
    assert found["expected calibration error"] == ["4", "", "", "31.2"]
    assert len(found) == 11


def test_the_confidences_of_full_are_in_the_json(gold: Path, sure: Path) -> None:
    found = answer(gold, sure, "--full")["confidence"]
    assert found["expected_calibration_error"] == pytest.approx((2 * 0.25 + 0.5 + 0.25) / 4)
    assert found["log_loss"] == pytest.approx(-sum(math.log(p) for p in (0.75, 0.5, 0.25, 0.75)) / 4)
    assert [each["count"] for each in found["bins"]] == [0, 0, 1, 0, 1, 0, 0, 2, 0, 0]
    assert found["bins"][7]["accuracy"] == 0.5
    assert found["notes"] == []


def test_full_says_why_confidences_that_only_some_predictions_have_are_left_out(
    gold: Path, predicted: Path
) -> None:
    note = "confidences left out: only 1 of 4 predictions have a confidence"
    outcome = told(gold, predicted, "--full")
    assert f"note: {note}\n" in outcome.stderr
    assert "confidence" not in outcome.stdout
    assert answer(gold, predicted, "--full")["confidence"] == {"notes": [note]}


def test_full_is_silent_on_confidence_where_no_prediction_has_one(gold: Path) -> None:
    outcome = told(gold, gold, "--full")
    assert "confidence" not in outcome.stdout + outcome.stderr
    assert "confidence" not in answer(gold, gold, "--full")


def test_a_system_does_not_differ_from_itself(corpus: Path) -> None:
    files = (corpus / "gold.jsonl", corpus / "good.pubtator")
    strict = answer(*files, "--against", files[1])["against"]["strict"]
    assert (strict["difference"], strict["p_randomisation"], strict["p_bootstrap"]) == (0, 1, 1)


def test_a_better_system_is_found_to_be_better(corpus: Path) -> None:
    gold, good, poor = (corpus / name for name in ("gold.jsonl", "good.pubtator", "poor.jsonl"))
    found = answer(gold, good, "--against", poor)
    assert found["against"].keys() == {"strict"}
    strict = found["against"]["strict"]
    assert strict["f1"] == pytest.approx(found["micro"]["f1"])
    assert strict["other_f1"] == pytest.approx(answer(gold, poor)["micro"]["f1"])
    assert (
        strict["difference"] == pytest.approx(strict["f1"] - strict["other_f1"])
        and strict["difference"] > 0.1
    )
    assert max(strict["p_randomisation"], strict["p_bootstrap"]) < 0.01
    swapped = rows(told(gold, poor, "--against", good).stdout, "two systems")["strict"]
    assert swapped[2] == f"{-100 * strict['difference']:+.1f}"


def test_two_systems_are_compared_by_all_criteria_if_these_are_asked_for(corpus: Path) -> None:
    gold, good, poor = (corpus / name for name in ("gold.jsonl", "good.pubtator", "poor.jsonl"))
    found = answer(gold, good, "--against", poor, "--criteria")
    assert {name: entry["f1"] for name, entry in found["against"].items()} == {
        name: pytest.approx(entry["micro"]["f1"]) for name, entry in found["criteria"].items()
    }


def test_notes_on_the_other_system_are_told_apart(gold: Path, predicted: Path, tmp_path: Path) -> None:
    other = file(tmp_path, "other.jsonl", Document("1", TEXT))
    outcome = told(gold, predicted, "--against", other)
    note = "other system: documents that the prediction lacks, all misses: 1 ('2')"
    assert f"note: {note}" in outcome.stderr
    assert note in answer(gold, predicted, "--against", other)["notes"]


@pytest.mark.parametrize("options", [("--concepts",), ("--full", "--concepts")])
def test_the_json_has_the_notes_that_are_told(gold: Path, predicted: Path, options: tuple[str, ...]) -> None:
    outcome = told(gold, predicted, *options, "--json")
    notes = json.loads(outcome.stdout)["notes"]
    assert outcome.stderr == "".join(f"note: {note}\n" for note in notes)
    assert "concepts: no gold entity has one, so there is nothing to compare with" in notes


def test_ignored_types_are_ignored_everywhere(gold: Path, predicted: Path, tmp_path: Path) -> None:
    other = file(tmp_path, "other.jsonl", Document("1", TEXT, GOLD[:2]), Document("2", "Nothing here."))
    options = [option for name in ("Sign", "Species") for option in ("--ignore-type", name)]
    found = answer(gold, predicted, "--full", "--against", other, *options)
    assert found["criteria"]["loose"]["per_type"].keys() == {"Chemical"}
    assert found["mistakes"]["confusion"]["types"] == ["Chemical"]
    assert found["against"]["strict"]["other_f1"] == 1


@pytest.mark.parametrize(("option", "part"), [("--train", "train"), ("--against", "against")])
def test_what_was_lost_in_reading_any_file_is_in_the_json(
    gold: Path, predicted: Path, tmp_path: Path, option: str, part: str
) -> None:
    damaged = tmp_path / "damaged.jsonl"
    damaged.write_text(predicted.read_text() + '{"id": \n')
    found = answer(gold, predicted, option, damaged)
    assert found["reading"].keys() == {"gold", "predicted", part}
    assert found["reading"][part]["documents_rejected"] == 1
    assert run("evaluate", gold, predicted, option, damaged, "--strict").code == 2


def test_every_file_can_be_read_in_a_named_format(gold: Path, predicted: Path) -> None:
    # As plain text, a file of JSON has no entity that could be seen, and is no prediction for gold.
    mentions = answer(gold, predicted, "--train", gold, "--format-train", "text")["breakdowns"]["attributes"]
    assert mentions["mention"]["unseen"]["gold"] == 4
    refused = run("evaluate", gold, predicted, "--against", predicted, "--format-against", "text")
    assert refused.code == 2
    assert "no document is in both gold and prediction" in refused.error


@pytest.mark.parametrize("format", ["pubtator", "conll", "brat", "bioc-xml", "parquet"])
def test_predictions_of_other_tools_go_through_all_of_it(corpus: Path, tmp_path: Path, format: str) -> None:
    if format == "parquet":
        pytest.importorskip("pyarrow")
    documents = careless(making.documents(40, flat=True), seed=1, share=0.05)
    write(documents, tmp_path / "found", format=format, lossy=True)
    options = ("--full", "--train", corpus / "train.jsonl", "--against", corpus / "poor.jsonl")
    arguments = (corpus / "gold.jsonl", tmp_path / "found", "--format-predicted", format, *options)
    titles = (
        "micro scores",
        "by nesting",
        "by mention",
        "mistakes",
        "gold type by",
        "missed: 3",
        "two systems",
    )
    output = told(*arguments).stdout
    assert [title for title in titles if title not in output] == []
    assert answer(*arguments)["micro"]["true_positives"] > 100


def test_a_negative_number_of_examples_is_a_wrong_call(gold: Path, predicted: Path) -> None:
    assert run("evaluate", gold, predicted, "--examples", -1).code == 2
