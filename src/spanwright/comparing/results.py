"""From the outcomes of runs to the numbers of a comparison."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any

import numpy as np

from spanwright.comparing.claims import ClaimResult, Numbers, judge
from spanwright.comparing.outcomes import MEASURES, Buckets, Measure, RunOutcome, differ
from spanwright.comparing.plan import Plan, ScoredSplit
from spanwright.errors import InputError
from spanwright.evaluation import Difference, Interval, Spread, f1_interval, over_seeds
from spanwright.frames import frame
from spanwright.origin import commit, machine

ATTRIBUTES = ("width", "text length", "label consistency", "entity density")
"""The columns of Bundling Learning's heat maps (Table 6)."""
NESTING = "nesting"
"""One more column for corpora whose entities overlap (Figure 3 of DSpERT)."""
SIGNIFICANT = 0.05
"""Below this p-value a difference gets a star."""


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
    base_runs: int
    """How many runs of the base it was compared with."""

    @property
    def significant(self) -> bool:
        """Whether the difference to the base deserves a star; one run compares models, not recipes."""
        against = self.against_base
        runs = min(len(self.outcomes), self.base_runs)
        return against is not None and runs > 1 and against.p_value < SIGNIFICANT

    @property
    def f1_interval(self) -> Interval:
        """Mean F1 over seeds and its 95 % interval, by drawing documents and seeds."""
        return f1_interval(np.stack([outcome.counts for outcome in self.outcomes]))

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
        against = self.against_base
        return {
            **{name: asdict(self.spread(name)) for name in MEASURES},
            "f1_interval": [self.f1_interval.low, self.f1_interval.high],
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
            for place, matches in heat_map_buckets(base.outcomes[0].buckets).items()
        ]


def heat_map_buckets(buckets: Buckets) -> Buckets:
    """The buckets that a heat map has, attribute by attribute."""
    overlapping = any(buckets[place].gold for place in buckets if place[0] == NESTING and place[1] != "flat")
    names = (*ATTRIBUTES, NESTING) if overlapping else ATTRIBUTES
    return {place: matches for name in names for place, matches in buckets.items() if place[0] == name}


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
    claims: tuple[ClaimResult, ...] = ()

    def have(self, recipes: Collection[str]) -> bool:
        """Whether every corpus has runs of all these recipes; one that goes on may lack some."""
        return all({*recipes} <= {each.recipe for each in corpus.recipes} for corpus in self.corpora)

    def to_frame(self) -> Any:
        """A table of pandas with a row for each recipe and corpus: mean F1, its deviation, and p."""
        rows = (
            (
                corpus.corpus,
                each.recipe,
                each.spread("f1").mean,
                each.spread("f1").deviation,
                each.against_base and each.against_base.difference,
                each.against_base and each.against_base.p_value,
                each.seconds,
            )
            for corpus in self.corpora
            for each in corpus.recipes
        )
        return frame(rows, ("corpus", "recipe", "f1", "deviation", "difference", "p", "seconds"))

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
        claims = {"claims": [claim.to_dict() for claim in self.claims]} if self.claims else {}
        return origin | plan | {"significance_level": SIGNIFICANT, "corpora": corpora} | claims


def summarise_runs(plan: Plan, outcomes: Sequence[RunOutcome], numbers: Numbers | None = None) -> Results:
    """The results of a plan, from the outcomes of its runs and further numbers of them.

    A corpus on which no run of the base is finished is left out.
    """
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
            # Not begun, or without anything to compare with: other corpora may be finished.
            continue
        base = of_recipe[plan.base]
        recipes = (
            RecipeResult(recipe, own, None if recipe == plan.base else differ(own, base), len(base))
            for recipe, own in of_recipe.items()
        )
        corpora.append(CorpusResult(corpus, plan.base, tuple(recipes)))
    if not corpora:
        raise InputError(
            f"no run of {plan.base!r}, which the others are compared with, is finished on "
            f"{' or '.join(map(repr, plan.corpora))}: train first"
        )
    claims = judge_claims(plan, outcomes, numbers or {})
    seeds = len({outcome.seed for outcome in outcomes})
    return Results(plan.base, seeds, plan.heat_map_split, tuple(corpora), commit(), machine(), claims)


def judge_claims(plan: Plan, outcomes: Sequence[RunOutcome], numbers: Numbers) -> tuple[ClaimResult, ...]:
    """What the runs so far say about the claims of a plan."""
    return tuple(judge(claim, tuple(plan.corpora), outcomes, numbers) for claim in plan.claims)
