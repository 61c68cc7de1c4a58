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
from spanwright.parts.model import Auxiliary, SpanHead, SpanModel
from spanwright.parts.spans.pruning import Pruner
from spanwright.parts.spans.representations.blocks import checked_depth
from spanwright.parts.spans.representations.composed import Composed
from spanwright.parts.spans.representations.span_transformer import SpanTransformer
from spanwright.parts.spans.representations.vectors import Representation, Transform
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
from spanwright.parts.spans.transforms.transformed import Transformed
from spanwright.settings import Settings
from spanwright.settings.representations import ComposedSettings, SpanTransformerSettings
from spanwright.settings.scorers import NO_NEW_TYPES, BiEncoderSettings, SigmoidSettings, SoftmaxSettings
from spanwright.settings.transforms import (
    BiLstmSettings,
    BottleneckSettings,
    FeedForwardSettings,
    TransformSettings,
)


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
        piece_means=settings.has_spans and settings.representation.reads_pieces,
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
    others = [
        _checked(other.build(state_width=encoder.width, sizes=labels.sizes), Auxiliary, other.kind)
        for other in settings.auxiliaries.others
    ]
    return SpanModel(
        encoder=encoder, spans=spans, tagger=tagger, output=settings.output, writer=writer, others=others
    )


def _checked(made: Any, expected: type[Any], kind: str) -> Any:
    """What a part of another package has made, if it is of the type that its place needs."""
    if not isinstance(made, expected):
        raise SettingsError(f"the part {kind!r} is a {type(made).__name__}; expected a {expected.__name__}")
    return made


def _depth(settings: Settings, backbone: nn.Module) -> int:
    """Of how many blocks of the backbone the representation needs what they read."""
    chosen = settings.representation
    return checked_depth(chosen.depth, backbone) if isinstance(chosen, SpanTransformerSettings) else 0


def _representation(settings: Settings, encoder: Encoder) -> Representation:
    chosen, limit, width = settings.representation, settings.resolved_width_limit, encoder.width
    match chosen:
        case ComposedSettings():
            made: Representation = Composed(chosen, state_width=width, width_limit=limit)
        case SpanTransformerSettings():
            made = SpanTransformer(
                chosen,
                backbone=encoder.backbone,
                depth=encoder.depth,
                state_width=width,
                width_limit=limit,
            )
        case _:
            made = _checked(chosen.build(state_width=width, width_limit=limit), Representation, chosen.kind)
    transforms: list[Transform] = []
    for transform in settings.transforms:
        transforms.append(_transform(transform, transforms[-1].size if transforms else made.size, limit))
    return Transformed(made, transforms) if transforms else made


def _transform(settings: TransformSettings, size: int, width_limit: int) -> Transform:
    match settings:
        case BiLstmSettings():
            return BiLstm(settings, vector_size=size, width_limit=width_limit)
        case FeedForwardSettings():
            return FeedForward(settings, vector_size=size, width_limit=width_limit)
        case BottleneckSettings():
            return Bottleneck(settings, vector_size=size)
    made: Transform = _checked(
        settings.build(vector_size=size, width_limit=width_limit), Transform, settings.kind
    )
    return made


def _span_head(
    settings: Settings, encoder: Encoder, labels: LabelSpace, pieces: PieceEncoder
) -> SpanHead[Any]:
    representation, pruning = _representation(settings, encoder), settings.candidates.pruning
    limit = settings.resolved_width_limit
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
    sizes, width = labels.sizes, encoder.width
    match settings.scorer:
        case SoftmaxSettings() as chosen:
            return Softmax(chosen, vector_size=vector_size, sizes=sizes)
        case SigmoidSettings() as chosen:
            return Sigmoid(chosen, vector_size=vector_size, sizes=sizes)
        case BiEncoderSettings() as chosen:
            source = _type_source(chosen, encoder, labels, pieces)
            return BiEncoder(chosen, source=source, sizes=sizes, state_width=width, vector_size=vector_size)
        case other:
            built = other.build(vector_size=vector_size, state_width=width, sizes=sizes)
            made: Scorer[Any] = _checked(built, Scorer, other.kind)
            return made


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
        raise SettingsError(NO_NEW_TYPES)
    assert network.spans is not None
    reader = scorer.source.reader
    texts = described(labels.texts, pieces, network.encoder.backbone)
    head = SpanHead(
        representation=network.spans.representation,
        scorer=scorer.with_source(DescribedTypes(reader, texts), types=len(labels)),
        pruner=network.spans.pruner,
    )
    return SpanModel(encoder=network.encoder, spans=head, tagger=None, output="spans").eval()
