"""Parts that cannot work together are refused with the reason, before anything is trained."""

from __future__ import annotations

import pytest

from spanwright.errors import SettingsError
from spanwright.settings import load_settings
from spanwright.text import Document, Entity
from spanwright.training.setup import resolve

FLAT = [Document("1", "one two three", (Entity(0, 3, "A"), Entity(4, 7, "B")))]
NESTED = [Document("1", "one two three", (Entity(0, 7, "A"), Entity(4, 7, "B")))]
DEEP = "representation={kind='span-transformer'}"
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
            "the top; legal are 'first', 'mean' and 'max'",
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
            "unknown setting 'scorer.smoothing'; legal here are dropout, entity_share, joint, kind, "
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
    ],
)
def test_what_can_work_together_is_accepted(recipe: str, changes: tuple[str, ...]) -> None:
    load_settings(recipe, changes)


@pytest.mark.parametrize("changes", [TAGGED, ("auxiliaries.tagger={}", "output=tags")])
def test_tags_are_refused_for_a_corpus_whose_entities_overlap(changes: tuple[str, ...]) -> None:
    settings = load_settings("plain", changes)
    resolve(settings, FLAT, 32)
    with pytest.raises(SettingsError, match=r"entities of the training corpus overlap.*output='spans'"):
        resolve(settings, NESTED, 32)


def test_a_tagger_beside_spans_is_fine_with_entities_that_overlap() -> None:
    settings = resolve(load_settings("plain", ["auxiliaries.tagger={}"]), NESTED, 32)
    assert settings.decoding == "non-crossing"
