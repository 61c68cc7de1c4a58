"""`spanwright evaluate`: scores of one file of entities against another, and what they are made of."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from spanwright.cli.linking import read_lexicons
from spanwright.cli.reading import FORMAT_HELP, read_and_report
from spanwright.cli.tables.scores import (
    breakdown_tables,
    concept_tables,
    confusion_table,
    criteria_tables,
    difference_table,
    example_table,
    mistake_tables,
    reliability_table,
    type_scores_table,
)
from spanwright.errors import InputError
from spanwright.evaluation.breakdowns import break_down
from spanwright.evaluation.columns import Comparison, compare_documents
from spanwright.evaluation.concepts import score_concepts
from spanwright.evaluation.criteria import CRITERIA, Criterion, score
from spanwright.evaluation.mistake_passages import find_passages
from spanwright.evaluation.mistakes import find_confusions, find_mistakes
from spanwright.evaluation.reliability import find_reliability
from spanwright.evaluation.scores import Scores, strict_scores
from spanwright.evaluation.significance import (
    Difference,
    confidence_intervals,
    paired_bootstrap,
    paired_randomisation,
)
from spanwright.formats.files import Corpus
from spanwright.formats.format import ReadingLog
from spanwright.text import Document

if TYPE_CHECKING:
    from rich.table import Table

_Sources = Mapping[str, tuple[Sequence[Path] | None, str | None]]
"""Files and their format, by what they are."""
_EXAMPLES = 3
"""Examples of each kind of mistake with `--full`."""


_IgnoreType = Annotated[
    list[str] | None, typer.Option(help="A type that counts on neither side; may be repeated.")
]
_Criteria = Annotated[
    bool,
    typer.Option(
        "--criteria",
        help="Scores by four criteria (strict, loose, start, end), with 95 % intervals and means over "
        "types and documents.",
    ),
]
_Breakdowns = Annotated[
    bool, typer.Option("--breakdowns", help="Scores of short and long entities, nested ones, and so on.")
]
_Train = Annotated[
    list[Path] | None,
    typer.Option(help="Training files: adds what was seen in them to the breakdowns; may be repeated."),
]
_Mistakes = Annotated[
    bool,
    typer.Option("--mistakes", help="Kinds of mistakes with their rates, and which types are confused."),
]
_Examples = Annotated[
    int | None, typer.Option(min=0, metavar="N", help="Show N examples of each kind of mistake.")
]
_Against = Annotated[
    Path | None, typer.Option(help="Predictions of another system: is the difference more than chance?")
]
_N2C2 = Annotated[
    bool, typer.Option("--n2c2", help="Follow the conventions of n2c2 2018 (see docs/evaluation.md).")
]
_Concepts = Annotated[
    bool,
    typer.Option(
        "--concepts",
        help="Scores of concepts: on gold mentions, of mentions with concepts, and of documents. With "
        "--train, also of names seen and unseen.",
    ),
]
_Lexicon = Annotated[
    list[str] | None,
    typer.Option(
        metavar="FILE",
        help="For --concepts: a lexicon that says which identifiers mean the same; may be repeated.",
    ),
]
_Full = Annotated[
    bool,
    typer.Option(
        "--full",
        help="Criteria, breakdowns, mistakes and three examples of each kind; if predictions have "
        "confidences, how often they are right.",
    ),
]
_Strict = Annotated[
    bool, typer.Option("--strict", help="Stop at the first thing in a file that cannot be read.")
]


def evaluate_command(
    gold: Annotated[Path, typer.Argument(help="File or folder with the gold entities, in any format.")],
    predicted: Annotated[Path, typer.Argument(help="File or folder with the predicted entities.")],
    format_gold: Annotated[str | None, typer.Option(help=f"Format of GOLD: {FORMAT_HELP}.")] = None,
    format_predicted: Annotated[str | None, typer.Option(help=f"Format of PREDICTED: {FORMAT_HELP}.")] = None,
    ignore_type: _IgnoreType = None,
    criteria: _Criteria = False,
    breakdowns: _Breakdowns = False,
    train: _Train = None,
    format_train: Annotated[str | None, typer.Option(help="Format of the training files.")] = None,
    mistakes: _Mistakes = False,
    examples: _Examples = None,
    against: _Against = None,
    format_against: Annotated[str | None, typer.Option(help="Format of the other system's file.")] = None,
    n2c2: _N2C2 = False,
    concepts: _Concepts = False,
    lexicon: _Lexicon = None,
    full: _Full = False,
    strict: _Strict = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print all that was asked for as JSON.")] = False,
) -> None:
    """Score predicted entities against gold ones: exact characters and type, per type and overall.

    Any two files will do, also predictions of other tools. docs/evaluation.md defines every number.

    Example: spanwright evaluate test.pubtator predicted.jsonl --ignore-type Species
    """
    sources: _Sources = {
        "gold": ([gold], format_gold),
        "predicted": ([predicted], format_predicted),
        "train": (train, format_train),
        "against": ([against] if against else None, format_against),
    }
    corpora = _read(sources, strict=strict)
    training = corpora["train"].documents if train else None

    def compare(system: str) -> Comparison:
        documents = (corpora[name].documents for name in ("gold", system))
        return compare_documents(*documents, ignore_types=ignore_type or (), n2c2=n2c2)

    comparison = compare("predicted")
    if not comparison.pairs:
        raise InputError(f"{predicted}: no document is in both files, and n2c2 counts no others")
    parts: dict[str, _Part] = {}
    if criteria or full:
        parts["criteria"] = _criteria_part(comparison)
    if breakdowns or (train and not concepts) or full:
        parts["breakdowns"] = _breakdowns_part(comparison, training)
    if mistakes or examples or full:
        number = _EXAMPLES if full and examples is None else examples or 0
        parts["mistakes"] = _mistakes_part(comparison, number)
    if full and (confidence := _confidence_part(comparison)):
        parts["confidence"] = confidence
    if concepts or lexicon:
        parts["concepts"] = _concepts_part(comparison, lexicon or (), training, ignore_type or ())
    if against:
        asked = CRITERIA if criteria or full else CRITERIA[:1]
        parts["against"] = _against_part(comparison, compare("against"), asked)
    _print(strict_scores(comparison), parts, corpora, as_json=as_json)


def _read(sources: _Sources, *, strict: bool) -> dict[str, Corpus]:
    """The corpora of those sources that were given."""
    return {
        name: read_and_report(paths, format=format, strict=strict)
        for name, (paths, format) in sources.items()
        if paths
    }


def _print(scores: Scores, parts: dict[str, _Part], corpora: dict[str, Corpus], *, as_json: bool) -> None:
    """Notes go to stderr, so that stdout stays a table or JSON; JSON has them, too."""
    notes = [*scores.notes, *(note for part in parts.values() for note in part.notes)]
    for note in notes:
        typer.echo(f"note: {note}", err=True)
    if as_json:
        reading = {name: _rejected(corpus.log) for name, corpus in corpora.items()}
        asked = {name: part.values for name, part in parts.items()}
        typer.echo(json.dumps(scores.to_dict() | asked | {"notes": notes, "reading": reading}, indent=2))
    else:
        tables = (table for part in parts.values() for table in part.tables)
        Console().print(type_scores_table(scores), *tables)


def _rejected(log: ReadingLog) -> dict[str, int]:
    """What the scores cannot count, because it could not be read."""
    return {
        "problems": len(log.problems),
        "documents_rejected": log.documents_rejected,
        "entities_rejected": log.entities_rejected,
    }


@dataclass(frozen=True, slots=True)
class _Part:
    """One analysis."""

    values: dict[str, Any]
    """All of it for JSON."""
    tables: tuple[Table, ...]
    notes: tuple[str, ...] = ()
    """What a reader of the numbers must know."""


def _criteria_part(comparison: Comparison) -> _Part:
    """Scores by every criterion, with intervals by bootstrap over documents."""
    scores = {criterion: score(comparison, criterion) for criterion in CRITERIA}
    intervals = {criterion: confidence_intervals(found) for criterion, found in scores.items()}
    values: dict[str, Any] = {
        criterion: found.to_dict()
        | {"intervals": {name: asdict(interval) for name, interval in intervals[criterion].items()}}
        for criterion, found in scores.items()
    }
    return _Part(values, tuple(criteria_tables(scores, intervals)))


def _breakdowns_part(comparison: Comparison, training: Iterable[Document] | None) -> _Part:
    """Scores by attributes of entities; those that compare with training need its documents."""
    breakdowns = break_down(comparison, training)
    return _Part(breakdowns.to_dict(), tuple(breakdown_tables(breakdowns)), breakdowns.notes)


def _mistakes_part(comparison: Comparison, examples: int) -> _Part:
    """Kinds of mistakes, confused types, and so many examples of each kind."""
    mistakes, confusion = find_mistakes(comparison), find_confusions(comparison)
    passages = {kind: find_passages(mistakes, kind, examples) for kind in mistakes.counts} if examples else {}
    shown = [example_table(kind, found, mistakes.counts[kind]) for kind, found in passages.items() if found]
    values = mistakes.to_dict() | {
        "confusion": confusion.to_dict(),
        "examples": {kind: [passage.to_dict() for passage in found] for kind, found in passages.items()},
    }
    return _Part(values, (*mistake_tables(mistakes), confusion_table(confusion), *shown))


def _confidence_part(comparison: Comparison) -> _Part | None:
    """How far the confidences are from being probabilities; None if no prediction has one."""
    if all(entity.confidence is None for entity in comparison.predicted.entities):
        return None
    reliability, reason = find_reliability(comparison)
    if reliability is None:
        note = f"confidences left out: {reason}"
        return _Part({"notes": [note]}, (), (note,))
    return _Part(reliability.to_dict() | {"notes": []}, (reliability_table(reliability),))


def _concepts_part(
    comparison: Comparison,
    lexicons: Sequence[str],
    training: Iterable[Document] | None,
    ignore_types: Sequence[str],
) -> _Part:
    """Scores of concepts; identifiers of one term of a lexicon are the same."""
    from spanwright.linking.concepts import SameConcepts

    same = SameConcepts(read_lexicons(lexicons).terms())
    scores = score_concepts(comparison.pairs, same=same.first, training=training, ignore_types=ignore_types)
    notes = []
    if not scores.mentions.gold:
        notes.append("concepts: no gold entity has one, so there is nothing to compare with")
    if not scores.has_candidates:
        notes.append("concepts: the prediction has no candidates (`link --candidates`): none are scored at 5")
    return _Part(scores.to_dict(), tuple(concept_tables(scores)), tuple(notes))


def _against_part(comparison: Comparison, other: Comparison, criteria: Sequence[Criterion]) -> _Part:
    """Whether two systems differ by more than chance, by each of these criteria."""
    tests: dict[Criterion, tuple[Difference, Difference]] = {}
    for criterion in criteria:
        first, second = score(comparison, criterion), score(other, criterion)
        tests[criterion] = (paired_randomisation(first, second), paired_bootstrap(first, second))
    values: dict[str, Any] = {
        criterion: {
            "f1": randomised.first,
            "other_f1": randomised.second,
            "difference": randomised.difference,
            "p_randomisation": randomised.p_value,
            "p_bootstrap": resampled.p_value,
        }
        for criterion, (randomised, resampled) in tests.items()
    }
    notes = tuple(f"other system: {note}" for note in strict_scores(other).notes)
    return _Part(values, (difference_table(tests),), notes)
