"""Every criterion, mistake and bucket reproduces the golden counts. Sizes are taken from the file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from spanwright.evaluation import (
    Comparison,
    Matches,
    break_down,
    compare_documents,
    evaluate,
    find_mistakes,
    score,
)
from spanwright.evaluation.criteria import Criterion, CriterionScores
from spanwright.evaluation.scores import Counts
from spanwright.text import Document, Entity

KINDS = ("nested", "flat")
Arrays = dict[str, np.ndarray]


@pytest.fixture(scope="module")
def arrays(golden: Path) -> Arrays:
    with np.load(golden / "buckets_and_errors.npz", allow_pickle=False) as file:
        return dict(file)


def documents(rows: np.ndarray, lengths: np.ndarray) -> list[Document]:
    """One sentence of one-letter words per length; rows are (document, type, first word, end word)."""
    entities: list[list[Entity]] = [[] for _ in lengths]
    for document, type_, start, end in rows.tolist():
        entities[document].append(Entity(2 * start, 2 * end - 1, str(type_)))
    return [
        Document(str(number), " ".join("w" * length), tuple(entities[number]))
        for number, length in enumerate(lengths.tolist())
    ]


def both_sides(arrays: Arrays, kind: str) -> tuple[list[Document], list[Document]]:
    """Gold documents and predicted ones."""
    gold, predicted = (
        documents(arrays[f"{kind}_{side}"], arrays["document_length"]) for side in ("gold", "pred")
    )
    return gold, predicted


def comparison(arrays: Arrays, kind: str) -> Comparison:
    return compare_documents(*both_sides(arrays, kind))


def type_names(arrays: Arrays) -> list[str]:
    """In the order of the file; some may be of no entity."""
    return [str(type_) for type_ in range(int(arrays["num_types"]))]


def by_type_and_micro(arrays: Arrays, scores: CriterionScores) -> list[Matches]:
    """In the order of the file, all types together last."""
    return [*(scores.per_type.get(name, Matches()) for name in type_names(arrays)), scores.micro]


def in_file_order(rows: np.ndarray, values: np.ndarray) -> list[int]:
    """Values of entities in the order of documents, brought to the order of the rows."""
    ordered = np.empty_like(values)
    ordered[np.argsort(rows[:, 0], kind="stable")] = values
    return list(ordered.tolist())


def approximately(values: Any) -> Any:
    return pytest.approx(values, abs=1e-6)


def ratios(matches: Matches) -> list[float]:
    return [matches.precision, matches.recall, matches.f1]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("criterion", "name"), [("strict", "strict"), ("start", "start_only"), ("end", "end_only")]
)
def test_counts_of_a_one_to_one_criterion(arrays: Arrays, kind: str, criterion: Criterion, name: str) -> None:
    scores = score(comparison(arrays, kind), criterion)
    rows = [
        [each.correct, each.predicted - each.correct, each.gold - each.found]
        for each in by_type_and_micro(arrays, scores)
    ]
    assert rows == arrays[f"{kind}_{name}"].tolist()
    assert ratios(scores.micro) == approximately(arrays[f"{kind}_{name}_micro_prf"].tolist())
    assert all(each.correct == each.found for each in scores.per_type.values())


@pytest.mark.parametrize("kind", KINDS)
def test_strict_scores_without_a_comparison(arrays: Arrays, kind: str) -> None:
    scores = evaluate(*both_sides(arrays, kind))
    every = [*(scores.per_type.get(name, Counts()) for name in type_names(arrays)), scores.micro]
    counts = [[each.true_positives, each.false_positives, each.false_negatives] for each in every]
    assert counts == arrays[f"{kind}_strict"].tolist()
    micro = [scores.micro.precision, scores.micro.recall, scores.micro.f1]
    assert micro == approximately(arrays[f"{kind}_strict_micro_prf"].tolist())


def test_flat_scores_are_those_of_seqeval(arrays: Arrays) -> None:
    micro = score(comparison(arrays, "flat"), "strict").micro
    assert ratios(micro) == approximately(arrays["flat_seqeval_strict_micro_prf"].tolist())


@pytest.mark.parametrize("kind", KINDS)
def test_loose_counts(arrays: Arrays, kind: str) -> None:
    scores = score(comparison(arrays, kind), "loose")
    rows = [
        [each.correct, each.predicted - each.correct, each.found, each.gold - each.found]
        for each in by_type_and_micro(arrays, scores)
    ]
    assert rows == arrays[f"{kind}_loose"].tolist()
    assert ratios(scores.micro) == approximately(arrays[f"{kind}_loose_micro_prf"].tolist())


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_and_rates_of_mistakes(arrays: Arrays, kind: str) -> None:
    mistakes = find_mistakes(comparison(arrays, kind))
    for side, values in (("pred", mistakes.prediction_kind), ("gold", mistakes.gold_kind)):
        assert in_file_order(arrays[f"{kind}_{side}"], values) == arrays[f"{kind}_{side}_class"].tolist()
    kinds = ("type", "boundary", "both", "spurious", "missed", "overlapped")
    assert [mistakes.counts[each] for each in kinds] == arrays[f"{kind}_error_counts"].tolist()
    rates = [mistakes.rates[name] for name in ("type", "boundary", "both", "any boundary")]
    assert rates == approximately(arrays[f"{kind}_error_rates"].tolist())
    split = [mistakes.category_and_span[name]["count"] for name in ("category", "span")]
    assert split == arrays[f"{kind}_category_and_span_errors"].tolist()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("attribute", "name"), [("width", "eLen"), ("text length", "tLen"), ("entity density", "eDen")]
)
def test_buckets(arrays: Arrays, kind: str, attribute: str, name: str) -> None:
    buckets = break_down(comparison(arrays, kind)).attributes[attribute].values()
    rows = [[each.gold, each.predicted, each.correct] for each in buckets]
    assert rows == arrays[f"{kind}_bucket_{name}"].tolist()
    assert all(each.correct == each.found for each in buckets)
    expected = arrays[f"{kind}_bucket_{name}_prf"].tolist()
    assert [ratios(each) for each in buckets] == [approximately(row) for row in expected]
