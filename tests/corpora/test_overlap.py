from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwright.corpora.files import read
from spanwright.corpora.near_texts import NearTexts, likeness, shingles
from spanwright.corpora.overlap import drop_shared, fingerprint, overlap
from spanwright.text import Document, Entity


def text(seed: int, length: int = 60) -> str:
    """Words of a made-up language: texts of different seeds have no run of four words in common."""
    generator = random.Random(seed)
    return " ".join("".join(generator.choices("abcdefghij", k=6)) for _ in range(length))


def edited(original: str, *positions: int) -> str:
    """The text with other words at some positions."""
    words = original.split()
    for position in positions:
        words[position] = "edited"
    return " ".join(words)


def reasons(a: Document, b: Document) -> list[tuple[str, ...]]:
    return [pair.reasons for pair in overlap([a], [b]).pairs]


def test_a_given_id_is_shared() -> None:
    assert reasons(Document("7", text(1)), Document("7", text(2))) == [("id",)]


@pytest.mark.parametrize("side", ["a", "b"])
def test_an_id_made_up_by_a_reader_is_not_shared(side: str) -> None:
    a, b = Document("7", text(1)), Document("7", text(2))
    made_up = replace(a if side == "a" else b, generated_id=True)
    assert reasons(made_up if side == "a" else a, made_up if side == "b" else b) == []


def test_passages_of_an_article_share_the_id_of_the_article() -> None:
    passage = Document("7#2", text(1), metadata={"given_id": "7"})
    assert reasons(passage, Document("7", text(2))) == [("id",)]
    assert reasons(passage, Document("7#2", text(2))) == []


def test_the_same_text_is_found_whatever_its_case_and_white_space() -> None:
    a, b = Document("1", "IL-2 binds, e.g. here."), Document("2", "il - 2  binds ,\ne.g. here .")
    assert reasons(a, b) == [("text",)]


def test_a_text_without_its_title_is_near() -> None:
    a, b = Document("1", f"{text(9, 12)}\n{text(1)}"), Document("2", text(1))
    assert reasons(a, b) == [("near",)]
    assert overlap([a], [b]).pairs[0].similarity == 1


def test_a_text_with_small_edits_is_near() -> None:
    a, b = Document("1", text(1)), Document("2", edited(text(1), 10, 40))
    assert reasons(a, b) == [("near",)]
    assert overlap([a], [b]).pairs[0].similarity == pytest.approx(49 / 57)


def test_a_text_with_many_edits_is_not_near() -> None:
    assert reasons(Document("1", text(1)), Document("2", edited(text(1), *range(0, 60, 6)))) == []


@pytest.mark.parametrize("swapped", [False, True])
def test_a_sentence_of_a_text_is_a_part_of_it(swapped: bool) -> None:
    a, b = Document("1", text(1)), Document("2", " ".join(text(1).split()[20:40]))
    assert reasons(*((b, a) if swapped else (a, b))) == [("part",)]


def test_a_part_of_fewer_than_fifteen_words_is_not_reported() -> None:
    words = text(1).split()
    assert reasons(Document("1", text(1)), Document("2", " ".join(words[:15]))) == [("part",)]
    assert reasons(Document("1", text(1)), Document("2", " ".join(words[:14]))) == []


def test_chinese_texts_are_near_without_blanks_between_words() -> None:
    sentence = "新浪微博客户端全新升级信息流图片加载速度提升发布器支持多张图片"
    assert reasons(Document("1", sentence), Document("2", f"{sentence}了解")) == [("near",)]


def test_a_pair_names_all_its_reasons() -> None:
    assert reasons(Document("7", text(1)), Document("7", text(1))) == [("id", "text")]


def test_copies_are_paired_with_the_first_of_the_other_side() -> None:
    copies = [Document(str(number), text(1)) for number in range(3)]
    others = [Document(f"b{number}", text(1)) for number in range(2)]
    found = overlap(copies, others)
    assert [(pair.a.id, pair.b.id) for pair in found.pairs] == [
        ("0", "b0"),
        ("1", "b0"),
        ("2", "b0"),
        ("0", "b1"),
    ]
    assert (len(found.shared_a), len(found.shared_b)) == (3, 2)


def test_documents_of_a_are_counted_by_reason() -> None:
    a = [Document(str(seed), text(seed)) for seed in range(4)]
    b = [Document("0", text(0)), Document("x", edited(text(1), 5)), Document("3", text(9))]
    assert overlap(a, b).reasons() == {"id": 2, "text": 1, "near": 1, "part": 0}


def mention_document(*mentions: str) -> Document:
    joined, entities, start = "", [], 0
    for mention in mentions:
        entities.append(Entity(start, start + len(mention), "X"))
        joined += f"{mention} "
        start = len(joined)
    return Document("1", joined, tuple(entities), generated_id=True)


def test_shares_of_mentions_count_strings_and_mentions_both_ways() -> None:
    found = overlap([mention_document("IL-2", "p53")], [mention_document("il - 2", "IL-2", "CD4", "CD8")])
    assert (found.b_in_a.strings_seen, found.b_in_a.strings) == (1, 3)
    assert found.b_in_a.mention_share == 0.5
    assert (found.a_in_b.string_share, found.a_in_b.mention_share) == (0.5, 0.5)


