"""Every word has pieces of its own, whatever the tokenizer does with it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from tokenizers import Tokenizer

import tiny
from naughty import NAUGHTY, texts
from spanwright.batches import pieces as module
from spanwright.batches.pieces import PieceEncoder
from spanwright.text import split

ENCODERS = {family: PieceEncoder(tiny.tokenizer(family)) for family in tiny.FAMILIES}
families = pytest.mark.parametrize("family", tiny.FAMILIES)


def naive(tokenizer: Tokenizer, text: str, unknown: int, *, blanks: bool) -> list[list[int]]:
    rows = []
    for start, end in split(text):
        blank = " " if blanks and start > 0 and text[start - 1].isspace() else ""
        ids = tokenizer.encode(blank + text[start:end], add_special_tokens=False).ids
        rows.append(ids or [unknown])
    return rows


@families
@given(text=texts())
def test_every_word_has_at_least_one_piece(family: str, text: str) -> None:
    words = split(text)
    ids, counts = ENCODERS[family].encode(text, words)
    assert len(counts) == len(words)
    assert (counts >= 1).all()
    assert counts.sum() == len(ids)


@families
@given(text=texts(max_chunks=4))
def test_pieces_are_those_of_each_word_alone(family: str, text: str) -> None:
    ids, counts = ENCODERS[family].encode(text, split(text))
    expected = naive(tiny.tokenizer(family), text, unknown=1, blanks=family == "byte-level")
    assert counts.tolist() == [len(row) for row in expected]
    assert ids.tolist() == [piece for row in expected for piece in row]


@pytest.mark.parametrize("word", ["\u200b", "\x00", "\ufeff", "\u0301"])
def test_a_word_that_the_tokenizer_swallows_gets_the_unknown_piece(word: str) -> None:
    encoder = ENCODERS["wordpiece"]
    assert encoder.tokenizer.encode(word, add_special_tokens=False).ids == []
    ids, counts = encoder.encode(f"a {word} b", [(0, 1), (2, 3), (4, 5)])
    assert counts.tolist() == [1, 1, 1]
    assert ids[1] == encoder.tokenizer.token_to_id("[UNK]")


@families
def test_no_words_have_no_pieces(family: str) -> None:
    ids, counts = ENCODERS[family].encode(" ", [])
    assert len(ids) == len(counts) == 0


def test_byte_level_tokenizers_see_the_blank_before_a_word() -> None:
    glued, _ = ENCODERS["byte-level"].encode("ab", [(0, 1), (1, 2)])
    apart, counts = ENCODERS["byte-level"].encode("a b", [(0, 1), (2, 3)])
    assert counts.tolist() == [1, 2]
    assert apart.tolist() == [glued[0], ENCODERS["byte-level"].tokenizer.token_to_id("Ġ"), glued[1]]


@families
def test_special_pieces_stand_around_a_window(family: str) -> None:
    encoder = ENCODERS[family]
    names = [encoder.tokenizer.id_to_token(piece) for piece in (*encoder.prefix, *encoder.suffix)]
    assert names == ["[CLS]", "[SEP]"]
    assert encoder.special_count == 2
    assert encoder.tokenizer.id_to_token(encoder.padding) == "[PAD]"


def test_a_tokenizer_without_special_pieces_adds_none() -> None:
    tokenizer = Tokenizer(tiny.tokenizer().model)
    assert PieceEncoder(tokenizer).special_count == 0


def test_truncation_and_padding_of_a_tokenizer_file_are_ignored() -> None:
    tokenizer = tiny.tokenizer()
    tokenizer.enable_truncation(4)
    tokenizer.enable_padding(length=16)
    text = "abcdefgh ij"
    _, counts = PieceEncoder(tokenizer).encode(text, split(text))
    assert counts.tolist() == [8, 2]


def test_the_cache_stays_within_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_CACHE_WORDS", 10)
    encoder = PieceEncoder(tiny.tokenizer())
    for number in range(100):
        encoder.encode(f"w{number} x", split(f"w{number} x"))
        assert len(encoder._cache) <= 10 + 2


@families
def test_answers_are_the_same_from_a_full_cache_and_an_empty_one(
    family: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_CACHE_WORDS", 7)
    encoder = PieceEncoder(tiny.tokenizer(family))
    for text in (*NAUGHTY, *NAUGHTY):
        fresh = PieceEncoder(tiny.tokenizer(family)).encode(text, split(text))
        used = encoder.encode(text, split(text))
        assert all(np.array_equal(left, right) for left, right in zip(fresh, used, strict=True))


def test_of_a_monstrous_word_only_the_two_ends_are_encoded() -> None:
    word = "a" * 5_000 + "b" * 5_000
    ids, counts = ENCODERS["byte-level"].encode(word, [(0, len(word))])
    tokenizer = ENCODERS["byte-level"].tokenizer
    assert counts.tolist() == [2_000]
    assert ids.tolist() == [tokenizer.token_to_id("a")] * 1_000 + [tokenizer.token_to_id("b")] * 1_000
