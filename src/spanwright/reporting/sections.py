"""The sections of the page, one function each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from spanwright.reporting.charts import (
    bucket_chart,
    confusion_chart,
    interval_chart,
    line_chart,
    reliability_chart,
    spread_chart,
)
from spanwright.reporting.content import Content, SystemContent
from spanwright.reporting.drawing import percent, system_style
from spanwright.reporting.marks import KINDS
from spanwright.reporting.markup import Element, Node, figure, make, name_of, note, section
from spanwright.reporting.page_tables import (
    buckets_table,
    chip,
    counts_table,
    differences_table,
    groups_table,
    mistakes_table,
    scores_table,
    types_table,
)
from spanwright.reporting.passages import Selection


def summary(content: Content) -> Element:
    """Scores of all systems at a glance."""
    cards = make("div", {"class": "cards"}, (_card(content, system) for system in content.systems))
    low = min(found.low for system in content.systems for found in system.intervals.values())
    high = max(found.high for system in content.systems for found in system.intervals.values())
    bounds = (max(low - 0.02, 0.0), min(max(high, low + 0.02) + 0.02, 1.0))
    charts = (
        figure(
            label,
            interval_chart(
                label, {system.key: system.intervals[name] for system in content.systems}, *bounds
            ),
        )
        for label, name in (("Precision", "precision"), ("Recall", "recall"), ("F1", "f1"))
    )
    intervals = note(
        "An entity is right only with exactly its characters and its type. Intervals are percentiles of "
        "2,000 bootstrap samples of documents. Loose: shares a character with an entity of its type; start "
        "and end: the same first or last character and type."
    )
    return section(
        "summary",
        "Summary",
        cards,
        scores_table(content),
        counts_table(content),
        make("div", {"class": "charts"}, charts),
        intervals,
        _notes(content),
    )


def _card(content: Content, system: SystemContent) -> Element:
    f1 = system.intervals["f1"]
    position = content.systems.index(system)
    return make(
        "div",
        {"class": f"card {system_style(position)}"},
        make("div", {"class": "card-name"}, chip(content, system)),
        make("div", {"class": "card-score"}, percent(f1.value), make("span", None, "F1")),
        make("div", {"class": "quiet"}, f"95 % interval {percent(f1.low)} – {percent(f1.high)}"),
        make(
            "div",
            {"class": "quiet"},
            f"precision {percent(system.intervals['precision'].value)} · "
            f"recall {percent(system.intervals['recall'].value)}",
        ),
    )


def _notes(content: Content) -> Iterable[Node]:
    for system in content.systems:
        lines = [*system.system.notes, *system.scores.notes]
        if lines:
            items = (make("li", None, name_of(line)) for line in lines)
            yield make("div", {"class": "note"}, chip(content, system), make("ul", None, items))


def comparison(content: Content) -> Element:
    """Significance between systems."""
    return section(
        "comparison",
        "Side by side",
        differences_table(content),
        note(
            "p by approximate randomisation over documents (2,000 shuffles, two-sided): how often chance "
            "alone makes two systems differ as much. Not corrected for the number of comparisons."
        ),
    )


def types(content: Content) -> Element:
    """Scores per type."""
    return section("types", "Types", types_table(content))


def breakdowns(content: Content) -> Element:
    """Bars of F1 by every attribute."""
    first = content.systems[0].breakdowns
    figures = (
        figure(
            f"By {attribute}",
            bucket_chart(
                attribute, {each.key: each.breakdowns.attributes[attribute] for each in content.systems}
            ),
            make("details", None, make("summary", None, "Numbers"), buckets_table(content, attribute)),
        )
        for attribute in first.attributes
    )
    about = note(
        "Strict F1 of parts of the entities; recall is over the gold entities of a bucket, precision over "
        "its predicted ones. Width counts words; text length and densities are those of the sentence."
    )
    return section(
        "breakdowns", "Breakdowns", make("div", {"class": "charts"}, figures), about, map(note, first.notes)
    )


def mistakes(content: Content) -> Element:
    """What went wrong, and which types are taken for which."""
    matrices = (
        figure(
            chip(content, system),
            confusion_chart(system.key, system.comparison.types, system.confusion.matrix),
        )
        for system in content.systems
    )
    return section(
        "mistakes",
        "Mistakes",
        mistakes_table(content),
        note("Rates are shares of all false positives and false negatives. A number leads to its examples."),
        groups_table(content),
        make("h3", None, "Confusion"),
        note(
            "Entities of the same characters opposite each other; the rest is opposite none. Stronger colour "
            "is a larger share of the gold type; the framed diagonal is right."
        ),
        make("div", {"class": "charts"}, matrices),
    )


def confidence(content: Content) -> Element:
    """Reliability and spread of confidences."""
    nodes: list[Node] = []
    for position, system in enumerate(content.systems):
        found = system.reliability
        if found is None:
            nodes.append(note(chip(content, system), f": {system.reliability_note}."))
            continue
        caption = make(
            "span",
            None,
            chip(content, system),
            f" · ECE {percent(found.expected_calibration_error)} · log loss {found.log_loss:.3f}",
        )
        spread = make("span", None, chip(content, system), " · right and wrong predictions")
        charts = (
            figure(caption, reliability_chart(system.key, position, found.bins)),
            figure(spread, spread_chart(system.key, position, found.confidences)),
        )
        nodes.append(make("div", {"class": "charts"}, charts))
    about = note(
        "A calibrated confidence says how often such predictions are right: points on the dashed line. "
        "ECE is the mean distance from it in percent, over ten bins weighted by their predictions; larger "
        "points have more."
    )
    return section("confidence", "Confidence", nodes, about)


def training(content: Content) -> Element:
    """Curves from the journals of runs."""
    runs = [(position, system) for position, system in enumerate(content.systems)]
    dev = {system.key: (position, system.curves.dev_f1) for position, system in runs if system.curves.dev_f1}
    figures: list[Node] = []
    if dev:
        figures.append(
            figure("F1 on dev, in percent", line_chart("F1 on dev by epoch", dev, x="epoch", ratio=True))
        )
    for position, system in runs:
        if system.curves.loss:
            curve = {system.key: (position, system.curves.loss)}
            chart = line_chart(f"loss of {system.key} by step", curve, x="step", ratio=False)
            figures.append(figure(make("span", None, chip(content, system), " · training loss"), chart))
    return section(
        "training", "Training", make("div", {"class": "charts"}, figures), _training_notes(content)
    )


def _training_notes(content: Content) -> Iterable[Node]:
    for system in content.systems:
        lines = list(system.curves.notes)
        if system.curves.best_epoch is not None:
            lines.insert(0, f"the model of epoch {system.curves.best_epoch:.4g} was kept")
        if lines:
            yield note(chip(content, system), f": {'; '.join(lines)}.")


def errors(content: Content, shown: Selection) -> Element:
    """The error browser, which the script fills."""
    systems = [f"{system.key} · {system.system.name}" for system in content.systems]
    kinds = [("mistake", "any mistake"), *((str(n), kind) for n, kind in enumerate(KINDS) if n)]
    kinds += [("none", "no mistake"), ("", "all passages")]
    controls = make(
        "div",
        {"class": "controls", "role": "search", "aria-label": "Filter passages"},
        _select("filter-system", "System", [("", "all systems"), *_numbered(systems)]),
        _select("filter-type", "Type", [("", "all types"), *_numbered(content.types)]),
        _select("filter-kind", "Mistake", kinds),
        make(
            "label",
            None,
            "Text or document",
            make(
                "input",
                {"id": "filter-text", "type": "search", "placeholder": "search", "autocomplete": "off"},
            ),
        ),
    )
    return section(
        "errors",
        "Error browser",
        make("noscript", None, note("The error browser needs JavaScript; all else on this page does not.")),
        make("p", {"class": "quiet only-print"}, "The error browser is left out in print."),
        make(
            "div", {"id": "browser", "hidden": ""}, controls, make("div", {"id": "legend"}), _passage_list()
        ),
        note(shown_and_left_out(shown)),
    )


def _passage_list() -> Sequence[Node]:
    keys = "j and k or arrow keys: next and previous passage; n and p: next and previous page; /: search"
    return (
        make("p", {"id": "browser-count", "role": "status", "aria-live": "polite"}),
        make("p", {"class": "quiet keys"}, keys),
        make("div", {"id": "passages"}),
        make(
            "div",
            {"class": "pages"},
            make("button", {"id": "page-before", "type": "button"}, "← previous 20"),
            make("span", {"id": "page-number"}),
            make("button", {"id": "page-after", "type": "button"}, "next 20 →"),
        ),
    )


def shown_and_left_out(shown: Selection) -> str:
    """What is in the error browser, and what is not."""
    parts = [
        f"A passage is a sentence, or several that an entity holds together. Here: {shown.wrong_shown:,} of "
        f"{shown.wrong:,} passages with a mistake of any system and {shown.right_shown:,} of {shown.right:,} "
        f"that all systems have right. Passages without any entity, never shown: {shown.bare:,}."
    ]
    if shown.wrong_shown < shown.wrong:
        parts.append(
            f"{shown.wrong - shown.wrong_shown:,} passages with mistakes were left out to keep this file "
            f"small; those shown are drawn by chance. All numbers above count all of them."
        )
    return " ".join(parts)


def _numbered(labels: Sequence[str]) -> list[tuple[str, str]]:
    return [(str(number), label) for number, label in enumerate(labels)]


def _select(key: str, label: str, options: Sequence[tuple[str, str]]) -> Element:
    items = (make("option", {"value": value}, text) for value, text in options)
    return make("label", None, label, make("select", {"id": key}, items))
