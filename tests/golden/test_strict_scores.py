"""Strict scores reproduce the golden counts. Every size is taken from the file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from spanwright.evaluation import evaluate
from spanwright.text import Document, Entity


def _documents(rows: np.ndarray, lengths: np.ndarray) -> list[Document]:
    """One document of one-letter words per length; rows are (document, type, first word, end word)."""
    entities: list[list[Entity]] = [[] for _ in lengths]
    for document, type_, start, end in rows.tolist():
        entities[document].append(Entity(2 * start, 2 * end - 1, str(type_)))
    return [
        Document(str(number), " ".join("w" * length), tuple(entities[number]))
        for number, length in enumerate(lengths.tolist())
    ]


@pytest.mark.parametrize("kind", ["nested", "flat"])
def test_strict_counts_equal_the_golden_ones(golden: Path, kind: str) -> None:
    with np.load(golden / "buckets_and_errors.npz", allow_pickle=False) as file:
        arrays = dict(file)
    gold, predicted = (
        _documents(arrays[f"{kind}_{side}"], arrays["document_length"]) for side in ("gold", "pred")
    )
    scores = evaluate(gold, predicted)
    per_type = [scores.per_type[str(type_)] for type_ in range(int(arrays["num_types"]))]
    counts = [(c.true_positives, c.false_positives, c.false_negatives) for c in (*per_type, scores.micro)]
    assert counts == [tuple(row) for row in arrays[f"{kind}_strict"].tolist()]
    micro = (scores.micro.precision, scores.micro.recall, scores.micro.f1)
    assert micro == pytest.approx(arrays[f"{kind}_strict_micro_prf"].tolist(), abs=1e-6)
