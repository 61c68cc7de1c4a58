"""Sets of golden files with other shapes than the shared ones, made by the naive references.

PYTHONPATH=tests python -m golden.making_sets second FOLDER
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from golden.references import (
    binder_head,
    boundary_smoothing,
    buckets_and_errors,
    crf,
    cvae,
    dspert_spans,
    span_vae,
    vib,
)
from golden.references.drawing import Arrays, Case, Draw

SECOND = {
    "binder_head": binder_head.Shape(
        words=((1, 2, 1, 3, 1, 1), (2, 1, 1, 1), (1, 1, 2, 2, 1)),
        offsets=(0, 4, 6),
        golds=(6, 0, 5),
        types=4,
        hidden=10,
        size=7,
        width_size=5,
        padding=2,
    ),
    "boundary_smoothing": boundary_smoothing.Shape(
        lengths=(4, 7, 1, 5, 6),
        golds=(3, 6, 1, 0, 4),
        types=4,
        smoothings=(0.15, 0.5),
        distances=(1, 3),
        limits=(2, 4),
    ),
    "buckets_and_errors": buckets_and_errors.Shape(
        documents=(
            *((100, 1), (40, 1), (20, 1), (120, 1), (300, 4), (7, 2), (8, 2), (16, 3), (17, 4), (31, 5)),
            *((32, 5), (1, 1), (2, 1), (50, 0), (6, 0), (60, 8), (80, 3)),
        ),
        types=12,
        unused=(3,),
    ),
    "crf": crf.Shape(lengths=(2, 5, 1), tags=4),
    "cvae": cvae.Shape(
        tokens=9,
        corpora=(2, 0, 1, 0),
        spans=(5, 3, 8, 1),
        shared=((0, 3, -1), (0, 1), (0, 2, 1, -1)),
        widest=6,
        hidden=6,
        width_size=3,
        vector=8,
        classifier=(7, 4),
        encoded=11,
        latent=5,
        alpha=0.01,
        beta=0.5,
    ),
    "dspert_spans": dspert_spans.Shape(
        lengths=(3, 7, 5),
        layers=4,
        depths=(4, 3, 1),
        shared_depths=(2, 4),
        sizes=(2, 3, 4, 6),
        hidden=12,
        heads=3,
        intermediate=20,
        vocabulary=30,
        positions=17,
        token_types=1,
    ),
    "span_vae": span_vae.Shape(
        spans=(2, 1, 6, 3),
        synonyms=((3, 2), (0, 1), (3, 7), (1, 3), (0, 2)),
        vector=15,
        latent=5,
        vocabulary=64,
        cutoffs=(5, 11, 30),
        word_size=6,
        hidden=64,
        kl_weight=0.3,
    ),
    "vib": vib.Shape(
        words=((1, 2, 1), (2, 2, 1, 1), (1, 3)),
        limit=3,
        hidden=5,
        layers=(9, 7, 6),
        latent=4,
        types=5,
        samples=3,
        beta=0.4,
        epoch=12,
    ),
}
"""Another number of everything."""

SMALLEST = {
    "binder_head": binder_head.Shape(
        words=((1,),), offsets=(0,), golds=(1,), types=1, hidden=3, size=2, width_size=2, padding=0
    ),
    "boundary_smoothing": boundary_smoothing.Shape(
        lengths=(1,), golds=(1,), types=1, smoothings=(0.1,), distances=(2,), limits=(3,)
    ),
    "buckets_and_errors": buckets_and_errors.Shape(documents=((1, 1),), types=1),
    "crf": crf.Shape(lengths=(1,), tags=1),
    "cvae": cvae.Shape(
        tokens=1,
        corpora=(0,),
        spans=(1,),
        shared=((0, 1),),
        widest=3,
        hidden=2,
        width_size=1,
        vector=2,
        classifier=(),
        encoded=2,
        latent=1,
        alpha=1.0,
        beta=1.0,
    ),
    "dspert_spans": dspert_spans.Shape(
        lengths=(2,),
        layers=1,
        depths=(1,),
        shared_depths=(1,),
        sizes=(2, 3),
        hidden=4,
        heads=1,
        intermediate=3,
        vocabulary=6,
        positions=4,
        token_types=1,
    ),
    "span_vae": span_vae.Shape(
        spans=(1,),
        synonyms=((0, 1),),
        vector=2,
        latent=1,
        vocabulary=15,
        cutoffs=(1, 3),
        word_size=1,
        hidden=16,
        kl_weight=1.0,
    ),
    "vib": vib.Shape(
        words=((1,),), limit=4, hidden=2, layers=(3,), latent=1, types=1, samples=1, beta=0.3, epoch=1
    ),
}
"""One of everything, and limits beyond what there is."""

SETS: dict[str, dict[str, Any]] = {"second": SECOND, "smallest": SMALLEST, "wrong": SECOND}
REFERENCES: dict[str, Callable[[Draw, Any], Case]] = {
    "binder_head": binder_head.make,
    "boundary_smoothing": boundary_smoothing.make,
    "buckets_and_errors": buckets_and_errors.make,
    "crf": crf.make,
    "cvae": cvae.make,
    "dspert_spans": dspert_spans.make,
    "span_vae": span_vae.make,
    "vib": vib.make,
}
SEED = 1


def make_set(name: str, folder: Path) -> Path:
    """Write all golden files of a set."""
    folder.mkdir(parents=True, exist_ok=True)
    for file, shape in SETS[name].items():
        inputs, outputs = REFERENCES[file](Draw(SEED), shape)
        if name == "wrong":
            outputs = {output: changed(array) for output, array in outputs.items()}
        save(folder / f"{file}.npz", {**inputs, **outputs})
    return folder


def save(file: Path, arrays: Arrays) -> None:
    """Store arrays, numbers that are not whole as float32."""
    stored = {name: array.detach().numpy() for name, array in arrays.items()}
    reals = {name: array.astype(np.float32) for name, array in stored.items() if array.dtype == np.float64}
    np.savez(file, **{**stored, **reals})


def changed(array: Tensor) -> Tensor:
    """An array of which no number is right."""
    if array.dtype == torch.bool:
        return ~array
    return array + (1 if array.dtype == torch.long else 0.001 * array.detach().abs().clamp(min=1))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", choices=SETS)
    parser.add_argument("folder", type=Path)
    given = parser.parse_args()
    make_set(given.name, given.folder)
