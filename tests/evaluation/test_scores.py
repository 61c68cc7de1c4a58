from __future__ import annotations

import io
import json
import random
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from seqeval.metrics import classification_report
from seqeval.scheme import IOB2

from spanwright.cli.tables.scores import type_scores_table
from spanwright.evaluation import Counts, Scores, evaluate
from spanwright.formats.files import read
from spanwright.text import Document, Entity
from spanwright.text.tags import runs_from_tags

Mention = tuple[str, int, int, str]
"""Document id, start, end and type: what an entity is, told without the library."""

TYPES = ("cell", "DNA", "protein", "RNA")
LENGTH = 40
TEXT = "x" * LENGTH


def random_mentions(generator: random.Random, documents: int, per_document: int) -> list[Mention]:
    """Spans that nest, cross and share their characters with another type."""
    starts = generator.choices(range(LENGTH - 8), k=documents * per_document)
    widths = generator.choices(range(1, 9), k=documents * per_document)
    types = generator.choices(TYPES, k=documents * per_document)
    numbers = (number for number in range(documents) for _ in range(per_document))
    return [
        (str(number), start, start + width, type_)
        for number, start, width, type_ in zip(numbers, starts, widths, types, strict=True)
    ]


def imitation(generator: random.Random, mentions: list[Mention]) -> list[Mention]:
    """What a model might predict: some mentions right, some off by a character or a type, some absent."""
    changes = generator.choices(
        ["right", "shifted", "mistyped", "absent"], weights=(5, 1, 1, 2), k=len(mentions)
    )
    shifted = {"shifted": 1}
    return [
        (id, start, end - shifted.get(change, 0), generator.choice(TYPES) if change == "mistyped" else type_)
        for (id, start, end, type_), change in zip(mentions, changes, strict=True)
        if change != "absent" and end - start > shifted.get(change, 0)
    ]


def documents_with(mentions: list[Mention], documents: int) -> list[Document]:
    entities: list[list[Entity]] = [[] for _ in range(documents)]
    for id, start, end, type_ in mentions:
        entities[int(id)].append(Entity(start, end, type_))
    return [Document(str(number), TEXT, tuple(found)) for number, found in enumerate(entities)]


def document(*entities: Entity, id: str = "1", text: str = TEXT) -> Document:
    return Document(id, text, entities)


def test_scores_equal_set_intersection_on_10000_random_nested_documents() -> None:
    generator = random.Random(19)
    gold = random_mentions(generator, 10_000, 8)
    predicted = imitation(generator, gold)
    scores = evaluate(documents_with(gold, 10_000), documents_with(predicted, 10_000))
    for type_ in TYPES:
        wanted = {mention for mention in gold if mention[3] == type_}
        proposed = {mention for mention in predicted if mention[3] == type_}
        expected = Counts(len(wanted & proposed), len(proposed - wanted), len(wanted - proposed))
        assert scores.per_type[type_] == expected
    assert scores.micro.true_positives == len(set(gold) & set(predicted)) > 10_000
    assert scores.gold_duplicates == len(gold) - len(set(gold)) > 0
    assert scores.predicted_duplicates == len(predicted) - len(set(predicted)) > 0


def random_tags(generator: random.Random, length: int) -> list[str]:
    """Legal IOB2 tags of random runs."""
    tags: list[str] = []
    while len(tags) < length:
        type_, width = generator.choice(TYPES), generator.randint(1, 3)
        tags += generator.choice([["O"], [f"B-{type_}"] + [f"I-{type_}"] * (width - 1)])
    return tags[:length]


def tagged_document(id: str, tags: list[str]) -> Document:
    """Every word is one character, so word positions are character offsets."""
    return document(*(Entity(*run) for run in runs_from_tags(tags)), id=id, text="x" * len(tags))


def test_scores_equal_seqeval_on_flat_documents() -> None:
    generator = random.Random(122)
    gold = [random_tags(generator, generator.randint(1, 30)) for _ in range(400)]
    predicted = [tags if generator.random() < 0.5 else random_tags(generator, len(tags)) for tags in gold]
    scores = evaluate(
        [tagged_document(str(number), tags) for number, tags in enumerate(gold)],
        [tagged_document(str(number), tags) for number, tags in enumerate(predicted)],
    )
    report = classification_report(gold, predicted, mode="strict", scheme=IOB2, output_dict=True)
    ours = {**scores.per_type, "micro avg": scores.micro, "macro avg": scores.macro}
    assert set(scores.per_type) == set(TYPES)
    for name, row in ours.items():
        oracle = [report[name][column] for column in ("precision", "recall", "f1-score")]
        assert [row.precision, row.recall, row.f1] == pytest.approx(oracle, abs=1e-12)
        assert 0 < row.f1 < 1


