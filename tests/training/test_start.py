"""Training that starts from a model: what is taken, what is not, and types that go on without labels."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

import making
import spanwright
import tiny
from cli.running import run
from spanwright import artifact
from spanwright.artifact import TrainedModel
from spanwright.errors import InputError, SettingsError
from spanwright.labels import LabelSpace
from spanwright.parts.build import build
from spanwright.parts.part import Row
from spanwright.text import Document
from spanwright.training.run_folder import read_record
from spanwright.training.setup import Setup, set_up
from spanwright.training.start import KnownRows, Taken, rows_of, take

TRAIN, DEV = making.documents(40), making.documents(8, prefix="dev")
TEST = making.documents(20, prefix="test")
TWO = LabelSpace(("Cell", "Gene", "Drug", "Gene"), corpora=("A", "B"), corpus=(0, 0, 1, 1))
CRF = {"auxiliaries": {"tagger": {"kind": "crf"}}}


def only(documents: list[Document], *types: str) -> list[Document]:
    """The documents with entities of some types alone."""
    return [
        document.with_entities(tuple(each for each in document.entities if each.type in types))
        for document in documents
    ]


def renamed(documents: list[Document], names: dict[str, str]) -> list[Document]:
    return [
        document.with_entities(
            tuple(replace(each, type=names.get(each.type, each.type)) for each in document.entities)
        )
        for document in documents
    ]


@pytest.fixture(scope="module")
def started(tiny_encoder: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that has learnt cells and genes."""
    out = tmp_path_factory.mktemp("start") / "run"
    settings = making.settings(tiny_encoder, "training.epochs=8")
    spanwright.train(settings, train=TRAIN, dev=DEV, out=out)
    return out / "model"


def begun(encoder: str, start: Path, documents: list[Document], *changes: str) -> Setup:
    settings = making.settings(encoder, f"start.model={start}", *changes)
    return set_up(settings, documents, DEV, [])


def of_labels(labels: LabelSpace, seed: int, **changes: object) -> TrainedModel:
    """A model with those labels and random weights."""
    made = tiny.model(seed=seed, **changes)
    network = build(
        made.settings,
        tiny.backbone(len(made.pieces.tokenizer.get_vocab()), seed),
        labels=labels,
        pieces=made.pieces,
    )
    return TrainedModel(tiny.eager(network, seed), made.pieces, labels, made.settings)


def test_a_model_with_the_same_types_starts_as_the_old_one(tiny_encoder: str, started: Path) -> None:
    setup = begun(tiny_encoder, started, TRAIN)
    old = artifact.load(started)
    ours, theirs = setup.model.network.state_dict(), old.network.state_dict()
    assert ours.keys() == theirs.keys()
    assert all(torch.equal(ours[name], theirs[name]) for name in theirs)
    assert setup.taken == Taken(
        str(started), ["encoder", "representation", "scorer"], {}, {"Cell": "Cell", "Gene": "Gene"}, []
    )


def test_rows_of_known_types_are_taken_by_name_and_others_start_anew(
    tiny_encoder: str, started: Path
) -> None:
    documents = renamed(TRAIN, {"Cell": "Zell", "Gene": "GE-NE"})
    setup = begun(tiny_encoder, started, documents)
    assert setup.taken is not None
    assert (setup.taken.types, setup.taken.new_types) == ({"GE-NE": "Gene"}, ["Zell"])
    fresh = set_up(making.settings(tiny_encoder), documents, DEV, []).model.network.state_dict()
    ours, theirs = setup.model.network.state_dict(), artifact.load(started).network.state_dict()
    for name in ("spans.scorer.layers.0.weight", "spans.scorer.layers.0.bias"):
        # Classes: no entity, then GE-NE and Zell; there no entity, Cell and Gene.
        assert torch.equal(ours[name][:2], theirs[name][[0, 2]])
        assert not torch.equal(ours[name][2], theirs[name][1])
        assert ours[name][2].shape == fresh[name][2].shape


