"""SpanMarker, as a side of the comparison.

It gets words, in batches of 32. Windows have 256 pieces and 128 pairs of markers, and spans up to 8 words, as
in the examples of its documentation. It pads every window to its full length, so sorting would save nothing.

The encoder has its real weights; the classifier on top is untrained. What a pass costs does not depend on the
weights, except for the entities that are put together: the bias of the label `O` is set so that there are
about as many as the corpus has.
"""

from __future__ import annotations

import argparse

import side
import torch
from span_marker import SpanMarkerModel  # type: ignore[import-not-found]

_LABELS = ["O", "B-Disease", "I-Disease"]
_BATCH = 32


def start(arguments: argparse.Namespace, corpus: side.Corpus) -> side.Tag:
    """The model with a bias that suits the corpus."""
    torch.manual_seed(1)
    model = SpanMarkerModel.from_pretrained(
        arguments.encoder,
        labels=_LABELS,
        model_max_length=256,
        marker_max_length=128,
        entity_max_length=8,
    ).eval()

    def tag(sentences: side.Sentences) -> int:
        return sum(map(len, model.predict(list(sentences), batch_size=_BATCH)))

    def tag_at(bias: float, sentences: side.Sentences) -> int:
        model.classifier.bias.data[model.config.outside_id] = bias
        return tag(sentences)

    tag_at(side.settle(tag_at, corpus, -10.0, 10.0), corpus.sentences[:1])
    return tag


if __name__ == "__main__":
    side.serve(side.parser(__doc__), start, ("span_marker", "torch", "transformers", "tokenizers"))