def test_swapping_gold_and_predicted_swaps_precision_and_recall() -> None:
    generator = random.Random(7)
    mentions = random_mentions(generator, 200, 6)
    gold, predicted = documents_with(mentions, 200), documents_with(imitation(generator, mentions), 200)
    forth, back = evaluate(gold, predicted), evaluate(predicted, gold)
    assert forth.micro.precision != forth.micro.recall
    assert (forth.micro.precision, forth.micro.recall) == (back.micro.recall, back.micro.precision)
    assert forth.micro.f1 == back.micro.f1


def test_the_order_of_documents_and_entities_does_not_matter() -> None:
    generator = random.Random(8)
    mentions = random_mentions(generator, 200, 6)
    gold, predicted = documents_with(mentions, 200), documents_with(imitation(generator, mentions), 200)
    shuffled = [
        one.with_entities(tuple(generator.sample(one.entities, len(one.entities))))
        for one in generator.sample(predicted, len(predicted))
    ]
    assert shuffled != predicted
    assert evaluate(gold, shuffled) == evaluate(gold, predicted)


def test_an_entity_is_found_only_with_the_same_characters_and_type() -> None:
    gold = document(Entity(3, 6, "DNA"))
    near_misses = (Entity(3, 5, "DNA"), Entity(4, 6, "DNA"), Entity(3, 7, "DNA"), Entity(3, 6, "RNA"))
    assert evaluate([gold], [document(*near_misses)]).micro == Counts(0, 4, 1)
    assert evaluate([gold], [document(*near_misses, Entity(3, 6, "DNA"))]).micro == Counts(1, 4, 0)


def test_the_same_characters_in_another_document_are_not_the_entity() -> None:
    gold = [document(Entity(3, 6, "DNA"), id="1"), document(id="2")]
    predicted = [document(id="1"), document(Entity(3, 6, "DNA"), id="2")]
    assert evaluate(gold, predicted).micro == Counts(0, 1, 1)


def test_confidence_and_concepts_do_not_matter() -> None:
    gold = document(Entity(3, 6, "DNA", concepts=("D000",)))
    predicted = document(Entity(3, 6, "DNA", confidence=0.4))
    assert evaluate([gold], [predicted]).micro == Counts(1, 0, 0)


def test_a_discontinuous_entity_is_found_only_with_all_its_fragments() -> None:
    whole = Entity(0, 9, "DNA", fragments=((0, 2), (5, 9)))
    other = Entity(0, 9, "DNA", fragments=((0, 3), (5, 9)))
    assert evaluate([document(whole)], [document(whole)]).micro == Counts(1, 0, 0)
    assert evaluate([document(whole)], [document(Entity(0, 9, "DNA"), other)]).micro == Counts(0, 2, 1)


def test_a_model_that_predicts_nothing_scores_zero() -> None:
    scores = evaluate([document(Entity(0, 1, "DNA"))], [document()])
    assert (scores.micro.precision, scores.micro.recall, scores.micro.f1) == (0.0, 0.0, 0.0)
    assert (scores.macro.precision, scores.macro.recall, scores.macro.f1) == (0.0, 0.0, 0.0)


def test_documents_without_any_entity_score_zero() -> None:
    scores = evaluate([document()], [document()])
    assert (scores.micro.f1, scores.macro.f1, scores.per_type) == (0.0, 0.0, {})


def test_duplicates_in_a_document_count_once_and_are_reported() -> None:
    entity, wrong = Entity(0, 2, "DNA"), Entity(5, 6, "DNA")
    scores = evaluate([document(entity, entity)], [document(entity, wrong, wrong, wrong)])
    assert scores.micro == Counts(1, 1, 0)
    assert (scores.gold_duplicates, scores.predicted_duplicates) == (1, 2)
    assert scores.notes == (
        "gold entities that repeat one of their document, counted once: 1",
        "predicted entities that repeat one of their document, counted once: 2",
    )


def test_the_same_entity_in_two_documents_is_no_duplicate() -> None:
    documents = [document(Entity(0, 2, "DNA"), id="1"), document(Entity(0, 2, "DNA"), id="2")]
    scores = evaluate(documents, documents)
    assert (scores.micro, scores.gold_duplicates) == (Counts(2, 0, 0), 0)


