"""The labels and the entities of several corpora as pictures (extra `report`).

Colours are meanings, marks are corpora.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from spanwright.analysis.corpora import CorporaInspection, CorpusLabels, CorpusVectors, Nearness
from spanwright.analysis.projections import check_packages

_MARKS = "o^svD*PXp<>hd8"
_FEW = 10
"""Meanings that have the colours of the usual cycle; more take theirs from a map of colours."""
_NO_ENTITY_COLOUR = "#b0b0b0"
_UNSHARED_COLOUR = "black"
_UNSHARED = "no shared type"


def draw_corpora(inspection: CorporaInspection, folder: Path) -> list[Path]:
    """Write `conditions.png` and `entities.png` to a folder, or the one that there is; their paths."""
    check_packages()
    paths = []
    for name in ("conditions", "entities"):
        vectors = getattr(inspection, name)
        if vectors is not None:
            figure = _draw(vectors, inspection.labels, named=name == "conditions")
            figure.suptitle(_title(name, inspection), fontsize=11)
            paths.append(folder / f"{name}.png")
            figure.savefig(paths[-1], dpi=120)
    return paths


def _draw(vectors: CorpusVectors, labels: CorpusLabels, *, named: bool) -> Any:
    """A point for each vector; those that stand for a label alone are larger, and called by its name."""
    from matplotlib.figure import Figure

    figure: Any = Figure(figsize=(11, 7.5), layout="constrained")
    axes = figure.subplots()
    axes.set(xticks=[], yticks=[])
    colours = _colours(labels)
    for corpus in np.unique(vectors.corpus).tolist():
        own = vectors.corpus == corpus
        axes.scatter(
            *vectors.layout[own].T,
            c=[colours[label] for label in vectors.label[own].tolist()],
            marker=_mark(corpus),
            s=60 if named else 14,
            alpha=0.8,
            linewidths=0,
        )
    if named:
        _name_points(axes, vectors, labels)
    _draw_legends(figure, vectors, labels, colours)
    return figure


def _colours(labels: CorpusLabels) -> list[Any]:
    """(labels,): the colour of each label, by its meaning."""
    from matplotlib import colormaps

    types = len(labels.meanings) - 1
    shared = [f"C{number}" for number in range(types)]
    if types > _FEW:
        shared = list(colormaps["turbo"](np.linspace(0, 1, types)))
    known = [_NO_ENTITY_COLOUR, *shared]
    return [known[each] if each < len(known) else _UNSHARED_COLOUR for each in labels.meaning.tolist()]


def _mark(corpus: int) -> str:
    return _MARKS[corpus % len(_MARKS)]


def _name_points(axes: Any, vectors: CorpusVectors, labels: CorpusLabels) -> None:
    for point, label in zip(vectors.layout.tolist(), vectors.label.tolist(), strict=True):
        # A dollar sign in a name begins no formula.
        axes.annotate(
            labels.names[label],
            point,
            xytext=(5, 4),
            textcoords="offset points",
            fontsize=7,
            parse_math=False,
        )


def _draw_legends(figure: Any, vectors: CorpusVectors, labels: CorpusLabels, colours: list[Any]) -> None:
    """One legend for the meanings that are drawn, and one for the corpora."""
    names = [
        labels.meanings[meaning] if meaning < len(labels.meanings) else _UNSHARED
        for meaning in labels.meaning.tolist()
    ]
    # In the order of meanings, with those that are shared by nobody at the end.
    drawn = sorted(np.unique(vectors.label).tolist(), key=lambda label: int(labels.meaning[label]))
    shown = {names[label]: ("o", colours[label]) for label in drawn}
    corpora = {labels.corpora[each]: (_mark(each), "grey") for each in np.unique(vectors.corpus).tolist()}
    title = "shared type" if labels.mapped else "type"
    for entries, heading, place in ((shown, title, "right upper"), (corpora, "corpus", "right lower")):
        _draw_legend(figure, entries, heading, f"outside {place}")


def _draw_legend(figure: Any, entries: dict[str, tuple[str, Any]], title: str, place: str) -> None:
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], linestyle="", marker=mark, color=colour) for mark, colour in entries.values()]
    legend = figure.legend(handles, list(entries), title=title, loc=place, fontsize=8)
    for text in legend.get_texts():
        text.set_parse_math(False)


def _title(name: str, inspection: CorporaInspection) -> str:
    vectors, began = getattr(inspection, name), inspection.conditions_before
    title = f"{name} by t-SNE; mean cosine between corpora: {_told(vectors.nearness)}"
    return (
        f"{title}\nbefore training: {_told(began)}" if name == "conditions" and began is not None else title
    )


def _told(nearness: Nearness) -> str:
    same, different = (
        "-" if value is None else f"{value:.2f}" for value in (nearness.same, nearness.different_across)
    )
    return f"{same} within types, {different} between them"
