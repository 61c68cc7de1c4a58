from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwright.corpora.alignment import align
from spanwright.corpora.label_map import load_map
from spanwright.corpora.marking import marks_in_shared_documents, marks_in_texts
from spanwright.corpora.suggest_map import (
    decide,
    gather_evidence,
    name_similarity,
    name_words,
    suggest_map,
    suggested_map,
)
from spanwright.errors import InputError
from spanwright.formats.files import read
from spanwright.text import Document, Entity, split


def document(id: str, text: str, **types: str) -> Document:
    """A document in which each named word (the first time it occurs) has a type."""
    entities = [
        Entity(text.index(word), text.index(word) + len(word), type_)
        for word, type_ in ((name.replace("_", " "), type_) for name, type_ in types.items())
    ]
    return Document(id, text, tuple(entities), generated_id=True)


def word(generator: random.Random) -> str:
    return "".join(generator.choices("abcdefghijklmnopqrstuvw", k=7))


def texts(marked: dict[str, list[str]], seed: int, unmarked: Sequence[str] = ()) -> list[Document]:
    """A document for each name: filler around the name, which is marked with its type."""
    generator = random.Random(seed)
    names = [(type_, name) for type_, group in marked.items() for name in group]
    documents = []
    for number, (type_, name) in enumerate([*names, *(("", name) for name in unmarked)]):
        before = " ".join(word(generator) for _ in range(9))
        text = f"{before} {name} {word(generator)}"
        start = len(before) + 1
        entities = (Entity(start, start + len(name), type_),) if type_ else ()
        documents.append(Document(f"{seed}-{number}", text, entities, generated_id=True))
    return documents


def group(prefix: str, size: int = 12) -> list[str]:
    return [f"{prefix}{letter}" for letter in "abcdefghijklmnopqrst"[:size]]


def targets(a: Sequence[Document], b: Sequence[Document]) -> dict[str, str | None]:
    return {found.type: found.target for found in suggest_map(a, b)}


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("DNAMutation", ("dna", "mutation")),
        ("cell_line", ("cell", "line")),
        ("GeneOrGeneProduct", ("gene", "or", "product")),
        ("PER.NOM", ("per", "nom")),
        ("geo-loc", ("geo", "loc")),
        ("Tier2", ("tier", "2")),
        ("地点", ("地点",)),
    ],
)
def test_names_of_types_are_parted_into_words(name: str, words: tuple[str, ...]) -> None:
    assert name_words(name) == words


def test_spellings_of_one_name_are_the_same() -> None:
    assert name_similarity("CellLine", "cell_lines") == 1
    assert name_similarity("Species", "SPECIES") == 1


def test_names_are_the_more_alike_the_more_words_they_share() -> None:
    assert name_similarity("Disease", "SpecificDisease") == pytest.approx(2 / 3)
    assert name_similarity("Gene", "GeneOrGeneProduct") == pytest.approx(1 / 2)
    assert name_similarity("loc", "location") == pytest.approx(0.8)
    assert name_similarity("Organization", "organisation") > 0.6
    assert name_similarity("Gene", "Disease") == name_similarity("", "Gene") == 0


@given(st.text(max_size=20), st.text(max_size=20))
def test_similarity_of_names_is_symmetric_and_a_share(left: str, right: str) -> None:
    assert name_similarity(left, right) == pytest.approx(name_similarity(right, left))
    assert 0 <= name_similarity(left, right) <= 1


@given(
    st.lists(st.sampled_from(["il", "-", "2", "binds", "p53", "."]), min_size=1, max_size=8),
    st.randoms(use_true_random=False),
)
def test_places_are_found_whatever_the_white_space(words: list[str], generator: random.Random) -> None:
    source, target = ("".join(f"{word}{' ' * generator.randint(0, 2)}" for word in words) for _ in range(2))
    place = align(source, target)
    first = generator.randrange(len(words))
    start, end = (len("".join(words[:first])), len("".join(words[: first + 1])))
    solid = [[p for p, letter in enumerate(text) if letter != " "] for text in (source, target)]
    found = place(solid[0][start], solid[0][end - 1] + 1)
    assert found == (solid[1][start], solid[1][end - 1] + 1)


def test_places_are_found_in_a_part_and_in_the_whole() -> None:
    part, whole = "il - 2 binds", "A title.\nHere IL: il-2 binds."
    assert align(part, whole)(0, 6) == (18, 22)
    assert align(whole, part)(18, 22) == (0, 6)
    assert align(whole, part)(0, 7) is None


def test_places_are_found_around_edits_but_not_in_them() -> None:
    place = align("the p53 gene binds well", "the p53 gene may bind well")
    assert place(4, 12) == (4, 12)
    assert place(19, 23) == (22, 26)
    assert place(13, 18) is None


def test_an_abbreviation_is_not_taken_for_a_common_word() -> None:
    a = [document("1", "WAS and Lupus", WAS="Disease", Lupus="Disease")]
    b = [document("2", "it was lupus", lupus="Illness")]
    tally = marks_in_texts(a, b).names["Disease"]
    assert (tally.names, tally.marks) == (1, {"Illness": 1})