def test_entities_of_a_document_that_the_prediction_lacks_are_misses() -> None:
    gold = [document(Entity(0, 2, "DNA"), id="1"), document(Entity(0, 2, "DNA"), id="2")]
    scores = evaluate(gold, gold[:1])
    assert scores.micro == Counts(1, 0, 1)
    assert (scores.documents, scores.missing_documents) == (2, ("2",))
    assert scores.notes == ("documents that the prediction lacks, all misses: 1 ('2')",)


def test_entities_of_a_document_that_gold_lacks_are_false_positives() -> None:
    predicted = [document(Entity(0, 2, "DNA"), id="1"), document(Entity(0, 2, "DNA"), id="2")]
    scores = evaluate(predicted[:1], predicted)
    assert scores.micro == Counts(1, 1, 0)
    assert (scores.documents, scores.extra_documents) == (1, ("2",))
    assert scores.notes == ("documents that gold lacks, all false positives: 1 ('2')",)


def test_a_note_names_only_the_first_few_documents() -> None:
    gold = [document(id=str(number)) for number in range(9)]
    scores = evaluate(gold, gold[:1])
    assert len(scores.missing_documents) == 8
    assert scores.notes[0].endswith("8 ('1', '2', '3', '4', '5', ...)")


def test_a_type_that_gold_lacks_lowers_micro_but_not_macro() -> None:
    gold = document(Entity(0, 2, "DNA"))
    scores = evaluate([gold], [document(Entity(0, 2, "DNA"), Entity(3, 4, "RNA"))])
    assert scores.unseen_types == ("RNA",)
    assert scores.micro.precision == 0.5
    assert scores.macro.precision == 1.0
    assert scores.notes == ("types that gold lacks, all false positives: 1 ('RNA')",)


def test_macro_is_the_mean_over_types_and_not_over_entities() -> None:
    gold = document(Entity(0, 1, "DNA"), Entity(1, 2, "DNA"), Entity(2, 3, "DNA"), Entity(3, 4, "RNA"))
    predicted = document(Entity(0, 1, "DNA"), Entity(1, 2, "DNA"), Entity(2, 3, "DNA"))
    scores = evaluate([gold], [predicted])
    assert (scores.micro.recall, scores.macro.recall, scores.macro.f1) == (0.75, 0.5, 0.5)


def test_types_are_sorted() -> None:
    entities = [Entity(0, 1, name) for name in ("b", "a", "c")]
    assert list(evaluate([document(*entities)], [document()]).per_type) == ["a", "b", "c"]


def test_ignored_types_count_on_neither_side() -> None:
    kept, gold_only, predicted_only = Entity(0, 1, "DNA"), Entity(2, 3, "RNA"), Entity(4, 5, "RNA")
    gold, predicted = document(kept, gold_only, gold_only), document(kept, predicted_only, predicted_only)
    scores = evaluate([gold], [predicted], ignore_types=["RNA"])
    assert scores.per_type == {"DNA": Counts(1, 0, 0)}
    assert scores.notes == ()


def test_an_ignored_type_that_does_not_occur_is_noted() -> None:
    scores = evaluate([document(Entity(0, 1, "DNA"))], [document()], ignore_types=["Dna"])
    assert scores.notes == ("ignored type 'Dna': no entity has it",)


def test_texts_that_differ_in_white_space_are_scored_and_noted() -> None:
    gold = Document("1", "p53-null mice", (Entity(0, 8, "Strain"), Entity(9, 13, "Species")))
    predicted = Document("1", "p53 - null mice", (Entity(0, 10, "Strain"), Entity(6, 15, "Species")))
    scores = evaluate([gold], [predicted])
    assert scores.per_type == {"Species": Counts(0, 1, 1), "Strain": Counts(1, 0, 0)}
    assert "without counting white space" in scores.notes[0]


def test_a_document_scores_alike_after_its_white_space_was_changed() -> None:
    generator = random.Random(3)
    gold = Document("1", "ab " * 20, tuple(Entity(3 * n, 3 * n + 2, TYPES[n % 4]) for n in range(20)))
    respaced = Document("1", "ab\n\t" * 20, tuple(Entity(4 * n, 4 * n + 2, TYPES[n % 4]) for n in range(20)))
    chosen = tuple(sorted(generator.sample(range(20), 12)))
    same = evaluate([gold], [gold.with_entities(tuple(gold.entities[n] for n in chosen))])
    changed = evaluate([gold], [respaced.with_entities(tuple(respaced.entities[n] for n in chosen))])
    assert changed.per_type == same.per_type
    assert same.micro == Counts(12, 0, 8)


