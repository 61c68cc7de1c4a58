"""What all ten perturbations promise, and what each of them does."""

from __future__ import annotations

import random
import re
import time

import pytest
from annotated import documents, training
from hypothesis import example, given, settings
from hypothesis import strategies as st

import making
from naughty import NAUGHTY
from spanwright.errors import InputError
from spanwright.perturbing import NEED_TRAINING, PERTURBATIONS, perturb
from spanwright.text import Document, Entity, sentences, words

TRAINING = training()
JOINED = "joined-documents"
SINGLE = [name for name in PERTURBATIONS if name != JOINED]
names = st.sampled_from(SINGLE)


def one(name: str, document: Document, seed: int = 0) -> Document:
    (new,) = perturb([document], name, seed=seed, training=TRAINING)
    return new


def within(inner: Entity, outer: Entity) -> bool:
    return all(any(a <= c and d <= b for a, b in outer.ranges) for c, d in inner.ranges)


def test_there_are_ten() -> None:
    assert len(set(PERTURBATIONS)) == 10


@given(documents(), names, st.integers(0, 3))
def test_entities_keep_their_order_types_and_pieces(document: Document, name: str, seed: int) -> None:
    new = one(name, document, seed)
    assert [(entity.type, len(entity.fragments)) for entity in new.entities] == [
        (entity.type, len(entity.fragments)) for entity in document.entities
    ]


@given(documents(), names, st.integers(0, 3))
def test_nested_entities_stay_nested(document: Document, name: str, seed: int) -> None:
    new = one(name, document, seed)
    for old_inner, new_inner in zip(document.entities, new.entities, strict=True):
        for old_outer, new_outer in zip(document.entities, new.entities, strict=True):
            if within(old_inner, old_outer):
                assert within(new_inner, new_outer)


@given(documents(), names)
def test_the_seed_and_the_document_decide(document: Document, name: str) -> None:
    neighbours = [Document("z", "Before it"), document, Document("y", "After it")]
    assert perturb(neighbours, name, seed=1, training=TRAINING)[1] == one(name, document, seed=1)


@pytest.mark.parametrize("name", ["typos", "white-space", *NEED_TRAINING, JOINED])
def test_another_seed_gives_other_texts_where_something_is_drawn(name: str) -> None:
    made = making.documents(12)
    first, second = (perturb(made, name, seed=seed, training=[*TRAINING, *made]) for seed in (0, 1))
    assert [document.text for document in first] != [document.text for document in second]


@pytest.mark.parametrize("name", PERTURBATIONS)
@pytest.mark.parametrize("text", ["", " ", "中", "\u200b"])
def test_a_document_without_anything_to_change_stays_equal(name: str, text: str) -> None:
    document = Document("1", text)
    assert perturb([document], name, training=TRAINING) == [document]


@pytest.mark.parametrize("name", PERTURBATIONS)
def test_naughty_texts_with_an_entity_on_every_word_go_through(name: str) -> None:
    made = [
        Document(
            str(number), text, tuple(Entity(start, end, "Gene") for start, end in words(Document("", text)))
        )
        for number, text in enumerate(NAUGHTY)
    ]
    new = perturb(made, name, training=TRAINING)
    assert sum(len(document.entities) for document in new) == sum(len(document.entities) for document in made)


@pytest.mark.parametrize("name", PERTURBATIONS)
def test_a_long_text_takes_no_longer_than_it_should(name: str) -> None:
    text = "..... (a b) dots " * 5_000 + "." * 50_000 + "x"
    entities = tuple(Entity(start, start + 1, "Gene") for start in range(7, 17 * 5_000, 17))
    began = time.perf_counter()
    perturb([Document("1", text, entities)], name, training=TRAINING)
    assert time.perf_counter() - began < 10  # what is quadratic takes minutes


def test_an_unknown_name_is_refused_with_the_legal_ones() -> None:
    with pytest.raises(InputError, match=r"unknown perturbation 'noise'; expected typos, lower-case, .*"):
        perturb([], "noise")


# The single perturbations.


@given(documents())
def test_case_changes_every_mention_letter_by_letter(document: Document) -> None:
    for name, change in (("lower-case", str.lower), ("upper-case", str.upper)):
        new = one(name, document)
        for old_entity, new_entity in zip(document.entities, new.entities, strict=True):
            assert new.mention(new_entity) == "".join(map(change, document.mention(old_entity)))


