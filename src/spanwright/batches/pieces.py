"""Sub-word pieces: the only file that touches a tokenizer.

Words are encoded one by one, so a piece never reaches over a word border and every word has at least one
piece: a word that the tokenizer swallows (a zero-width space, a lone combining mark) gets the unknown piece.
Text is Zipfian, so a cache of words makes this faster than encoding running text.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from spanwright.arrays import Integers

_CACHE_WORDS = 200_000
_LONGEST_WORD = 2_000
"""Characters of a word that are encoded; of a longer one, the two ends: no encoder sees more pieces."""


_START_MARKERS = ("[unused1]", "<extra_id_0>", "[MASK]", "<mask>", "[UNK]", "<unk>")
_END_MARKERS = ("[unused2]", "<extra_id_1>", "[MASK]", "<mask>", "[UNK]", "<unk>")


class PieceEncoder:
    """Turns words into piece ids, and knows the special pieces around a window."""

    def __init__(self, tokenizer: Tokenizer, *, names_corpus: bool = False) -> None:
        """With `names_corpus`, a piece for the corpus stands after each window, and the end once more."""
        # A tokenizer file may carry the truncation and padding of its first user.
        tokenizer.no_truncation()
        tokenizer.no_padding()
        self.tokenizer = tokenizer
        self.prefix, self.suffix = _special_pieces(tokenizer)
        self.padding = _first_known(tokenizer, "[PAD]", "<pad>", "<|padding|>", "</s>")
        self.unknown = _first_known(tokenizer, "[UNK]", "<unk>", "<|endoftext|>", "</s>")
        self.names_corpus = names_corpus
        self.end = self.suffix
        """The special pieces after a text that is no window, such as the description of a type."""
        if names_corpus:
            # The unknown piece only holds the place: the encoder puts the vector of the corpus there.
            self.suffix = (*self.suffix, self.unknown, *self.suffix)
        self.markers = (_first_known(tokenizer, *_START_MARKERS), _first_known(tokenizer, *_END_MARKERS))
        """Pieces that text hardly ever has, to put around a mention."""
        self._space_matters = _pieces(tokenizer, " a") != _pieces(tokenizer, "a")
        self._cache: dict[str, tuple[int, ...]] = {}

    @classmethod
    def from_file(cls, path: Path, *, names_corpus: bool = False) -> PieceEncoder:
        """Load a `tokenizer.json`."""
        return cls(Tokenizer.from_file(str(path)), names_corpus=names_corpus)

    def naming_corpus(self) -> PieceEncoder:
        """The same with a piece for the corpus after each window."""
        return PieceEncoder(self.tokenizer, names_corpus=True)

    @property
    def corpus_from_end(self) -> int:
        """How far the piece of the corpus stands from the end of a window: 1 for the last piece."""
        return (len(self.suffix) + 1) // 2

    @property
    def special_count(self) -> int:
        """How many special pieces stand around the words of a window."""
        return len(self.prefix) + len(self.suffix)

    def encode(self, text: str, words: Sequence[tuple[int, int]]) -> tuple[Integers, Integers]:
        """Piece ids of all words in a row, and the number of pieces of each word (at least 1)."""
        keys = self._keys(text, words)
        if len(self._cache) > _CACHE_WORDS:
            self._cache.clear()
        missing = [key for key in dict.fromkeys(keys) if key not in self._cache]
        if missing:
            self._remember(missing)
        pieces = [self._cache[key] for key in keys]
        counts = np.fromiter(map(len, pieces), dtype=np.int64, count=len(pieces))
        ids = np.fromiter(chain.from_iterable(pieces), dtype=np.int64, count=int(counts.sum()))
        return ids, counts

    def encode_text(self, text: str) -> list[int]:
        """Piece ids of a running text, such as the description of a type, without special pieces."""
        return _pieces(self.tokenizer, text)

    def _keys(self, text: str, words: Sequence[tuple[int, int]]) -> list[str]:
        """The strings to encode: byte-level tokenizers see whether a blank stands before a word."""
        if not self._space_matters:
            return [text[start:end] for start, end in words]
        return [
            f" {text[start:end]}" if start > 0 and text[start - 1].isspace() else text[start:end]
            for start, end in words
        ]

    def _remember(self, keys: list[str]) -> None:
        encodings = self.tokenizer.encode_batch_fast(
            [_shortened(key) for key in keys], add_special_tokens=False
        )
        for key, encoding in zip(keys, encodings, strict=True):
            self._cache[key] = tuple(encoding.ids) or (self.unknown,)


def _shortened(word: str) -> str:
    half = _LONGEST_WORD // 2
    return word if len(word) <= _LONGEST_WORD else word[:half] + word[-half:]


def _pieces(tokenizer: Tokenizer, text: str) -> list[int]:
    return list(tokenizer.encode(text, add_special_tokens=False).ids)


def _special_pieces(tokenizer: Tokenizer) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The special pieces before and after a text, such as [CLS] and [SEP]."""
    encoding = tokenizer.encode("a")
    mask = encoding.special_tokens_mask
    content = [position for position, special in enumerate(mask) if not special]
    return tuple(encoding.ids[: content[0]]), tuple(encoding.ids[content[-1] + 1 :])


def _first_known(tokenizer: Tokenizer, *names: str) -> int:
    return next((found for name in names if (found := tokenizer.token_to_id(name)) is not None), 0)
