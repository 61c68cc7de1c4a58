from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwright.corpora.near_texts import NearTexts, likeness, shingles
from spanwright.corpora.overlap import Leaks, drop_shared, find_leaks, fingerprint, overlap
from spanwright.formats.files import read
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


def test_documents_with_one_id_and_other_texts_are_namesakes_and_not_shared() -> None:
    found = overlap([Document("7", text(1))], [Document("7", text(2))])
    assert (found.pairs, found.shared_a, found.reasons()["id"]) == ((), [], 0)
    assert [(pair.a.id, pair.reasons) for pair in found.namesakes] == [("7", ("id",))]


@pytest.mark.parametrize("side", ["a", "b"])
def test_an_id_made_up_by_a_reader_is_not_shared(side: str) -> None:
    a, b = Document("7", text(1)), Document("7", text(2))
    made_up = replace(a if side == "a" else b, generated_id=True)
    found = overlap([made_up if side == "a" else a], [made_up if side == "b" else b])
    assert (found.pairs, found.namesakes) == ((), ())


def test_all_passages_of_an_article_are_shared_if_one_of_them_is() -> None:
    passages = [Document("7", text(1)), Document("7#2", text(2), metadata={"given_id": "7"})]
    found = overlap(passages, [Document("7", text(2))])
    assert [(pair.a.id, pair.reasons) for pair in found.pairs] == [("7", ("id",)), ("7#2", ("id", "text"))]
    assert found.namesakes == ()


def test_a_namesake_that_is_shared_for_another_reason_is_not_counted_as_one() -> None:
    found = overlap([Document("7", text(1, 14))], [Document("7", text(2)), Document("8", text(1, 14))])
    assert (len(found.shared_a), len(found.namesakes), found.namesakes_a) == (1, 1, [])


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
    assert overlap(a, b).reasons() == {"id": 1, "text": 1, "near": 1, "part": 0}
    assert [document.id for document in overlap(a, b).namesakes_a] == ["3"]


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
    assert (found.a_in_b.strings_seen, found.a_in_b.strings) == (1, 2)
    assert found.a_in_b.mention_share == 0.5


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


def test_training_drops_documents_with_the_text_of_evaluation_documents() -> None:
    train = [Document("1", text(1)), Document("2", text(2)), Document("3", text(3))]
    kept, shared = drop_shared(train, [Document("1", text(8)), Document("9", text(2).upper())])
    assert [document.id for document in kept] == ["1", "3"]
    assert [document.id for document in shared] == ["2"]


def test_a_training_document_with_the_id_of_an_evaluation_document_and_another_text_is_a_namesake() -> None:
    train = [Document("0", text(1)), Document("1", text(2)), Document("2", text(3))]
    assert find_leaks(train, [Document("0", text(8)), Document("1", text(2))]) == Leaks((1,), (0,))


@given(
    st.dictionaries(st.integers(0, 12), st.integers(0, 12), max_size=8),
    st.dictionaries(st.integers(0, 12), st.integers(0, 12), max_size=8),
)
def test_training_drops_what_has_an_evaluation_text_and_nothing_else(
    train: dict[int, int], evaluation: dict[int, int]
) -> None:
    """Documents are made from their ids and the seeds of their texts."""
    made = [[Document(str(id), text(seed)) for id, seed in side.items()] for side in (train, evaluation)]
    shared = [seed in evaluation.values() for seed in train.values()]
    named = [id in evaluation and not leaked for id, leaked in zip(train, shared, strict=True)]
    found = find_leaks(*made)
    assert found.shared == tuple(number for number, leaked in enumerate(shared) if leaked)
    assert found.namesakes == tuple(number for number, is_named in enumerate(named) if is_named)


def passages(*seeds: int, key: str = "given_id") -> list[Document]:
    """Passages of the article 7, as readers of PubTator or of GENIA's JSON lines give them."""
    return [Document(f"7#{seed}", text(seed), metadata={key: "7"}) for seed in seeds]


@pytest.mark.parametrize("key", ["given_id", "doc_id"])
def test_training_drops_all_passages_of_an_article_of_which_one_stands_in_evaluation_data(key: str) -> None:
    train = [*passages(1, 2, 3, key=key), Document("8", text(4))]
    kept, _ = drop_shared(train, passages(3, 5, key=key))
    assert kept == train[3:]


def test_training_drops_passages_of_an_article_that_stands_in_evaluation_data_as_one_document() -> None:
    assert drop_shared(passages(1, 2), [Document("7", f"{text(9)} {text(2)} {text(8)}")])[0] == []


def test_training_keeps_passages_of_an_article_of_which_no_text_stands_in_evaluation_data() -> None:
    assert find_leaks(passages(1, 2), passages(3, 4)) == Leaks((), (0, 1))


def test_repeated_ids_are_passages_of_an_article_where_the_bare_id_is_known() -> None:
    train = [
        Document("7", text(1)),
        Document("7#2", text(2)),
        Document("8#2", text(3)),
        Document("8#3", text(4)),
    ]
    assert find_leaks(train, [Document("7#2", text(2)), Document("8#2", text(3))]) == Leaks((0, 1, 2), ())


def test_a_passage_that_many_articles_have_does_not_make_articles_the_same() -> None:
    notice = text(0, 20)
    train = [Document("0", text(1)), Document("0#2", notice), Document("1", text(2)), Document("1#2", notice)]
    dev = [Document("0", text(3)), Document("0#2", notice), Document("1", text(4)), Document("1#2", notice)]
    assert find_leaks(train, dev) == Leaks((1, 3), (0, 2))


def test_a_document_with_the_same_id_is_dropped_for_a_text_that_is_less_alike() -> None:
    similar = edited(text(1), 10, 30)
    train = [Document("1", similar), Document("2", similar)]
    assert find_leaks(train, [Document("1", text(1))]) == Leaks((0,), ())


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
