from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import pretending
import pytest
from pretending import Answer, cells_only, nothing, right
from rich.console import Console

from spanwright.cli.tables.training import claim_verdicts_table
from spanwright.comparing import RunOutcome
from spanwright.comparing.claim_plan import ClaimPlan
from spanwright.comparing.claims import ClaimResult, Numbers, judge, read_numbers, still_rising
from spanwright.comparing.result_texts import markdown
from spanwright.errors import InputError
from spanwright.evaluation import Effect, compare_runs, together
from spanwright.text import Document


def every_fourth(document: Document, seed: int) -> Document:
    """Finds half of the entities of a quarter of the documents and all of the others."""
    return cells_only(document, 1) if int(document.id.rpartition("-")[2]) % 4 == 1 else document


ANSWERS: dict[str, Answer] = {"plain": every_fourth, "spanner": right, "binder": nothing}


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> list[RunOutcome]:
    """Runs of three recipes with three seeds on the corpus `made`."""
    chosen = pretending.plan(*ANSWERS, seeds=3)
    return pretending.outcomes(tmp_path_factory.mktemp("runs"), ANSWERS, chosen)


def claim(**values: Any) -> ClaimPlan:
    return ClaimPlan(**{"name": "made up", "place": "Table 1", "says": "It is so.", **values})


def judged(runs: list[RunOutcome], numbers: Numbers | None = None, **values: Any) -> ClaimResult:
    return judge(claim(**values), ["made"], runs, numbers or {})


def on_corpora(runs: list[RunOutcome], *names: str) -> list[RunOutcome]:
    return [replace(run, corpus=name) for name in names for run in runs]


def with_dev(runs: list[RunOutcome], *curve: float) -> list[RunOutcome]:
    return [replace(run, record=replace(run.record, dev_f1=list(curve))) for run in runs]


def test_a_claim_is_confirmed_or_contradicted_by_where_the_interval_lies(outcomes: list[RunOutcome]) -> None:
    assert judged(outcomes, better="spanner", than=["binder"]).verdict == "confirmed"
    assert judged(outcomes, better="binder", than=["spanner"]).verdict == "contradicted"
    assert judged(outcomes, better="binder", than=["spanner"], less=True).verdict == "confirmed"
    same = [replace(run, recipe="twin") for run in outcomes if run.recipe == "plain"]
    found = judged([*outcomes, *same], better="plain", than=["twin"])
    assert (found.verdict, found.effect) == ("not confirmed", Effect(0.0, 0.0, 0.0, 1.0))


def test_the_effect_is_the_difference_of_all_runs(outcomes: list[RunOutcome]) -> None:
    counts = {name: np.stack([run.counts for run in outcomes if run.recipe == name]) for name in ANSWERS}
    expected = compare_runs(counts["spanner"], counts["plain"])
    found = judged(outcomes, better="spanner", than=["plain"])
    assert found.effect == Effect.of(expected)
    assert (found.seeds, found.documents) == (3, len(pretending.TEST))


def test_corpora_are_judged_alone_and_together(outcomes: list[RunOutcome]) -> None:
    runs = on_corpora(outcomes, "one", "two")
    found = judge(claim(better="spanner", than=["plain"]), ["one", "two", "three"], runs, {})
    assert list(found.by_corpus) == ["one", "two"]
    assert found.effect == together(list(found.by_corpus.values()))
    assert (found.missing, found.flags) == (("three",), ("incomplete",))
    chosen = judge(claim(better="spanner", than=["plain"], corpora=["two"]), ["one", "two"], runs, {})
    assert list(chosen.by_corpus) == ["two"] and chosen.flags == ()


def test_runs_of_two_corpora_may_be_held_against_each_other(outcomes: list[RunOutcome]) -> None:
    """The same recipe, trained on other documents, on the same test documents."""
    leaked = [replace(run, corpus="leaked", recipe="plain") for run in outcomes if run.recipe == "spanner"]
    asked = claim(better="plain", than=["plain"], than_corpus="made", corpora=["leaked"])
    found = judge(asked, ["made", "leaked"], [*outcomes, *leaked], {})
    assert found.effect == judged(outcomes, better="spanner", than=["plain"]).effect
    assert list(found.by_corpus) == ["leaked"] and found.seeds == 3