def test_case_moves_what_stands_after_letters_that_grow() -> None:
    new = one("upper-case", Document("1", "groß ﬁlm p53", (Entity(9, 12, "Gene"),)))
    assert new.text == "GROSS FILM P53"
    assert new.mention(new.entities[0]) == "P53"


@given(documents())
def test_punctuation_of_entities_stays(document: Document) -> None:
    new = one("no-punctuation", document)
    assert [new.mention(entity) for entity in new.entities] == [
        document.mention(entity) for entity in document.entities
    ]


def test_punctuation_goes_unless_words_would_become_one() -> None:
    text = 'The "best" (p53, 2.5 mg/ml), e.g. IL-2;x in U.S. law...'
    new = one("no-punctuation", Document("1", text, (Entity(12, 15, "Gene"), Entity(45, 49, "Place"))))
    assert new.text == "The best p53 2.5 mg/ml e.g IL-2;x in U.S. law"


@given(documents())
@example(Document("1", "a b " * 50, (Entity(0, 3, "Gene"),)))
def test_white_space_changes_nothing_else(document: Document) -> None:
    new = one("white-space", document)
    assert re.sub(r"\s+", " ", new.text) == re.sub(r"\s+", " ", document.text)
    assert len(words(new)) == len(words(document))


@given(documents())
def test_typos_keep_the_ends_of_words_and_nearly_all_letters(document: Document) -> None:
    if document.words is not None:
        return
    new = one("typos", document)
    pairs = list(zip(words(document), words(new), strict=True))
    for (start, end), (new_start, new_end) in pairs:
        old_word, new_word = document.text[start:end], new.text[new_start:new_end]
        assert (old_word[0], old_word[-1]) == (new_word[0], new_word[-1])
        assert abs(len(old_word) - len(new_word)) <= 1


def test_about_one_word_in_ten_gets_a_typo_of_each_kind() -> None:
    plain = " ".join(random.Random(0).choices(["kinase", "protein", "binding"], k=4000))
    old, new = plain.split(), one("typos", Document("1", plain)).text.split()
    changed = [(before, after) for before, after in zip(old, new, strict=True) if before != after]
    assert 300 < len(changed) < 500
    kinds = [len(after) - len(before) for before, after in changed]
    swapped = sum(sorted(before) == sorted(after) for before, after in changed)
    assert min(kinds.count(-1), kinds.count(1), swapped, kinds.count(0) - swapped) > 50


def test_characters_are_written_in_another_way() -> None:
    text = 'TNF-α "naïve" β2µ… ≥5 é\u0301 ≠ Å 한'
    new = one("character-variants", Document("1", text, (Entity(0, 5, "Gene"),)))
    assert new.text == "TNF\u2010alpha \u201dnaive\u201d beta2u... >=5 e\u0301 ≠ A 한"
    assert new.mention(new.entities[0]) == "TNF\u2010alpha"


# Swaps of mentions.

SENTENCE = Document(
    "1",
    "The breast cancer gene p53 and flu.",
    (Entity(4, 22, "Gene"), Entity(4, 17, "Disease"), Entity(23, 26, "Gene"), Entity(31, 34, "Disease")),
)
KNOWN = {document.mention(entity) for document in TRAINING for entity in document.entities}


@pytest.mark.parametrize("seed", range(5))
def test_seen_mentions_come_from_training(seed: int) -> None:
    new = one("seen-mentions", SENTENCE, seed)
    outer, *inner = new.entities
    assert {new.mention(entity) for entity in inner} <= KNOWN
    assert new.mention(outer) == f"{new.mention(inner[0])} gene"
    assert new.text == f"The {new.mention(outer)} {new.mention(inner[1])} and {new.mention(inner[2])}."


@pytest.mark.parametrize("seed", range(5))
def test_unseen_mentions_do_not_come_from_training(seed: int) -> None:
    new = one("unseen-mentions", SENTENCE, seed)
    swapped = {new.mention(entity) for entity in new.entities[1:]}
    assert not swapped & KNOWN
    assert not swapped & {SENTENCE.mention(entity) for entity in SENTENCE.entities}


@pytest.mark.parametrize("seed", range(5))
def test_longer_mentions_have_more_words(seed: int) -> None:
    new = one("longer-mentions", SENTENCE, seed)
    for old_entity, new_entity in zip(SENTENCE.entities, new.entities, strict=True):
        assert new.mention(new_entity) in KNOWN or old_entity is SENTENCE.entities[0]
        assert len(new.mention(new_entity).split()) > len(SENTENCE.mention(old_entity).split())


