"""The one place where parts meet."""

from __future__ import annotations

import copy
from typing import Any

from torch import Tensor, nn

from spanwright.batches.pieces import PieceEncoder
from spanwright.errors import SettingsError
from spanwright.labels import LabelSpace
from spanwright.parts.beside.conditional import Conditioned, Cvae, shared_rows
from spanwright.parts.beside.tagger import WordTagger
from spanwright.parts.beside.writer.auto_encoders import SpanVae
from spanwright.parts.encoder.encoder import Encoder
from spanwright.parts.model import Representation, SpanHead, SpanModel
from spanwright.parts.spans.pruning import Pruner
from spanwright.parts.spans.representations.blocks import checked_depth
from spanwright.parts.spans.representations.composed import Composed
from spanwright.parts.spans.representations.span_transformer import SpanTransformer
from spanwright.parts.spans.scorers.bi_encoder import BiEncoder, TypeSource
from spanwright.parts.spans.scorers.scorer import Scorer
from spanwright.parts.spans.scorers.sigmoid import Sigmoid
from spanwright.parts.spans.scorers.softmax import Softmax
from spanwright.parts.spans.scorers.type_vectors import (
    AtomicTypes,
    DescribedTypes,
    PrototypeTypes,
    TextReader,
    described,
    prototypes,
)
from spanwright.parts.spans.transforms.bilstm import BiLstm
from spanwright.parts.spans.transforms.bottleneck import Bottleneck
from spanwright.parts.spans.transforms.feed_forward import FeedForward
from spanwright.parts.spans.transforms.transformed import Transform, Transformed
from spanwright.settings import Settings
from spanwright.settings.scorers import BiEncoderSettings
from spanwright.settings.transforms import TransformSettings


def build(
    settings: Settings,
    backbone: nn.Module,
    *,
    labels: LabelSpace,
    pieces: PieceEncoder,
    vocabulary: int = 0,
    word_vectors: Tensor | None = None,
) -> SpanModel:
    """Wire the parts that resolved settings name around a backbone.

    `vocabulary` counts the words that a writer can write, `word_vectors` are their first embeddings.
    """
    depth = _depth(settings, backbone) if settings.has_spans else 0
    encoder = Encoder(
        backbone,
        settings.encoder.pooling,
        depth=depth,
        piece_means=settings.has_spans and _reads_pieces(settings),
        corpora=len(labels.corpora) if pieces.names_corpus else 0,
        corpus_from_end=pieces.corpus_from_end,
    )
    tagging, writing = settings.auxiliaries.tagger, settings.auxiliaries.span_vae
    spans = _span_head(settings, encoder, labels, pieces) if settings.has_spans else None
    tagger = WordTagger(tagging, state_width=encoder.width, sizes=labels.sizes) if tagging else None
    writer = None
    if writing is not None and spans is not None:
        size = spans.representation.evidence_size
        writer = SpanVae(writing, vector_size=size, vocabulary=vocabulary, word_vectors=word_vectors)
    return SpanModel(encoder=encoder, spans=spans, tagger=tagger, output=settings.output, writer=writer)


def _depth(settings: Settings, backbone: nn.Module) -> int:
    """Of how many blocks of the backbone the representation needs what they read."""
    chosen = settings.representation
    return checked_depth(chosen.depth, backbone) if chosen.kind == "span-transformer" else 0


def _reads_pieces(settings: Settings) -> bool:
    """Whether the representation reads all pieces of words."""
    return settings.representation.kind == "composed" and "piece-mean" in settings.representation.ingredients


def _representation(settings: Settings, encoder: Encoder) -> Representation:
    chosen, limit = settings.representation, resolved_width_limit(settings)
    if chosen.kind == "composed":
        made: Composed | SpanTransformer = Composed(chosen, state_width=encoder.width, width_limit=limit)
    else:
        made = SpanTransformer(
            chosen, backbone=encoder.backbone, depth=encoder.depth, state_width=encoder.width
        )
    transforms: list[Transform] = []
    for transform in settings.transforms:
        transforms.append(_transform(transform, transforms[-1].size if transforms else made.size, limit))
    return Transformed(made, transforms) if transforms else made