def test_nothing_is_shared_with_an_empty_corpus() -> None:
    found = overlap([mention_document("p53")], [])
    assert found.pairs == ()
    assert (found.a_in_b.mention_share, found.b_in_a.mention_share) == (0, 0)


def test_plain_data_names_the_pairs_by_id() -> None:
    data = overlap([Document("7", text(1))], [Document("8", text(1))]).to_dict()
    assert data["pairs"] == [{"a": "7", "b": "8", "reasons": ["text"], "similarity": 1.0}]
    assert (data["shared_a"], data["shared_a_by_reason"]["text"]) == (1, 1)


@given(
    st.lists(st.lists(st.sampled_from("abc"), max_size=12), max_size=6),
    st.lists(st.sampled_from("abc"), max_size=12),
)
def test_the_index_finds_what_comparing_all_pairs_finds(texts: list[list[str]], wanted: list[str]) -> None:
    joined = [" ".join(words) for words in texts]
    query = shingles(" ".join(wanted))
    near = [
        place
        for place, other in enumerate(map(shingles, joined))
        # The index passes over pairs with fewer than three shingles in common.
        if min(len(query), len(other)) >= 4 and likeness(query, other).containment >= 0.75
    ]
    index = NearTexts(joined, containment=0.75, fewest=4)
    assert [place for place, _ in index.find(" ".join(wanted))] == near


def test_phrases_that_many_texts_have_do_not_make_them_near() -> None:
    phrase = text(0, 20)
    documents = [Document(str(seed), f"{phrase} {text(seed, 5)}") for seed in range(1, 40)]
    assert overlap(documents[:1], documents[1:]).shared_b != []  # few in A: every pair is compared
    crowd = [replace(document, id=f"c{document.id}") for document in documents]
    assert {pair.reasons for pair in overlap(documents, crowd).pairs} == {("text",)}


def test_fingerprints_differ_when_a_character_does() -> None:
    assert fingerprint("a b") == fingerprint("A\nB") != fingerprint("a c")


def test_training_drops_documents_with_the_id_or_text_of_evaluation_documents() -> None:
    train = [Document("1", text(1)), Document("2", text(2)), Document("3", text(3))]
    kept, shared = drop_shared(train, [Document("1", text(8)), Document("9", text(2).upper())])
    assert [document.id for document in kept] == ["3"]
    assert [document.id for document in shared] == ["1", "2"]


def test_training_drops_passages_of_an_evaluation_article() -> None:
    train = [Document("7", text(1)), Document("7#2", text(2), metadata={"given_id": "7"})]
    kept, _ = drop_shared(train, [Document("7#3", text(3), metadata={"given_id": "7"})])
    assert kept == []


def test_training_drops_a_document_that_is_the_same_but_for_an_edit_or_its_title() -> None:
    train = [Document("1", edited(text(1), 30)), Document("2", f"{text(9, 12)}\n{text(2)}")]
    assert drop_shared(train, [Document("a", text(1)), Document("b", text(2))])[0] == []


def test_training_keeps_a_document_that_is_merely_similar() -> None:
    train = [Document("1", edited(text(1), 10, 30))]
    assert drop_shared(train, [Document("a", text(1))]) == (train, [])


def test_training_keeps_a_sentence_with_one_other_word() -> None:
    sentence = text(1, 32)
    train = [Document("1", edited(sentence, 0))]
    assert drop_shared(train, [Document("a", sentence)]) == (train, [])


def test_biored_test_documents_are_found_in_the_training_files_of_other_corpora(corpora: Path) -> None:
    folder = corpora / "aioner" / "pubtator"
    test = read(folder / "BioRED_Test.PubTator").documents
    expected = {
        "BC5CDR_TrainDev": 21,
        "tmVar3_Train": 24,
        "NLMgene_Train": 21,
        "GNormPlus_Train": 5,
        "NCBIdisease_TrainDev": 1,
        "SPECIES_Train": 0,
    }
    found = {name: overlap(test, read(folder / f"{name}.PubTator").documents) for name in expected}
    assert {name: len(each.shared_a) for name, each in found.items()} == expected
    shared = {document.id: document for each in found.values() for document in each.shared_a}
    assert len(shared) == 72
    mentions = sum(len(document.entities) for document in shared.values())
    assert mentions / sum(len(document.entities) for document in test) == pytest.approx(0.736, abs=0.001)


def test_a_corpus_is_found_in_its_tokenised_copy_without_ids(corpora: Path) -> None:
    folder = corpora / "ncbi_disease"
    given_ids = read(folder / "pubtator" / "NCBItestset_corpus.txt").documents
    tokenised = read(folder / "brat_tokenised" / "test").documents
    anonymous = [replace(document, generated_id=True) for document in tokenised]
    found = overlap(anonymous, given_ids)
    assert len(found.shared_a) == len(found.shared_b) == 100
