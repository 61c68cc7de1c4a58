"""Span vectors in a plane, and how well their classes keep apart there (extra `report`)."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np

from spanwright.analysis.spans import SpanSample
from spanwright.arrays import Floats32, Integers
from spanwright.errors import MissingExtraError

NEIGHBOURS = 10
"""Neighbours of each point whose classes are looked at."""
_PERPLEXITY = 30
_FEWEST = 4
"""Points that can be laid out in a plane."""


@dataclass(frozen=True, slots=True)
class Clusters:
    """How well points of a class keep together; None where there are not two classes to tell apart."""

    silhouette: float | None
    """Mean silhouette, from -1 to 1: how much nearer a point is to its own class than to the next one."""
    purity: float | None
    """The share of the nearest neighbours of a point that have its class, as a mean over points."""


@dataclass(frozen=True, slots=True, eq=False)
class Projection:
    """Points of spans in some space."""

    points: Floats32
    """(spans, dimensions)."""
    types: Clusters
    """Of the entities, by type."""
    types_and_none: Clusters
    """Of all spans; those that are no entity are a class, too."""


def check_packages() -> None:
    """Refuse to begin where a package of the extra `report` is missing."""
    for module, package in (("sklearn", "scikit-learn"), ("matplotlib", "matplotlib")):
        if find_spec(module) is None:
            raise MissingExtraError("an analysis of span vectors", package, "report")


def project(vectors: Floats32, sample: SpanSample, *, seed: int = 0) -> dict[str, Projection]:
    """Vectors of a sample's spans, (spans, size): themselves, two principal components, layout by t-SNE."""
    check_packages()
    spaces = {
        "vectors": vectors,
        "pca": principal_components(vectors),
        "t-sne": neighbour_layout(vectors, seed),
    }
    return {name: _judged(points, sample) for name, points in spaces.items()}


def principal_components(vectors: Floats32) -> Floats32:
    """(spans, 2): the vectors on the two directions in which they differ most."""
    directions, lengths, _ = np.linalg.svd(vectors - vectors.mean(axis=0), full_matrices=False)
    components = np.zeros((len(vectors), 2), np.float32)
    found = (directions * lengths)[:, :2]
    components[:, : found.shape[1]] = found
    return components


def neighbour_layout(vectors: Floats32, seed: int) -> Floats32:
    """(spans, 2): a plane in which near vectors stay near, by t-SNE. Distances between groups mean little."""
    from sklearn.manifold import TSNE

    if len(vectors) < _FEWEST:
        return principal_components(vectors)
    perplexity = min(_PERPLEXITY, (len(vectors) - 1) / 3)
    layout: Floats32 = TSNE(perplexity=perplexity, init="random", random_state=seed).fit_transform(vectors)
    return layout


def _judged(points: Floats32, sample: SpanSample) -> Projection:
    entities = sample.is_entity
    return Projection(
        points, clusters(points[entities], sample.type[entities]), clusters(points, sample.type)
    )


def clusters(points: Floats32, classes: Integers) -> Clusters:
    """How well the points, (points, dimensions), of each class, (points,), keep together."""
    from sklearn.metrics import silhouette_score
    from sklearn.neighbors import NearestNeighbors

    count = len(np.unique(classes))
    if count < 2 or count == len(points):
        return Clusters(None, None)
    search = NearestNeighbors(n_neighbors=min(NEIGHBOURS, len(points) - 1)).fit(points)
    # Asked for no points, it answers for those it knows, and none is its own neighbour.
    neighbours: Integers = search.kneighbors(return_distance=False)
    purity = float((classes[neighbours] == classes[:, None]).mean())
    return Clusters(float(silhouette_score(points, classes)), purity)