def _transform(settings: TransformSettings, size: int, width_limit: int) -> Transform:
    match settings.kind:
        case "bilstm":
            return BiLstm(settings, vector_size=size)
        case "feed-forward":
            return FeedForward(settings, vector_size=size, width_limit=width_limit)
        case "bottleneck":
            return Bottleneck(settings, vector_size=size)


def _span_head(
    settings: Settings, encoder: Encoder, labels: LabelSpace, pieces: PieceEncoder
) -> SpanHead[Any]:
    representation, pruning = _representation(settings, encoder), settings.candidates.pruning
    limit = resolved_width_limit(settings)
    return SpanHead(
        representation=representation,
        scorer=_scorer(settings, representation.size, encoder, labels, pieces),
        pruner=Pruner(pruning, state_width=encoder.width, width_limit=limit) if pruning else None,
        conditioned=_conditioned(settings, representation.size, labels),
    )


def _conditioned(settings: Settings, vector_size: int, labels: LabelSpace) -> Conditioned | None:
    chosen = settings.auxiliaries.cvae
    if chosen is None:
        return None
    if not labels.shared and len(labels.sizes) > 1 and chosen.condition != "own":
        raise SettingsError(
            f"auxiliaries.cvae.condition is {chosen.condition!r}, which needs the shared type of each "
            "type: set corpora.map to a label map or 'auto', or condition='own'"
        )
    # The types of a single corpus are shared with nobody, so they are the shared types themselves.
    rows, size = shared_rows(labels.sizes, labels.shared or labels.types)
    return Conditioned(Cvae(chosen, vector_size=vector_size, shared=rows, shared_size=size), labels.sizes)


def _scorer(
    settings: Settings, vector_size: int, encoder: Encoder, labels: LabelSpace, pieces: PieceEncoder
) -> Scorer[Any]:
    if settings.scorer.kind == "softmax":
        return Softmax(settings.scorer, vector_size=vector_size, sizes=labels.sizes)
    if settings.scorer.kind == "sigmoid":
        return Sigmoid(settings.scorer, vector_size=vector_size, sizes=labels.sizes)
    if settings.scorer.kind == "none":
        raise SettingsError("scorer.kind is 'none': this model has no spans to score")
    return BiEncoder(
        settings.scorer,
        source=_type_source(settings.scorer, encoder, labels, pieces),
        sizes=labels.sizes,
        state_width=encoder.width,
        vector_size=vector_size,
    )


def _type_source(
    settings: BiEncoderSettings, encoder: Encoder, labels: LabelSpace, pieces: PieceEncoder
) -> TypeSource:
    if settings.types == "atomic":
        return AtomicTypes(len(labels), encoder.width)
    backbone = encoder.backbone if settings.share_encoder else copy.deepcopy(encoder.backbone)
    reader = TextReader(backbone, shared=settings.share_encoder)
    if settings.types == "prototypes":
        instances = [instance for own in labels.prototypes for instance in own]
        texts = prototypes(instances, pieces, backbone)
        return PrototypeTypes(reader, texts, [len(own) for own in labels.prototypes])
    return DescribedTypes(reader, described(labels.texts, pieces, backbone))


def with_types(network: SpanModel, labels: LabelSpace, pieces: PieceEncoder) -> SpanModel:
    """A bi-encoder model with the same weights that looks for other types, by their descriptions."""
    scorer = network.spans.scorer if network.spans is not None else None
    if not isinstance(scorer, BiEncoder) or not isinstance(scorer.source, DescribedTypes):
        raise SettingsError(
            "this model cannot meet new types: only a bi-encoder that reads descriptions can "
            "(recipe binder, with scorer.types 'guidelines' or 'keywords')"
        )
    assert network.spans is not None
    reader = scorer.source.reader
    texts = described(labels.texts, pieces, network.encoder.backbone)
    head = SpanHead(
        representation=network.spans.representation,
        scorer=scorer.with_source(DescribedTypes(reader, texts), types=len(labels)),
        pruner=network.spans.pruner,
    )
    return SpanModel(encoder=network.encoder, spans=head, tagger=None, output="spans").eval()


def resolved_width_limit(settings: Settings) -> int:
    """The width limit of settings whose `auto` values have been decided."""
    limit = settings.candidates.width_limit
    if limit == "auto":
        raise SettingsError("candidates.width_limit is still 'auto'; give a number of words to build a model")
    return limit
