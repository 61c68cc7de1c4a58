"""The parts of a network as they are exported: modules with plain tensors in and out.

What each reads and gives is a contract, which docs/export.md tells. Parts that cannot be followed as they are
ask `torch.compiler.is_exporting()` and compute the same in a form without steps that depend on numbers. Sizes
that vary are asked of shapes: `len` would make numbers of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor, nn

from spanwright.batches import batch as arrays
from spanwright.parts.batch import Batch, Spans
from spanwright.parts.beside.tagger import WordTagger
from spanwright.parts.encoder.encoder import Encoder, WordStates
from spanwright.parts.model import SpanHead, SpanModel
from spanwright.parts.spans.representations.span_transformer import SpanTransformer
from spanwright.parts.spans.scorers.bi_encoder import BiEncoder, TypeSide
from spanwright.parts.spans.scorers.type_vectors import DescribedTypes, TypeTexts
from spanwright.parts.spans.transforms.transformed import Transformed
from spanwright.predicting.onnx.files import DESCRIPTIONS, ENCODER, HEAD
from spanwright.predicting.onnx.network import EMISSIONS, LIMITS, VECTORS, head_inputs

_PREDICTED = ("window", "first", "last", "type", "confidence", "rank")
Given = dict[str, Tensor]
"""The inputs of a graph by name."""


@dataclass(frozen=True, slots=True)
class Exportable:
    """A part of a network with what an exporter has to know about it."""

    name: str
    module: nn.Module
    examples: Given
    outputs: tuple[str, ...]
    in_8_bits: bool
    """Whether it is worth a graph in integers: what is small or a few percent of the time is not."""

    @property
    def sizes_that_vary(self) -> dict[str, tuple[int, ...]]:
        """Axes of each input whose size differs from batch to batch."""
        return {name: _varying(name, tensor) for name, tensor in self.examples.items()}


def _varying(name: str, tensor: Tensor) -> tuple[int, ...]:
    """Kinds of vectors and the sizes of states are the network's own."""
    return (1,) if name in (VECTORS, LIMITS) else tuple(range(min(tensor.dim(), 2)))


def exportable(network: SpanModel, batch: Batch) -> Iterator[Exportable]:
    """The parts of a network that become graphs; the batch is an example of what they read."""
    encoder = _EncoderPart(network.encoder)
    pieces = {"pieces": batch.piece_ids, "mask": batch.piece_mask.long(), "corpus": batch.corpus}
    names = ("states", *(f"read_by_{number}" for number in range(network.encoder.depth)))
    yield Exportable(ENCODER, encoder, pieces, names, in_8_bits=True)
    with torch.no_grad():
        states = dict(zip(names, encoder(pieces), strict=True))
    examples = {**states, **head_inputs(batch), **type_arrays(network)}
    if network.output == "tags":
        assert network.tagger is not None  # build() sees to it
        tags = _TagsPart(network.encoder, network.tagger)
        yield Exportable(HEAD, tags, examples, tags.outputs, in_8_bits=False)
        return
    assert network.spans is not None
    head = _SpansPart(network.encoder, network.spans)
    yield Exportable(HEAD, head, examples, _PREDICTED, in_8_bits=_has_blocks(network))
    scorer = network.spans.scorer
    if isinstance(scorer, BiEncoder) and isinstance(scorer.source, DescribedTypes):
        texts = scorer.source.texts
        # Several, since an exporter takes one of anything for a constant.
        given = {"pieces": texts.ids.repeat(2, 1), "mask": texts.mask.long().repeat(2, 1)}
        yield Exportable(
            DESCRIPTIONS, _DescriptionsPart(scorer, scorer.source), given, (VECTORS,), in_8_bits=True
        )


@torch.no_grad()
def type_arrays(network: SpanModel) -> Given:
    """What a bi-encoder compares spans with, which no longer depends on anything; else nothing."""
    scorer = network.spans.scorer if network.spans is not None else None
    if network.output == "tags" or not isinstance(scorer, BiEncoder):
        return {}
    side = scorer.type_side()
    limits = [limit for limit in side.thresholds.values() if limit is not None]
    vectors = {VECTORS: torch.stack(list(side.vectors.values()))}
    return vectors | ({LIMITS: torch.stack(limits)} if limits else {})


def _has_blocks(network: SpanModel) -> bool:
    """Whether a head has Transformer blocks of its own, and so costs as much as an encoder."""
    made = network.spans.representation if network.spans is not None else None
    made = made.representation if isinstance(made, Transformed) else made
    return isinstance(made, SpanTransformer) and network.encoder.depth > 0


