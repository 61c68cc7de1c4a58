"""The tables of the page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from spanwright.evaluation import CRITERIA, Interval, Matches
from spanwright.evaluation.mistakes import GOLD_KINDS, PREDICTION_KINDS, Kind
from spanwright.reporting.content import Content, SystemContent
from spanwright.reporting.drawing import percent, rate, system_style
from spanwright.reporting.marks import KINDS
from spanwright.reporting.markup import Element, Node, make, name_of

TableRow = Sequence[Node]

MEANINGS = {
    "type": "the characters of a gold entity, with another type",
    "boundary": "shares characters with a gold entity of its type",
    "both": "shares characters with gold entities of other types only",
    "spurious": "shares no character with a gold entity",
    "overlapped": "not found, but a prediction shares characters with it",
    "missed": "not found, and no prediction shares characters with it",
}
_TYPES_AT_ONCE = 20


def table(
    head: Sequence[str], rows: Iterable[TableRow], *, caption: str, names: int = 1, together: int = 1
) -> Element:
    """A table whose first `names` columns are names and whose others are numbers.

    So many rows at a time as `together` says share their first column.
    """
    columns = [
        make("th", {"scope": "col", "class": None if place < names else "number"}, label)
        for place, label in enumerate(head)
    ]
    body = (
        make("tr", {"class": _joint(number, together)}, _cells(row, names)) for number, row in enumerate(rows)
    )
    parts = (
        make("caption", None, caption),
        make("thead", None, make("tr", None, columns)),
        make("tbody", None, body),
    )
    # It can be focused, so that keys scroll it where it is too wide.
    about = {"class": "scroll", "tabindex": 0, "role": "region", "aria-label": caption}
    return make("div", about, make("table", None, *parts))


def _cells(row: TableRow, names: int) -> Iterable[Node]:
    yield make("th", {"scope": "row"}, row[0])
    for place, node in enumerate(row[1:], 1):
        yield make("td", {"class": None if place < names else "number"}, node)


def _joint(number: int, together: int) -> str | None:
    """Classes that take away the line between rows of the same name."""
    styles = ("repeated" if number % together else "", "joined" if (number + 1) % together else "")
    return " ".join(filter(None, styles)) or None


def chip(content: Content, system: SystemContent) -> Element:
    """The letter of a system in its colour, and its name."""
    position = content.systems.index(system)
    letter = make("span", {"class": f"letter {system_style(position)}"}, system.key)
    return make("span", {"class": "system"}, letter, " ", name_of(system.system.name))


def scores_table(content: Content) -> Element:
    """Strict scores with their intervals, and F1 by the other criteria."""
    head = ("system", "precision", "recall", "F1", "macro F1", "loose F1", "start F1", "end F1")
    rows: Iterable[TableRow] = (
        (
            chip(content, system),
            *(_interval(system.intervals[name]) for name in ("precision", "recall", "f1")),
            percent(system.scores.macro.f1),
            *(percent(system.by_criterion[criterion].micro.f1) for criterion in CRITERIA[1:]),
        )
        for system in content.systems
    )
    return table(head, rows, caption="Scores in percent; small: 95 % intervals")


def _interval(found: Interval) -> Element:
    bounds = f"{percent(found.low)} – {percent(found.high)}"
    return make("span", {"class": "interval"}, percent(found.value), make("small", None, bounds))


def counts_table(content: Content) -> Element:
    """What the scores are made of."""
    head = ("system", "gold", "predicted", "correct", "false positives", "false negatives")
    rows: Iterable[TableRow] = (
        [
            chip(content, system),
            *(
                f"{number:,}"
                for number in (
                    system.scores.micro.gold,
                    system.scores.micro.predicted,
                    system.scores.micro.true_positives,
                    system.scores.micro.false_positives,
                    system.scores.micro.false_negatives,
                )
            ),
        ]
        for system in content.systems
    )
    return table(head, rows, caption="Entities, strictly matched")


def differences_table(content: Content) -> Element:
    """Every two systems beside each other."""
    systems = {system.key: system for system in content.systems}
    rows: list[TableRow] = []
    for pair in content.differences:
        found = pair.difference
        rows.append(
            [
                chip(content, systems[pair.first]),
                chip(content, systems[pair.second]),
                percent(found.first),
                percent(found.second),
                f"{100 * found.difference:+.1f}",
                f"{found.p_value:.4f}",
                "yes" if found.p_value < 0.05 else "no",
            ]
        )
    head = ("first", "second", "F1 of first", "F1 of second", "difference", "p", "p < 0.05")
    return table(head, rows, caption="Strict micro F1, two systems at a time", names=2)


def types_table(content: Content) -> Element:
    """Scores of each type; those beyond the first twenty are folded away."""
    head = (
        "type",
        "system",
        "gold",
        "predicted",
        "correct",
        "precision",
        "recall",
        "F1",
        "",
        "loose",
        "start",
        "end",
    )
    first, rest = (
        table(
            head,
            _type_rows(content, names),
            caption="Strict scores of each type in percent, and F1 by the other criteria",
            names=2,
            together=len(content.systems),
        )
        for names in (content.types[:_TYPES_AT_ONCE], content.types[_TYPES_AT_ONCE:])
    )
    if len(content.types) <= _TYPES_AT_ONCE:
        return first
    more = f"{len(content.types) - _TYPES_AT_ONCE} more types"
    return make("div", None, first, make("details", None, make("summary", None, more), rest))


def _type_rows(content: Content, names: Sequence[str]) -> Iterable[TableRow]:
    for name in names:
        for position, system in enumerate(content.systems):
            by = {
                criterion: found.per_type.get(name, Matches())
                for criterion, found in system.by_criterion.items()
            }
            strict = by["strict"]
            yield [
                name_of(name),
                chip(content, system),
                *(f"{number:,}" for number in (strict.gold, strict.predicted, strict.correct)),
                *(percent(ratio) for ratio in (strict.precision, strict.recall, strict.f1)),
                meter(strict.f1, position),
                *(percent(by[criterion].f1) for criterion in CRITERIA[1:]),
            ]


def meter(share: float, position: int) -> Element:
    """A small bar beside a number that says the same."""
    bar = make("span", {"class": system_style(position), "style": f"width:{100 * min(share, 1):.1f}%"})
    return make("span", {"class": "meter", "aria-hidden": "true"}, bar)


def mistakes_table(content: Content) -> Element:
    """Counts of each kind of mistake, which lead to the examples, and their rates."""
    heads = ["kind", "what it is"]
    for system in content.systems:
        heads += [f"{system.key} count", f"{system.key} rate"]
    rows = [
        [make("b", None, kind), make("span", {"class": "quiet"}, MEANINGS[kind]), *_kind_cells(content, kind)]
        for kind in (*PREDICTION_KINDS, *GOLD_KINDS)
    ]
    return table(heads, rows, caption="Wrong predictions (first four) and gold entities not found", names=2)


def _kind_cells(content: Content, kind: Kind) -> Iterable[Node]:
    for position, system in enumerate(content.systems):
        counts, rates = system.mistakes.counts, system.mistakes.rates
        number = f"{counts[kind]:,}"
        attributes = {"href": "#errors", "data-system": position, "data-kind": KINDS.index(kind)}
        yield make(
            "a", {**attributes, "aria-label": f"{number} {kind} mistakes of {system.key}: show them"}, number
        )
        yield rate(rates[kind])


def groups_table(content: Content) -> Element:
    """Rates that put kinds of mistakes together."""
    rows: list[TableRow] = [
        [
            chip(content, system),
            f"{sum(system.mistakes.counts[kind] for kind in PREDICTION_KINDS):,}",
            *(
                rate(system.mistakes.category_and_span[name][share])
                for name in ("category", "span")
                for share in ("share_of_wrong", "share_of_predicted")
            ),
            rate(system.mistakes.rates["any boundary"]),
        ]
        for system in content.systems
    ]
    head = (
        "system",
        "wrong predictions",
        "right characters, wrong type: of the wrong",
        "… of all predictions",
        "other characters: of the wrong",
        "… of all predictions",
        "touching a gold entity: of all mistakes",
    )
    return table(head, rows, caption="Wrong predictions put together")


def buckets_table(content: Content, attribute: str) -> Element:
    """The numbers of a chart of buckets."""
    head = ("bucket", "system", "gold", "found", "predicted", "correct", "P", "R", "F1")
    rows = [
        [
            bucket,
            system.key,
            *(f"{number:,}" for number in (found.gold, found.found, found.predicted, found.correct)),
            *(percent(ratio) for ratio in (found.precision, found.recall, found.f1)),
        ]
        for bucket in content.systems[0].breakdowns.attributes[attribute]
        for system in content.systems
        for found in (system.breakdowns.attributes[attribute][bucket],)
    ]
    return table(head, rows, caption=f"By {attribute}", names=2, together=len(content.systems))