def test_without_runs_of_both_sides_there_is_no_verdict(outcomes: list[RunOutcome]) -> None:
    some = [run for run in outcomes if run.recipe != "binder"]
    found = judged(some, better="spanner", than=["binder"])
    assert (found.verdict, found.flags, found.effect) == ("not run yet", (), None)


def test_fewer_than_three_seeds_are_too_few(outcomes: list[RunOutcome]) -> None:
    some = [run for run in outcomes if run.recipe != "plain" or run.seed < 3]
    assert judged(some, better="spanner", than=["plain"]).flags == ("too few seeds",)
    assert judged(outcomes, better="spanner", than=["plain"]).flags == ()


@pytest.mark.parametrize(
    ("curves", "rising"),
    [
        ([[0.5, 0.7, 0.706]], True),
        ([[0.5, 0.7, 0.704]], False),
        ([[0.7, 0.5, 0.704]], False),  # above the epoch before, but not above the best one
        ([[0.5, 0.7, 0.72], [0.5, 0.7, 0.68]], False),  # the mean over seeds counts
        ([[0.7]], True),  # of one epoch nobody knows
    ],
)
def test_dev_f1_still_rises_if_the_last_epoch_is_best_by_half_a_point(
    outcomes: list[RunOutcome], curves: list[list[float]], rising: bool
) -> None:
    runs = [run for curve in curves for run in with_dev(outcomes[:1], *curve)]
    assert still_rising(runs) is rising


def test_a_rise_of_either_side_is_told(outcomes: list[RunOutcome]) -> None:
    runs = [run for run in outcomes if run.recipe != "plain"]
    runs += with_dev([run for run in outcomes if run.recipe == "plain"], 0.5, 0.6)
    for sides in ({"better": "plain", "than": ["spanner"]}, {"better": "spanner", "than": ["plain"]}):
        found = judged(runs, **sides)
        assert (found.flags, found.rising) == (("still rising",), ("plain on made",))
    assert judged(runs, better="spanner", than=["binder"]).flags == ()


def test_the_best_must_be_better_than_each(outcomes: list[RunOutcome]) -> None:
    assert judged(outcomes, better="spanner", than=["plain", "binder"]).verdict == "confirmed"
    assert judged(outcomes, better="plain", than=["spanner", "binder"]).verdict == "contradicted"


def test_a_trend_is_over_recipes_in_their_order(outcomes: list[RunOutcome]) -> None:
    found = judged(outcomes, order=["binder", "plain", "spanner"])
    scores = {run.recipe: run.measure("f1") for run in outcomes}
    assert found.effect is not None
    assert found.effect.value == pytest.approx(scores["spanner"] - scores["binder"])
    assert found.verdict == "confirmed"  # by all runs: three recipes alone have six orders only
    once = [run for run in outcomes if run.seed == 1]
    assert judged(once, order=["binder", "plain", "spanner"]).verdict == "not confirmed"
    falling = judged(outcomes, order=["binder", "plain", "spanner"], less=True).effect
    assert falling is not None and falling.value == -found.effect.value


def scored(corpus: str, recipe: str, seed: int, f1: float, template: RunOutcome) -> RunOutcome:
    """A run with a certain F1 on test, and on dev."""
    right_ones = round(1000 * f1)
    counts = np.array([[1000, right_ones, 1000, right_ones]])
    record = replace(template.record, dev_f1=[f1])
    return replace(template, corpus=corpus, recipe=recipe, seed=seed, counts=counts, record=record)


def bundled(template: RunOutcome, gain: dict[str, float]) -> list[RunOutcome]:
    """On corpus `a` to `e` the tagger is ever better than the spanner; bundling gains as said."""
    leads = dict(zip("abcde", (-0.04, -0.02, 0.0, 0.01, 0.05), strict=True))
    return [
        scored(corpus, recipe, seed, f1, template)
        for corpus, lead in leads.items()
        for seed in (1, 2, 3)
        for recipe, f1 in {
            "spanner": 0.7 + 0.001 * seed,
            "tagger": 0.7 + lead,
            "bundling": 0.7 + gain[corpus],
        }.items()
    ]