class _EncoderPart(nn.Module):
    """Pieces and their mask to states."""

    def __init__(self, encoder: Encoder) -> None:
        super().__init__()
        self.backbone, self.corpora, self.depth = encoder.backbone, encoder.corpora, encoder.depth

    def forward(self, given: Given) -> tuple[Tensor, ...]:
        """(windows, pieces, width) each: the states at the top, and what the top blocks read."""
        more = {"output_hidden_states": True} if self.depth else {}
        output = self.backbone(**self._read(given), attention_mask=given["mask"], **more)
        inner = output.hidden_states[-1 - self.depth : -1] if self.depth else ()
        return output.last_hidden_state, *inner

    def _read(self, given: Given) -> Given:
        if self.corpora is None:
            return {"input_ids": given["pieces"]}
        backbone: Any = self.backbone
        embedded = backbone.get_input_embeddings()(given["pieces"])
        batch = SimpleNamespace(piece_mask=given["mask"], corpus=given["corpus"])
        return {"inputs_embeds": self.corpora(embedded, batch)}


class _HeadPart(nn.Module):
    """Makes what parts read of the inputs of a graph."""

    def __init__(self, encoder: Encoder) -> None:
        super().__init__()
        self.encoder = encoder

    def _read(self, given: Given) -> tuple[WordStates, Batch]:
        columns = ("first_piece", "last_piece", "word_counts", "corpus")
        spans = Spans(*(given[f"span_{name}"] for name in ("window", "first", "last")))
        nothing: Any = None  # of a batch that nothing is learnt from
        others = dict.fromkeys((column.name for column in fields(arrays.Batch)), nothing)
        batch: Batch = Batch(**{**others, "spans": spans, **{name: given[name] for name in columns}})
        inner = [states for name, states in given.items() if name.startswith("read_by_")]
        return self.encoder.of_words(given["states"], inner, batch), batch


class _SpansPart(_HeadPart):
    """States and candidate spans to predictions."""

    def __init__(self, encoder: Encoder, head: SpanHead[Any]) -> None:
        super().__init__(encoder)
        self.head = head

    def forward(self, given: Given) -> tuple[Tensor, ...]:
        """(found,) each: the columns of `Predictions`."""
        states, batch = self._read(given)
        scorer, pruner = self.head.scorer, self.head.pruner
        if pruner is not None:
            kept = pruner.kept(pruner(states, batch.spans), batch).nonzero().squeeze(1)
            batch = replace(batch, spans=batch.spans.take(kept))
        vectors = self.head.representation(states, batch.spans)
        types = (_type_side(scorer, given),) if isinstance(scorer, BiEncoder) else ()
        return scorer.predict(scorer(vectors, states, batch, *types), batch).columns


def _type_side(scorer: BiEncoder, given: Given) -> TypeSide:
    limits = given[LIMITS].unbind() if LIMITS in given else (None,) * len(scorer.compare)
    return TypeSide(
        dict(zip(scorer.compare, given[VECTORS].unbind(), strict=True)),
        dict(zip(scorer.compare, limits, strict=True)),
    )


class _TagsPart(_HeadPart):
    """States to emissions, beside the weights of a CRF as they are."""

    def __init__(self, encoder: Encoder, tagger: WordTagger) -> None:
        super().__init__(encoder)
        self.tagger = tagger
        names = ("start", "end", "transitions") if tagger.rule.weights is not None else ()
        self.outputs = (EMISSIONS, *names)

    def forward(self, given: Given) -> tuple[Tensor, ...]:
        """(words, tags), (tags,), (tags,) and (tags, tags)."""
        states, batch = self._read(given)
        emissions = self.tagger.masked(self.tagger(states), batch)
        rule: Any = self.tagger.rule
        # Copies, since what goes out must be computed.
        return emissions, *(getattr(rule.chain, name) + 0 for name in self.outputs[1:])


class _DescriptionsPart(nn.Module):
    """Descriptions and their mask, (texts, pieces), to vectors of types."""

    def __init__(self, scorer: BiEncoder, source: DescribedTypes) -> None:
        super().__init__()
        self.scorer, self.reader = scorer, source.reader
        # One that is the encoder's is no part of the reader, but an exporter looks for weights in parts.
        self.shared = nn.ModuleList(source.reader._shared)

    def forward(self, given: Given) -> Tensor:
        """(kinds, texts, size)."""
        pieces = given["pieces"]
        states = self.reader(TypeTexts(pieces, given["mask"], torch.zeros_like(pieces[:, 0])))
        return torch.stack(list(self.scorer.projected(states).values()))
