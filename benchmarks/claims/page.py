"""Make the page of claims from the plans and the lines of finished runs alone.

    python benchmarks/claims/page.py        # or: make claims

Nothing is trained: docs/claims.md and its pictures follow from benchmarks/claims/*.toml and
docs/results/claims/NAME/runs.jsonl. Claims without runs say so.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from pictures import draw_curves, draw_effects, draw_trends, draw_widths

from spanwright.comparing import Plan, RunOutcome, load_plan
from spanwright.comparing.claim_plan import AnalysisPlan, ClaimPlan
from spanwright.comparing.claims import ClaimResult, read_numbers, verdict_on
from spanwright.comparing.outcomes import read_outcomes
from spanwright.comparing.result_texts import effect_texts
from spanwright.comparing.results import judge_claims

PAPERS = {
    "Bundling": "Bundling Learning (Ji et al.)",
    "Joint-IB": "Joint-IB (Nguyen et al., 2023)",
    "DSpERT": "DSpERT (Zhu et al., 2023)",
    "BINDER": "BINDER (Zhang et al., ICLR 2023)",
    "CVAE-NER": "CVAE-NER (Oi and Miwa, 2025)",
    "All, at base size": "All systems with an encoder of base size",
    "Beside other tools": "Beside other tools",
}
"""In the order of the page."""
VERDICTS = ("confirmed", "not confirmed", "contradicted", "not run yet", "untestable here")
HEADER = """\
# The claims of five papers, tested

This page is made by `make claims` from the plans in [benchmarks/claims](../benchmarks/claims) and the lines
of finished runs in [results/claims](results/claims): nothing on it is written by hand. Each plan names its
claims, the recipes and corpora that decide them, the budget and the paper's numbers. All systems have the
same encoder, data and budget, and no training document stands in a test file unless a claim is about that.
Encoder all-MiniLM-L6-v2 unless said; strict F1 on whole test files.

- **confirmed**: the 95 % interval of the effect lies above 0; **contradicted**: below 0; **not confirmed**:
  it holds 0, so that the claim may still be right, by less than the interval is wide. **untestable here**:
  what it takes cannot be had.
- An effect is in points, and above 0 where the claim is right. For F1 it is paired over documents and seeds
  ([compare](compare.md)); for parts of the entities, mistakes and vectors it is over seeds alone (Welch).
  Over several corpora it is their mean. The best of several must be better than each; a trend is the slope
  over the runs of recipes in their order, tested by other orders of the runs; a correlation is over corpora,
  with the gain of a seed set against the lead in the other seeds.
- **still rising**: the mean dev F1 of a side was higher by more than half a point after the last epoch than
  ever before, so more training may change the verdict. **too few seeds**: fewer than three. **incomplete**:
  not on all corpora of the claim yet.
"""


@dataclass(frozen=True, slots=True)
class Part:
    """A plan, what came of it, and where."""

    name: str
    plan: Plan
    folder: Path
    outcomes: list[RunOutcome]
    claims: tuple[ClaimResult, ...]

    @property
    def command(self) -> str:
        """What makes its results again."""
        return f"spanwright compare benchmarks/claims/{self.name}.toml --out docs/results/claims/{self.name}"


def main() -> None:
    """Write the page and its pictures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--plans", type=Path, default=Path("benchmarks/claims"))
    parser.add_argument("--results", type=Path, default=Path("docs/results/claims"))
    parser.add_argument("--out", type=Path, default=Path("docs/claims.md"))
    arguments = parser.parse_args()
    parts = read_parts(arguments.plans, arguments.results)
    lines = [HEADER, *summary(parts)]
    for paper in PAPERS:
        own = [part for part in parts if part.plan.paper == paper]
        lines += section(paper, own, arguments.out.parent) if own else []
    arguments.out.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")


def read_parts(plans: Path, results: Path) -> list[Part]:
    """All plans with the verdicts so far."""
    parts = []
    for path in sorted(plans.glob("*.toml"), key=lambda path: path.stem):
        plan, folder = load_plan(path), results / path.stem
        outcomes = list(read_outcomes(folder).values())
        claims = judge_claims(plan, outcomes, read_numbers(folder))
        parts.append(Part(path.stem, plan, folder, outcomes, claims))
    return parts


