"""The nearest vectors are found, whether all are compared or an index is searched."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from making_linkers import lexicon, marked

from spanwright.errors import InputError, ModelError
from spanwright.linking import neighbours, vectors
from spanwright.linking.building import EncoderOptions, build_linker
from spanwright.linking.neighbours import Neighbours
from spanwright.linking.saved import load_linker, save_linker
from tiny import encoder_folder


@pytest.fixture
def indexed(monkeypatch: pytest.MonkeyPatch) -> None:
    """An index from the third vector on."""
    pytest.importorskip("usearch")
    for module in (neighbours, vectors):
        monkeypatch.setattr(module, "MOST_COMPARED", 2)


def unit(count: int, seed: int) -> npt.NDArray[np.float32]:
    drawn = np.random.default_rng(seed).standard_normal((count, 16), dtype=np.float32)
    return drawn / np.linalg.norm(drawn, axis=1, keepdims=True)


def found(searched: Neighbours, wanted: npt.NDArray[np.float32]) -> list[set[int]]:
    return [set(each.tolist()) for each in searched.search(wanted, 5)]


@pytest.mark.usefixtures("indexed")
def test_an_index_finds_what_comparing_all_finds() -> None:
    known, wanted = unit(300, 1), unit(20, 2)
    through_index, compared = found(Neighbours.of(known), wanted), found(Neighbours(known), wanted)
    shared = sum(len(a & b) for a, b in zip(through_index, compared, strict=True))
    assert shared >= 95  # of 100; graphs may miss some


@pytest.mark.usefixtures("indexed")
def test_fewer_vectors_than_wanted_are_all_found() -> None:
    assert found(Neighbours.of(unit(3, 1)), unit(2, 2)) == [{0, 1, 2}] * 2


@pytest.mark.usefixtures("indexed")
def test_a_stored_index_answers_alike_and_must_fit_its_vectors(tmp_path: Path) -> None:
    known, wanted, file = unit(50, 1), unit(5, 2), tmp_path / "neighbours.usearch"
    searched = Neighbours.of(known)
    searched.write(file)
    assert found(Neighbours.stored(known, file), wanted) == found(searched, wanted)
    with pytest.raises(ModelError, match="not the index of 49 vectors of size 16"):
        Neighbours.stored(known[:49], file)


@pytest.mark.usefixtures("indexed")
def test_a_linker_with_an_index_is_saved_and_answers_alike(tmp_path: Path) -> None:
    options = EncoderOptions(name=str(encoder_folder(tmp_path / "encoder")), steps=2, batch=4)
    linker = build_linker(lexicon(), encoder=options)
    save_linker(linker, tmp_path / "linker")
    assert (tmp_path / "linker" / "neighbours-0.usearch").is_file()
    document = marked("hypertensive; ovarian canser", "hypertensive", "ovarian canser")
    assert list(load_linker(tmp_path / "linker").links([document])) == list(linker.links([document]))


def test_few_vectors_need_no_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "usearch.index", None)
    assert found(Neighbours.of(unit(3, 1)), unit(1, 2)) == [{0, 1, 2}]


def test_many_vectors_without_the_package_are_refused_with_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(neighbours, "MOST_COMPARED", 2)
    monkeypatch.setitem(sys.modules, "usearch.index", None)
    with pytest.raises(InputError, match=r"needs the package 'usearch'.*spanwright\[linking\]"):
        Neighbours.of(unit(3, 1))
