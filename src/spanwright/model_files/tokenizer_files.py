"""The tokenizer of a model directory, looked at before it is made: making it runs its rules on some texts.

Rules that a file names one after the other may each make a text longer, so a short file can ask for more
memory than there is. Pieces are bounded by the embeddings that they need.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

from spanwright.batches.pieces import PieceEncoder
from spanwright.errors import ModelError
from spanwright.model_files import json_files

_BYTES, _BYTES_OF_PIECE = 1024 * 1024, 160
"""Of a file, and for each piece; the largest in use have 130 and hardly anything else."""
_VALUES, _VALUES_OF_PIECE = 50_000, 8
_LETTERS, _LETTERS_OF_PIECE = 64_000, 16
"""Of all pieces together: those of a Unigram take 300 bytes of memory each."""
_MOST_ADDED, _MOST_ADDED_LETTERS = 10_000, 200_000
_MOST_RULES, _LARGEST_GROWTH = 64, 1024
_UNHEARD_OF = "\U00012000"
"""A letter that no vocabulary has, in cuneiform."""


def largest_file(most_pieces: int) -> int:
    """The most bytes that a tokenizer of so many pieces may have."""
    return _BYTES + _BYTES_OF_PIECE * most_pieces


def pieces_from(content: bytes, path: Path, *, most_pieces: int, names_corpus: bool) -> PieceEncoder:
    """The tokenizer of a file of no more pieces than weights can have embeddings for."""
    values = json_files.parse(content, path, _most_values(most_pieces))
    try:
        _check_pieces(values, path, most_pieces)
        _check_rules(values, path)
        del values  # which take as much memory as the tokenizer will
        tokenizer = Tokenizer.from_buffer(content)
        # A tokenizer that lacks what it says about unknown words fails when it meets the first of them.
        tokenizer.encode(_UNHEARD_OF)
        if not tokenizer.encode("a", add_special_tokens=False).ids:
            raise ModelError(f"{path}: not a tokenizer that can be used: it makes nothing of the word 'a'")
        pieces = PieceEncoder(tokenizer, names_corpus=names_corpus)
    except (ModelError, KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # a tokenizer that panics raises what is no Exception
        reason = str(error).strip().partition("\n")[0] or type(error).__name__
        raise ModelError(f"{path}: not a tokenizer that can be used: {reason}") from None
    return pieces


def _most_values(most_pieces: int) -> int:
    return _VALUES + _VALUES_OF_PIECE * most_pieces


def _check_pieces(values: dict[str, Any], path: Path, most_pieces: int) -> None:
    model = json_files.section(values, "model", path, _most_values(most_pieces))
    added = values.get("added_tokens") or []
    vocabulary = model.get("vocab") or {}
    names = vocabulary if isinstance(vocabulary, dict) else [entry[0] for entry in vocabulary]
    if len(names) > most_pieces:
        raise ModelError(
            f"{path}: has {len(names)} pieces, but model.safetensors has embeddings for {most_pieces} at "
            f"most: it is the tokenizer of another model"
        )
    if sum(map(len, names)) > _LETTERS + _LETTERS_OF_PIECE * most_pieces:
        raise ModelError(f"{path}: its pieces are far longer than those of any tokenizer")
    letters = sum(len(token["content"]) for token in added)
    if len(added) > _MOST_ADDED or letters > _MOST_ADDED_LETTERS:
        raise ModelError(
            f"{path}: has {len(added)} added tokens of {letters} characters; expected at most "
            f"{_MOST_ADDED}, of {_MOST_ADDED_LETTERS}"
        )


def _check_rules(values: dict[str, Any], path: Path) -> None:
    """Refuse rules that together could make a text a thousand times as long."""
    rules = [*_rules(values.get("normalizer")), *_rules(values.get("pre_tokenizer"))]
    if len(rules) > _MOST_RULES:
        raise ModelError(f"{path}: has {len(rules)} rules for texts; expected at most {_MOST_RULES}")
    if prod(map(_growth, rules)) > _LARGEST_GROWTH:
        raise ModelError(
            f"{path}: its rules could make a text more than {_LARGEST_GROWTH} times as long, which no "
            f"tokenizer needs"
        )


def _rules(part: Any) -> Iterator[dict[str, Any]]:
    """A normaliser or pre-tokenizer, or those that it is a sequence of."""
    if not isinstance(part, dict):
        return
    inner = [rule for key in ("normalizers", "pretokenizers") for rule in part.get(key) or ()]
    if not inner:
        yield part
    for rule in inner:
        yield from _rules(rule)


def _growth(rule: dict[str, Any]) -> float:
    """How many times as long a rule can make a text, at most."""
    match rule:
        case {"type": "Replace", "pattern": {"String": str(old)}, "content": str(new)} if old:
            return max(1.0, len(new) / len(old))
        case {"type": "Replace"}:
            return 1.0 + len(str(rule.get("content")))
        case {"type": "Prepend"}:
            return 1.0 + len(str(rule.get("prepend")))
        case {"type": "ByteLevel"}:
            return 2.0
        case {"type": "Precompiled"}:
            return 18.0  # what one character can become in Unicode's own tables
    return 1.0
