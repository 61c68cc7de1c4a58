from __future__ import annotations

import json
import random
import time

import pytest
from hypothesis import given
from nested_documents import two_sides

from spanwright.evaluation import (
    CRITERIA,
    Matches,
    break_down,
    compare_documents,
    find_confusions,
    find_mistakes,
    score,
    strict_scores,
)
from spanwright.text import Document, Entity

Sides = tuple[list[Document], list[Document]]


def buckets(
    attribute: str,
    gold: list[Document],
    predicted: list[Document] | None = None,
    training: list[Document] | None = None,
) -> dict[str, tuple[int, int]]:
    """Gold and predicted entities of the buckets that have any."""
    comparison = compare_documents(gold, gold if predicted is None else predicted)
    found = break_down(comparison, training).attributes[attribute]
    return {name: (each.gold, each.predicted) for name, each in found.items() if each.gold or each.predicted}


def mentions(text: str, *found: str, type: str = "Gene", id: str = "1") -> Document:
    """A document in which the first occurrence of each mention is an entity."""
    return Document(
        id,
        text,
        tuple(Entity(text.index(one), text.index(one) + len(one), type) for one in found),
    )


@given(two_sides(), two_sides())
def test_the_buckets_of_every_attribute_add_up_to_the_whole(sides: Sides, training: Sides) -> None:
    comparison = compare_documents(*sides)
    whole = score(comparison, "strict").micro
    attributes = break_down(comparison, training[0]).attributes
    assert len(attributes) == 9
    for found in attributes.values():
        assert sum(found.values(), Matches()) == whole


def test_width_counts_the_words_that_an_entity_touches() -> None:
    gold = mentions("one two three-four five, six seven.", "one", "wo thr", "two three-f", "e-four five, six")
    assert buckets("width", [gold]) == {"1": (1, 1), "2": (1, 1), "3-4": (1, 1), "5+": (1, 1)}


def test_the_width_of_a_discontinuous_entity_leaves_out_the_gap() -> None:
    text = "lung or skin cancer"
    gold = Document("1", text, (Entity(0, 19, "Disease", fragments=((0, 4), (13, 19))),))
    assert buckets("width", [gold]) == {"2": (1, 1)}


def test_text_length_is_that_of_the_sentence_in_which_an_entity_begins() -> None:
    gold = mentions("Just a few. Now there are eight of them here. Four more.", "few. Now", "eight", "Four")
    assert buckets("text length", [gold]) == {"1-7": (2, 2), "8-16": (1, 1)}


def test_sentences_of_the_corpus_come_before_those_of_the_rules() -> None:
    text = "a b c d. E f g h i j"
    gold = Document("1", text, (Entity(0, 1, "Letter"),), sentences=((0, len(text)),))
    assert buckets("text length", [gold]) == {"8-16": (1, 1)}


def test_density_is_that_of_gold_also_for_predictions() -> None:
    text = "word " * 40
    gold = Document("1", text, (Entity(0, 4, "Gene"),))
    predicted = Document("1", text, tuple(Entity(5 * n, 5 * n + 4, "Gene") for n in range(9)))
    assert buckets("entity density", [gold], [predicted]) == {"0.01-0.025": (1, 9)}


@pytest.mark.parametrize(
    ("words", "bucket"), [(100, "0-0.01"), (99, "0.01-0.025"), (20, "0.025-0.05"), (19, "0.05+")]
)
def test_the_upper_limit_of_a_density_belongs_to_its_bucket(words: int, bucket: str) -> None:
    assert buckets("entity density", [Document("1", "word " * words, (Entity(0, 4, "Gene"),))]) == {
        bucket: (1, 1)
    }


def test_widths_to_ten_have_a_bucket_each() -> None:
    entities = tuple(Entity(0, 2 * words - 1, "A") for words in (1, 9, 10, 12))
    assert buckets("width to 10", [Document("1", "x " * 12, entities)]) == {
        "1": (1, 1),
        "9": (1, 1),
        "10+": (2, 2),
    }


def test_nesting_is_judged_relative_to_gold() -> None:
    text = "x" * 20
    outer, middle, inner, alone = (
        Entity(0, 9, "A"),
        Entity(2, 9, "B"),
        Entity(3, 4, "A"),
        Entity(8, 12, "A"),
    )
    gold = [Document("1", text, (outer, middle, inner, alone)), Document("2", text, (inner,))]
    # In the first document one is between gold entities; in the second, gold has nothing nested.
    predicted = [Document("1", text, (Entity(3, 9, "A"), alone)), Document("2", text, (inner, outer))]
    assert buckets("nesting", gold, predicted) == {
        "flat": (2, 3),
        "nested": (1, 0),
        "covering": (1, 0),
        "both": (1, 1),
    }


def test_two_types_on_one_span_are_flat() -> None:
    gold = Document("1", "xxxx", (Entity(0, 2, "A"), Entity(0, 2, "B")))
    assert buckets("nesting", [gold]) == {"flat": (2, 2)}


