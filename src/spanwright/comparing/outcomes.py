"""What came out of a run, and its line in `runs.jsonl`: all that tables, pictures and tests are made from.

A line says everything that a result needs, so that a comparison goes on, and its page is made again, where
the models and predictions of its runs are gone.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np

from spanwright.arrays import Integers
from spanwright.comparing.plan import ScoredSplit
from spanwright.comparing.runs import (
    Run,
    RunKey,
    RunRecord,
    difference_to,
    predictions,
    run_record,
    training_time,
)
from spanwright.devices import AUTO
from spanwright.errors import InputError
from spanwright.evaluation import (
    Comparison,
    Difference,
    Matches,
    Mistakes,
    break_down,
    compare_documents,
    compare_runs,
    find_mistakes,
    score,
)
from spanwright.formats.io.whole_files import write_whole

FILE = "runs.jsonl"
Measure = Literal["precision", "recall", "f1"]
Buckets = dict[tuple[str, str], Matches]
"""Counts by attribute and bucket."""
MEASURES: tuple[Measure, ...] = ("precision", "recall", "f1")


@dataclass(frozen=True, slots=True, eq=False)
class RunOutcome:
    """What came out of one run."""

    corpus: str
    recipe: str
    seed: int
    counts: Integers
    """Gold, found, predicted and correct entities of each test document: `(documents, 4)`; strict."""
    types: dict[str, Matches]
    """The same of each type."""
    buckets: Buckets
    """Counts by attribute and bucket, on the split of the heat map."""
    heat_map_split: ScoredSplit
    mistakes: dict[str, int]
    """Counts by kind, on test."""
    mistake_rates: dict[str, float]
    """Shares of false positives and false negatives together."""
    seconds: float
    """Of training, without scoring."""
    words_per_second: float
    record: RunRecord

    @property
    def key(self) -> RunKey:
        """Which run it was."""
        return self.corpus, self.recipe, self.seed

    def measure(self, name: Measure) -> float:
        """Micro precision, recall or F1 on test."""
        return float(getattr(Matches(*self.counts.sum(0).tolist()), name))

    def to_dict(self) -> dict[str, Any]:
        """All of it for JSON, the scores first."""
        buckets: dict[str, dict[str, Any]] = {}
        for (attribute, bucket), matches in self.buckets.items():
            buckets.setdefault(attribute, {})[bucket] = asdict(matches)
        return {
            **{"corpus": self.corpus, "recipe": self.recipe, "seed": self.seed},
            **{name: self.measure(name) for name in MEASURES},
            **asdict(self.record),
            **{"seconds": self.seconds, "words_per_second": self.words_per_second},
            **{"mistakes": self.mistakes, "mistake_rates": self.mistake_rates},
            **{"heat_map_split": self.heat_map_split, "buckets": buckets},
            "types": {name: asdict(matches) for name, matches in self.types.items()},
            "counts": self.counts.tolist(),
        }

    @classmethod
    def from_dict(cls, line: Mapping[str, Any]) -> Self:
        """The outcome whose `to_dict` is given."""
        buckets = {
            (attribute, bucket): Matches(**matches)
            for attribute, own in line["buckets"].items()
            for bucket, matches in own.items()
        }
        plain = ("corpus", "recipe", "seed", "heat_map_split", "mistakes", "mistake_rates", "seconds")
        return cls(
            counts=np.asarray(line["counts"], dtype=np.int64).reshape(-1, 4),
            types={name: Matches(**matches) for name, matches in line["types"].items()},
            buckets=buckets,
            words_per_second=line["words_per_second"],
            record=RunRecord(**{name: line[name] for name in RunRecord.__slots__}),
            **{name: line[name] for name in plain},
        )


def analyse(run: Run, heat_map_split: ScoredSplit, device: str = AUTO) -> RunOutcome:
    """Score the predictions of a finished run."""
    comparison = _comparison(run, "test", device)
    for_map = comparison if heat_map_split == "test" else _comparison(run, "dev", device)
    found = break_down(for_map, run.corpus.learnt).attributes
    mistakes: Mistakes = find_mistakes(comparison)
    scores = score(comparison)
    seconds, words_per_second = training_time(run)
    return RunOutcome(
        corpus=run.corpus.name,
        recipe=run.recipe,
        seed=run.seed,
        counts=scores.per_document,
        types=scores.per_type,
        buckets={(name, bucket): matches for name, own in found.items() for bucket, matches in own.items()},
        heat_map_split=heat_map_split,
        mistakes={str(kind): count for kind, count in mistakes.counts.items()},
        mistake_rates=mistakes.rates,
        seconds=seconds,
        words_per_second=words_per_second,
        record=run_record(run),
    )


def _comparison(run: Run, split: ScoredSplit, device: str) -> Comparison:
    """What a run answers beside the entities of dev or test."""
    return compare_documents(run.compared(run.evaluated[split]), predictions(run, split, device))


def differ(outcomes: Sequence[RunOutcome], base: Sequence[RunOutcome]) -> Difference:
    """Whether a recipe and the base are equally good; a document counts once, with all its seeds."""
    return compare_runs(_counts(outcomes), _counts(base))


def _counts(outcomes: Sequence[RunOutcome]) -> Integers:
    """Counts of each document in each run, `(runs, documents, 4)`."""
    return np.stack([outcome.counts for outcome in outcomes])


def write_outcomes(outcomes: Iterable[RunOutcome], out: Path) -> None:
    """Write a line for each run to the folder of a comparison."""
    write_whole(out / FILE, "".join(f"{json.dumps(each.to_dict())}\n" for each in outcomes))


def read_outcomes(out: Path) -> dict[RunKey, RunOutcome]:
    """What the lines in the folder of a comparison say; nothing where there are none."""
    path = out / FILE
    outcomes: dict[RunKey, RunOutcome] = {}
    if not path.exists():
        return outcomes
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            outcome = RunOutcome.from_dict(json.loads(line))
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(
                f"{path}:{number}: not the line of a run ({error!r}); remove it, and the run is done again"
            ) from None
        outcomes[outcome.key] = outcome
    return outcomes


def refuse_changed_outcome(run: Run, outcome: RunOutcome) -> None:
    """Refuse the line of a run with other settings or documents: it would be overwritten."""
    if reasons := difference_to(run, outcome.record.settings, outcome.record.corpora):
        raise InputError(
            f"{FILE}: the run of {run} is another one: {'; '.join(reasons)}. Take the settings and "
            f"documents that it was made with, another --out, or remove its line"
        )
