"""A comparison from its plan to its files: tables, counts, heat maps, mistakes and plots."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, Protocol

from spanwright.comparing.claims import read_numbers
from spanwright.comparing.outcomes import (
    RunOutcome,
    analyse,
    read_outcomes,
    refuse_changed_outcome,
    write_outcomes,
)
from spanwright.comparing.pictures import draw_f1, draw_heat_map, draw_plot, plots_of
from spanwright.comparing.plan import Plan, load_plan, make_plan
from spanwright.comparing.result_texts import heat_map_csv, markdown, mistakes_csv
from spanwright.comparing.results import Results, summarise_runs
from spanwright.comparing.runs import Run, RunsWatcher, perform, plan_runs
from spanwright.devices import AUTO
from spanwright.formats.format import ReadingLog
from spanwright.formats.io.locked_folders import locked_folder
from spanwright.formats.io.whole_files import whole_file, write_whole
from spanwright.pictures import check_drawing
from spanwright.training.processes import refuse_several
from spanwright.training.watcher import Silent, Watcher


class ComparisonWatcher(RunsWatcher, Protocol):
    """Receives the events of a comparison."""

    def finished(self, run: Run, outcome: RunOutcome, *, reused: bool) -> None:
        """A run is done, or was found done."""


class SilentComparison:
    """Says nothing."""

    def read(self, corpus: str, split: str, log: ReadingLog) -> None:
        """Ignore."""

    def training(self, run: Run, number: int, total: int) -> AbstractContextManager[Watcher]:
        """Ignore."""
        return nullcontext(Silent())

    def finished(self, run: Run, outcome: RunOutcome, *, reused: bool) -> None:
        """Ignore."""


def compare(
    plan: Plan | Mapping[str, Any] | str | Path,
    *,
    out: str | Path,
    only_finished: bool = False,
    device: str = AUTO,
    watcher: ComparisonWatcher | None = None,
) -> Results:
    """Train what is not trained yet, one run after another, and write all results to `out`.

    A plan is a TOML file, or its values (see docs/compare.md).
    Called again with the same plan, it reuses finished runs and goes on with an interrupted one. A folder
    whose run has other settings or documents is refused. Runs whose outcome stands in `runs.jsonl` need no
    folder. With `only_finished` nothing is trained, and the results are those of the runs that are finished.
    """
    if isinstance(plan, str | Path):
        plan = load_plan(plan)
    elif not isinstance(plan, Plan):
        plan = make_plan(plan, "compare")
    refuse_several("compare")
    check_drawing("a comparison")
    with locked_folder(Path(out)):
        return _compared(plan, Path(out), only_finished, device, watcher or SilentComparison())


def _compared(plan: Plan, out: Path, only_finished: bool, device: str, watcher: ComparisonWatcher) -> Results:
    runs = plan_runs(plan, out, watcher)
    known = read_outcomes(out)
    for run in runs:
        if run.key in known:
            refuse_changed_outcome(run, known[run.key])
    recorded = {key for key, outcome in known.items() if outcome.heat_map_split == plan.heat_map_split}
    if only_finished:
        runs = [run for run in runs if run.key in recorded or run.finished]
    for number, run in enumerate(runs, start=1):
        reused = run.key in recorded or run.finished
        if run.key not in recorded:
            with nullcontext(Silent()) if reused else watcher.training(run, number, len(runs)) as training:
                perform(run, training, device)
            known[run.key] = analyse(run, plan.heat_map_split, device)
            write_outcomes(known.values(), out)
        watcher.finished(run, known[run.key], reused=reused)
    results = summarise_runs(plan, [known[run.key] for run in runs], read_numbers(out))
    save_results(results, plan, out)
    return results


def save_results(results: Results, plan: Plan, out: Path) -> None:
    """Write tables and pictures; each file appears when it is complete."""
    plots = {name: plot for name, plot in plots_of(plan).items() if results.have(plot.recipes)}
    pages = {
        "results.json": json.dumps(results.to_dict(), indent=2, ensure_ascii=False) + "\n",
        "results.md": markdown(results, ["f1.png", *(f"plot-{name}.png" for name in plots)]),
    }
    with whole_file(out / "f1.png") as path:
        draw_f1(results, path)
    for result in results.corpora:
        pages[f"heat-map-{result.corpus}.csv"] = heat_map_csv(result)
        pages[f"mistakes-{result.corpus}.csv"] = mistakes_csv(result)
        title = f"{result.corpus}: F1 on {plan.heat_map_split} less that of {result.base}, in points"
        with whole_file(out / f"heat-map-{result.corpus}.png") as path:
            draw_heat_map(result, path, title=title)
    for name, plot in plots.items():
        with whole_file(out / f"plot-{name}.png") as path:
            draw_plot(plot, results, path, title=name)
    for name, text in pages.items():
        write_whole(out / name, text)
