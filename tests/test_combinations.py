"""Parts that cannot work together are refused with the reason, before anything is trained."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch

import making
import several
from spanwright import artifact
from spanwright.artifact import TrainedModel
from spanwright.errors import SettingsError
from spanwright.predicting.tagger import Tagger
from spanwright.settings import load_settings
from spanwright.text import Document, Entity
from spanwright.training.loop import train
from spanwright.training.resolving import resolve
from spanwright.training.selection import TrainingData
from spanwright.training.setup import check_tags, new_model
from watching import Recorder


def data(*entities: Entity) -> TrainingData:
    """A training on one document with these entities."""
    return TrainingData([Document("1", "one two three", entities)], {}, ("dev",), {})


FLAT = data(Entity(0, 3, "A"), Entity(4, 7, "B"))
NESTED = data(Entity(0, 7, "A"), Entity(4, 7, "B"))
DEEP = "representation={kind='span-transformer'}"
WRITTEN = {"reconstruction", "reconstruction-divergence", "synonyms", "synonyms-divergence"}
NARROW = "transforms=[{kind='bottleneck'}]"
TAGGED = ("scorer={kind='none'}", "auxiliaries.tagger={}", "output=tags")


@pytest.mark.parametrize(
    ("recipe", "changes", "message"),
    [
        (
            "binder",
            ("scorer.joint=true", "scorer.positions=false"),
            "scorer.joint needs the starts and ends of entities: set scorer.positions=true",
        ),
        (
            "binder",
            ("scorer.joint=true", "scorer.threshold=tuned"),
            "scorer.joint needs thresholds of starts and ends, but only those of spans are tuned",
        ),
        (
            "binder",
            ("scorer.share_projections=true", "representation.ingredients=['first', 'width']"),
            "scorer.share_projections needs the ingredients 'first' and 'last' in spans",
        ),
        (
            "binder",
            ("scorer.share_projections=true", "representation.ingredients=['last', 'max']"),
            "scorer.share_projections needs the ingredients 'first' and 'last' in spans",
        ),
        (
            "plain",
            ("labels.descriptions=genia",),
            "labels.descriptions is given, but scorer.kind 'softmax' reads none; 'bi-encoder' does",
        ),
        (
            "plain",
            (*TAGGED, "labels.descriptions=genia"),
            "labels.descriptions is given, but scorer.kind 'none' reads none; 'bi-encoder' does",
        ),
        (
            "binder",
            ("scorer.types=atomic", "labels.descriptions=genia"),
            "labels.descriptions is given, but scorer.types is 'atomic'",
        ),
        (
            "binder",
            ("scorer.types=prototypes", "labels.descriptions=genia"),
            "labels.descriptions is given, but scorer.types is 'prototypes'",
        ),
        (
            "plain",
            ("output=tags",),
            "output is 'tags', but there is no tagger: set auxiliaries.tagger",
        ),
        (
            "plain",
            ("scorer={kind='none'}", "auxiliaries.tagger={}"),
            "scorer.kind is 'none', so there are no spans to answer with: set output='tags'",
        ),
        (
            "dspert",
            ("encoder.pooling=ends",),
            "a span Transformer reads one state per word and layer, but encoder.pooling 'ends' gives two at "
            "the top; expected 'first', 'mean' or 'max'",
        ),
        (
            "dspert",
            ("candidates.negatives=50",),
            "candidates.negatives is 50, but the transform 'bilstm' reads neighbouring spans, and some would "
            "be missing in training: set candidates.negatives='all'",
        ),
        (
            "dspert",
            ("candidates.pruning={}",),
            "candidates.pruning is set, but the transform 'bilstm' reads neighbouring spans, and most would "
            "be missing: leave out one of the two",
        ),
        (
            "plain",
            (*TAGGED, "candidates.pruning={}"),
            "candidates.pruning is set, but scorer.kind is 'none': there are no spans",
        ),
        (
            "binder",
            ("scorer.smoothing=0.1",),
            "unknown setting 'scorer.smoothing' here, as it belongs to a part of another kind; "
            "expected dropout, entity_share, joint, kind, "
            "positions, share_encoder, share_projections, temperature, threshold, types",
        ),
        (
            "binder",
            ("scorer.share_projections=true", "encoder.pooling=mean", DEEP),
            "scorer.share_projections needs the ingredients 'first' and 'last' in spans",
        ),
        (
            "binder",
            ("scorer.share_projections=true", "transforms=[{kind='feed-forward'}]"),
            "scorer.share_projections compares words as parts of spans, so transforms must be []",
        ),
        (
            "plain",
            ("transforms=[{kind='bottleneck'}, {kind='feed-forward'}]",),
            "transforms have a 'bottleneck' before others, but what it draws goes to the scorer: expected "
            "one, as the last",
        ),
        (
            "joint-ib",
            ("transforms=[{kind='bottleneck'}, {kind='bottleneck'}]",),
            "transforms have a 'bottleneck' before others, but what it draws goes to the scorer: expected "
            "one, as the last",
        ),
        (
            "binder",
            (NARROW,),
            "a 'bottleneck' draws vectors around a mean, but the scorer 'bi-encoder' looks at their angles "
            "alone: expected the scorer 'softmax' or 'sigmoid'",
        ),
        (
            "plain",
            (*TAGGED, "auxiliaries.span_vae={}"),
            "auxiliaries.span_vae reads spans, but scorer.kind is 'none': there are none",
        ),
        (
            "joint-ib",
            ("scorer.smoothing=0.1",),
            "unknown setting 'scorer.smoothing' here, as it belongs to a part of another kind; "
            "expected dropout, hidden, kind, reduction, threshold",
        ),
    ],
    ids=[
        "joint without positions",
        "joint and tuned",
        "shared projections without last",
        "shared projections without first",
        "descriptions for softmax",
        "descriptions for a tagger",
        "descriptions for atomic types",
        "descriptions for prototypes",
        "tags without a tagger",
        "spans without a scorer",
        "span Transformer over words with two states",
        "sampled spans and a BiLSTM",
        "pruned spans and a BiLSTM",
        "pruning without spans",
        "smoothing of a bi-encoder",
        "shared projections of a span Transformer",
        "shared projections and transforms",
        "bottleneck before another transform",
        "two bottlenecks",
        "bottleneck of a bi-encoder",
        "writer without spans",
        "smoothing of a sigmoid",
    ],
)
def test_settings_are_refused_with_the_reason(recipe: str, changes: tuple[str, ...], message: str) -> None:
    with pytest.raises(SettingsError) as caught:
        load_settings(recipe, changes)
    assert str(caught.value) == f"{recipe}: {message}"


@pytest.mark.parametrize(
    ("recipe", "changes"),
    [
        ("binder", ("scorer.joint=true",)),
        ("binder", ("scorer.joint=true", "scorer.threshold=learned")),
        ("binder", ("scorer.positions=false",)),
        ("binder", ("scorer.share_projections=true", "representation.ingredients=['max', 'last', 'first']")),
        ("binder", ("labels.descriptions=genia",)),
        ("binder", ("scorer.types=keywords", "labels.descriptions=genia")),
        ("plain", TAGGED),
        ("binder", ("encoder.pooling=mean", DEEP)),
        ("plain", ("transforms=[{kind='bilstm'}]",)),
        ("plain", ("transforms=[{kind='feed-forward'}]", "candidates.negatives=50", "scorer.smoothing=0.1")),
        ("dspert", ("transforms=[]", "candidates.negatives=50")),
        ("binder", ("candidates.pruning={keep=0.5}",)),
        ("plain", ("auxiliaries.tagger={}", "output=tags")),
        ("plain", ("auxiliaries.tagger={}",)),
        ("plain", (NARROW,)),
        ("plain", ("transforms=[{kind='bilstm'}, {kind='feed-forward'}, {kind='bottleneck'}]",)),
        ("dspert", ("auxiliaries.span_vae={}",)),
        ("binder", ("auxiliaries.span_vae={}",)),
        ("bundling", ("auxiliaries.span_vae={}",)),
        ("joint-ib", ("candidates.pruning={}",)),
        ("joint-ib", ("auxiliaries.tagger={}",)),
    ],
)
def test_what_can_work_together_is_accepted(recipe: str, changes: tuple[str, ...]) -> None:
    load_settings(recipe, changes)


@pytest.mark.parametrize(
    ("recipe", "part", "changes"),
    [
        ("bundling", "auxiliaries.tagger", ("objective.convex=false", "objective.weights.tags=0")),
        ("joint-ib", "auxiliaries.span_vae", ()),
        ("dspert/pruned", "candidates.pruning", ()),
    ],
)
def test_false_switches_a_part_off(recipe: str, part: str, changes: tuple[str, ...]) -> None:
    table, name = part.split(".")
    on, off = (load_settings(recipe, [*changes, *more]) for more in ((), (f"{part}=false",)))
    assert getattr(getattr(on, table), name) is not None
    assert getattr(getattr(off, table), name) is None
    assert off == on.model_copy(update={table: getattr(on, table).model_copy(update={name: None})})


@pytest.mark.parametrize("part", ["auxiliaries.tagger", "auxiliaries.span_vae", "candidates.pruning"])
def test_true_is_no_part(part: str) -> None:
    with pytest.raises(SettingsError, match=f"setting '{part}' is True: expected names with values"):
        load_settings("joint-ib", [f"{part}=true"])


WRITER = "auxiliaries.span_vae={latent=8, hidden=16, word_size=8, synonyms=['corpus']}"
SMALL_NARROW = "transforms=[{kind='bottleneck', hidden=[16], size=8, samples=2}]"
MIXES = {
    "dspert and a writer": ("dspert", (WRITER,), {"spans"} | WRITTEN),
    "plain and a bottleneck": ("plain", (SMALL_NARROW, "representation.size=16"), {"spans", "compression"}),
    "joint-ib and a tagger": (
        "joint-ib",
        (WRITER, SMALL_NARROW, "representation.size=16", "auxiliaries.tagger={kind='crf'}"),
        {"spans", "compression", "tags"} | WRITTEN,
    ),
}


@pytest.mark.parametrize(("recipe", "changes", "terms"), MIXES.values(), ids=MIXES)
def test_a_mix_of_parts_trains_and_is_saved_without_its_writer(
    tiny_encoder: str, tmp_path: Path, recipe: str, changes: tuple[str, ...], terms: set[str]
) -> None:
    small = [f"encoder.name={tiny_encoder}", "windows.pieces=64", "windows.overlap=6", "training.epochs=1"]
    small += ["candidates.width_limit=2", "training.batch_windows=3"]
    recorder = Recorder()
    result = train(
        load_settings(recipe, [*small, *changes]),
        train=making.with_concepts(making.documents(12)),
        dev=making.documents(2, prefix="dev"),
        out=tmp_path / "run",
        watcher=recorder,
    )
    network = recorder.setup.model.network
    assert network.terms == terms
    for role, named in network.roles().items():
        assert any(not torch.equal(parameter, recorder.fresh[name]) for name, parameter in named), role
    assert all(bool(parameter.isfinite().all()) for parameter in network.parameters())
    assert artifact.load(result.folder / "model").network.state_dict().keys() == {
        name for name in recorder.fresh if not name.startswith("writer.")
    }


@pytest.mark.parametrize("changes", [TAGGED, ("auxiliaries.tagger={}", "output=tags")])
def test_tags_are_refused_for_a_corpus_whose_entities_overlap(changes: tuple[str, ...]) -> None:
    settings = load_settings("plain", changes)
    check_tags(settings, FLAT)
    with pytest.raises(SettingsError, match=r"entities of the training corpus overlap.*output='spans'"):
        new_model(settings, NESTED)


def test_a_tagger_beside_spans_is_fine_with_entities_that_overlap() -> None:
    settings = resolve(load_settings("plain", ["auxiliaries.tagger={}"]), NESTED, 32)
    assert settings.decoding == "non-crossing"


# Several corpora with types of their own.

CVAE = "auxiliaries.cvae={condition='own', hidden=8, latent=4}"
CONDITIONAL = {"conditional", "conditional-divergence"}
TOGETHER = {
    "deep spans with smoothing": ("dspert", ("scorer.smoothing=0.2",), {"spans"}),
    "deep spans with an auto-encoder": ("dspert", (CVAE,), {"spans"} | CONDITIONAL),
    "sigmoids after a bottleneck, with a writer": (
        "joint-ib",
        (WRITER, SMALL_NARROW, "representation.size=16"),
        {"spans", "compression"} | WRITTEN,
    ),
    "a bi-encoder": ("binder", ("scorer.types=atomic",), {"spans", "starts", "ends"}),
    "a bi-encoder that reads descriptions": ("binder", (), {"spans", "starts", "ends"}),
    "spans with a tagger": ("bundling", (), {"spans", "tags"}),
    "spans with a tagger of paths": ("bundling", ("auxiliaries.tagger.kind=crf",), {"spans", "tags"}),
    "a tagger beside spans": ("bundling", ("output=tags", CVAE), {"spans", "tags"} | CONDITIONAL),
    "a tagger of paths alone": ("plain", (*TAGGED, "auxiliaries.tagger.kind=crf"), {"tags"}),
    "pruned spans": ("plain", ("candidates.pruning={keep=0.5}",), {"spans", "pruning"}),
}


@pytest.mark.parametrize(("recipe", "changes", "terms"), TOGETHER.values(), ids=TOGETHER)
def test_parts_learn_from_several_corpora_and_never_answer_with_foreign_types(
    tiny_encoder: str, tmp_path: Path, recipe: str, changes: tuple[str, ...], terms: set[str]
) -> None:
    small = [f"encoder.name={tiny_encoder}", "windows.pieces=64", "windows.overlap=6", "training.epochs=1"]
    small += ["candidates.width_limit=2", "training.batch_windows=3", "corpora.target=['Alpha']"]
    flat, recorder = "output=tags" in changes, Recorder()
    result = train(
        load_settings(recipe, [*small, *changes]),
        train=making.with_concepts(several.split("train", flat=flat, Alpha=4, Beta=3, Gamma=2)),
        dev=several.split("dev", flat=flat, Alpha=1),
        out=tmp_path / "run",
        watcher=recorder,
    )
    network = recorder.setup.model.network
    assert network.terms == terms
    assert len(recorder.losses) == 4 and all(map(math.isfinite, recorder.losses))
    assert all(bool(parameter.isfinite().all()) for parameter in network.parameters())
    assert any(
        not torch.equal(parameter, recorder.fresh[name]) for name, parameter in network.named_parameters()
    )
    # Whatever the weights, and so with random ones, which answer plenty.
    documents = several.split("dev", flat=flat, Alpha=4, Beta=4, Gamma=4)
    found = {pair for seed in range(4) for pair in random_answers(result.model, documents, seed)}
    for corpus, types in several.TYPES.items():
        answered = {type_ for own, type_ in found if own == corpus}
        assert answered and answered <= set(types)


def random_answers(model: TrainedModel, documents: list[Document], seed: int) -> set[tuple[str | None, str]]:
    """Corpus and type of what a model finds whose last layers are random."""
    generator = torch.Generator().manual_seed(seed)
    for name, parameter in model.network.named_parameters():
        if name.startswith(("spans.scorer", "tagger")) and "backbone" not in name:
            torch.nn.init.normal_(parameter, generator=generator)
    # Between the two, a bi-encoder forgets the types that it has read.
    model.network.train().eval()
    return {(d.corpus, entity.type) for d in Tagger(model).tag(documents) for entity in d.entities}