def test_a_tokenised_release_of_a_corpus_has_the_same_entities_as_the_original(corpora: Path) -> None:
    tokenised = read(corpora / "ncbi_disease" / "brat_tokenised" / "test").documents
    original = read(corpora / "ncbi_disease" / "pubtator" / "NCBItestset_corpus.txt").documents
    # The tokenised release knows one type where the original has four.
    merged = [
        one.with_entities(tuple(replace(entity, type="Disease") for entity in one.entities))
        for one in original
    ]
    assert evaluate(merged, tokenised).per_type == {"Disease": Counts(960, 0, 0)}


counts = st.builds(Counts, *[st.integers(0, 1000)] * 3)


@given(counts, counts)
def test_adding_counts_adds_every_number(left: Counts, right: Counts) -> None:
    total = left + right
    assert total.true_positives == left.true_positives + right.true_positives
    assert total.gold == left.gold + right.gold
    assert total.predicted == left.predicted + right.predicted


@given(counts)
def test_f1_is_the_harmonic_mean_of_precision_and_recall(one: Counts) -> None:
    precision, recall = one.precision, one.recall
    expected = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    assert one.f1 == pytest.approx(expected)
    assert 0 <= one.f1 <= 1


def test_scores_as_a_dictionary_survive_json() -> None:
    gold = [document(Entity(0, 1, "DNA"), Entity(2, 3, "RNA")), document(id="2")]
    scores = evaluate(gold, [document(Entity(0, 1, "DNA"), Entity(0, 1, "DNA"), Entity(0, 1, "cell"))])
    again = json.loads(json.dumps(scores.to_dict()))
    assert again["micro"] == {
        "precision": 0.5,
        "recall": 0.5,
        "f1": 0.5,
        "gold": 2,
        "predicted": 2,
        "true_positives": 1,
        "false_positives": 1,
        "false_negatives": 1,
    }
    assert again["macro"] == {"precision": 0.5, "recall": 0.5, "f1": 0.5}
    assert list(again["per_type"]) == ["DNA", "RNA", "cell"]
    assert (again["documents"], again["missing_documents"], again["extra_documents"]) == (2, ["2"], [])
    assert (again["unseen_types"], again["gold_duplicates"], again["predicted_duplicates"]) == (
        ["cell"],
        0,
        1,
    )
    assert again["notes"] == list(scores.notes)


def table_cells(scores: Scores) -> list[tuple[str, ...]]:
    return list(zip(*(map(str, column.cells) for column in type_scores_table(scores).columns), strict=True))


def test_the_table_has_a_row_per_type_and_the_averages() -> None:
    gold = document(*(Entity(n, n + 1, "DNA") for n in range(3)), Entity(3, 4, "RNA"))
    predicted = document(Entity(0, 1, "DNA"), Entity(1, 2, "DNA"), Entity(3, 5, "RNA"))
    assert table_cells(evaluate([gold], [predicted])) == [
        ("DNA", "100.0", "66.7", "80.0", "3", "2", "2"),
        ("RNA", "0.0", "0.0", "0.0", "1", "1", "0"),
        ("micro", "66.7", "50.0", "57.1", "4", "3", "2"),
        ("macro", "50.0", "33.3", "40.0", "", "", ""),
    ]


def test_square_brackets_in_a_type_are_shown_in_the_table() -> None:
    console = Console(file=io.StringIO(), width=80, record=True)
    console.print(type_scores_table(evaluate([document(Entity(0, 1, "[bold]odd"))], [document()])))
    assert "[bold]odd" in console.export_text()


def test_evaluation_does_not_import_torch() -> None:
    modules = "spanwright.evaluation, spanwright.cli.tables.scores"
    code = f"import sys, {modules}; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.slow
def test_one_million_entities_are_scored_in_under_30_seconds() -> None:
    generator = random.Random(30)
    gold = documents_with(random_mentions(generator, 20_000, 50), 20_000)
    predicted = [replace(one, id=one.id) for one in gold]
    begin = time.process_time()
    scores = evaluate(gold, predicted)
    assert time.process_time() - begin < 30
    assert scores.micro.predicted + scores.predicted_duplicates == 1_000_000
    assert scores.micro.f1 == 1.0