def test_a_correlation_is_over_corpora(outcomes: list[RunOutcome]) -> None:
    asked = claim(better="bundling", than=["spanner"], partner="tagger")
    helps = dict(zip("abcde", (-0.03, -0.02, 0.01, 0.02, 0.03), strict=True))
    found = judge(asked, list("abcde"), bundled(outcomes[0], helps), {})
    assert found.verdict == "confirmed" and found.effect is not None and found.effect.value > 0.9
    assert [round(effect.value, 3) for effect in found.by_corpus.values()] == [
        round(gain - 0.002, 3) for gain in helps.values()
    ]
    hinders = {corpus: -gain for corpus, gain in helps.items()}
    assert judge(asked, list("abcde"), bundled(outcomes[0], hinders), {}).verdict == "contradicted"


def test_a_correlation_needs_four_corpora_and_two_seeds(outcomes: list[RunOutcome]) -> None:
    asked = claim(better="bundling", than=["spanner"], partner="tagger")
    runs = bundled(outcomes[0], dict.fromkeys("abcde", 0.01))
    assert judge(asked, list("abc"), runs, {}).verdict == "not run yet"
    once = [run for run in runs if run.seed == 1]
    assert judge(asked, list("abcde"), once, {}).verdict == "not run yet"


def test_the_luck_of_a_run_is_no_correlation(outcomes: list[RunOutcome]) -> None:
    """Lucky runs of the spanner make its gain small, and the lead of the tagger: that must prove nothing."""
    asked = claim(better="bundling", than=["spanner"], partner="tagger")
    generator = np.random.default_rng(3)
    called = 0
    for _ in range(100):
        runs = [
            scored(corpus, recipe, seed, 0.7 + generator.normal(scale=0.03), outcomes[0])
            for corpus in "abcde"
            for seed in (1, 2, 3)
            for recipe in ("spanner", "tagger", "bundling")
        ]
        called += judge(asked, list("abcde"), runs, {}).verdict == "confirmed"
    assert called <= 2.5 + 3 * (100 * 0.025) ** 0.5


def test_numbers_beside_f1_are_compared_over_runs(outcomes: list[RunOutcome]) -> None:
    numbers = {run.key: {"bleu": 0.1 * (run.recipe == "plain") + 0.001 * run.seed} for run in outcomes}
    found = judged(outcomes, numbers, better="plain", than=["spanner"], of="number/bleu")
    assert found.effect is not None and found.effect.value == pytest.approx(0.1)
    assert found.verdict == "confirmed" and not found.claim.in_points
    assert judged(outcomes, better="plain", than=["spanner"], of="number/bleu").verdict == "not run yet"


def test_an_interval_without_ends_is_null_in_json(outcomes: list[RunOutcome]) -> None:
    once = [run for run in outcomes if run.seed == 1]
    found = judged(once, better="plain", than=["binder"], of="type/Cell").to_dict()
    assert (found["effect"]["low"], found["effect"]["high"]) == (None, None)
    json.dumps(found, allow_nan=False)


@pytest.mark.parametrize(
    ("of", "value"),
    [
        ("width/2", lambda run: run.buckets["width", "2"].f1),
        ("type/Cell", lambda run: run.types["Cell"].f1),
        ("mistakes/missed", lambda run: run.mistake_rates["missed"]),
    ],
)
def test_parts_of_the_entities_and_kinds_of_mistakes_are_numbers_of_runs(
    outcomes: list[RunOutcome], of: str, value: Any
) -> None:
    found = judged(outcomes, better="plain", than=["binder"], of=of).effect
    means = [fmean(value(run) for run in outcomes if run.recipe == name) for name in ("plain", "binder")]
    assert found is not None and found.value == pytest.approx(means[0] - means[1])


def test_a_number_that_no_run_has_is_refused(outcomes: list[RunOutcome]) -> None:
    with pytest.raises(InputError, match="a claim is about 'width/99', which the run of plain on made"):
        judged(outcomes, better="plain", than=["binder"], of="width/99")


