"""Cosines, angles, score distributions and clusters against naive loops over small samples."""

from __future__ import annotations

import math
import sys
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwright.analysis.measures import (
    class_cosines,
    overlap_cosines,
    score_distributions,
    separation,
    summarise,
    template_angles,
)
from spanwright.analysis.projections import NEIGHBOURS, clusters, principal_components, project
from spanwright.analysis.spans import NONE, SpanSample
from spanwright.errors import MissingExtraError

TYPES = ("Cell", "Gene", "Drug")


def sample(*, spans: int = 24, thresholds: bool = False, seed: int = 0) -> SpanSample:
    """Random spans of two of three types and of none; one vector is zero."""
    random = np.random.default_rng(seed)
    vectors = random.normal(size=(spans, 5)).astype(np.float32)
    vectors[1] = 0
    return SpanSample(
        types=TYPES,
        vectors=vectors,
        evidence=None,
        type=random.integers(NONE, 2, spans),
        scores=random.normal(size=(spans, 3)).astype(np.float32),
        thresholds=random.normal(size=(7, 3)).astype(np.float32) if thresholds else None,
        overlap=random.choice([0, 0.25, 0.5, 0.75], 40).astype(np.float32),
        cosine=random.uniform(-1, 1, 40).astype(np.float32),
        classes=("no entity", *TYPES),
        templates=random.normal(size=(4, 6)).astype(np.float32),
        documents=3,
    )


def cosine(left: np.ndarray, right: np.ndarray) -> float:
    lengths = float(np.linalg.norm(left)) * float(np.linalg.norm(right))
    return float(left @ right) / lengths if lengths else 0.0


def near(value: float) -> object:
    """The vectors have single precision."""
    return pytest.approx(value, abs=1e-6)


def mean(values: list[float]) -> float:
    return sum(values) / len(values)


def test_cosines_of_classes_equal_naive_loops() -> None:
    made = sample()
    found = class_cosines(made)
    pairs = [
        ({made.type[i], made.type[j]}, cosine(made.vectors[i], made.vectors[j]))
        for i, j in combinations(range(len(made.type)), 2)
    ]
    assert found.within == near(mean([c for who, c in pairs if len(who) == 1 and NONE not in who]))
    assert found.between == near(mean([c for who, c in pairs if who == {0, 1}]))
    assert found.against_none == near(mean([c for who, c in pairs if len(who) == 2 and NONE in who]))
    for name, type_ in (("Cell", 0), ("Gene", 1), ("no entity", NONE)):
        own = [c for who, c in pairs if who == {type_}]
        assert found.matrix[name][name] == near(mean(own))
    assert found.matrix["Cell"]["no entity"] == near(mean([c for who, c in pairs if who == {0, NONE}]))
    assert found.matrix["Gene"]["Cell"] == found.matrix["Cell"]["Gene"]
    assert "Drug" not in found.matrix


def test_norms_of_classes_equal_naive_loops() -> None:
    made = sample()
    norms = class_cosines(made).norms
    lengths = [math.sqrt(sum(x * x for x in vector)) for vector in made.vectors[made.type == 0].tolist()]
    assert norms["Cell"].count == len(lengths)
    assert norms["Cell"].mean == pytest.approx(mean(lengths))
    assert norms["Cell"].deviation == pytest.approx(
        math.sqrt(mean([(x - mean(lengths)) ** 2 for x in lengths]))
    )


def test_a_single_entity_has_no_cosine_with_its_class() -> None:
    made = sample()
    made.type[:] = NONE
    made.type[0] = 1
    found = class_cosines(made)
    assert (found.within, found.between, found.matrix["Gene"]["Gene"]) == (None, None, None)
    assert found.against_none is not None


def test_overlaps_are_parted_at_nothing_and_at_half() -> None:
    made = sample()
    found = overlap_cosines(made)
    for name, ratios in (("apart", [0]), ("weak", [0.25, 0.5]), ("strong", [0.75])):
        own = [c for ratio, c in zip(made.overlap, made.cosine.tolist(), strict=True) if ratio in ratios]
        assert found[name].count == len(own)
        assert found[name].mean == pytest.approx(mean(own))


def test_angles_of_templates_equal_naive_loops() -> None:
    made = sample()
    found = template_angles(made)
    absolute = {
        (i, j): abs(cosine(made.templates[i], made.templates[j])) for i, j in combinations(range(4), 2)
    }
    assert found.absolute_cosine == pytest.approx(mean(list(absolute.values())))
    assert found.between_types == pytest.approx(mean([c for (i, _), c in absolute.items() if i > 0]))
    assert found.against_none == pytest.approx(mean([c for (i, _), c in absolute.items() if i == 0]))
    expected = math.degrees(math.acos(cosine(made.templates[1], made.templates[3])))
    assert found.degrees["Cell"]["Drug"] == pytest.approx(expected)
    assert found.degrees["Cell"]["Cell"] == pytest.approx(0, abs=0.1)
    assert found.norms["Drug"] == pytest.approx(float(np.linalg.norm(made.templates[3])))