def inside(small: Entity, large: Entity) -> bool:
    bounds = (large.start, large.end)
    return large.start <= small.start and small.end <= large.end and bounds != (small.start, small.end)


def naive_nesting(entity: Entity, gold: tuple[Entity, ...]) -> str:
    outer = [each for each in gold if any(inside(other, each) for other in gold)]
    inner = [each for each in gold if any(inside(each, other) for other in gold)]
    nested = any(inside(entity, other) for other in outer)
    covering = any(inside(other, entity) for other in inner)
    return "both" if nested and covering else "nested" if nested else "covering" if covering else "flat"


@given(two_sides())
def test_nesting_equals_a_loop_over_all_pairs(sides: Sides) -> None:
    comparison = compare_documents(*sides)
    found = break_down(comparison).attributes["nesting"]
    gold = {one.id: one.entities for one in sides[0]}
    for side, name in zip(sides, ("gold", "predicted"), strict=True):
        expected = dict.fromkeys(found, 0)
        for one in side:
            for entity in {entity.key: entity for entity in one.entities}.values():
                expected[naive_nesting(entity, gold.get(one.id, ()))] += 1
        assert {bucket: getattr(matches, name) for bucket, matches in found.items()} == expected


def test_position_is_the_third_in_which_an_entity_begins() -> None:
    gold = Document("1", "x" * 9, tuple(Entity(n, n + 1, "A") for n in (0, 2, 3, 5, 6, 8)))
    assert buckets("position", [gold]) == {
        "first third": (2, 2),
        "second third": (2, 2),
        "last third": (2, 2),
    }


def test_a_mention_is_seen_whatever_its_case_and_white_space() -> None:
    training = [mentions("Lung  cancer and p53 here", "Lung  cancer"), mentions("p53", "p53", type="DNA")]
    gold = mentions("the lung cancer, p53, cancer", "lung cancer", "p53", "cancer,")
    assert buckets("mention", [gold], training=training) == {
        "seen": (1, 1),
        "seen as another type": (1, 1),
        "unseen": (1, 1),
    }


def test_a_mention_is_seen_after_a_letter_that_grows_in_lower_case() -> None:
    training = [mentions("İzmir, p53 and İL here", "p53", "İL")]
    gold = mentions("İİ P53 then il and İl", "P53", "il", "İl")
    assert buckets("mention", [gold], training=training) == {"seen": (2, 2), "unseen": (1, 1)}


def test_a_mention_with_a_word_that_training_lacks_is_unseen() -> None:
    training = [mentions("old words", "old words")]
    assert buckets("mention", [mentions("new words", "new words")], training=training) == {"unseen": (1, 1)}


def test_out_of_vocabulary_density_is_the_share_of_unknown_words_of_the_sentence() -> None:
    training = [Document("t", "a b c d e f g h i .")]
    gold = mentions("A b c d. A b c d e f g h i z. New words q.", "A b c d", "i z", "New")
    assert buckets("out-of-vocabulary density", [gold], training=training) == {
        "0": (1, 1),
        "0-0.1": (1, 1),
        "0.25-1": (1, 1),
    }


def test_densities_and_lengths_equal_a_loop_over_the_words_of_each_sentence() -> None:
    generator = random.Random(3)
    training = [Document("t", "a b c d .")]
    scales = {"text length": (7, 16, 31), "out-of-vocabulary density": (0, 0.1, 0.25)}
    expected = {name: [0, 0, 0, 0] for name in scales}
    documents = []
    for number in range(30):
        sizes = [generator.randint(1, 40) for _ in range(generator.randint(1, 4))]
        lines = [" ".join(generator.choices("abcdz", (9, 9, 9, 9, 4), k=size)) for size in sizes]
        text = "\n\n".join(lines)
        starts = [len("\n\n".join(lines[:place])) + 2 * bool(place) for place in range(len(lines))]
        documents.append(Document(str(number), text, tuple(Entity(at, at + 1, "A") for at in starts)))
        for line, size in zip(lines, sizes, strict=True):
            values = {"text length": size, "out-of-vocabulary density": line.count("z") / size}
            for name, value in values.items():
                expected[name][sum(value > limit for limit in scales[name])] += 1
    found = break_down(compare_documents(documents, []), training).attributes
    assert {name: [each.gold for each in found[name].values()] for name in scales} == expected
    assert all(min(counts) > 0 for counts in expected.values())


def test_label_consistency_is_the_share_of_words_that_carry_the_type() -> None:
    text = "p53 gene and p53 gene and P53 then gene p53"
    # Of four occurrences of the word one is a gene and one is inside a protein.
    training = [
        Document("t", text, (Entity(0, 3, "Gene"), Entity(13, 21, "Protein"))),
        Document("u", "gene"),
    ]
    gold = Document(
        "1",
        "p53 gene and new",
        (Entity(0, 3, "Gene"), Entity(0, 8, "Protein"), Entity(9, 12, "Gene"), Entity(13, 16, "Gene")),
    )
    # 1 of 4 words; 2 of 4; never labelled; never there.
    assert buckets("label consistency", [gold], training=training) == {"0-0.1": (2, 2), "0.1-0.5": (2, 2)}