def test_widths_are_taken_as_far_as_both_models_have_them(tiny_encoder: str, started: Path) -> None:
    old = artifact.load(started)
    limit = old.plan.width_limit
    for other in (limit + 2, limit - 1):
        setup = begun(tiny_encoder, started, TRAIN, f"candidates.width_limit={other}")
        name, common = "spans.representation.widths.weight", min(limit, other)
        ours, theirs = (model.network.state_dict()[name] for model in (setup.model, old))
        assert len(ours) == other and torch.equal(ours[:common], theirs[:common])
        assert setup.taken is not None and "representation" in setup.taken.parts


def test_what_reads_other_vectors_starts_anew_and_says_why(tiny_encoder: str, started: Path) -> None:
    setup = begun(tiny_encoder, started, TRAIN, "representation.size=24")
    assert setup.taken is not None
    assert setup.taken.parts == ["encoder"] and setup.taken.types == {}
    assert setup.taken.fresh == {
        "representation": "projection.linear.weight is 24 x 68, and 32 x 68 there",
        "scorer": "the representation before it does",
    }
    for change, reason in {
        "representation.ingredients=['last', 'first', 'width']": "its ingredients differ",
        "representation={kind='span-transformer'}": "it is of another kind there",
    }.items():
        more = ["encoder.pooling=mean"] if "span" in change else []
        found = set_up(
            making.settings(tiny_encoder, f"start.model={started}", change, *more), TRAIN, DEV, []
        ).taken
        assert found is not None and found.fresh["representation"] == reason


def test_recipes_share_what_they_have_in_common(tiny_encoder: str, started: Path) -> None:
    setup = begun(tiny_encoder, started, TRAIN, "auxiliaries.tagger={}", "candidates.pruning={}")
    assert setup.taken is not None
    assert setup.taken.parts == ["encoder", "representation", "scorer"]
    assert setup.taken.fresh == {"pruner": "there is none", "tagger": "there is none"}


def naive_rows(rows: list[Row], labels: LabelSpace) -> list[tuple[str, str]]:
    """Rows by the names of what they stand for."""
    return [
        (kind, labels.types[number] if kind in ("type", "begin", "inside") else "") for kind, number in rows
    ]


@pytest.mark.parametrize(
    "changes", [{}, {"scorer": {"kind": "sigmoid"}}, CRF], ids=["softmax", "sigmoid", "crf"]
)
def test_every_row_of_a_type_is_that_of_the_type_of_the_same_name(changes: dict[str, object]) -> None:
    old, new = (
        of_labels(LabelSpace(types), seed, **changes)
        for seed, types in enumerate((("A", "B", "C"), ("B", "D", "A")))
    )
    before = {name: tensor.clone() for name, tensor in new.network.state_dict().items()}
    take(new, old, "old")
    ours, theirs = new.network.state_dict(), old.network.state_dict()
    names = {name for name in rows_of(new.network) if "widths" not in name}
    assert len(names) >= 2
    for name in names:
        first, *_ = (naive_rows(rows_of(each.network)[name][0], each.labels) for each in (new, old))
        other = naive_rows(rows_of(old.network)[name][0], old.labels)
        square = len(rows_of(new.network)[name]) == 2
        for place, row in enumerate(first):
            for column, also in enumerate(first) if square else [(slice(None), row)]:
                mine = ours[name][place] if not square else ours[name][place, column]
                if row in other and also in other:
                    source = theirs[name][other.index(row)]
                    assert torch.equal(mine, source if not square else source[other.index(also)])
                else:
                    was = before[name][place] if not square else before[name][place, column]
                    assert torch.equal(mine, was)


