"""The tables of scores and of what they are made of. `-` stands for a ratio over nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from rich.box import SIMPLE
from rich.text import Text

from spanwright.arrays import Integers
from spanwright.cli.tables.table import Table
from spanwright.evaluation import Averages, Counts, Scores
from spanwright.evaluation.breakdowns import Breakdowns
from spanwright.evaluation.concepts import ConceptScores
from spanwright.evaluation.criteria import Criterion, CriterionScores, Matches
from spanwright.evaluation.mistake_passages import Passage
from spanwright.evaluation.mistakes import Confusion, Mistakes
from spanwright.evaluation.reliability import Reliability
from spanwright.evaluation.significance import Difference, Interval
from spanwright.perturbing.measuring import Robustness

_NOTHING = "-"
_FREQUENT = 10
"""Mistakes in concepts that are shown."""
_MATRIX_TYPES = 6
"""Types that a matrix shows on their own: as many as fit a terminal of 80 columns."""
_ROBUSTNESS_CAPTION = (
    "lost: points of F1 against the untouched texts; mentions: entities whose text is another"
)


def type_scores_table(scores: Scores) -> Table:
    """A row per type, then the micro and macro averages; ratios in percent."""
    table = Table("type")
    for name in ("P", "R", "F1", "gold", "predicted", "correct"):
        table.add_column(name, justify="right")
    for type_, counts in scores.per_type.items():
        # Text, because a type may hold square brackets, which rich would take for markup.
        table.add_row(Text(type_), *_percentages(counts), *_numbers(counts))
    table.add_section()
    table.add_row("micro", *_percentages(scores.micro), *_numbers(scores.micro))
    table.add_row("macro", *_percentages(scores.macro))
    return table


def _percentages(ratios: Counts | Averages) -> list[str]:
    return [f"{100 * ratio:.1f}" for ratio in (ratios.precision, ratios.recall, ratios.f1)]


def _numbers(counts: Counts) -> list[str]:
    return [str(number) for number in (counts.gold, counts.predicted, counts.true_positives)]


def criteria_tables(
    scores: Mapping[Criterion, CriterionScores], intervals: Mapping[Criterion, Mapping[str, Interval]]
) -> Iterator[Table]:
    """Counts and ratios by each criterion; then intervals, and means over types and documents."""
    micro = {name: found.micro for name, found in scores.items()}
    yield _matches_table("micro scores by criterion", "criterion", micro)
    columns = ("P", "R", "F1", "macro F1", "document F1")
    table = _table("95 % intervals of micro scores, means over types and documents", ["criterion"], columns)
    for name, found in scores.items():
        ranges = [f"{_percent(each.low)}-{_percent(each.high)}" for each in intervals[name].values()]
        table.add_row(name, *ranges, _percent(found.macro.f1), _percent(found.document_mean.f1))
    yield table


def breakdown_tables(breakdowns: Breakdowns) -> Iterator[Table]:
    """A table for each attribute."""
    for attribute, buckets in breakdowns.attributes.items():
        yield _matches_table(f"strict scores by {attribute}", attribute, buckets)


def concept_tables(scores: ConceptScores) -> Iterator[Table]:
    """Accuracy on gold mentions, scores of mentions with concepts and of documents, and frequent mistakes."""
    columns = ("mentions", "accuracy", "at 5", "any", "no concept")
    table = _table("concepts of gold mentions that are predicted", ["names"], columns)
    for name, counts in {"all": scores.on_gold, **scores.by_familiarity}.items():
        at_five = counts.share(counts.among_five) if scores.has_candidates else None
        shares = (counts.share(counts.right), at_five, counts.share(counts.any_right))
        table.add_row(name, str(counts.mentions), *map(_percent_or_nothing, shares), str(counts.without))
    yield table
    table = _table("scores of concepts", ["of"], ("P", "R", "F1", "gold", "predicted", "correct"))
    for name, found in (("mentions with concepts", scores.mentions), ("documents", scores.documents)):
        table.add_row(name, *_percentages(found), *_numbers(found))
    yield table
    table = _table("frequent mistakes", ["mention", "gold", "predicted"], ("count",))
    for (mention, gold, predicted), count in scores.frequent_mistakes(_FREQUENT):
        # Text, because all of them may hold square brackets, which rich would take for markup.
        table.add_row(*map(Text, (mention, "|".join(gold), "|".join(predicted) or "no concept")), str(count))
    yield table


def _percent_or_nothing(share: float | None) -> str:
    return _NOTHING if share is None else _percent(share)


def mistake_tables(mistakes: Mistakes) -> Iterator[Table]:
    """Kinds of mistakes with their rates; then wrong predictions as category and span errors."""
    counts, rates = mistakes.counts, mistakes.rates
    table = _table("mistakes", ["kind"], ("count", "% of mistakes"))
    for kind, number in counts.items():
        table.add_row(kind, str(number), _percent(rates[kind]))
    table.add_section()
    boundaries = str(counts["boundary"] + counts["both"])
    table.add_row("any boundary", boundaries, _percent(rates["any boundary"]))
    yield table
    table = _table("wrong predictions", ["error"], ("count", "% of wrong", "% of predicted"))
    for name, found in mistakes.category_and_span.items():
        shares = (found["share_of_wrong"], found["share_of_predicted"])
        table.add_row(name, str(found["count"]), *map(_percent, shares))
    yield table


def confusion_table(confusion: Confusion) -> Table:
    """Gold types by predicted types; rarer types are counted together where there are many."""
    names, matrix = _grouped(confusion)
    numbers = [str(number) for number in range(1, len(names) + 1)]
    table = _table("gold type by predicted type", ["", "gold"], numbers)
    table.box = SIMPLE
    for number, name, row in zip(numbers, names, matrix.tolist(), strict=True):
        table.add_row(number, _text(name), *map(str, row))
    return table


def reliability_table(reliability: Reliability) -> Table:
    """Mean confidence and share of correct predictions of each bin; then the expected calibration error."""
    columns = ("predicted", "confidence", "correct", "distance")
    table = _table("confidence of predictions and how many are correct", ["bin"], columns)
    for each in reliability.bins:
        ratios = (each.confidence, each.accuracy, abs(each.confidence - each.accuracy))
        shown = [_percent(ratio) if each.count else _NOTHING for ratio in ratios]
        table.add_row(f"{each.low:.1f}-{each.high:.1f}", str(each.count), *shown)
    table.add_section()
    predicted = str(sum(each.count for each in reliability.bins))
    error = _percent(reliability.expected_calibration_error)
    table.add_row("expected calibration error", predicted, "", "", error)
    return table


def example_table(kind: str, passages: Sequence[Passage], count: int) -> Table:
    """The first mistakes of a kind: document, text around, gold and predicted entity."""
    title = f"{kind}: {len(passages)} of {count}"
    table = _table(title, ["document", "text", "gold", "predicted"], ())
    for passage in passages:
        opposite = [_text(said) if said else _NOTHING for said in (passage.gold_said, passage.predicted_said)]
        table.add_row(_text(passage.example.document), _marked(passage), *opposite)
    return table


def difference_table(tests: Mapping[Criterion, tuple[Difference, Difference]]) -> Table:
    """F1 of two systems by each criterion, with the p-values of randomisation and bootstrap."""
    columns = ("F1", "other F1", "difference", "p randomisation", "p bootstrap")
    table = _table("two systems", ["criterion"], columns)
    for name, (randomised, resampled) in tests.items():
        f1 = (_percent(randomised.first), _percent(randomised.second))
        p_values = (f"{randomised.p_value:.4f}", f"{resampled.p_value:.4f}")
        table.add_row(name, *f1, f"{100 * randomised.difference:+.1f}", *p_values)
    return table


def _grouped(confusion: Confusion) -> tuple[list[str], Integers]:
    """Names and matrix of the most frequent types, of all others together, and of none."""
    names, matrix = [*confusion.comparison.types, "none"], confusion.matrix
    types = len(names) - 1
    if types <= _MATRIX_TYPES + 1:
        return names, matrix
    frequency = (matrix.sum(axis=0) + matrix.sum(axis=1))[:types]
    shown = np.sort(np.argsort(-frequency, kind="stable")[:_MATRIX_TYPES])
    group = np.full(types + 1, _MATRIX_TYPES)
    group[shown] = np.arange(_MATRIX_TYPES)
    group[types] = _MATRIX_TYPES + 1
    belongs = (group[:, None] == np.arange(_MATRIX_TYPES + 2)).astype(np.int64)
    others = f"{types - _MATRIX_TYPES} other types"
    return [*(names[position] for position in shown), others, "none"], belongs.T @ matrix @ belongs


def _matches_table(title: str, what: str, rows: Mapping[str, Matches] | Mapping[Criterion, Matches]) -> Table:
    table = _table(title, [what], ("P", "R", "F1", "gold", "found", "predicted", "correct"))
    for name, found in rows.items():
        ratios = (
            (found.precision, found.predicted),
            (found.recall, found.gold),
            (found.f1, found.predicted + found.gold),
        )
        shown = [_percent(ratio) if whole else _NOTHING for ratio, whole in ratios]
        table.add_row(name, *shown, *map(str, (found.gold, found.found, found.predicted, found.correct)))
    return table


def _table(title: str, words: Sequence[str], numbers: Sequence[str]) -> Table:
    """An empty table whose columns are words, on the left, and numbers."""
    table = Table(*words, title=title, title_justify="left")
    for name in numbers:
        table.add_column(name, justify="right")
    return table


def _marked(passage: Passage) -> Text:
    """A passage in one line, with the mistake in square brackets."""
    before, inside, after = map(_printable, (passage.before, passage.inside, passage.after))
    return Text.assemble(before, (f"[{inside}]", "bold"), after)


def _text(words: str) -> Text:
    """Words from files, which may hold what rich would take for markup."""
    return Text(_printable(words))


def _printable(words: str) -> str:
    """Words in one line, without characters that would steer a terminal."""
    return "".join(character if character.isprintable() else " " for character in words)


def _percent(ratio: float) -> str:
    return f"{100 * ratio:.1f}"


def perturbation_scores_table(untouched: Robustness, rows: Sequence[Robustness]) -> Table:
    """A row for the untouched texts, then one for each perturbation."""
    table = Table("texts", caption=_ROBUSTNESS_CAPTION)
    for column in ("F1", "lost", "gold", "predicted", "correct", "texts changed", "mentions changed"):
        table.add_column(column, justify="right")
    table.add_row(*_robustness_cells(untouched, lost=""))
    table.add_section()
    for row in rows:
        table.add_row(*_robustness_cells(row, lost=f"{100 * row.lost:.1f}"))
    return table


def _robustness_cells(row: Robustness, *, lost: str) -> Sequence[str]:
    counts = row.counts
    found = (counts.gold, counts.predicted, counts.true_positives, row.texts_changed, row.mentions_changed)
    return row.name, f"{100 * counts.f1:.1f}", lost, *(f"{number:,}" for number in found)
