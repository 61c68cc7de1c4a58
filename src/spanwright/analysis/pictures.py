"""The analyses of span vectors as pictures (extra `report`)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from spanwright.analysis.inspection import Inspection
from spanwright.analysis.projections import Projection, check_packages
from spanwright.analysis.scores import scores_of_type
from spanwright.analysis.spans import NO_ENTITY, NONE, SpanSample
from spanwright.analysis.summaries import Summary

_MOST_TYPES = 10
"""Types with a colour of their own; the rest share one."""
_MOST_SCORES = 6
"""Types whose scores are drawn."""
_BINS = 40
_GREY = "#b0b0b0"
_TENTHS = np.linspace(0, 1, 11)


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
    for name, draw in pictures.items():
        figure = draw(inspection)
        paths.append(folder / f"{name}.png")
        figure.savefig(paths[-1], dpi=120)
    return paths


def _figure(width: float, height: float) -> Any:
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def _draw_overlaps(inspection: Inspection) -> Any:
    """Mean cosine between entities and the spans near them, by the share of words in common."""
    sample = inspection.sample
    figure = _figure(6, 4)
    axes = figure.subplots()
    # In tenths; spans that share nothing are alone in the first bin.
    bins = np.searchsorted(_TENTHS, sample.overlap, side="left")
    masks = [bins == each for each in np.unique(bins)]
    axes.errorbar(
        [sample.overlap[mask].mean() for mask in masks],
        [sample.cosine[mask].mean() for mask in masks],
        yerr=[sample.cosine[mask].std() for mask in masks],
        marker="o",
        capsize=3,
    )
    axes.set(xlabel="shared words / words of either span", ylabel="cosine", xlim=(-0.05, 1.05))
    axes.set_title("entities and the spans near them")
    return figure


def _draw_classes(inspection: Inspection) -> Any:
    """Lengths of vectors by class, and mean cosines between classes."""
    classes = inspection.classes
    names = list(classes.norms)
    figure = _figure(11, 1.8 + 0.35 * len(names))
    lengths, cosines = figure.subplots(1, 2)
    means = [summary.mean or 0.0 for summary in classes.norms.values()]
    deviations = [summary.deviation or 0.0 for summary in classes.norms.values()]
    lengths.barh(_plain(names), means, xerr=deviations, color=_GREY)
    lengths.invert_yaxis()
    lengths.set_title("length of span vectors")
    values = [[classes.matrix[name][other] for other in names] for name in names]
    _heat_map(cosines, names, np.array(values, dtype=float), "mean cosine between spans", "{:.2f}", (-1, 1))
    return figure


def _draw_templates(inspection: Inspection) -> Any:
    """Angles between templates."""
    degrees = inspection.templates.degrees
    names = list(degrees)
    figure = _figure(3 + 0.55 * len(names), 2 + 0.4 * len(names))
    values = np.array([[degrees[name][other] for other in names] for name in names])
    _heat_map(figure.subplots(), names, values, "degrees between class templates", "{:.0f}", (0, 180))
    return figure


def _heat_map(
    axes: Any, names: list[str], values: Any, title: str, form: str, limits: tuple[float, float]
) -> None:
    axes.imshow(values, cmap="coolwarm", vmin=limits[0], vmax=limits[1], aspect="auto")
    axes.set_xticks(range(len(names)), _plain(names), rotation=45, ha="right")
    axes.set_yticks(range(len(names)), _plain(names))
    axes.set_title(title)
    if len(names) <= 2 * _MOST_TYPES:
        for (row, column), value in np.ndenumerate(values):
            axes.text(column, row, "" if np.isnan(value) else form.format(value), ha="center", va="center")


def _draw_projections(inspection: Inspection) -> Any:
    """Spans in two planes, coloured by class; with transforms a row for each, before and after them."""
    stages = inspection.stages
    panels = [(f"{name}{stage}", found[name]) for name in ("pca", "t-sne") for stage, found in stages.items()]
    figure = _figure(13, 5.5 * len(stages))
    for axes, (title, projection) in zip(figure.subplots(len(stages), 2).flat, panels, strict=True):
        _draw_projection(axes, projection, inspection.sample)
        clusters = projection.types if projection.types.purity is not None else projection.types_and_none
        axes.set_title(
            f"{title}: silhouette {_number(clusters.silhouette)}, purity {_number(clusters.purity)}"
        )
    figure.legend(*axes.get_legend_handles_labels(), loc="outside right center", fontsize=8)
    return figure


def _draw_projection(axes: Any, projection: Projection, sample: SpanSample) -> None:
    for label, mask, colour in _coloured(sample):
        axes.scatter(*projection.points[mask].T, s=8, label=label, color=colour, alpha=0.7)
    axes.set(xticks=[], yticks=[])


def _coloured(sample: SpanSample) -> list[tuple[str, Any, Any]]:
    """Name, mask and colour of what is drawn: other spans first, so that entities lie on top of them."""
    common = _common_types(sample)[:_MOST_TYPES]
    rest = sample.is_entity & ~np.isin(sample.type, common)
    rows = [(NO_ENTITY, sample.type == NONE, _GREY)]
    rows += [("other types", rest, "black")] if rest.any() else []
    rows += [
        (_plain([sample.types[type_]])[0], sample.type == type_, f"C{number}")
        for number, type_ in enumerate(common)
    ]
    return rows


def _common_types(sample: SpanSample) -> list[int]:
    """The types of the sample, the most frequent first."""
    counts = np.bincount(sample.type[sample.is_entity], minlength=len(sample.types))
    return [int(type_) for type_ in np.argsort(-counts, kind="stable") if counts[type_]]


def _draw_scores(inspection: Inspection) -> Any:
    """Densities of the scores of entities and other spans, and their limit, for the most frequent types."""
    sample = inspection.sample
    shown = _common_types(sample)[:_MOST_SCORES]
    figure = _figure(7, 1 + 2 * len(shown))
    for axes, type_ in zip(np.atleast_1d(figure.subplots(len(shown), sharex=True)), shown, strict=True):
        name = sample.types[type_]
        entities, others = scores_of_type(sample, type_)
        edges = np.histogram_bin_edges(np.concatenate([entities, others]), bins=_BINS)
        drawn = {"bins": edges, "density": True, "histtype": "stepfilled", "alpha": 0.6}
        axes.hist(others, label=NO_ENTITY, color=_GREY, **drawn)
        axes.hist(entities, label="entities", color="C0", **drawn)
        _draw_limit(axes, inspection.scores[name].thresholds)
        axes.set_title(_plain([name])[0])
        axes.legend(fontsize=8)
    axes.set_xlabel("similarity" if sample.thresholds is not None else _score_name(sample))
    return figure


def _score_name(sample: SpanSample) -> str:
    """What a score is that has its limit at 0."""
    return f"logit above that of {NO_ENTITY if len(sample.classes) > len(sample.types) else 'the threshold'}"


def _draw_limit(axes: Any, thresholds: Summary | None) -> None:
    """Where entities begin: a line at the middle of the thresholds, and a band for nine in ten of them."""
    if thresholds is None:
        axes.axvline(0, color="black", linewidth=0.8)
        return
    axes.axvspan(thresholds.low, thresholds.high, color="C3", alpha=0.3, label="thresholds")
    axes.axvline(thresholds.median, color="C3")


def _plain(names: list[str]) -> list[str]:
    """Names as they are: a dollar sign would begin a formula."""
    return [name.replace("$", r"\$") for name in names]


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