def test_a_bi_encoder_has_no_template_for_no_entity() -> None:
    made = sample()
    of_types = SpanSample(
        **{name: getattr(made, name) for name in made.__slots__}
        | {"classes": TYPES, "templates": made.templates[1:]}
    )
    found = template_angles(of_types)
    assert found.against_none is None
    assert found.between_types == found.absolute_cosine == pytest.approx(template_angles(made).between_types)


def test_scores_are_those_of_the_entities_of_a_type_and_of_no_entity() -> None:
    made = sample(thresholds=True)
    found = score_distributions(made)["Gene"]
    own = [float(s) for s, t in zip(made.scores[:, 1], made.type, strict=True) if t == 1]
    none = [float(s) for s, t in zip(made.scores[:, 1], made.type, strict=True) if t == NONE]
    assert (found.entities.mean, found.others.mean) == (pytest.approx(mean(own)), pytest.approx(mean(none)))
    assert found.thresholds is not None and made.thresholds is not None
    assert found.thresholds.mean == pytest.approx(mean(made.thresholds[:, 1].tolist()))
    assert found.separation == pytest.approx(mean([float(a > b) for a in own for b in none]))


def test_types_without_entities_have_no_separation() -> None:
    found = score_distributions(sample())["Drug"]
    assert (found.entities.count, found.entities.mean, found.separation) == (0, None, None)
    assert found.thresholds is None


values = st.lists(st.integers(0, 4), min_size=1, max_size=8)


@given(values, values)
def test_separation_counts_pairs_and_ties_half(higher: list[int], lower: list[int]) -> None:
    naive = mean([(a > b) + 0.5 * (a == b) for a in higher for b in lower])
    assert separation(np.array(higher, np.float32), np.array(lower, np.float32)) == pytest.approx(naive)


def test_a_summary_tells_the_middle_and_the_tails() -> None:
    found = summarise(np.arange(101, dtype=np.float32))
    assert (found.count, found.mean, found.low, found.median, found.high) == (101, 50, 5, 50, 95)


# Clusters and projections.


def distance(left: np.ndarray, right: np.ndarray) -> float:
    return math.dist(left.tolist(), right.tolist())


def test_silhouette_and_purity_equal_naive_loops() -> None:
    made = sample(spans=30, seed=3)
    points, classes = made.vectors, made.type
    found = clusters(points, classes)
    silhouettes, shares = [], []
    for i, point in enumerate(points):
        others = [j for j in range(len(points)) if j != i]
        means = {
            int(c): mean([distance(point, points[j]) for j in others if classes[j] == c])
            for c in set(classes)
        }
        own = means.pop(int(classes[i]))
        silhouettes.append((min(means.values()) - own) / max(own, min(means.values())))
        nearest = sorted(others, key=lambda j: distance(point, points[j]))[:NEIGHBOURS]
        shares.append(mean([float(classes[j] == classes[i]) for j in nearest]))
    assert found.silhouette == pytest.approx(mean(silhouettes), abs=1e-5)
    assert found.purity == pytest.approx(mean(shares))


@pytest.mark.parametrize("classes", [[0, 0, 0, 0], [0, 1, 2, 3]])
def test_clusters_need_two_classes_and_a_class_of_two(classes: list[int]) -> None:
    found = clusters(np.eye(4, dtype=np.float32), np.array(classes))
    assert (found.silhouette, found.purity) == (None, None)


def test_principal_components_hold_the_largest_variances() -> None:
    vectors = sample().vectors
    points = principal_components(vectors)
    variances = np.linalg.eigvalsh(np.cov(vectors.T, bias=True))[::-1]
    np.testing.assert_allclose(points.var(axis=0), variances[:2], rtol=1e-4)
    np.testing.assert_allclose(points.mean(axis=0), 0, atol=1e-5)
    assert abs(float(points[:, 0] @ points[:, 1])) < 1e-3


def test_vectors_of_one_number_have_one_component() -> None:
    points = principal_components(np.array([[1.0], [3.0]], np.float32))
    np.testing.assert_allclose(np.abs(points), [[1, 0], [1, 0]], atol=1e-6)


def test_projections_judge_types_alone_and_together_with_no_entity() -> None:
    made = sample()
    found = project(made.vectors, made, seed=1)
    assert list(found) == ["vectors", "pca", "t-sne"]
    assert [each.points.shape for each in found.values()] == [(24, 5), (24, 2), (24, 2)]
    entities = made.is_entity
    assert found["vectors"].types == clusters(made.vectors[entities], made.type[entities])
    assert found["vectors"].types_and_none == clusters(made.vectors, made.type)


def test_the_seed_decides_the_layout() -> None:
    made = sample()
    first, again, other = (project(made.vectors, made, seed=seed)["t-sne"].points for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert not np.allclose(first, other)


def test_very_few_spans_are_laid_out_by_their_components() -> None:
    made = sample(spans=3)
    points = project(made.vectors, made)["t-sne"].points
    np.testing.assert_array_equal(points, principal_components(made.vectors))


@pytest.mark.parametrize(("module", "package"), [("sklearn", "scikit-learn"), ("matplotlib", "matplotlib")])
def test_a_missing_package_is_named_with_the_extra(
    module: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(
        MissingExtraError, match=rf"'{package}', which is not installed.*spanwright\[report\]"
    ):
        project(sample().vectors, sample())
