"""GLiNER, as a side of the comparison.

It gets texts, since it has a splitter of its own, in batches of 32, in the order of the corpus or, with
`--sorted`, by length, which it does not do by itself and which saves it padding. Spans have up to 12 words,
and there is one label.

The encoder has its real weights; the layers on top are untrained. What a pass costs does not depend on the
weights, except for the spans above the threshold that are decoded: the threshold is set so that there are
about as many entities as the corpus has.
"""

from __future__ import annotations

import argparse

import side
import torch
from gliner import GLiNER  # type: ignore[import-not-found]

_BATCH = 32
_WIDEST = 12


def start(arguments: argparse.Namespace, corpus: side.Corpus) -> side.Tag:
    """The model with a threshold that suits the corpus."""
    torch.manual_seed(1)
    model = GLiNER.from_config(
        {
            "model_type": "gliner",
            "model_name": arguments.encoder,
            "span_mode": "markerV0",
            "max_width": _WIDEST,
            "hidden_size": 384,
            "max_len": 384,
        },
        backbone_from_pretrained=True,
    ).eval()

    def tag_at(threshold: float, sentences: side.Sentences) -> int:
        chosen = sorted(sentences, key=len) if arguments.sorted else sentences
        texts = [" ".join(words) for words in chosen]
        return sum(map(len, model.inference(texts, ["disease"], threshold=threshold, batch_size=_BATCH)))

    threshold = side.settle(tag_at, corpus, 0.0, 1.0)
    return lambda sentences: tag_at(threshold, sentences)


if __name__ == "__main__":
    parser = side.parser(__doc__)
    parser.add_argument("--sorted", action="store_true", help="sort texts by length")
    side.serve(parser, start, ("gliner", "torch", "transformers", "tokenizers"))