def summary(parts: Sequence[Part]) -> Iterator[str]:
    """How many claims of each paper have which verdict."""
    yield "| paper | " + " | ".join(VERDICTS) + " |"
    yield "|---" * (len(VERDICTS) + 1) + "|"
    for paper, title in PAPERS.items():
        own = [part for part in parts if part.plan.paper == paper]
        counts = Counter[str](result.verdict for part in own for result in part.claims)
        counts["untestable here"] = sum(len(part.plan.untestable) for part in own)
        link = f"[{title}](#{anchor(title)})"
        yield f"| {link} | " + " | ".join(str(counts[verdict] or "") for verdict in VERDICTS) + " |"
    yield ""


def anchor(title: str) -> str:
    """The anchor that a heading gets."""
    kept = "".join(letter for letter in title.lower() if letter.isalnum() or letter in " -_")
    return kept.replace(" ", "-")


def section(paper: str, parts: Sequence[Part], docs: Path) -> Iterator[str]:
    """Everything about a paper."""
    yield f"## {PAPERS[paper]}\n"
    yield from claim_table(parts)
    yield from untestable_table(parts)
    yield from paper_pictures(paper, parts, docs)
    yield from corpus_table(parts)
    for part in parts:
        yield from analyses(part)
    yield "**What differs from the paper:**\n"
    yield from (f"- {text}" for part in parts for text in part.plan.changed)
    yield "\n**To repeat:** commands before and after are in the head of each plan.\n"
    yield "```console"
    yield from (f"$ {part.command}" for part in parts)
    yield "```\n"


def claim_table(parts: Sequence[Part]) -> Iterator[str]:
    """A row for each claim."""
    columns = (
        "claim",
        "where",
        "verdict",
        "effect",
        "95 %",
        "p",
        "paper",
        "seeds, documents",
        "budget",
        "runs",
    )
    yield "| " + " | ".join(columns) + " |"
    yield "|---" * len(columns) + "|"
    for part in parts:
        for result in part.claims:
            yield "| " + " | ".join(claim_cells(part, result)) + " |"
    yield ""


def claim_cells(part: Part, result: ClaimResult) -> Iterator[str]:
    """The texts of a claim's row."""
    claim = result.claim
    yield claim.says
    yield claim.place
    yield f"**{result.verdict}**" + "".join(f", {flag}" for flag in result.flags)
    yield from effect_texts(result.effect, in_points=claim.in_points) if result.effect else ("", "", "")
    yield paper_text(claim)
    yield f"{result.seeds}, {result.documents:,}" if result.effect else ""
    yield budget(claim, part.outcomes)
    yield link(part)


def paper_text(claim: ClaimPlan) -> str:
    """The paper's effects, corpus by corpus."""
    digits = 1 if claim.in_points else 2
    effects = {name: claim.reported_effect(name) for name in claim.reported}
    return "; ".join(f"{name} {value:+.{digits}f}" for name, value in effects.items() if value is not None)


def budget(claim: ClaimPlan, outcomes: Sequence[RunOutcome]) -> str:
    """Epochs and words of the runs that decide a claim."""
    own = [
        run
        for run in outcomes
        if run.recipe in claim.recipes and run.corpus in (claim.corpora or (run.corpus,))
    ]
    if not own:
        return ""
    epochs = sorted({len(run.record.dev_f1) for run in own})
    words = fmean(run.seconds * run.words_per_second for run in own) / 1000
    return (
        f"{' to '.join(map(str, dict.fromkeys((epochs[0], epochs[-1]))))} epochs, {words:,.0f} thousand words"
    )


def link(part: Part) -> str:
    """Where a reader finds settings, seeds, curves and commits."""
    if not part.outcomes:
        return f"[plan](../benchmarks/claims/{part.name}.toml)"
    commits = sorted({(run.record.commit or "unknown")[:7] for run in part.outcomes})
    return (
        f"[{part.name}](results/claims/{part.name}) ({len(part.outcomes)} runs, commit {', '.join(commits)})"
    )