def test_a_name_counts_once_and_is_shared_out_over_its_marks() -> None:
    a = [document("1", "flu", flu="Disease"), document("2", "cold", cold="Disease")]
    b = [document("3", "flu , flu , flu , flu", flu="Illness")]
    tally = marks_in_texts(a, b).names["Disease"]
    assert (tally.names, tally.share("Illness"), tally.share(None)) == (1, 0.25, 0.75)


def test_the_longest_name_at_a_place_counts() -> None:
    a = [document("1", "cancer of breast cancer", cancer="Class", breast_cancer="Disease")]
    b = [document("2", "the breast cancer cells", breast_cancer="Illness")]
    assert set(marks_in_texts(a, b).names) == {"Disease"}


def test_a_name_inside_a_longer_mention_counts_half() -> None:
    a = [document("1", "cancer", cancer="Disease")]
    b = [document("2", "breast cancer", breast_cancer="Illness")]
    assert marks_in_texts(a, b).names["Disease"].marks == {None: 0.5, "Illness": 0.5}


def test_words_of_a_name_count_by_how_rare_they_are() -> None:
    a = [document("1", "the lupus", the_lupus="Disease")]
    b = [
        document("2", "the old lupus came", lupus="Illness"),
        *(document(str(n), "the cat") for n in range(3, 9)),
    ]
    found = marks_in_texts(a, b)
    assert found.names == {}
    # `the` stands in every document and has no say.
    assert found.words["Disease"].marks == {"Illness": pytest.approx(1)}


def test_chance_is_the_share_of_words_that_a_type_covers() -> None:
    b = [document("2", "one two three four", one="X", two_three="Y")]
    assert marks_in_texts([], b).chance == {"X": 0.25, "Y": 0.5, None: 0.25}


def test_shared_documents_are_compared_place_by_place() -> None:
    a = document("1", "IL-2 and IL-2 bind p53", p53="Gene")
    b = document("2", "IL - 2 and IL - 2 bind p53", p53="Protein")
    b = replace(b, entities=(*b.entities, Entity(0, 6, "Protein")))
    a = replace(a, entities=(*a.entities, Entity(0, 4, "Gene"), Entity(9, 13, "Gene")))
    tally = marks_in_shared_documents([(a, b)])["Gene"]
    assert (tally.names, tally.share("Protein")) == (2, 0.75)


def test_types_are_mapped_by_how_the_other_corpus_marks_their_names() -> None:
    a = texts({"X1": group("gen"), "X2": group("dis")}, seed=1)
    b = texts({"Gene": group("gen"), "Disease": group("dis")}, seed=2)
    assert targets(a, b) == {"X1": "Gene", "X2": "Disease"}


def test_several_types_may_be_mapped_to_one() -> None:
    a = texts({"X1": group("gen")[:6], "X2": group("gen")[6:]}, seed=1)
    assert targets(a, texts({"Gene": group("gen"), "Disease": group("dis")}, seed=2)) == {
        "X1": "Gene",
        "X2": "Gene",
    }


def test_a_type_whose_names_are_left_unmarked_is_mapped_to_none() -> None:
    a = texts({"Motif": group("mot")}, seed=1)
    b = texts({"Gene": group("gen")}, seed=2, unmarked=group("mot"))
    (found,) = suggest_map(a, b)
    assert (found.target, found.nearest) == (None, "Gene")
    assert found.confidence > 0.9


def test_a_type_whose_names_are_marked_now_so_and_now_so_is_mapped_to_none() -> None:
    a = texts({"Cell": group("cel")}, seed=1)
    b = texts({"Line": group("cel")[:4], "Disease": group("cel")[4:8]}, seed=2, unmarked=group("cel")[8:])
    assert targets(a, b) == {"Cell": None}


def test_without_any_evidence_a_type_is_mapped_to_none() -> None:
    assert targets(texts({"X": group("gen")}, seed=1), texts({"Y": group("dis")}, seed=2)) == {"X": None}


def test_the_same_name_alone_is_enough() -> None:
    a, b = texts({"Disease": group("gen")}, seed=1), texts({"disease": group("dis")}, seed=2)
    assert targets(a, b) == {"Disease": "disease"}


def test_the_same_name_is_outvoted_by_shared_documents() -> None:
    a = texts({"Gene": group("gen", 20)}, seed=1)
    b = [replace(doc, entities=tuple(replace(e, type="Family") for e in doc.entities)) for doc in a]
    b += texts({"Gene": group("oth")}, seed=2)
    assert targets(a, b) == {"Gene": "Family"}


def test_shared_documents_do_not_vote_twice() -> None:
    a = texts({"X": group("gen")}, seed=1)
    b = [replace(doc, entities=tuple(replace(e, type="Y") for e in doc.entities)) for doc in a]
    evidence = gather_evidence(a, b)
    assert evidence.shared == len(a)
    assert evidence.places["X"].names == len(a)
    assert evidence.texts.names == {}