@pytest.mark.parametrize(
    "scorer", ["{kind='sigmoid'}", "{kind='bi-encoder', types='atomic'}"], ids=["sigmoid", "atomic"]
)
def test_a_model_that_knows_none_of_the_types_is_started_from_all_the_same(
    tiny_encoder: str, tmp_path: Path, scorer: str
) -> None:
    changes = ("training.epochs=1", f"scorer={scorer}")
    spanwright.train(making.settings(tiny_encoder, *changes), train=TRAIN, dev=DEV, out=tmp_path / "run")
    documents = renamed(TRAIN, {"Cell": "Drug", "Gene": "Virus"})
    taken = begun(tiny_encoder, tmp_path / "run" / "model", documents, f"scorer={scorer}").taken
    assert taken is not None and taken.new_types == ["Drug", "Virus"] and "encoder" in taken.parts


def test_a_bottleneck_does_not_judge_types(tiny_encoder: str, tmp_path: Path) -> None:
    changes = ("training.epochs=1", "transforms=[{kind='bottleneck', hidden=[16], size=8, samples=2}]")
    spanwright.train(making.settings(tiny_encoder, *changes), train=TRAIN, dev=DEV, out=tmp_path / "run")
    documents = renamed(TRAIN, {"Cell": "Drug"})
    taken = begun(tiny_encoder, tmp_path / "run" / "model", documents, *changes[1:]).taken
    assert taken is not None and not taken.fresh


def test_types_of_several_corpora_are_known_by_the_target_then_by_any_corpus() -> None:
    assert KnownRows(LabelSpace(("Drug", "Gene", "Other")), TWO).types == [2, 1, None]
    again = LabelSpace(("Gene", "Drug", "Gene"), corpora=("B", "C"), corpus=(0, 1, 1))
    assert KnownRows(again, TWO).types == [3, 2, 1]
    exact = LabelSpace(("gene", "Gene"), corpora=("A", "B"), corpus=(0, 1))
    assert KnownRows(LabelSpace(("Gene",)), exact).types == [1]


def test_no_entity_is_that_of_the_corpus_or_of_most_types() -> None:
    new, old = of_labels(LabelSpace(("Drug",)), 1), of_labels(TWO, 2)
    take(new, old, "old")
    weight = "spans.scorer.layers.0.weight"
    # Classes of the old model: none, Cell and Gene of A, none, Drug and Gene of B.
    assert torch.equal(new.network.state_dict()[weight], old.network.state_dict()[weight][[3, 4]])


def test_another_encoder_is_refused_with_the_option_that_fixes_it(started: Path, tmp_path: Path) -> None:
    other = str(tiny.encoder_folder(tmp_path / "other"))
    settings = making.settings(other, f"start.model={started}")
    with pytest.raises(SettingsError, match=r"has the encoder '.*encoder.*', but .*: give --encoder "):
        set_up(settings, TRAIN, DEV, [])


def test_a_training_starts_better_than_from_the_encoder_and_remembers_where(
    tiny_encoder: str, started: Path, tmp_path: Path
) -> None:
    settings = making.settings(tiny_encoder, "training.epochs=1")
    few = making.documents(6, prefix="few")
    further = spanwright.train(settings, train=few, dev=DEV, out=tmp_path / "a", start_from=started)
    fresh = spanwright.train(settings, train=few, dev=DEV, out=tmp_path / "b")
    assert further.scores["dev"].micro.f1 > fresh.scores["dev"].micro.f1 + 0.2
    record = read_record(tmp_path / "a")["settings"]["start"]
    assert record["model"] == str(started) and len(record["digest"]) == 64
    with pytest.raises(InputError, match=r"other settings \(start\)"):
        spanwright.train(settings, train=few, dev=DEV, out=tmp_path / "a", resume=True)


def test_a_model_that_is_another_by_now_is_not_gone_on_with(
    tiny_encoder: str, started: Path, tmp_path: Path
) -> None:
    settings = making.settings(tiny_encoder, f"start.model={started}", "start.digest=0123")
    with pytest.raises(SettingsError, match="not the model whose digest is start"):
        set_up(settings, TRAIN, DEV, [])


