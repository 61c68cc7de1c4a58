"""The section about concepts: how many mentions have the right ones, and which have not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from spanwright.evaluation.concepts import ConceptScores
from spanwright.reporting.content import Content, SystemContent
from spanwright.reporting.drawing import percent
from spanwright.reporting.markup import Element, Node, make, name_of, note, section
from spanwright.reporting.page_tables import TableRow, chip, table

_MISTAKES_AT_ONCE = 20
_MOST_MISTAKES = 500
"""Of each system; the rest is counted."""


def concepts(content: Content) -> Element:
    """Accuracy on gold mentions, scores of mentions and documents, and the mistakes of each system."""
    linked = [(system, system.concepts) for system in content.systems if system.concepts is not None]
    about = note(
        "Accuracy is over gold mentions that are predicted with their characters and type: right are exactly "
        "the concepts of gold, all of them where there are several. At 5: the concepts of one of the first "
        "five candidates. Mentions with concepts: right are characters, type and concepts. Documents: the "
        "distinct concepts of each document, wherever they are mentioned."
    )
    return section(
        "concepts",
        "Concepts",
        _accuracy_table(content, linked),
        _scores_table(content, linked),
        about,
        make("h3", None, "Mistakes in concepts"),
        *(_mistakes(content, system, scores) for system, scores in linked),
    )


_Linked = Sequence[tuple[SystemContent, ConceptScores]]


def _accuracy_table(content: Content, linked: _Linked) -> Element:
    head = ("names", "system", "mentions", "accuracy", "at 5", "any", "no concept")
    groups = ("all", *linked[0][1].by_familiarity)
    return table(
        head,
        (_accuracy_row(content, system, scores, group) for group in groups for system, scores in linked),
        caption="Concepts of gold mentions that are predicted, in percent",
        names=2,
        together=len(linked),
    )


def _accuracy_row(content: Content, system: SystemContent, scores: ConceptScores, group: str) -> TableRow:
    counts = scores.on_gold if group == "all" else scores.by_familiarity[group]
    at_five = counts.share(counts.among_five) if scores.has_candidates else None
    shares = (counts.share(counts.right), at_five, counts.share(counts.any_right))
    shown = ("–" if share is None else percent(share) for share in shares)
    return (group, chip(content, system), f"{counts.mentions:,}", *shown, f"{counts.without:,}")


def _scores_table(content: Content, linked: _Linked) -> Element:
    head = ("of", "system", "precision", "recall", "F1", "gold", "predicted", "correct")
    rows: list[TableRow] = []
    for name in ("mentions", "documents"):
        for system, scores in linked:
            counts = scores.mentions if name == "mentions" else scores.documents
            ratios = (percent(ratio) for ratio in (counts.precision, counts.recall, counts.f1))
            numbers = (f"{number:,}" for number in (counts.gold, counts.predicted, counts.true_positives))
            rows.append((f"concepts of {name}", chip(content, system), *ratios, *numbers))
    return table(head, rows, caption="Scores of concepts", names=2, together=len(linked))


def _mistakes(content: Content, system: SystemContent, scores: ConceptScores) -> Element:
    """The mistakes of a system, the most frequent first; all but the first are folded away."""
    rows = list(_mistake_rows(content, scores))
    first, rest = rows[:_MISTAKES_AT_ONCE], rows[_MISTAKES_AT_ONCE:_MOST_MISTAKES]
    shown = make("div", None, note(chip(content, system), _phrase(scores)), _mistakes_table(first))
    if not rest:
        return shown
    more = make("summary", None, f"{len(rest):,} more of {len(rows):,} kinds")
    return make("div", None, shown, make("details", None, more, _mistakes_table(rest)))


def _phrase(scores: ConceptScores) -> str:
    return (
        f": {len(scores.wrong):,} mentions with other concepts than gold's; gold entities without a concept, "
        f"which count nowhere: {scores.gold_without:,}; with a concept, but not predicted: "
        f"{scores.unpredicted:,}"
    )


def _mistakes_table(rows: Iterable[TableRow]) -> Element:
    head = ("mention", "gold", "predicted", "count")
    return table(head, rows, caption="Mentions with wrong concepts", names=3)


def _mistake_rows(content: Content, scores: ConceptScores) -> Iterator[TableRow]:
    for wrong, count in scores.frequent_mistakes():
        concepts = (_named(content, wrong.gold), _named(content, wrong.predicted))
        yield (name_of(wrong.mention), *concepts, f"{count:,}")


def _named(content: Content, ids: Sequence[str]) -> Node:
    return name_of(" + ".join(map(content.identifiers.with_name, ids))) if ids else "no concept"
