"""Spanwright, as a side of the comparison.

The recipe is trained for one epoch on some sentences when the side starts, so that it finds about as many
entities as the corpus has. A pass begins with words, as those of the peers do, and with an empty cache of
pieces, since the same sentences come again in every pass.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any

import side

from spanwright.batches.pieces import PieceEncoder
from spanwright.formats.files import read
from spanwright.model_files.tagging_model import TaggingModel
from spanwright.predicting.tagger import Tagger
from spanwright.settings import load_settings
from spanwright.text import Document
from spanwright.training.loop import train


def start(arguments: argparse.Namespace, corpus: side.Corpus) -> side.Tag:
    """The recipe, trained a little."""
    folder = arguments.corpora / "ncbi_disease" / "iob"
    settings = load_settings(arguments.recipe, ["training.epochs=1", f"encoder.name={arguments.encoder}"])
    documents = read(folder / "train.tsv").documents[: arguments.training_sentences]
    dev = read(folder / "devel.tsv").documents[:50]
    with tempfile.TemporaryDirectory() as out:
        model = train(settings, train=documents, dev=dev, out=f"{out}/run").model

    def tag(sentences: side.Sentences) -> int:
        tagger = Tagger(with_empty_cache(model))
        return sum(len(document.entities) for document in tagger.tag(map(document_of, sentences)))

    return tag


def with_empty_cache(model: TaggingModel[Any]) -> TaggingModel[Any]:
    """The same model with an encoder of pieces that has seen no word yet."""
    pieces = model.pieces
    return replace(model, pieces=PieceEncoder(pieces.tokenizer, names_corpus=pieces.names_corpus))


def document_of(words: Sequence[str]) -> Document:
    """A document of one sentence, with its words."""
    ends = accumulate(len(word) + 1 for word in words)
    ranges = tuple((end - 1 - len(word), end - 1) for word, end in zip(words, ends, strict=True))
    text = " ".join(words)
    return Document("sentence", text, words=ranges, sentences=((0, len(text)),))


if __name__ == "__main__":
    own = side.parser(__doc__)
    own.add_argument("--recipe", default="plain")
    own.add_argument("--training-sentences", type=int, default=1800)
    side.serve(own, start, ("spanwright", "torch", "transformers", "tokenizers"))