def test_numbers_are_read_from_lines_and_later_ones_add_to_earlier_ones(tmp_path: Path) -> None:
    lines = [
        {"corpus": "a", "recipe": "plain", "seed": 1, "numbers": {"bleu": 0.5, "norm": 3}},
        {"corpus": "a", "recipe": "plain", "seed": 1, "numbers": {"bleu": 0.6}},
    ]
    (tmp_path / "numbers.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    assert read_numbers(tmp_path) == {("a", "plain", 1): {"bleu": 0.6, "norm": 3.0}}
    assert read_numbers(tmp_path / "nowhere") == {}
    (tmp_path / "numbers.jsonl").write_text('{"corpus": "a"}\n')
    with pytest.raises(InputError, match=r"numbers.jsonl:1: expected corpus, recipe, seed and numbers"):
        read_numbers(tmp_path)


CLAIMS = [
    {"name": "spans", "place": "Table 1", "says": "S.", "better": "spanner", "than": ["plain"]},
    {"name": "binders", "place": "Table 2", "says": "B.", "better": "binder", "than": ["plain"]},
]


def test_results_of_a_plan_with_claims_have_verdicts(tmp_path: Path) -> None:
    results = pretending.results(tmp_path, ANSWERS, claims=CLAIMS)
    found = results.to_dict()["claims"]
    assert [(each["name"], each["verdict"]) for each in found] == [
        ("spans", "confirmed"),
        ("binders", "contradicted"),
    ]
    assert found[0]["flags"] == ["too few seeds"] and found[0]["by_corpus"]["made"]["verdict"] == "confirmed"
    json.dumps(found, allow_nan=False)
    assert "| spans | confirmed, too few seeds |" in markdown(results)
    assert "## Claims" not in markdown(pretending.results(tmp_path / "none", ANSWERS))


def test_the_table_of_verdicts_fits_a_narrow_terminal(tmp_path: Path) -> None:
    text = io.StringIO()
    results = pretending.results(tmp_path, ANSWERS, claims=CLAIMS)
    Console(file=text, width=80).print(claim_verdicts_table(results.claims))
    shown = text.getvalue()
    assert "spans" in shown and "confirmed" in shown and "…" not in shown


def refusal(**values: Any) -> str:
    with pytest.raises(InputError) as caught:
        pretending.plan("plain", "spanner", claims=[{"name": "one", "place": "", "says": "", **values}])
    return str(caught.value).removeprefix("made up: ")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (
            {"better": "plain", "than": ["binder"]},
            "the claim 'one' names the recipe 'binder'; expected one of plain, spanner",
        ),
        (
            {"better": "plain", "than": ["spanner"], "corpora": ["ncbi"]},
            "the claim 'one' names the corpus 'ncbi'; expected one of made",
        ),
        ({"better": "plain"}, "'claims.0': expected better and than, or order"),
        (
            {"order": ["plain", "spanner", "plain"], "better": "plain"},
            "'claims.0': order is given, so better, than and partner cannot be",
        ),
        ({"order": ["plain", "spanner"]}, "'claims.0': order has 2 recipes; expected 3 or more"),
        (
            {"better": "plain", "than": ["spanner"], "partner": "plain", "of": "width/1"},
            "'claims.0': with a partner, expected one recipe in than, and F1",
        ),
        (
            {"better": "plain", "than": ["spanner"], "worse": 1},
            "'claims.0.worse' is unknown; expected name, ",
        ),
    ],
)
def test_a_wrong_claim_is_refused(values: dict[str, Any], message: str) -> None:
    assert refusal(**values).startswith(message)


def test_two_claims_of_one_name_are_refused() -> None:
    with pytest.raises(InputError, match="two claims are named 'spans'"):
        pretending.plan("plain", "spanner", claims=[CLAIMS[0], CLAIMS[0]])


def test_the_effect_of_the_paper_is_meant_as_ours() -> None:
    one = claim(better="plain", than=["spanner"], reported={"NCBI": [90.5, 90.0]})
    assert one.reported_effect("NCBI") == 0.5 and one.reported_effect("GENIA") is None
    fewer = claim(better="plain", than=["spanner"], less=True, reported={"NCBI": [10.0, 12.0]})
    assert fewer.reported_effect("NCBI") == 2.0
    several = claim(better="plain", than=["spanner", "binder"], reported={"NCBI": [90.5, 90.0, 90.2]})
    assert several.reported_effect("NCBI") == pytest.approx(0.3)
    order = claim(order=["plain", "spanner", "binder"], reported={"NCBI": [90.5, 90.0, 91.0]})
    assert order.reported_effect("NCBI") == pytest.approx(0.5)
