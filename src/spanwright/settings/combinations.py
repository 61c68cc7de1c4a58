"""Which settings do not go together, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spanwright.settings.auxiliaries import AuxiliarySettings
from spanwright.settings.representations import ComposedSettings
from spanwright.settings.scorers import BiEncoderSettings, SoftmaxSettings

if TYPE_CHECKING:
    from spanwright.settings.settings import Settings


_SOFT = "training.targets is 'soft'"


def check_combination(settings: Settings) -> None:
    """Refuse parts that cannot work together, with the reason."""
    scorer, tagger = settings.scorer, settings.auxiliaries.tagger
    if settings.output == "tags" and tagger is None:
        raise ValueError("output is 'tags', but there is no tagger: set auxiliaries.tagger")
    if not settings.has_spans and settings.output == "spans":
        raise ValueError("scorer.kind is 'none', so there are no spans to answer with: set output='tags'")
    for name in ("span_vae", "cvae"):
        if not settings.has_spans and getattr(settings.auxiliaries, name) is not None:
            raise ValueError(f"auxiliaries.{name} reads spans, but scorer.kind is 'none': there are none")
    _check_windows(settings)
    _check_representation(settings)
    _check_bottleneck(settings)
    _check_soft_targets(settings)
    _check_start(settings)
    if isinstance(scorer, BiEncoderSettings):
        _check_bi_encoder(settings, scorer)
    elif settings.labels.descriptions is not None:
        raise ValueError(
            f"labels.descriptions is given, but scorer.kind {scorer.kind!r} reads none; 'bi-encoder' does"
        )


def _check_windows(settings: Settings) -> None:
    # A word has at least one piece, and windows go on by at least half of their pieces.
    pieces, overlap = settings.windows.pieces, settings.windows.overlap
    if 2 * overlap > pieces:
        raise ValueError(
            f"windows.overlap is {overlap}, but windows of {pieces} pieces can share at most "
            f"{pieces // 2} words: set windows.overlap={pieces // 2} or less, or raise windows.pieces"
        )


def _check_representation(settings: Settings) -> None:
    if settings.representation.kind == "span-transformer" and settings.encoder.pooling == "ends":
        raise ValueError(
            "a span Transformer reads one state per word and layer, but encoder.pooling 'ends' gives two "
            "at the top; expected 'first', 'mean' or 'max'"
        )
    bilstm = any(transform.kind == "bilstm" for transform in settings.transforms)
    if bilstm and settings.candidates.negatives != "all":
        raise ValueError(
            f"candidates.negatives is {settings.candidates.negatives}, but the transform 'bilstm' reads "
            "neighbouring spans, and some would be missing in training: set candidates.negatives='all'"
        )
    if bilstm and settings.candidates.pruning is not None:
        raise ValueError(
            "candidates.pruning is set, but the transform 'bilstm' reads neighbouring spans, and most "
            "would be missing: leave out one of the two"
        )
    if not settings.has_spans and settings.candidates.pruning is not None:
        raise ValueError("candidates.pruning is set, but scorer.kind is 'none': there are no spans")


def _check_bottleneck(settings: Settings) -> None:
    kinds = [transform.kind for transform in settings.transforms]
    if "bottleneck" in kinds[:-1]:
        raise ValueError(
            "transforms have a 'bottleneck' before others, but what it draws goes to the scorer: expected "
            "one, as the last"
        )
    if "bottleneck" in kinds and settings.scorer.kind == "bi-encoder":
        raise ValueError(
            "a 'bottleneck' draws vectors around a mean, but the scorer 'bi-encoder' looks at their "
            "angles alone: expected the scorer 'softmax' or 'sigmoid'"
        )


def _check_soft_targets(settings: Settings) -> None:
    if not settings.soft_targets:
        return
    scorer = settings.scorer
    asked = "start.keep_types is true, so targets are soft" if settings.keeps_types else _SOFT
    if not scorer.learns_probabilities:
        raise ValueError(
            f"{asked}, but scorer.kind {scorer.kind!r} learns no probabilities of "
            "spans: it must be 'softmax' or 'sigmoid'"
        )
    if isinstance(scorer, SoftmaxSettings) and scorer.smoothing:
        raise ValueError(f"{asked}, but scorer.smoothing makes targets of its own: set scorer.smoothing=0")
    for name in AuxiliarySettings.model_fields:
        if getattr(settings.auxiliaries, name):
            raise ValueError(
                f"{asked}, but auxiliaries.{name} learns from entities that are "
                f"certain: set auxiliaries.{name}={'[]' if name == 'others' else 'false'}"
            )


def _check_start(settings: Settings) -> None:
    if settings.keeps_types and settings.corpora is not None:
        raise ValueError(
            "start.keep_types is true, but corpora trained on together have types of their own: train on one "
            "corpus, or set start.keep_types=false"
        )
    if settings.start is not None and settings.encoder.quantised is not None:
        raise ValueError(
            "start.model brings weights in 32 bits, but encoder.quantised asks for few: set "
            "encoder.quantised=false"
        )


def _check_bi_encoder(settings: Settings, scorer: BiEncoderSettings) -> None:
    if scorer.joint and not scorer.positions:
        raise ValueError("scorer.joint needs the starts and ends of entities: set scorer.positions=true")
    if scorer.joint and scorer.threshold == "tuned":
        raise ValueError(
            "scorer.joint needs thresholds of starts and ends, but only those of spans are tuned"
        )
    chosen = settings.representation
    ends = isinstance(chosen, ComposedSettings) and {"first", "last"} <= set(chosen.ingredients)
    if scorer.share_projections and not ends:
        raise ValueError("scorer.share_projections needs the ingredients 'first' and 'last' in spans")
    if scorer.share_projections and settings.transforms:
        raise ValueError(
            "scorer.share_projections compares words as parts of spans, so transforms must be []"
        )
    if settings.labels.descriptions is not None and scorer.types in ("atomic", "prototypes"):
        raise ValueError(f"labels.descriptions is given, but scorer.types is {scorer.types!r}")