def untestable_table(parts: Sequence[Part]) -> Iterator[str]:
    """Claims that nothing here can decide."""
    found = [claim for part in parts for claim in part.plan.untestable]
    if found:
        yield "| untestable here | where | why |\n|---|---|---|"
        yield from (f"| {claim.says} | {claim.place} | {claim.reason} |" for claim in found)
        yield ""


def corpus_table(parts: Sequence[Part]) -> Iterator[str]:
    """Effects on each corpus, of claims that have several."""
    several = [result for part in parts for result in part.claims if len(result.by_corpus) > 1]
    if not several:
        return
    yield "Corpus by corpus:\n\n| claim | corpus | verdict | effect | 95 % | p |\n|---|---|---|---|---|---|"
    for result in several:
        # The effects on single corpora are the gains, whatever is tested of them.
        in_points = result.claim.in_points or result.claim.test == "correlation"
        for corpus, effect in result.by_corpus.items():
            texts = " | ".join(effect_texts(effect, in_points=in_points))
            yield f"| {result.claim.name} | {corpus} | {verdict_on(effect)} | {texts} |"
    yield ""


def paper_pictures(paper: str, parts: Sequence[Part], docs: Path) -> Iterator[str]:
    """Draw what there is to draw, and show it."""
    folder = docs / "images" / "claims"
    slug = anchor(paper)

    def shown(drawn: bool, name: str, text: str) -> list[str]:
        return [f"![{text}](images/claims/{name})\n"] if drawn else []

    results = [result for part in parts for result in part.claims]
    name = f"{slug}-effects.png"
    yield from shown(draw_effects(results, folder / name, paper), name, f"effects of {paper}")
    for part in parts:
        for result in part.claims:
            name = f"{part.name}-{result.claim.name}.png"
            yield from shown(draw_trends(result, part.outcomes, folder / name), name, result.claim.says)
        if paper == "DSpERT":
            name = f"{part.name}-widths.png"
            drawn = draw_widths(part.outcomes, folder / name, f"{part.name}: figures 2 and 3, ours")
            yield from shown(drawn, name, "F1 by width and nesting")
        name = f"{part.name}-curves.png"
        yield from shown(draw_curves(part.outcomes, folder / name, part.name), name, "dev F1 by epoch")


def analyses(part: Part) -> Iterator[str]:
    """What was looked at besides, if its files are there, and how to make them."""
    for analysis in part.plan.analyses:
        yield f"**{analysis.place}.** {analysis.says}\n"
        yield from analysis_files(part, analysis)
        yield "```console"
        yield from (f"$ {command}" for command in analysis.commands)
        yield "```\n"


def analysis_files(part: Part, analysis: AnalysisPlan) -> Iterator[str]:
    """Pictures are shown, tables of figures and other files linked."""
    there = [file for file in analysis.files if (part.folder / file).exists()]
    if not there:
        yield "Not run yet.\n"
    for file in there:
        path = f"results/claims/{part.name}/{file}"
        yield f"![{file}]({path})\n" if file.endswith(".png") else f"Numbers: [{file}]({path})\n"
        if file.endswith(".json"):
            yield from scores_in(json.loads((part.folder / file).read_text(encoding="utf-8")))


SCORES = {("precision", "recall", "f1"): 100, ("P", "R", "F1"): 1}
"""What files of results call them, and what makes percentages of them."""


def scores_in(values: object, place: str = "") -> Iterator[str]:
    """A line for every precision, recall and F1 in a file of results."""
    if not isinstance(values, dict):
        return
    for names, scale in SCORES.items():
        if values.keys() >= set(names):
            numbers = ", ".join(f"{name} {scale * values[name]:.1f}" for name in names)
            yield f"- {place or 'all'}: {numbers}"
            return
    for key, value in values.items():
        yield from scores_in(value, f"{place}, {key}" if place else str(key))
    if not place:
        yield ""


if __name__ == "__main__":
    main()