def test_documents_with_the_same_id_and_another_text_are_not_compared() -> None:
    a = [replace(doc, generated_id=False, id="1") for doc in texts({"X": ["gena"]}, seed=1)]
    b = [replace(doc, generated_id=False, id="1") for doc in texts({"Y": ["gena"]}, seed=2)]
    assert gather_evidence(a, b).shared == 0


def test_a_type_that_covers_a_text_by_chance_gets_no_votes() -> None:
    a = texts({"X": group("gen")}, seed=1)
    marked = texts({"Y": group("gen")}, seed=2)
    dense = [
        replace(doc, entities=tuple(Entity(start, end, "Y") for start, end in split(doc.text)))
        for doc in marked
    ]
    assert targets(a, marked) == {"X": "Y"}
    assert targets(a, dense) == {"X": None}


def test_names_that_a_corpus_marks_now_and_then_count_as_much_as_its_own() -> None:
    names = group("gen", 20)
    fickle = texts({"Gene": names}, seed=2) + texts({"Disease": group("dis")}, seed=3)
    fickle += texts({"Gene": names}, seed=4, unmarked=[*names, *names])
    random.Random(5).shuffle(fickle)
    a = texts({"X": names}, seed=1)
    evidence = gather_evidence(a, fickle)
    assert evidence.texts.names["X"].share("Gene") == 0.5
    assert evidence.own.names["Gene"].share("Gene") < 0.6
    assert decide(evidence)[0].target == "Gene"
    assert decide(replace(evidence, own=replace(evidence.own, names={}, words={})))[0].target is None


def test_the_evidence_can_be_read_by_people() -> None:
    a = texts({"GeneName": group("gen")}, seed=1, unmarked=group("oth"))
    b = texts({"Gene": group("gen") + group("oth") + group("mor")}, seed=2)
    b += [replace(doc, id=f"s{doc.id}") for doc in texts({"Gene": group("sha", 3)}, seed=3)]
    a += [
        replace(doc, entities=tuple(replace(e, type="GeneName") for e in doc.entities))
        for doc in texts({"Gene": group("sha", 3)}, seed=3)
    ]
    (found,) = suggest_map(a, b)
    assert found.evidence == (
        "type names GeneName and Gene: 67% alike",
        "names in shared documents (3): 100% Gene of 3",
        "names found in other texts: 100% Gene of 12",
        "names whose words are found in other texts: 100% Gene of 12",
    )


def test_a_type_that_the_corpus_itself_mostly_leaves_unmarked_is_remarked_on() -> None:
    a = texts({"Other": group("gen", 6)}, seed=1, unmarked=group("oth", 20))
    b = texts({"Gene": group("gen", 6) + group("oth", 20)}, seed=2)
    (found,) = suggest_map(a, b)
    assert found.target == "Gene"
    assert found.evidence[-1] == "beware: A itself leaves 77% of 26 Gene names unmarked"


def test_the_order_of_documents_changes_nothing() -> None:
    a = texts({"X1": group("gen"), "X2": group("dis")}, seed=1)
    b = texts({"Gene": group("gen"), "Disease": group("dis")}, seed=2)
    assert targets(a, b) == targets(a[::-1], b[::-1])


def test_corpora_without_entities_are_an_error() -> None:
    with pytest.raises(InputError, match="corpus B has no entity in its 1 document"):
        suggest_map(texts({"X": ["gena"]}, seed=1), [Document("1", "nothing")])


def test_suggestions_become_a_label_map() -> None:
    a = texts({"X": group("gen"), "Z": group("zzz")}, seed=1)
    b = texts({"Gene": group("gen"), "Disease": group("dis")}, seed=2)
    label_map = suggested_map("mine", suggest_map(a, b), ["Disease", "Gene"])
    assert label_map.corpora == {"mine": {"X": "Gene", "Z": None}}
    assert label_map.types == ("Disease", "Gene")


@pytest.mark.parametrize("corpus", ["GNormPlus", "tmVar3"])
def test_the_published_map_onto_biored_is_suggested(corpora: Path, corpus: str) -> None:
    folder = corpora / "aioner" / "pubtator"
    (file,) = folder.glob(f"{corpus}_Train*.PubTator")
    suggested = targets(read(file).documents, read(folder / "BioRED_TrainDev.PubTator").documents)
    published = load_map("cvae-ner").corpora[corpus]
    assert suggested == {type_: published[type_] for type_ in suggested}


def test_renamed_types_are_recognised_in_the_corpus_they_come_from(corpora: Path) -> None:
    a = read(corpora / "jnlpba" / "bio" / "valid.tsv").documents
    b = read(corpora / "genia" / "jsonl" / "dev.jsonl", corpora / "genia" / "jsonl" / "test.jsonl").documents
    assert targets(a, b) == {
        "PRGE": "protein",
        "CLTP": "cell_type",
        "CLLN": "cell_line",
        "DNA": "DNA",
        "RNA": "RNA",
    }


def test_evidence_can_be_left_out_to_see_what_it_is_worth() -> None:
    a, b = texts({"Disease": group("dis")}, seed=1), texts({"disease": group("oth")}, seed=2)
    evidence = gather_evidence(a, b)
    assert decide(evidence)[0].target == "disease"
    assert decide(replace(evidence, similarities={}))[0].target is None
