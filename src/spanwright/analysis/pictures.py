"""Span vectors, and the labels and entities of several corpora, as pictures (extra `report`)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from spanwright.analysis.corpora import CorporaInspection, CorpusLabels, CorpusVectors, Nearness
from spanwright.analysis.inspection import Inspection
from spanwright.analysis.measures import Summary, scores_of_type
from spanwright.analysis.projections import Projection, check_packages
from spanwright.analysis.spans import NO_ENTITY, NONE, SpanSample
from spanwright.palette import TYPE_COLOURS, type_colours
from spanwright.pictures import DIVERGING, INK, QUIET, heat_map, new_figure, save, styled

_MOST_TYPES = len(TYPE_COLOURS)
"""Types with a colour of their own; the rest share one."""
_MOST_SCORES = 6
"""Types whose scores are drawn."""
_BINS = 40
_NEUTRAL = "#aab4c0"
_TENTHS = np.linspace(0, 1, 11)
_MARKS = "o^svD*PXp<>hd8"
_UNSHARED_COLOUR = INK
_UNSHARED = "no shared type"


def draw_inspection(inspection: Inspection, folder: Path) -> list[Path]:
    """Write the five pictures of an inspection as PNG files to a folder; their paths."""
    check_packages()
    pictures = {
        "overlaps": _draw_overlaps,
        "classes": _draw_classes,
        "templates": _draw_templates,
        "projections": _draw_projections,
        "scores": _draw_scores,
    }
    paths = []
    with styled():
        for name, draw in pictures.items():
            paths.append(folder / f"{name}.png")
            save(draw(inspection), paths[-1])
    return paths


def _draw_overlaps(inspection: Inspection) -> Any:
    """Mean cosine between entities and the spans near them, by the share of words in common."""
    sample = inspection.sample
    figure = new_figure(6, 4)
    axes = figure.subplots()
    # In tenths; spans that share nothing are alone in the first bin.
    bins = np.searchsorted(_TENTHS, sample.overlap, side="left")
    masks = [bins == each for each in np.unique(bins)]
    axes.errorbar(
        [sample.overlap[mask].mean() for mask in masks],
        [sample.cosine[mask].mean() for mask in masks],
        yerr=[sample.cosine[mask].std() for mask in masks],
        marker="o",
    )
    axes.set(xlabel="shared words / words of either span", ylabel="cosine", xlim=(-0.05, 1.05))
    axes.set_title("Entities and the spans near them")
    return figure


def _draw_classes(inspection: Inspection) -> Any:
    """Lengths of vectors by class, and mean cosines between classes."""
    classes = inspection.classes
    names = list(classes.norms)
    figure = new_figure(11, 1.8 + 0.35 * len(names))
    lengths, cosines = figure.subplots(1, 2)
    means = [summary.mean or 0.0 for summary in classes.norms.values()]
    deviations = [summary.deviation or 0.0 for summary in classes.norms.values()]
    lengths.barh(names, means, xerr=deviations, color=_NEUTRAL, ecolor=QUIET)
    lengths.invert_yaxis()
    lengths.grid(axis="y", visible=False)
    lengths.set_title("Length of span vectors, mean and deviation")
    values = [[classes.matrix[name][other] for other in names] for name in names]
    _heat_map(cosines, names, np.array(values, dtype=float), "Mean cosine between spans", "{:.2f}", (-1, 1))
    return figure


def _draw_templates(inspection: Inspection) -> Any:
    """Angles between templates."""
    degrees = inspection.templates.degrees
    names = list(degrees)
    figure = new_figure(3 + 0.55 * len(names), 2 + 0.4 * len(names))
    values = np.array([[degrees[name][other] for other in names] for name in names])
    _heat_map(figure.subplots(), names, values, "Degrees between class templates", "{:.0f}", (0, 180))
    return figure


def _heat_map(
    axes: Any, names: list[str], values: Any, title: str, form: str, limits: tuple[float, float]
) -> None:
    ink = heat_map(axes, values, colours=DIVERGING, limits=limits)
    axes.set_xticks(range(len(names)), names, rotation=45, ha="right", rotation_mode="anchor")
    axes.set_yticks(range(len(names)), names)
    axes.set_title(title)
    if len(names) <= 2 * _MOST_TYPES:
        for (row, column), value in np.ndenumerate(values):
            if not np.isnan(value):
                axes.text(
                    column, row, form.format(value), ha="center", va="center", fontsize=8.5, color=ink(value)
                )


def _draw_projections(inspection: Inspection) -> Any:
    """Spans in two planes, coloured by class; with transforms a row for each, before and after them."""
    stages = inspection.stages
    panels = [(f"{name}{stage}", found[name]) for name in ("pca", "t-sne") for stage, found in stages.items()]
    figure = new_figure(13, 5.5 * len(stages))
    for axes, (title, projection) in zip(figure.subplots(len(stages), 2).flat, panels, strict=True):
        _draw_projection(axes, projection, inspection.sample)
        clusters = projection.types if projection.types.purity is not None else projection.types_and_none
        axes.set_title(
            f"{title}: silhouette {_number(clusters.silhouette)}, purity {_number(clusters.purity)}"
        )
    figure.legend(*axes.get_legend_handles_labels(), loc="outside right center")
    return figure


def _draw_projection(axes: Any, projection: Projection, sample: SpanSample) -> None:
    for label, mask, colour in _coloured(sample):
        axes.scatter(*projection.points[mask].T, s=8, label=label, color=colour, alpha=0.7)
    axes.set(xticks=[], yticks=[])


def _coloured(sample: SpanSample) -> list[tuple[str, Any, Any]]:
    """Name, mask and colour of what is drawn: other spans first, so that entities lie on top of them."""
    common = _common_types(sample)[:_MOST_TYPES]
    rest = sample.is_entity & ~np.isin(sample.type, common)
    rows = [(NO_ENTITY, sample.type == NONE, _NEUTRAL)]
    rows += [("other types", rest, INK)] if rest.any() else []
    colours = type_colours(sample.types[type_] for type_ in common)
    return rows + [
        (sample.types[type_], sample.type == type_, colours[sample.types[type_]]) for type_ in common
    ]


def _common_types(sample: SpanSample) -> list[int]:
    """The types of the sample, the most frequent first."""
    counts = np.bincount(sample.type[sample.is_entity], minlength=len(sample.types))
    return [int(type_) for type_ in np.argsort(-counts, kind="stable") if counts[type_]]


def _draw_scores(inspection: Inspection) -> Any:
    """Densities of the scores of entities and other spans, and their limit, for the most frequent types."""
    sample = inspection.sample
    shown = _common_types(sample)[:_MOST_SCORES]
    colours = type_colours(sample.types[type_] for type_ in shown)
    figure = new_figure(7.5, 1 + 2 * len(shown))
    for axes, type_ in zip(np.atleast_1d(figure.subplots(len(shown), sharex=True)), shown, strict=True):
        name = sample.types[type_]
        entities, others = scores_of_type(sample, type_)
        edges = np.histogram_bin_edges(np.concatenate([entities, others]), bins=_BINS)
        drawn = {"bins": edges, "density": True, "histtype": "stepfilled", "alpha": 0.6}
        axes.hist(others, label=NO_ENTITY, color=_NEUTRAL, **drawn)
        axes.hist(entities, label="entities", color=colours[name], **drawn)
        _draw_limit(axes, inspection.scores[name].thresholds)
        axes.set_title(name)
        axes.set_ylabel("density")
        axes.legend()
    axes.set_xlabel("similarity" if sample.thresholds is not None else _score_name(sample))
    return figure


def _score_name(sample: SpanSample) -> str:
    """What a score is that has its limit at 0."""
    return f"logit above that of {NO_ENTITY if len(sample.classes) > len(sample.types) else 'the threshold'}"


def _draw_limit(axes: Any, thresholds: Summary | None) -> None:
    """Where entities begin: a line at the middle of the thresholds, and a band for nine in ten of them."""
    if thresholds is None:
        axes.axvline(0, color=INK, linewidth=0.8)
        return
    axes.axvspan(thresholds.low, thresholds.high, color=QUIET, alpha=0.3, label="thresholds")
    axes.axvline(thresholds.median, color=INK, linewidth=0.8)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def draw_corpora(inspection: CorporaInspection, folder: Path) -> list[Path]:
    """Write `conditions.png` and `entities.png` to a folder, or the one that there is; their paths.

    Colours are meanings, marks are corpora.
    """
    check_packages()
    paths = []
    with styled():
        for name in ("conditions", "entities"):
            vectors = getattr(inspection, name)
            if vectors is not None:
                figure = _draw_vectors(vectors, inspection.labels, named=name == "conditions")
                figure.suptitle(_title(name, inspection))
                paths.append(folder / f"{name}.png")
                save(figure, paths[-1])
    return paths


def _draw_vectors(vectors: CorpusVectors, labels: CorpusLabels, *, named: bool) -> Any:
    """A point for each vector; those that stand for a label alone are larger, and called by its name."""
    figure = new_figure(11, 7.5)
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
    """(labels,): the colour of each label, by its meaning; many take theirs from a map of colours."""
    from matplotlib import colormaps

    names = labels.meanings[1:]
    of_types = type_colours(names)
    shared: list[Any] = [of_types[name] for name in names]
    if len(names) > len(TYPE_COLOURS):
        shared = list(colormaps["turbo"](np.linspace(0, 1, len(names))))
    known = [_NEUTRAL, *shared]
    return [known[each] if each < len(known) else _UNSHARED_COLOUR for each in labels.meaning.tolist()]


def _mark(corpus: int) -> str:
    return _MARKS[corpus % len(_MARKS)]


def _name_points(axes: Any, vectors: CorpusVectors, labels: CorpusLabels) -> None:
    for point, label in zip(vectors.layout.tolist(), vectors.label.tolist(), strict=True):
        axes.annotate(labels.names[label], point, xytext=(5, 4), textcoords="offset points", fontsize=7.5)


def _draw_legends(figure: Any, vectors: CorpusVectors, labels: CorpusLabels, colours: list[Any]) -> None:
    """One legend for the meanings that are drawn, and one for the corpora."""
    names = [
        labels.meanings[meaning] if meaning < len(labels.meanings) else _UNSHARED
        for meaning in labels.meaning.tolist()
    ]
    # In the order of meanings, with those that are shared by nobody at the end.
    drawn = sorted(np.unique(vectors.label).tolist(), key=lambda label: int(labels.meaning[label]))
    shown = {names[label]: ("o", colours[label]) for label in drawn}
    corpora = {labels.corpora[each]: (_mark(each), QUIET) for each in np.unique(vectors.corpus).tolist()}
    title = "shared type" if labels.mapped else "type"
    for entries, heading, place in ((shown, title, "right upper"), (corpora, "corpus", "right lower")):
        _draw_legend(figure, entries, heading, f"outside {place}")


def _draw_legend(figure: Any, entries: dict[str, tuple[str, Any]], title: str, place: str) -> None:
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], linestyle="", marker=mark, color=colour) for mark, colour in entries.values()]
    figure.legend(handles, list(entries), title=title, loc=place)


def _title(name: str, inspection: CorporaInspection) -> str:
    vectors, began = getattr(inspection, name), inspection.conditions_before
    title = f"{name} by t-SNE; mean cosine between corpora: {_phrase(vectors.nearness)}"
    return (
        f"{title}\nbefore training: {_phrase(began)}" if name == "conditions" and began is not None else title
    )


def _phrase(nearness: Nearness) -> str:
    same, different = (
        "-" if value is None else f"{value:.2f}" for value in (nearness.same, nearness.different_across)
    )
    return f"{same} within types, {different} between them"
