"""Token classification with the transformers library, as a side of the comparison.

The loop around the model is written for speed: sentences are split into pieces all at once, sorted by length
and tagged in batches of 32. Each word has the label of its first piece.

The encoder has its real weights; the classifier on top is untrained. What a pass costs does not depend on
the weights, except for the entities that are put together: the bias of the label `O` is set so that there are
about as many as the corpus has.
"""

from __future__ import annotations

import argparse

import side
import torch
from transformers import AutoModelForTokenClassification, AutoTokenizer

_LABELS = ("O", "B-Disease", "I-Disease")
_INSIDE = 2
_BATCH = 32
_LONGEST = 512

Entity = tuple[int, int, str]
"""First word, word behind the last, and type."""


def start(arguments: argparse.Namespace, corpus: side.Corpus) -> side.Tag:
    """The model with a bias that suits the corpus."""
    tagger = TokenTagger(arguments.encoder)

    def tag_at(bias: float, sentences: side.Sentences) -> int:
        tagger.model.classifier.bias.data[0] = bias
        return tagger.count(sentences)

    tag_at(side.settle(tag_at, corpus, -10.0, 10.0), corpus.sentences[:1])
    return tagger.count


class TokenTagger:
    """A token classifier and the loop around it."""

    def __init__(self, encoder: str) -> None:
        torch.manual_seed(1)
        self.tokenizer = AutoTokenizer.from_pretrained(encoder)
        self.model = AutoModelForTokenClassification.from_pretrained(
            encoder, num_labels=len(_LABELS), dtype=torch.float32
        ).eval()

    def count(self, sentences: side.Sentences) -> int:
        """Tag sentences and count the entities."""
        return sum(map(len, self.tag(sentences)))

    @torch.inference_mode()
    def tag(self, sentences: side.Sentences) -> list[list[Entity]]:
        """The entities of each sentence."""
        pieces = self.tokenizer(
            list(sentences), is_split_into_words=True, truncation=True, max_length=_LONGEST
        )
        ids = pieces["input_ids"]
        order = sorted(range(len(sentences)), key=lambda number: len(ids[number]))
        found: list[list[Entity]] = [[] for _ in sentences]
        for first in range(0, len(order), _BATCH):
            chosen = order[first : first + _BATCH]
            batch = self.tokenizer.pad({"input_ids": [ids[number] for number in chosen]}, return_tensors="pt")
            labels = self.model(**batch).logits.argmax(-1).tolist()
            for number, row in zip(chosen, labels, strict=True):
                found[number] = entities(len(sentences[number]), pieces.word_ids(number), row)
        return found


def entities(words: int, word_ids: list[int | None], labels: list[int]) -> list[Entity]:
    """The runs of words that the labels of their first pieces mark; a stray `I` opens one."""
    # From the end, so that the first piece of a word has the last say; labels also has the padding.
    label_of = dict(reversed(list(zip(word_ids, labels, strict=False))))
    found: list[Entity] = []
    begin: int | None = None
    for word in range(words + 1):
        label = label_of.get(word, 0)
        if begin is not None and label != _INSIDE:
            found.append((begin, word, "Disease"))
            begin = None
        if label and begin is None:
            begin = word
    return found


if __name__ == "__main__":
    side.serve(side.parser(__doc__), start, ("torch", "transformers", "tokenizers"))