def test_a_mention_does_not_stand_across_two_training_documents() -> None:
    training = [mentions("a cell", "cell"), mentions("line b", "line")]
    gold = mentions("cell line", "cell line")
    assert buckets("label consistency", [gold], training=training) == {"0-0.1": (1, 1)}


def naive_consistency(words: list[str], type_: str, training: list[Document]) -> float:
    carried = total = 0
    for one in training:
        text = one.text.split(" ")
        starts = [sum(len(word) + 1 for word in text[:number]) for number in range(len(text))]
        for first in range(len(text) - len(words) + 1):
            if text[first : first + len(words)] == words:
                total += len(words)
                carried += sum(
                    any(
                        entity.start <= starts[number] < entity.end
                        for entity in one.entities
                        if entity.type == type_
                    )
                    for number in range(first, first + len(words))
                )
    return carried / total if total else 0.0


def letters(generator: random.Random, id: str) -> Document:
    """Words of one letter, with entities of one to three words."""
    text = " ".join(generator.choices("abc", k=12))
    firsts = [generator.randrange(10) for _ in range(4)]
    return Document(
        id,
        text,
        tuple(
            Entity(2 * first, 2 * (first + generator.randint(1, 3)) - 1, generator.choice("XY"))
            for first in firsts
        ),
    )


def test_label_consistency_equals_a_loop_over_the_training_text() -> None:
    generator = random.Random(5)
    limits = {"0-0.1": 0.1, "0.1-0.5": 0.5, "0.5-0.9": 0.9, "0.9-1": 1.0}
    seen = set()
    for _ in range(40):
        training = [letters(generator, "t"), letters(generator, "u")]
        gold = letters(generator, "1")
        expected = dict.fromkeys(limits, 0)
        for entity in {entity.key: entity for entity in gold.entities}.values():
            value = naive_consistency(gold.mention(entity).split(" "), entity.type, training)
            expected[next(name for name, highest in limits.items() if value <= highest)] += 1
        found = buckets("label consistency", [gold], training=training)
        assert found == {name: (number, number) for name, number in expected.items() if number}
        seen |= set(found)
    assert seen == set(limits)


def test_attributes_that_need_training_are_left_out_with_a_note() -> None:
    found = break_down(compare_documents([mentions("a b", "a")], []))
    assert list(found.attributes) == [
        *("width", "width to 10", "text length", "entity density", "nesting", "position")
    ]
    assert found.notes == (
        "left out for want of training documents: label consistency, mention, out-of-vocabulary density",
    )


def test_training_without_documents_has_seen_nothing() -> None:
    assert buckets("mention", [mentions("a b", "a")], training=[]) == {"unseen": (1, 1)}


def test_words_are_those_of_gold_where_white_space_differs() -> None:
    gold, predicted = mentions("p53-null mice", "p53-null"), mentions("p53 - null  mice", "p53 - null  mice")
    training = [mentions("p53-null mice", "p53-null mice")]
    assert buckets("width", [gold], [predicted]) == {"3-4": (1, 1)}
    assert buckets("mention", [gold], [predicted], training) == {"seen": (0, 1), "unseen": (1, 0)}


def test_breakdowns_as_a_dictionary_survive_json() -> None:
    found = break_down(compare_documents([mentions("a b", "a")], [mentions("a b", "a", "b")]))
    again = json.loads(json.dumps(found.to_dict()))
    assert again["attributes"]["width"]["1"] == {
        "precision": 0.5,
        "recall": 1.0,
        "f1": pytest.approx(2 / 3),
        "gold": 1,
        "found": 1,
        "predicted": 2,
        "correct": 1,
    }
    assert again["notes"] == list(found.notes)


def test_100000_entities_are_evaluated_in_under_3_seconds() -> None:
    generator = random.Random(1)
    text = "Alpha beta gamma delta epsilon zeta eta theta. " * 20
    starts = [place for place in range(len(text)) if text[place - 1 : place] in ("", " ")]
    gold, predicted = [], []
    for number in range(1000):
        rows = [
            (generator.choice(starts), generator.randint(3, 30), generator.choice("ABCD")) for _ in range(100)
        ]
        golds = tuple(Entity(start, min(start + width, len(text)), type_) for start, width, type_ in rows)
        shifted = tuple(Entity(one.start, one.end - 1, one.type) for one in golds[50:])
        gold.append(Document(str(number), text, golds))
        predicted.append(Document(str(number), text, golds[:50] + shifted))
    begin = time.process_time()
    comparison = compare_documents(gold, predicted)
    found = [score(comparison, criterion).to_dict() for criterion in CRITERIA]
    strict_scores(comparison).to_dict()
    break_down(comparison)
    mistakes, confusion = find_mistakes(comparison), find_confusions(comparison)
    taken = time.process_time() - begin
    # About a second. Processor time, so that a busy machine does not matter.
    assert taken < 3
    assert found[0]["micro"]["gold"] > 90_000
    assert sum(mistakes.counts.values()) > 50_000
    assert confusion.matrix.sum() > 90_000
