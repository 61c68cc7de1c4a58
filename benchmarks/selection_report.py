"""The table and the plot of the simulated selection, from its lines, into docs/annotation.md.

    python benchmarks/selection_report.py

It can be run at any time: curves that are not finished are left out of the table, and the plot has what is
there. `selection.py` says what is simulated.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import Any

from selection import CORPORA, FULL, GOAL, RESULTS, ROUNDS, SEEDS, SHARE, lines
from spanwright import pictures
from spanwright.selecting.choosing import STRATEGIES

PAGE = Path("docs/annotation.md")
PLOT = Path("docs/images/selection.png")
NAMES = {"ncbi_disease": "NCBI disease", "genia": "GENIA"}
PAIRS = list(product(CORPORA, SEEDS))


@dataclass(frozen=True)
class Curve:
    """The rounds of one strategy, corpus and seed, with F1 as a share of that of all sentences."""

    rounds: list[dict[str, Any]]
    parts: list[float]

    @property
    def is_reached(self) -> bool:
        """Whether it came to the goal."""
        return bool(self.parts) and self.parts[-1] >= GOAL

    @property
    def is_finished(self) -> bool:
        """Whether nothing is to come."""
        return self.is_reached or len(self.parts) == ROUNDS

    def last(self, key: str) -> float:
        """The share of sentences (or words) at its end; one round more if the goal was not reached."""
        return float(self.rounds[-1][key]) + (0 if self.is_reached else SHARE)


Curves = dict[tuple[str, int], Curve]


def curves(results: Path, by: str) -> Curves:
    """The curves of a strategy by corpus and seed, as far as all sentences were trained on, too."""
    found: Curves = {}
    for corpus, seed in PAIRS:
        full = [line["f1"] for line in lines(results, corpus, seed, FULL)]
        rounds = list(lines(results, corpus, seed, by))
        if full and rounds:
            found[corpus, seed] = Curve(rounds, [line["f1"] / full[0] for line in rounds])
    return found


def table(results: Path) -> str:
    """A row for each strategy."""
    random = curves(results, "random")
    corpora = " | ".join(NAMES.values())
    head = [
        f"| strategy | {corpora} | mean | of the words | fewer than at random | p | F1 ahead of random | p |",
        f"|---|{'---|' * len(NAMES)}---|---|---|---|---|---|",
    ]
    return "\n".join([*head, *(row(by, curves(results, by), random) for by in STRATEGIES)])


def row(by: str, found: Curves, random: Curves) -> str:
    """Shares by seed, their means, and the tests against random."""
    finished = {pair: curve for pair, curve in found.items() if curve.is_finished}
    cells = [", ".join(shown(finished.get((corpus, seed))) for seed in SEEDS) for corpus in CORPORA]
    means = [percent([curve.last(key) for curve in finished.values()]) for key in ("share", "words_share")]
    if by == "random":
        return f"| {by} | {' | '.join([*cells, *means])} | | | | |"
    both = [pair for pair in finished if pair in random and random[pair].is_finished]
    fewer = [random[pair].last("share") - finished[pair].last("share") for pair in both]
    ahead = [lead(found[pair], random[pair]) for pair in found if pair in random]
    tests = [percent(fewer), chance(fewer), percent(ahead), chance(ahead)]
    return f"| {by} | {' | '.join([*cells, *means, *tests])} |"


def shown(curve: Curve | None) -> str:
    """The share of sentences of a curve."""
    if curve is None:
        return "–"
    return f"{curve.rounds[-1]['share']:.0%}" if curve.is_reached else f"> {ROUNDS * SHARE:.0%}"


def percent(values: Sequence[float]) -> str:
    """A mean, with the number of values where not all are there yet."""
    if not values:
        return "–"
    return f"{fmean(values):.1%}" + ("" if len(values) == len(PAIRS) else f" ({len(values)} of {len(PAIRS)})")


def lead(curve: Curve, random: Curve) -> float:
    """How much more of the full F1 a curve has than random, on average over the rounds that both have.

    The first round is the same for both.
    """
    differences = [ours - theirs for ours, theirs in zip(curve.parts[1:], random.parts[1:], strict=False)]
    return fmean(differences) if differences else 0.0


def chance(differences: Sequence[float]) -> str:
    """One-sided p: the share of all ways to flip signs of the differences with a sum as large or larger."""
    if not differences:
        return "–"
    observed = sum(differences) - 1e-9
    flips = list(product((1, -1), repeat=len(differences)))
    sums = [sum(sign * each for sign, each in zip(signs, differences, strict=True)) for signs in flips]
    return f"{sum(each >= observed for each in sums) / len(flips):.3f}"


def draw(results: Path, plot: Path) -> None:
    """F1 by share of sentences, as a share of the full F1, a picture for each corpus; means of seeds."""
    with pictures.styled("the plot of selection"):
        figure = pictures.new_figure(10, 4)
        for axes, corpus in zip(figure.subplots(1, len(CORPORA), sharey=True), CORPORA, strict=True):
            for by in STRATEGIES:
                of_corpus = [curve for pair, curve in curves(results, by).items() if pair[0] == corpus]
                points = means(of_corpus)
                places = [SHARE * number for number in range(1, len(points) + 1)]
                axes.plot(places, points, marker="o", markersize=3, label=by)
            axes.axhline(GOAL, color=pictures.QUIET, linewidth=0.8, linestyle="--")
            axes.set(title=NAMES[corpus], xlabel="share of sentences annotated")
        figure.axes[0].set_ylabel("F1 / F1 of all sentences")
        figure.axes[-1].legend(loc="lower right")
        pictures.save(figure, plot)


def means(found: Sequence[Curve]) -> list[float]:
    """The mean of each round, as far as all curves go, so that it is always one of the same seeds."""
    return [fmean(parts) for parts in zip(*(curve.parts for curve in found), strict=False)]


def main() -> None:
    """Draw, and write the table into the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--json", type=Path, default=RESULTS, help="the lines of selection.py")
    arguments = parser.parse_args()
    found = table(arguments.json)
    print(found)
    draw(arguments.json, PLOT)
    picture = f"![F1 by the share of sentences that are annotated]({PLOT.relative_to(PAGE.parent)})"
    text = PAGE.read_text(encoding="utf-8")
    pattern = re.compile(r"(<!-- selection -->\n).*?(<!-- /selection -->)", re.DOTALL)
    changed, count = pattern.subn(lambda marks: f"{marks[1]}\n{found}\n\n{picture}\n\n{marks[2]}", text)
    if count != 1:
        raise SystemExit(f"{PAGE}: expected the marks of 'selection' once; found {count}")
    PAGE.write_text(changed, encoding="utf-8")


if __name__ == "__main__":
    main()