@pytest.mark.parametrize("name", NEED_TRAINING)
def test_mentions_that_share_characters_or_have_several_pieces_stay(name: str) -> None:
    crossing = (Entity(0, 12, "Disease"), Entity(6, 20, "Disease"))
    discontinuous = Entity(24, 39, "Disease", fragments=((24, 28), (36, 39)))
    twice = (Entity(43, 49, "Gene"), Entity(43, 49, "Disease"))
    document = Document(
        "1", "acute kidney failure or skin or bone flu to abcdef", (*crossing, discontinuous, *twice)
    )
    assert one(name, document) == document


def test_a_training_mention_with_an_entity_in_it_is_never_taken() -> None:
    nested = Document("t", "the p53 disease", (Entity(4, 15, "Disease"), Entity(4, 7, "Gene")))
    (new,) = perturb([SENTENCE], "seen-mentions", training=[nested])
    assert [new.mention(entity) for entity in new.entities] == [
        "breast cancer gene",
        "breast cancer",
        "p53",
        "flu",
    ]
    (new,) = perturb([SENTENCE], "seen-mentions", training=[nested.with_entities(nested.entities[:1])])
    assert "p53 disease" in [new.mention(entity) for entity in new.entities]


@pytest.mark.parametrize("name", NEED_TRAINING)
def test_a_mention_glued_to_a_letter_stays(name: str) -> None:
    document = Document("1", "JAK2V617F", (Entity(0, 4, "Gene"),))
    assert one(name, document) == document


@pytest.mark.parametrize("name", NEED_TRAINING)
def test_swaps_without_mentions_of_the_type_change_nothing(name: str) -> None:
    assert perturb([SENTENCE], name, training=[]) == [SENTENCE]


@pytest.mark.parametrize("name", NEED_TRAINING)
def test_swapped_mentions_bring_their_given_words(name: str) -> None:
    given_words = ((0, 3), (4, 10), (11, 17), (18, 22), (23, 26), (27, 30), (31, 34), (34, 35))
    document = Document("1", SENTENCE.text, SENTENCE.entities, words=given_words)
    new = one(name, document)
    assert new.words is not None
    cut = [new.text[start:end] for start, end in new.words]
    assert cut == re.findall(r"\w+|\.", new.text)
    borders = {border for word in new.words for border in word}
    assert {border for entity in new.entities for border in (entity.start, entity.end)} <= borders


@given(documents(), st.sampled_from(NEED_TRAINING))
def test_an_entity_of_whole_words_still_is_one(document: Document, name: str) -> None:
    def whole(item: Document) -> list[bool]:
        starts, ends = ({word[side] for word in words(item)} for side in (0, 1))
        return [entity.start in starts and entity.end in ends for entity in item.entities]

    before, after = whole(document), whole(one(name, document))
    assert [new for old, new in zip(before, after, strict=True) if old] == [True] * sum(before)


# Joined documents.


@given(st.lists(documents(), max_size=3), st.integers(0, 3))
@settings(max_examples=40)
def test_joined_documents_hold_the_mentions_and_words_of_all(made: list[Document], seed: int) -> None:
    new = perturb(made, JOINED, seed=seed)
    assert len(new) == (len(made) + 1) // 2

    def content(items: list[Document]) -> tuple[list[object], list[object]]:
        mentions: list[object] = [(e.type, d.mention(e)) for d in items for e in d.entities]
        cut: list[object] = [d.text[start:end] for d in items for start, end in words(d)]
        return sorted(mentions, key=repr), sorted(cut, key=repr)

    assert content(new) == content(made)


@given(documents(), documents())
@settings(max_examples=40)
def test_given_sentences_of_one_document_stay_sentences_of_both(left: Document, right: Document) -> None:
    (new,) = perturb([left, right], JOINED)
    if left.sentences is None and right.sentences is None:
        assert new.sentences is None
    else:
        kept = [document.text[start:end] for document in (left, right) for start, end in sentences(document)]
        assert [new.text[start:end] for start, end in new.sentences or ()] == kept


def test_documents_are_joined_by_a_blank_in_their_order() -> None:
    made = [Document("a", "p53", (Entity(0, 3, "Gene"),)), Document("b", "flu.", (Entity(0, 3, "Disease"),))]
    (new,) = perturb(made, JOINED)
    assert (new.id, new.text) == ("a + b", "p53 flu.")
    assert [(entity.start, entity.end) for entity in new.entities] == [(0, 3), (4, 7)]
