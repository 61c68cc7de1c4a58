"""From the predictions of finished runs to the numbers of a comparison."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any, Literal

import numpy as np

from spanwright.comparing.plan import Plan, ScoredSplit
from spanwright.comparing.runs import Run, RunRecord, predictions, run_record, training_time
from spanwright.errors import InputError
from spanwright.evaluation import (
    CriterionScores,
    Difference,
    Matches,
    Mistakes,
    Spread,
    break_down,
    compare_documents,
    compare_runs,
    find_mistakes,
    over_seeds,
    score,
)
from spanwright.evaluation.columns import Integers
from spanwright.origin import commit, machine

ATTRIBUTES = ("width", "text length", "label consistency", "entity density")
"""The columns of Bundling Learning's heat maps (Table 6)."""
NESTING = "nesting"
"""One more column for corpora whose entities overlap (Figure 3 of DSpERT)."""
SIGNIFICANT = 0.05
"""Below this p-value a difference gets a star."""
Measure = Literal["precision", "recall", "f1"]


@dataclass(frozen=True, slots=True, eq=False)
class RunOutcome:
    """What came out of one run."""

    corpus: str
    recipe: str
    seed: int
    scores: CriterionScores
    """Strict, on test."""
    buckets: dict[tuple[str, str], Matches]
    """Counts by attribute and bucket, on the split of the heat map."""
    mistakes: dict[str, int]
    """Counts by kind, on test."""
    mistake_rates: dict[str, float]
    """Shares of false positives and false negatives together."""
    seconds: float
    """Of training, without scoring."""
    words_per_second: float
    record: RunRecord

    def measure(self, name: Measure) -> float:
        """Micro precision, recall or F1 on test."""
        return float(getattr(self.scores.micro, name))

    def to_dict(self) -> dict[str, Any]:
        """All of it for JSON; `counts` are gold, found, predicted and correct entities of each document."""
        buckets: dict[str, dict[str, Any]] = {}
        for (attribute, bucket), matches in self.buckets.items():
            buckets.setdefault(attribute, {})[bucket] = asdict(matches)
        measures: tuple[Measure, ...] = ("precision", "recall", "f1")
        return {
            **{"corpus": self.corpus, "recipe": self.recipe, "seed": self.seed},
            **{name: self.measure(name) for name in measures},
            **asdict(self.record),
            **{"seconds": self.seconds, "words_per_second": self.words_per_second},
            **{"mistakes": self.mistakes, "mistake_rates": self.mistake_rates, "buckets": buckets},
            "counts": self.scores.per_document.tolist(),
        }


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a heat map: mean F1 of a recipe and of the base on the entities of a bucket."""

    recipe: str
    attribute: str
    bucket: str
    gold: int
    """Gold entities of the bucket."""
    f1: float
    base_f1: float

    @property
    def difference(self) -> float:
        """How much better than the base."""
        return self.f1 - self.base_f1


@dataclass(frozen=True, slots=True, eq=False)
class RecipeResult:
    """The runs of a recipe on a corpus, together."""

    recipe: str
    outcomes: tuple[RunOutcome, ...]
    """In the order of seeds."""
    against_base: Difference | None
    """None for the base itself."""

    @property
    def significant(self) -> bool:
        """Whether the difference to the base deserves a star; one run each tells of models, not recipes."""
        against = self.against_base
        return against is not None and len(self.outcomes) > 1 and against.p_value < SIGNIFICANT

    def spread(self, name: Measure) -> Spread:
        """Mean and deviation over seeds."""
        return over_seeds([outcome.measure(name) for outcome in self.outcomes])

    @property
    def seconds(self) -> float:
        """Mean seconds of training."""
        return fmean(outcome.seconds for outcome in self.outcomes)

    @property
    def words_per_second(self) -> float:
        """Mean speed of training."""
        return fmean(outcome.words_per_second for outcome in self.outcomes)

    @property
    def mistakes(self) -> dict[str, float]:
        """Mean counts of mistakes by kind."""
        kinds = self.outcomes[0].mistakes
        return {kind: fmean(outcome.mistakes[kind] for outcome in self.outcomes) for kind in kinds}

    @property
    def mistake_rates(self) -> dict[str, float]:
        """Mean rates of mistakes by kind, and of `any boundary`."""
        kinds = self.outcomes[0].mistake_rates
        return {kind: fmean(outcome.mistake_rates[kind] for outcome in self.outcomes) for kind in kinds}

    def bucket_f1(self, place: tuple[str, str]) -> float:
        """Mean F1 on the entities of a bucket."""
        return fmean(outcome.buckets[place].f1 for outcome in self.outcomes)

    def to_dict(self) -> dict[str, Any]:
        """All of it for JSON."""
        measures: tuple[Measure, ...] = ("precision", "recall", "f1")
        against = self.against_base
        return {
            **{name: asdict(self.spread(name)) for name in measures},
            "f1_per_seed": {str(outcome.seed): outcome.measure("f1") for outcome in self.outcomes},
            "difference_to_base": against and against.difference,
            "margin": against and against.margin,
            "p_value": against and against.p_value,
            "significant": self.significant,
            "seconds": self.seconds,
            "words_per_second": self.words_per_second,
            "mistakes": self.mistakes,
            "mistake_rates": self.mistake_rates,
        }


@dataclass(frozen=True, slots=True, eq=False)
class CorpusResult:
    """All recipes on one corpus."""

    corpus: str
    base: str
    recipes: tuple[RecipeResult, ...]

    def of(self, recipe: str) -> RecipeResult:
        """The result of one recipe."""
        return next(result for result in self.recipes if result.recipe == recipe)

    @property
    def heat_map(self) -> list[Cell]:
        """F1 by bucket of every recipe beside that of the base; recipe by recipe."""
        base = self.of(self.base)
        return [
            Cell(result.recipe, *place, matches.gold, result.bucket_f1(place), base.bucket_f1(place))
            for result in self.recipes
            for place, matches in base.outcomes[0].buckets.items()
        ]


@dataclass(frozen=True, slots=True, eq=False)
class Results:
    """The outcome of a comparison."""

    base: str
    seeds: int
    heat_map_split: ScoredSplit
    corpora: tuple[CorpusResult, ...]
    commit: str | None
    """Of the code that made them; None outside of a checkout."""
    machine: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """All of it for JSON."""
        corpora = {
            result.corpus: {
                "recipes": {each.recipe: each.to_dict() for each in result.recipes},
                "heat_map": [asdict(cell) | {"difference": cell.difference} for cell in result.heat_map],
            }
            for result in self.corpora
        }
        plan = {"base": self.base, "seeds": self.seeds, "heat_map_split": self.heat_map_split}
        origin = {"commit": self.commit, "machine": self.machine}
        return origin | plan | {"significance_level": SIGNIFICANT, "corpora": corpora}


def analyse(run: Run, heat_map_split: ScoredSplit) -> RunOutcome:
    """Score the predictions of a finished run."""
    comparison = compare_documents(run.corpus.split("test"), predictions(run, "test"))
    for_map = comparison
    if heat_map_split == "dev":
        for_map = compare_documents(run.corpus.split("dev"), predictions(run, "dev"))
    found = break_down(for_map, run.corpus.learnt).attributes
    mistakes: Mistakes = find_mistakes(comparison)
    return RunOutcome(
        run.corpus.name,
        run.recipe,
        run.seed,
        score(comparison),
        {
            (name, bucket): found[name][bucket]
            for name in heat_map_attributes(found)
            for bucket in found[name]
        },
        {str(kind): count for kind, count in mistakes.counts.items()},
        mistakes.rates,
        *training_time(run),
        run_record(run),
    )


def heat_map_attributes(found: Mapping[str, Mapping[str, Matches]]) -> tuple[str, ...]:
    """The attributes that a heat map has."""
    overlapping = any(matches.gold for bucket, matches in found[NESTING].items() if bucket != "flat")
    return (*ATTRIBUTES, NESTING) if overlapping else ATTRIBUTES


def summarise_runs(plan: Plan, outcomes: Sequence[RunOutcome]) -> Results:
    """The results of a plan, from the outcomes of its runs."""
    corpora: list[CorpusResult] = []
    for corpus in plan.corpora:
        of_recipe = {
            recipe: tuple(
                outcome for outcome in outcomes if (outcome.corpus, outcome.recipe) == (corpus, recipe)
            )
            for recipe in plan.recipes
        }
        of_recipe = {recipe: own for recipe, own in of_recipe.items() if own}
        if plan.base not in of_recipe:
            raise InputError(
                f"no run of {plan.base!r}, which the others are held against, is finished on {corpus!r}: "
                f"train first"
            )
        base = of_recipe[plan.base]
        recipes = (
            RecipeResult(recipe, own, None if recipe == plan.base else differ(own, base))
            for recipe, own in of_recipe.items()
        )
        corpora.append(CorpusResult(corpus, plan.base, tuple(recipes)))
    return Results(plan.base, plan.seeds, plan.heat_map_split, tuple(corpora), commit(), machine())


def differ(outcomes: Sequence[RunOutcome], base: Sequence[RunOutcome]) -> Difference:
    """Whether a recipe and the base are equally good; a document counts once, with all its seeds."""
    return compare_runs(_counts(outcomes), _counts(base))


def _counts(outcomes: Sequence[RunOutcome]) -> Integers:
    """Counts of each document in each run, `(runs, documents, 4)`."""
    return np.stack([outcome.scores.per_document for outcome in outcomes])