def test_the_command_tells_what_is_taken(tiny_encoder: str, started: Path, tmp_path: Path) -> None:
    spanwright.write(only(TRAIN, "Gene"), tmp_path / "train.jsonl")
    spanwright.write(only(DEV, "Gene"), tmp_path / "dev.jsonl")
    call = ["train", "plain", "--train", tmp_path / "train.jsonl", "--dev", tmp_path / "dev.jsonl"]
    small = [part for change in making.SMALL for part in ("--set", change)]
    call += ["--encoder", tiny_encoder, *small, "--set", "training.epochs=1"]
    done = run(*call, "--from", started, "--keep-types", "--out", tmp_path / "run")
    assert done.code == 0, done.stderr
    told = " ".join(done.stderr.split())
    assert f"from {started}: encoder, representation, scorer" in told
    assert "types known there: Cell (Cell), Gene (Gene) from scratch: nothing" in told
    assert "types kept without labels: Cell" in told
    assert "give --from MODEL" in run(*call, "--keep-types", "--out", tmp_path / "other").error


def found(folder: Path, documents: list[Document], type_: str) -> float:
    """F1 of a type, by the model of a run."""
    tagged = only(list(spanwright.load(folder / "model").tag(documents)), type_)
    return spanwright.evaluate(only(documents, type_), tagged).micro.f1


@pytest.fixture(scope="module")
def kept(tiny_encoder: str, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, spanwright.RunResult]:
    """The folder of a run on cells, and a run on genes that starts from it and keeps cells."""
    out, settings = tmp_path_factory.mktemp("kept"), making.settings(tiny_encoder, "training.epochs=6")
    spanwright.train(settings, train=only(TRAIN, "Cell"), dev=only(DEV, "Cell"), out=out / "cells")
    genes = spanwright.train(
        settings,
        train=only(making.documents(40, seed=5), "Gene"),
        dev=only(DEV, "Gene"),
        test=only(TEST, "Gene"),
        out=out / "genes",
        start_from=out / "cells" / "model",
        keep_types=True,
    )
    return out / "cells", genes


def test_kept_types_are_not_forgotten(kept: tuple[Path, spanwright.RunResult]) -> None:
    cells, genes = kept
    before = found(cells, TEST, "Cell")
    assert before > 0.8 and found(genes.folder, TEST, "Cell") > before - 0.1
    assert found(genes.folder, TEST, "Gene") > 0.8
    assert genes.model.labels.types == ("Cell", "Gene")


def test_kept_types_are_scored_only_where_they_are_annotated(kept: tuple[Path, spanwright.RunResult]) -> None:
    _, genes = kept
    assert any(each.type == "Cell" for document in genes.tag(iter(TEST)) for each in document.entities)
    assert set(genes.scores["test"].per_type) == {"Gene"} and genes.scores["test"].micro.f1 > 0.8
    answers = spanwright.read(genes.folder / "test.jsonl")
    assert {each.type for document in answers for each in document.entities} == {"Gene"}
    assert set(genes.scores["dev"].per_type) == {"Cell", "Gene"}


def test_what_is_annotated_goes_before_what_the_old_model_thinks(tiny_encoder: str, started: Path) -> None:
    documents = renamed(only(TRAIN, "Gene"), {"Gene": "Protein"})
    setup = begun(tiny_encoder, started, documents, "start.keep_types=true")
    assert setup.kept == ("Cell", "Gene") and setup.model.labels.types == ("Cell", "Gene", "Protein")
    for made, given in zip(setup.data.train, documents, strict=True):
        annotated = {entity.ranges for entity in given.entities}
        assert set(given.entities) <= set(made.entities)
        assert all(each.type == "Protein" for each in made.entities if each.ranges in annotated)
    assert any(each.type == "Cell" and each.confidence for made in setup.data.train for each in made.entities)


def test_recipes_that_learn_no_probabilities_cannot_keep_types(tiny_encoder: str, started: Path) -> None:
    with pytest.raises(
        SettingsError, match=r"start\.keep_types is true, so targets are soft, but auxiliaries\.t"
    ):
        begun(tiny_encoder, started, TRAIN, "start.keep_types=true", "auxiliaries.tagger={}")
