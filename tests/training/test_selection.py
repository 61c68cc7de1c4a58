"""Which documents a run trains on and is scored on: leaks, targets, shared types, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import making
import several
from spanwright.errors import InputError
from spanwright.settings import Settings, load_settings
from spanwright.text import Document
from spanwright.training.selection import TrainingData, select

TRAIN = several.split("train", Alpha=4, Beta=3, Gamma=3)
DEV = several.split("dev", Alpha=2, Beta=1, Gamma=1)
TEST = several.split("test", Alpha=1, Gamma=1)


def settings(*changes: str) -> Settings:
    return load_settings("cvae", changes)


def selected(
    *changes: str,
    train: list[Document] = TRAIN,
    dev: list[Document] = DEV,
    test: list[Document] = TEST,
) -> TrainingData:
    return select(settings(*changes), train, dev, test)


ALPHA = "corpora.target=['Alpha']"


@pytest.fixture
def map_file(tmp_path: Path) -> str:
    path = tmp_path / "map.toml"
    path.write_text(several.MAP)
    return f"corpora.map={path}"


# One corpus.


def test_without_corpora_documents_are_all_of_one() -> None:
    data = selected("corpora=false")
    assert data.train == TRAIN
    assert data.evaluation == {"dev": DEV, "test": TEST}
    assert data.deciding == ("dev",)
    assert data.corpora == data.targets == ()
    assert data.target_documents == TRAIN
    assert data.label_map is None


def test_without_a_test_split_there_is_none_to_score() -> None:
    assert selected("corpora=false", test=[]).evaluation.keys() == {"dev"}


def test_documents_of_one_corpus_need_no_name() -> None:
    bare = [replace(document, corpus=None) for document in making.documents(3)]
    data = selected("corpora=false", train=bare, dev=making.documents(1, prefix="dev"), test=[])
    assert data.train == bare


# Targets.


def test_one_target_chooses_the_model_by_its_dev_documents() -> None:
    data = selected(ALPHA)
    assert (data.corpora, data.targets) == (("Alpha", "Beta", "Gamma"), ("Alpha",))
    assert data.deciding == ("dev",)
    assert data.evaluation["dev"] == several.documents("Alpha", 2, prefix="dev")
    assert data.evaluation.keys() == {"dev", "test", "dev Beta", "dev Gamma", "test Gamma"}
    assert data.target_documents == TRAIN[:4]
    assert data.train == TRAIN


def test_several_targets_choose_the_model_by_the_mean_of_each() -> None:
    data = selected("corpora.target=['Gamma', 'Alpha']")
    assert data.deciding == ("dev Gamma", "dev Alpha")
    assert {document.corpus for document in data.evaluation["dev"]} == {"Alpha", "Gamma"}
    assert {document.corpus for document in data.target_documents} == {"Alpha", "Gamma"}


def test_unless_named_all_corpora_that_have_dev_documents_choose_the_model() -> None:
    data = selected(dev=several.split("dev", Alpha=1, Gamma=1))
    assert data.targets == ("Alpha", "Beta", "Gamma")
    assert data.deciding == ("dev Alpha", "dev Gamma")


def test_the_target_can_be_trained_on_alone() -> None:
    data = selected(ALPHA, "corpora.train=target")
    assert data.train == TRAIN[:4]
    assert data.corpora == data.targets == ("Alpha",)
    assert data.evaluation.keys() == {"dev", "test"}


# Documents that stand in evaluation data.


def leaked() -> tuple[list[Document], list[Document], list[Document]]:
    """Training documents of which two of Beta, one of Gamma and one of Alpha stand in evaluation data.

    Each in another corpus than its own, with another id and in another split, but for the one of Alpha.
    """
    own = several.documents("Alpha", 1, prefix="own")
    in_dev = replace(making.documents(1, prefix="leaked dev")[0], id="in dev")
    in_test = replace(making.documents(1, prefix="leaked test")[0], id="in test")
    train = [
        *TRAIN,
        *own,
        replace(in_dev, id="beta 1", corpus="Beta", entities=()),
        replace(in_test, id="beta 2", corpus="Beta", entities=()),
        replace(in_dev, id="gamma 1", corpus="Gamma", text=f" {in_dev.text.upper()}", entities=()),
    ]
    return (
        train,
        [*DEV, *own, replace(in_dev, corpus="Alpha")],
        [*TEST, replace(in_test, corpus="Gamma", entities=())],
    )


def test_training_documents_that_stand_in_any_evaluation_split_of_any_corpus_are_dropped() -> None:
    train, dev, test = leaked()
    data = selected(ALPHA, train=train, dev=dev, test=test)
    assert data.train == TRAIN
    assert data.leaked == {"Alpha": 1, "Beta": 2, "Gamma": 1}


def test_leaked_documents_can_be_kept_and_are_counted_all_the_same() -> None:
    train, dev, test = leaked()
    data = selected(ALPHA, "training.leaked=keep", train=train, dev=dev, test=test)
    assert data.train == train
    assert data.leaked == {"Alpha": 1, "Beta": 2, "Gamma": 1}


def test_evaluation_documents_of_corpora_that_are_not_scored_on_are_not_trained_on_either() -> None:
    stray = several.documents("Beta", 1, prefix="stray")
    train = [*TRAIN, replace(stray[0], id="copy", corpus="Alpha", entities=())]
    data = selected(ALPHA, "corpora.train=target", train=train, dev=[*DEV, *stray])
    assert data.train == TRAIN[:4]
    assert data.leaked == {"Alpha": 1}


def test_without_corpora_leaked_documents_are_dropped_and_counted_too() -> None:
    data = selected("corpora=false", train=[*TRAIN, DEV[0], TEST[0]])
    assert data.train == TRAIN
    assert sum(data.leaked.values()) == 2


def test_without_corpora_leaked_documents_can_be_kept_and_are_counted_all_the_same() -> None:
    train = [*TRAIN, DEV[0], TEST[0]]
    data = selected("corpora=false", "training.leaked=keep", train=train)
    assert data.train == train
    assert sum(data.leaked.values()) == 2


@pytest.mark.parametrize("changes", [("corpora=false",), (ALPHA,)], ids=["one corpus", "several corpora"])
def test_splits_that_both_number_their_documents_from_0_lose_nothing_and_are_told(
    changes: tuple[str, ...],
) -> None:
    train, dev, test = (
        [replace(document, id=str(number)) for number, document in enumerate(split)]
        for split in (TRAIN, DEV, TEST)
    )
    data = selected(*changes, train=train, dev=dev, test=test)
    assert data.train == train
    assert sum(data.leaked.values()) == 0
    (warning,) = data.warnings
    assert warning.startswith(
        "4 training documents have the id of a dev or test document but another text, such as '0': they are "
        "trained on."
    )


def test_without_such_ids_nothing_is_told() -> None:
    assert selected("corpora=false", train=[*TRAIN, DEV[0]]).warnings == ()


# Types.


def names(documents: list[Document]) -> set[tuple[str | None, str]]:
    return {(document.corpus, entity.type) for document in documents for entity in document.entities}


OWN = {(name, type_) for name, types in several.TYPES.items() for type_ in types}


def test_types_stay_as_they_are_where_each_corpus_has_its_own(map_file: str) -> None:
    data = selected(ALPHA, map_file)
    assert data.label_map is not None
    assert names(list(data.train)) == OWN
    assert data.evaluation["dev"] == several.documents("Alpha", 2, prefix="dev")


def test_with_shared_types_entities_without_one_are_left_out_of_training_and_stay_in_evaluation(
    map_file: str,
) -> None:
    data = selected(ALPHA, map_file, "corpora.labels=shared")
    mapped = {("Alpha", "Gene"), ("Alpha", "Cell"), ("Beta", "Gene"), ("Gamma", "Gene")}
    assert names(list(data.train)) == mapped
    evaluated = {pair for documents in data.evaluation.values() for pair in names(list(documents))}
    assert evaluated == mapped | {("Gamma", "Line")}
    for name in ("dev", "test"):
        counts = [len(document.entities) for document in data.evaluation[f"{name} Gamma"]]
        documents = several.documents("Gamma", 1, prefix=name)
        assert counts == [len(document.entities) for document in documents]


# What is refused.


@pytest.mark.parametrize(
    ("train", "dev", "message"),
    [
        ([], DEV, "the training corpus is empty: no document could be read"),
        (TRAIN, [], "the dev corpus is empty: no document could be read"),
        (
            DEV,
            DEV,
            "every training document also stands in the evaluation data; give other files, or train on them "
            "all the same with --set training.leaked=keep",
        ),
        (
            [document.with_entities(()) for document in TRAIN],
            DEV,
            "the training corpus has no entity in its 10 documents: nothing can be learnt from it",
        ),
    ],
    ids=["no training documents", "no dev documents", "all leaked", "no entity"],
)
@pytest.mark.parametrize("several_corpora", [True, False], ids=["several corpora", "one corpus"])
def test_data_that_nothing_can_be_learnt_from_is_refused(
    train: list[Document], dev: list[Document], message: str, several_corpora: bool
) -> None:
    changes = () if several_corpora else ("corpora=false",)
    with pytest.raises(InputError) as caught:
        selected(*changes, train=train, dev=dev, test=[])
    assert str(caught.value) == message


def test_a_target_without_dev_documents_is_refused() -> None:
    with pytest.raises(
        InputError, match=r"corpora\.target names 'Beta', but there is no dev document of this"
    ):
        selected("corpora.target=['Alpha', 'Beta']", dev=several.split("dev", Alpha=1))


def test_a_target_all_of_whose_documents_are_evaluation_data_is_refused() -> None:
    train = [*TRAIN[4:], *several.documents("Alpha", 2, prefix="dev")]
    with pytest.raises(InputError, match=r"corpora\.target names 'Alpha', but no training document of this"):
        selected(ALPHA, train=train)


def test_an_automatic_map_onto_a_target_without_entities_is_refused() -> None:
    train = [*(document.with_entities(()) for document in TRAIN[:4]), *TRAIN[4:]]
    changes = (ALPHA, "corpora.labels=shared", "corpora.map=auto")
    with pytest.raises(InputError, match=r"corpora\.target names 'Alpha', but no training document of this"):
        selected(*changes, train=train)


def test_a_target_without_entities_can_learn_shared_types_from_the_others(map_file: str) -> None:
    train = [*(document.with_entities(()) for document in TRAIN[:4]), *TRAIN[4:]]
    data = selected(ALPHA, map_file, "corpora.labels=shared", train=train)
    assert names(list(data.train)) == {("Beta", "Gene"), ("Gamma", "Gene")}


def test_a_map_that_leaves_nothing_to_learn_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "map.toml"
    path.write_text('types = ["Gene"]\n[corpora.Beta]\nProtein = ""\n')
    changes = (f"corpora.map={path}", "corpora.labels=shared")
    with pytest.raises(InputError, match="no entity in its 3 documents"):
        selected(*changes, train=TRAIN[4:7], dev=several.split("dev", Beta=1), test=[])


def test_documents_without_a_corpus_are_refused_before_anything_else() -> None:
    with pytest.raises(InputError, match="dev document 'dev-0' does not say which corpus it is from"):
        selected(dev=making.documents(1, prefix="dev"))
