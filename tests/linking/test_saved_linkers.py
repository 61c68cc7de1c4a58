"""A saved linker answers as it did, and notices what has changed."""

from __future__ import annotations

from pathlib import Path

import pytest
from making_linkers import lexicon, marked

from spanwright.errors import InputError, ModelError
from spanwright.lexicons import Lexicon, Term, merge
from spanwright.linking.building import EncoderOptions, build_linker, digest_of
from spanwright.linking.linker import Linker
from spanwright.linking.saved import load_linker, save_linker
from tiny import encoder_folder

MENTIONS = ("breast cancer", "breast and ovarian cancer", "hypertensive", "Aldrich")
DOCUMENT = marked("; ".join(MENTIONS), *MENTIONS)


def answers(linker: Linker) -> object:
    return list(linker.links([DOCUMENT]))


@pytest.mark.parametrize("type_", [None, "Disease"])
def test_a_loaded_linker_answers_alike(tmp_path: Path, type_: str | None) -> None:
    linker = build_linker(lexicon(type_), minimum_confidence=0.1)
    save_linker(linker, tmp_path / "linker")
    assert answers(load_linker(tmp_path / "linker")) == answers(linker)


def test_a_loaded_linker_with_an_encoder_answers_alike(tmp_path: Path) -> None:
    encoder = EncoderOptions(name=str(encoder_folder(tmp_path / "encoder")), steps=3, batch=4)
    losses: list[float] = []
    linker = build_linker(lexicon(), encoder=encoder, tell=lambda step, loss: losses.append(loss))
    assert len(losses) == 3
    save_linker(linker, tmp_path / "linker")
    assert answers(load_linker(tmp_path / "linker")) == answers(linker)
    assert answers(linker) != answers(build_linker(lexicon()))


def test_training_separates_concepts(tmp_path: Path) -> None:
    name = str(encoder_folder(tmp_path / "encoder"))
    losses: list[float] = []
    options = EncoderOptions(name=name, steps=40, batch=4, rate=1e-2)
    build_linker(lexicon(), encoder=options, tell=lambda step, loss: losses.append(loss))
    assert sum(losses[-10:]) < sum(losses[:10]) / 2


def test_names_without_synonyms_cannot_train_an_encoder(tmp_path: Path) -> None:
    encoder = EncoderOptions(name=str(encoder_folder(tmp_path / "encoder")))
    with pytest.raises(InputError, match="no concept of the lexicon has two names"):
        build_linker(Lexicon([Term("one", None, "X1"), Term("two", None, "X2")]), encoder=encoder)


def test_a_lexicon_that_has_changed_is_noticed(tmp_path: Path) -> None:
    save_linker(build_linker(lexicon()), tmp_path / "linker")
    load_linker(tmp_path / "linker", digest=digest_of(lexicon(), []))
    changed = merge(lexicon(), Lexicon([Term("new", None, "D9")]))
    with pytest.raises(InputError, match="the lexicon has changed"):
        load_linker(tmp_path / "linker", digest=digest_of(changed, []))


@pytest.mark.parametrize("name", ["names.json", "names.safetensors"])
def test_a_file_that_has_changed_is_noticed(tmp_path: Path, name: str) -> None:
    save_linker(build_linker(lexicon()), tmp_path / "linker")
    file = tmp_path / "linker" / name
    file.write_bytes(file.read_bytes() + b" ")
    with pytest.raises(ModelError, match="has changed since the linker was saved"):
        load_linker(tmp_path / "linker")


def test_other_folders_are_neither_loaded_nor_replaced(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    with pytest.raises(InputError, match="is no linker"):
        save_linker(build_linker(lexicon()), tmp_path / "own")
    with pytest.raises(InputError, match="not a saved linker"):
        load_linker(tmp_path / "own")


def test_an_older_linker_is_replaced(tmp_path: Path) -> None:
    save_linker(build_linker(lexicon()), tmp_path / "linker")
    save_linker(build_linker(lexicon("Disease")), tmp_path / "linker")
    assert load_linker(tmp_path / "linker").serves("Disease")
    assert not load_linker(tmp_path / "linker").serves("Gene")
