"""Several corpora: their names, what a model is scored on, label maps, and how often each comes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import making
import several
from spanwright.batches.order import Portion
from spanwright.corpora.label_map import LabelMap
from spanwright.errors import InputError, SettingsError
from spanwright.labels import LabelSpace
from spanwright.settings import load_settings
from spanwright.settings.data import CorporaSettings
from spanwright.text import Document, Entity
from spanwright.training.corpora import (
    chosen_map,
    corpus_names,
    count_by_corpus,
    evaluation_splits,
    of_corpora,
    portions,
    shared_types,
    with_shared_types,
)

TRAIN = several.split("train", Gamma=2, Beta=3, Alpha=4)
DEV = several.split("dev", Alpha=1, Gamma=1)


def chosen(**changes: Any) -> CorporaSettings:
    return CorporaSettings(**changes)


def names(**changes: Any) -> tuple[str, ...]:
    return corpus_names(chosen(**changes), {"train": TRAIN, "dev": DEV})


# Names.


def test_corpora_are_in_the_order_of_their_names() -> None:
    assert names() == ("Alpha", "Beta", "Gamma")


def test_targets_come_first_in_the_order_in_which_they_are_named() -> None:
    assert names(target=("Beta",)) == ("Beta", "Alpha", "Gamma")
    assert names(target=("Gamma", "Beta")) == ("Gamma", "Beta", "Alpha")


def test_the_others_can_be_left_out() -> None:
    assert names(target=("Beta",), train="target") == ("Beta",)
    assert names(train="target") == ("Alpha", "Beta", "Gamma")


@pytest.mark.parametrize("split", ["train", "dev", "test"])
@pytest.mark.parametrize("corpus", [None, ""])
def test_a_document_that_does_not_name_its_corpus_is_refused(split: str, corpus: str | None) -> None:
    splits = {"train": TRAIN, "dev": DEV, "test": []}
    splits |= {split: [*splits[split], Document("stray", "one bcase", corpus=corpus)]}
    with pytest.raises(InputError) as caught:
        corpus_names(chosen(), splits)
    assert str(caught.value) == (
        f"{split} document 'stray' does not say which corpus it is from, but several are trained together: "
        "give them by name (--corpora FILE), or set corpora=false"
    )


@pytest.mark.parametrize(
    ("key", "changes"), [("target", {"target": ("Beta", "Delta")}), ("weights", {"weights": {"Delta": 2.0}})]
)
def test_a_corpus_that_there_is_not_is_refused(key: str, changes: dict[str, Any]) -> None:
    with pytest.raises(InputError) as caught:
        names(**changes)
    assert str(caught.value) == (
        f"corpora.{key} names 'Delta'; expected the training corpora: Alpha, Beta, Gamma"
    )


def test_a_target_that_is_named_twice_is_refused() -> None:
    with pytest.raises(InputError, match=r"corpora.target is \['Beta', 'Beta'\]; name each corpus once"):
        names(target=("Beta", "Beta"))


@pytest.mark.parametrize("split", ["dev", "test"])
def test_a_corpus_that_is_only_scored_on_is_refused(split: str) -> None:
    stray = making.of_corpus(making.documents(1), "Delta")
    with pytest.raises(InputError) as caught:
        corpus_names(chosen(), {"train": TRAIN, "dev": DEV, split: stray})
    assert str(caught.value) == (
        f"{split} has documents of the corpus 'Delta', which is not trained on; expected Alpha, Beta, Gamma"
    )


def test_documents_are_chosen_and_counted_by_corpus() -> None:
    assert count_by_corpus(TRAIN) == {"Alpha": 4, "Beta": 3, "Gamma": 2}
    assert of_corpora(TRAIN, ("Gamma", "Beta")) == TRAIN[:5]
    assert of_corpora(TRAIN, ()) == []


# What a model is scored on.


def test_the_targets_are_scored_together_and_each_corpus_by_itself() -> None:
    splits = {"dev": several.split("dev", Beta=1, Alpha=1, Gamma=1), "test": several.split("test", Gamma=1)}
    found = evaluation_splits(("Alpha", "Beta"), ("Alpha", "Beta", "Gamma"), splits)
    ids = {name: [document.corpus for document in documents] for name, documents in found.items()}
    assert ids == {
        "dev": ["Beta", "Alpha"],
        "dev Alpha": ["Alpha"],
        "dev Beta": ["Beta"],
        "dev Gamma": ["Gamma"],
        "test Gamma": ["Gamma"],
    }


def test_a_single_target_is_not_scored_twice() -> None:
    splits = {"dev": DEV, "test": several.split("test", Alpha=2)}
    found = evaluation_splits(("Alpha",), ("Alpha", "Beta", "Gamma"), splits)
    assert found.keys() == {"dev", "test", "dev Gamma"}


# Label maps.


@pytest.fixture
def map_file(tmp_path: Path) -> str:
    path = tmp_path / "map.toml"
    path.write_text(several.MAP)
    return str(path)


ALL = ("Alpha", "Beta", "Gamma")


def test_without_a_map_corpora_share_nothing() -> None:
    assert chosen_map(chosen(), ALL, TRAIN) is None


def test_shared_types_need_a_map() -> None:
    with pytest.raises(
        InputError, match=r"corpora\.labels is 'shared', but there is no label map: set corpora\.map"
    ):
        chosen_map(chosen(labels="shared"), ALL, TRAIN)


def test_a_map_is_read_from_a_file(map_file: str) -> None:
    found = chosen_map(chosen(map=map_file), ALL, TRAIN)
    assert found is not None
    assert found.corpora == {
        "Alpha": {"Gene": "Gene", "Cell": "Cell"},
        "Beta": {"Protein": "Gene"},
        "Gamma": {"Gene": "Gene", "Line": None},
    }


def test_a_shipped_map_is_found_by_its_name() -> None:
    text = "p53 family"
    train = [
        Document("1", text, (Entity(0, 3, "Gene"),), corpus="BioRED"),
        Document("2", text, (Entity(0, 10, "FamilyName"), Entity(4, 10, "Cell")), corpus="NLMGene"),
    ]
    found = chosen_map(chosen(map="cvae-ner"), ("BioRED", "NLMGene"), train)
    assert found is not None and found.types[:3] == ("Disease", "Chemical", "Gene")
    labels = shared_types(LabelSpace.of(train, ("BioRED", "NLMGene")), found)
    assert labels.types == ("Gene", "Cell", "FamilyName")
    assert labels.shared == ("Gene", "", "Gene")


def test_a_map_that_is_nowhere_is_refused() -> None:
    with pytest.raises(InputError, match="nowhere: no such file, and no label map of that name; shipped are"):
        chosen_map(chosen(map="nowhere"), ALL, TRAIN)


def test_all_corpora_that_a_map_lacks_are_named() -> None:
    with pytest.raises(InputError) as caught:
        chosen_map(chosen(map="cvae-ner"), ("BioRED", "Alpha", "Beta"), [])
    assert str(caught.value).startswith(
        "the label map lacks the corpora Alpha, Beta; it has BioRED, BC5CDR, "
    )


def test_all_types_that_a_map_lacks_are_named_with_their_corpus_and_their_number(map_file: str) -> None:
    text = "abc def"
    train = [
        Document("1", text, (Entity(0, 3, "Gene"), Entity(4, 7, "Virus")), corpus="Alpha"),
        Document("2", text, (Entity(0, 3, "Gene"), Entity(4, 7, "Gene")), corpus="Beta"),
        Document("3", text, (Entity(0, 3, "Line"),), corpus="Gamma"),
    ]
    with pytest.raises(InputError) as caught:
        chosen_map(chosen(map=map_file), ALL, train)
    assert str(caught.value) == (
        "the label map lacks the types Gene of Beta (2), Virus of Alpha (1); map each to a shared type, or "
        'to ""'
    )


def test_a_map_can_be_found_in_the_corpora_themselves() -> None:
    train = several.split("train", Alpha=40, Gamma=40)
    found = chosen_map(chosen(map="auto", target=("Alpha",)), ("Alpha", "Gamma"), train)
    assert found is not None
    assert found.types == ("Cell", "Gene")
    assert found.corpora["Alpha"] == {"Cell": "Cell", "Gene": "Gene"}
    assert found.corpora["Gamma"]["Gene"] == "Gene"
    assert found.corpora["Gamma"].keys() == {"Gene", "Line"}


def test_a_corpus_without_entities_has_nothing_to_map() -> None:
    bare = [document.with_entities(()) for document in several.documents("Beta", 2)]
    train = [*several.documents("Alpha", 3), *bare]
    found = chosen_map(chosen(map="auto", target=("Alpha",)), ("Alpha", "Beta"), train)
    assert found is not None and found.corpora["Beta"] == {}
    assert with_shared_types(bare, found, evaluated=False) == bare


@pytest.mark.parametrize("target", [(), ("Alpha", "Beta")])
def test_an_automatic_map_needs_one_target(target: tuple[str, ...]) -> None:
    with pytest.raises(InputError) as caught:
        chosen_map(chosen(map="auto", target=target), ALL, TRAIN)
    assert str(caught.value) == (
        "corpora.map is 'auto', which maps all types onto those of one target, but corpora.target is "
        f"{list(target)}; expected the name of one corpus"
    )


MAP = LabelMap(
    ("Gene", "Cell"),
    {
        "Alpha": {"Gene": "Gene", "FamilyName": "Gene", "Line": None},
        "Beta": {"Cell": None, "Gene": "Gene"},
    },
)


def types(document: Document, *, evaluated: bool) -> list[tuple[int, int, str]]:
    (mapped,) = with_shared_types([document], MAP, evaluated=evaluated)
    return [(entity.start, entity.end, entity.type) for entity in mapped.entities]


def test_entities_without_a_shared_type_are_not_trained_on_but_scored_on() -> None:
    entities = (Entity(0, 3, "FamilyName"), Entity(4, 7, "Line"), Entity(8, 9, "Virus"))
    document = Document("1", "abc def g", entities, corpus="Alpha")
    assert types(document, evaluated=False) == [(0, 3, "Gene")]
    assert types(document, evaluated=True) == [(0, 3, "Gene"), (4, 7, "Line"), (8, 9, "Virus")]


def test_entities_that_become_the_same_are_one() -> None:
    document = Document("1", "abc", (Entity(0, 3, "FamilyName"), Entity(0, 3, "Gene")), corpus="Alpha")
    assert types(document, evaluated=False) == types(document, evaluated=True) == [(0, 3, "Gene")]


def test_a_type_without_a_shared_one_counts_as_missed_even_if_a_shared_type_has_its_name() -> None:
    document = Document("1", "abc def", (Entity(0, 3, "Cell"), Entity(4, 7, "Gene")), corpus="Beta")
    assert types(document, evaluated=False) == [(4, 7, "Gene")]
    assert types(document, evaluated=True) == [(0, 3, "Cell of Beta"), (4, 7, "Gene")]


def test_types_that_all_corpora_have_in_common_need_no_shared_ones() -> None:
    labels = LabelSpace(("Gene",), corpora=("Alpha", "Beta"))
    assert shared_types(labels, MAP) is labels
    apart = LabelSpace(("Gene", "Gene"), corpora=("Alpha", "Beta"), corpus=(0, 1))
    assert shared_types(apart, None) is apart


# How often each corpus comes.

CORPORA = ("first", "second", "third")


def counts(sizes: tuple[int, ...], **changes: Any) -> list[int]:
    corpus = np.repeat(np.arange(len(sizes)), sizes)
    return [portion.count for portion in portions(chosen(**changes), corpus, CORPORA[: len(sizes)])]


def test_portions_hold_the_windows_of_each_corpus() -> None:
    found = portions(chosen(), np.asarray([1, 0, 2, 1, 0, 1]), CORPORA)
    assert [portion.positions.tolist() for portion in found] == [[1, 4], [0, 3, 5], [2]]
    assert all(isinstance(portion, Portion) for portion in found)


@given(st.lists(st.integers(1, 300), min_size=1, max_size=3).map(tuple))
def test_in_proportion_all_windows_come_once(sizes: tuple[int, ...]) -> None:
    assert counts(sizes) == list(sizes)


def test_equally_often_means_equal_counts_in_an_epoch_as_long_as_ever() -> None:
    assert counts((90, 27, 3), sampling="equal") == [40, 40, 40]


def test_a_temperature_takes_the_root_of_the_shares() -> None:
    assert counts((90, 10), sampling=2.0) == [75, 25]
    assert counts((1, 8), sampling=3.0) == [3, 6]


def test_a_temperature_of_1_is_in_proportion_and_a_high_one_equal() -> None:
    assert counts((90, 27, 3), sampling=1.0) == [90, 27, 3]
    assert counts((90, 27, 3), sampling=1e6) == [40, 40, 40]


def test_a_low_temperature_leaves_little_to_small_corpora_but_never_nothing() -> None:
    assert counts((400, 40, 4), sampling=0.01) == [444, 1, 1]


def test_weights_multiply_windows() -> None:
    assert counts((90, 27, 4), weights={"first": 0.5, "third": 3.0}) == [45, 27, 12]


def test_weights_multiply_equal_shares() -> None:
    # 30 and 10 windows, of which the second count twice: 50 windows, one third and two thirds of them.
    assert counts((30, 10), sampling="equal", weights={"second": 2.0}) == [17, 33]


def test_a_corpus_without_windows_has_no_portion() -> None:
    assert counts((3, 0, 2)) == [3, 2]
    assert counts((4, 0, 2), sampling="equal") == [3, 3]
    assert counts((4, 0, 1), sampling=2.0) == [3, 2]


def test_without_any_windows_there_are_no_portions() -> None:
    assert counts((0, 0)) == counts((0, 0), sampling="equal") == counts((0, 0), sampling=2.0) == []


@given(
    st.lists(st.integers(1, 300), min_size=1, max_size=3).map(tuple),
    st.one_of(st.sampled_from(("proportional", "equal")), st.floats(0.5, 100)),
    st.lists(st.floats(0.1, 10), min_size=3, max_size=3),
)
def test_an_epoch_is_as_long_as_all_windows_with_their_weights(
    sizes: tuple[int, ...], sampling: str | float, weights: list[float]
) -> None:
    named = dict(zip(CORPORA[: len(sizes)], weights, strict=False))
    found = counts(sizes, sampling=sampling, weights=named)
    expected = sum(size * weight for size, weight in zip(sizes, weights, strict=False))
    # Rounded each, and none comes less than once.
    assert sum(found) == pytest.approx(expected, abs=len(sizes))
    assert min(found) >= 1


# Settings.


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ("corpora.sampling=0", "expected more than 0"),
        ("corpora.sampling=inf", "finite number"),
        ("corpora.sampling=often", "'proportional' or 'equal'"),
        ("corpora.weights={a=0}", "expected more than 0"),
        ("corpora.weights={a=inf}", "finite number"),
        ("corpora.labels=none", "'own' or 'shared'"),
        ("corpora.train=some", "'all' or 'target'"),
        ("corpora.lables=own", "'corpora.lables' (did you mean 'corpora.labels'?); expected labels, "),
    ],
)
def test_illegal_settings_are_refused(change: str, reason: str) -> None:
    with pytest.raises(SettingsError) as caught:
        load_settings("cvae", [change])
    assert reason in str(caught.value) and "corpora." in str(caught.value)


def test_false_switches_corpora_off() -> None:
    assert load_settings("cvae").corpora is not None
    assert load_settings("cvae", ["corpora=false"]).corpora is None
