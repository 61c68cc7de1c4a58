"""Verdicts about the claims of a plan, from the outcomes of its runs alone."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import isfinite
from pathlib import Path
from statistics import fmean
from typing import Any, Literal

import numpy as np

from spanwright.comparing.claim_plan import ClaimPlan, Test
from spanwright.comparing.outcomes import RunOutcome, differ
from spanwright.comparing.runs import RunKey
from spanwright.errors import InputError
from spanwright.evaluation import Effect, best, correlation, mean_slope, over_runs, slope, together

NUMBERS_FILE = "numbers.jsonl"
Verdict = Literal["confirmed", "not confirmed", "contradicted", "not run yet"]
Numbers = Mapping[RunKey, Mapping[str, float]]
"""Numbers of runs beside those of their outcomes, by name."""
FEWEST_SEEDS = 3
RISE = 0.005
"""Dev F1 that rose by more than this in the last epoch had not flattened."""
_FEWEST_CORPORA = 4
"""Of fewer, no correlation is certain: there are too few orders to compare theirs with."""


@dataclass(frozen=True, slots=True)
class ClaimResult:
    """What the runs say about a claim."""

    claim: ClaimPlan
    effect: Effect | None
    """Over all corpora together; None if there is nothing to judge by yet."""
    by_corpus: dict[str, Effect]
    missing: tuple[str, ...]
    """Corpora whose runs are not all there."""
    seeds: int
    """Of the recipe with the fewest runs on a corpus."""
    documents: int
    """Test documents of all corpora."""
    rising: tuple[str, ...]
    """Recipes, with their corpus, whose dev F1 still rose at the end."""

    @property
    def verdict(self) -> Verdict:
        """Whether the interval lies above 0, around it or below."""
        if self.effect is None:
            return "not run yet"
        return verdict_on(self.effect)

    @property
    def flags(self) -> tuple[str, ...]:
        """What a reader must know before believing the verdict."""
        if self.effect is None:
            return ()
        said = {
            "still rising": bool(self.rising),
            "too few seeds": self.seeds < FEWEST_SEEDS,
            "incomplete": bool(self.missing),
        }
        return tuple(flag for flag, raised in said.items() if raised)

    def to_dict(self) -> dict[str, Any]:
        """All of it for JSON."""
        return {
            **self.claim.model_dump(mode="json"),
            "test": self.claim.test,
            "verdict": self.verdict,
            "flags": list(self.flags),
            "effect": self.effect and _plain(self.effect),
            "by_corpus": {corpus: _plain(effect) for corpus, effect in self.by_corpus.items()},
            "missing": list(self.missing),
            **{"seeds": self.seeds, "documents": self.documents, "still_rising": list(self.rising)},
        }


def _plain(effect: Effect) -> dict[str, Any]:
    """An effect for JSON, which knows no infinity: such ends of an interval are null."""
    numbers = {name: value if isfinite(value) else None for name, value in asdict(effect).items()}
    return numbers | {"verdict": verdict_on(effect)}


def verdict_on(effect: Effect) -> Verdict:
    """Where an interval lies."""
    if effect.low > 0:
        return "confirmed"
    return "contradicted" if effect.high < 0 else "not confirmed"


def judge(
    claim: ClaimPlan, corpora: Sequence[str], outcomes: Sequence[RunOutcome], numbers: Numbers
) -> ClaimResult:
    """The verdict on a claim, on those of its corpora whose recipes all have runs."""
    asked = claim.corpora or tuple(corpora)
    in_order = sorted(outcomes, key=lambda outcome: outcome.seed)
    runs = {
        corpus: {
            side: [each for each in in_order if (each.corpus, each.recipe) == place]
            for side, place in claim.sides(corpus).items()
        }
        for corpus in asked
    }
    there = {
        corpus: own
        for corpus, own in runs.items()
        if all(_has(each, claim, numbers) for each in own.values())
    }
    effect, by_corpus = _TESTS[claim.test](claim, there, numbers) if there else (None, {})
    return ClaimResult(
        claim=claim,
        effect=effect,
        by_corpus=by_corpus,
        missing=tuple(corpus for corpus in asked if corpus not in there),
        seeds=min((len(each) for own in there.values() for each in own.values()), default=0),
        documents=sum(len(own[claim.recipes[0]][0].counts) for own in there.values()),
        rising=tuple(
            f"{side} on {corpus}"
            for corpus, own in there.items()
            for side, each in own.items()
            if still_rising(each)
        ),
    )


def still_rising(outcomes: Sequence[RunOutcome]) -> bool:
    """Whether dev F1, as a mean over runs, was higher by far after the last epoch than ever before."""
    rises = [
        outcome.record.dev_f1[-1] - max(outcome.record.dev_f1[:-1], default=0.0)
        for outcome in outcomes
        if outcome.record.dev_f1
    ]
    return bool(rises) and fmean(rises) > RISE


def read_numbers(out: Path) -> Numbers:
    """The numbers in the folder of a comparison that no line of a run has; none where there is no file."""
    path = out / NUMBERS_FILE
    numbers: dict[RunKey, dict[str, float]] = {}
    if not path.exists():
        return numbers
    for number, text in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            line = json.loads(text)
            key = (line["corpus"], line["recipe"], line["seed"])
            numbers.setdefault(key, {}).update(
                {name: float(value) for name, value in line["numbers"].items()}
            )
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(
                f"{path}:{number}: expected corpus, recipe, seed and numbers of a run ({error!r})"
            ) from None
    return numbers


Runs = Mapping[str, Mapping[str, Sequence[RunOutcome]]]
"""Runs by corpus, and there by what the side of a claim is called, which mostly is the recipe."""
Judged = tuple[Effect | None, dict[str, Effect]]
"""The effect over all corpora, and on each."""


def _judge_difference(claim: ClaimPlan, runs: Runs, numbers: Numbers) -> Judged:
    effects = {
        corpus: _difference(claim, own, claim.rival(claim.than[0]), numbers) for corpus, own in runs.items()
    }
    return together(list(effects.values())), effects


def _judge_best(claim: ClaimPlan, runs: Runs, numbers: Numbers) -> Judged:
    """Rivals are met on all corpora together first: the best need not be the best on every corpus."""
    by_rival = [
        {corpus: _difference(claim, own, claim.rival(rival), numbers) for corpus, own in runs.items()}
        for rival in claim.than
    ]
    everywhere = best([together(list(effects.values())) for effects in by_rival])
    return everywhere, {corpus: best([effects[corpus] for effects in by_rival]) for corpus in runs}


def _judge_trend(claim: ClaimPlan, runs: Runs, numbers: Numbers) -> Judged:
    """If recipes did not differ, any run of a corpus might as well be of any of them."""
    sign = -1 if claim.less else 1
    rows = {
        corpus: (
            [place for place, recipe in enumerate(claim.order) for _ in own[recipe]],
            [sign * value for recipe in claim.order for value in _values(own[recipe], claim, numbers)],
        )
        for corpus, own in runs.items()
    }
    return mean_slope(list(rows.values())), {corpus: slope(*row) for corpus, row in rows.items()}


def _judge_correlation(claim: ClaimPlan, runs: Runs, numbers: Numbers) -> Judged:
    """Does a recipe gain more where its partner is better than it was alone?

    A run that was lucky would make the gain small and the lead of the partner small, too: a correlation of
    nothing. So the gain of a seed, on test, is set against the lead in the runs of the other seeds, on dev.
    """
    _, effects = _judge_difference(claim, runs, numbers)
    seeds = min(len(each) for own in runs.values() for each in own.values())
    if len(runs) < _FEWEST_CORPORA or seeds < 2:
        return None, effects
    than = claim.than[0]
    gains = [
        [own[claim.better][seed].measure("f1") - own[than][seed].measure("f1") for own in runs.values()]
        for seed in range(seeds)
    ]
    leads = [
        [_dev_f1(own[claim.partner], seed) - _dev_f1(own[than], seed) for own in runs.values()]
        for seed in range(seeds)
    ]
    return correlation(np.array(leads), np.array(gains)), effects


def _dev_f1(outcomes: Sequence[RunOutcome], without: int) -> float:
    """The mean of the best dev F1 of all runs but one."""
    return fmean(
        max(outcome.record.dev_f1, default=0.0)
        for number, outcome in enumerate(outcomes)
        if number != without
    )


_TESTS: dict[Test, Callable[[ClaimPlan, Runs, Numbers], Judged]] = {
    "difference": _judge_difference,
    "best": _judge_best,
    "trend": _judge_trend,
    "correlation": _judge_correlation,
}


def _difference(
    claim: ClaimPlan, own: Mapping[str, Sequence[RunOutcome]], rival: str, numbers: Numbers
) -> Effect:
    """How much better a recipe is than a rival: F1 over documents and seeds, all else over seeds."""
    if claim.of == "f1":
        found = Effect.of(differ(own[claim.better], own[rival]))
    else:
        found = over_runs(*(_values(own[recipe], claim, numbers) for recipe in (claim.better, rival)))
    return found.reversed if claim.less else found


def _values(outcomes: Sequence[RunOutcome], claim: ClaimPlan, numbers: Numbers) -> list[float]:
    return [_value(outcome, claim.of, numbers) for outcome in outcomes]


def _value(outcome: RunOutcome, of: str, numbers: Numbers) -> float:
    """The number of a run that a claim is about."""
    kind, _, name = of.partition("/")
    try:
        if kind == "number":
            return numbers[outcome.key][name]
        if kind == "mistakes":
            return outcome.mistake_rates[name]
        if kind == "type":
            return outcome.types[name].f1
        return outcome.measure("f1") if of == "f1" else outcome.buckets[kind, name].f1
    except KeyError:
        raise InputError(
            f"a claim is about {of!r}, which the run of {outcome.recipe} on {outcome.corpus} with seed "
            f"{outcome.seed} does not have"
        ) from None


def _has(outcomes: Sequence[RunOutcome], claim: ClaimPlan, numbers: Numbers) -> bool:
    """Whether there are runs, and the numbers that the claim is about."""
    if claim.of.startswith("number/"):
        name = claim.of.removeprefix("number/")
        return bool(outcomes) and all(name in numbers.get(each.key, {}) for each in outcomes)
    return bool(outcomes)
