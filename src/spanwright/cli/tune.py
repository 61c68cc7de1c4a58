"""`spanwright tune`: search for settings of a recipe."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from spanwright.cli.command import interruptible
from spanwright.cli.devices import Device
from spanwright.cli.reading import report
from spanwright.cli.tables.training import trials_table
from spanwright.devices import AUTO
from spanwright.formats.format import ReadingLog

if TYPE_CHECKING:
    from spanwright.training.watcher import Watcher
    from spanwright.tuning import TrialOutcome


def tune_command(
    plan: Annotated[Path, typer.Argument(help="A TOML plan: recipe, files, and what is searched for.")],
    out: Annotated[Path, typer.Option(help="Folder of the trials and of what they found.")],
    trials: Annotated[
        int | None,
        typer.Option(min=1, help="How many trials to make; as many as the plan says unless given."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the trials as JSON.")] = False,
    device: Device = AUTO,
) -> None:
    """Search for the settings of a recipe that give the best dev F1.

    The same command again goes on where an interrupted one stopped. Of all models only that of the best trial
    is kept, to save disk; its settings stand in OUT/best.toml, which `spanwright train` takes as a recipe.

    Example: spanwright tune plan.toml --out tuned --trials 30
    """
    from spanwright.tuning import load_plan, tune

    view = TuningView()
    with interruptible(lambda: "the same command goes on from here"):
        found = tune(load_plan(plan), out=out, trials=trials, device=device, watcher=view)
    if as_json:
        values = {"best": asdict(found.best), "trials": [asdict(outcome) for outcome in found.outcomes]}
        typer.echo(json.dumps(values, indent=2, ensure_ascii=False))
    else:
        Console().print(trials_table(found.outcomes, found.best))
    if not found.best.f1:
        view.console.print(
            "warning: no trial found an entity in dev, so none is the best: train longer "
            "(training.epochs), or search other learning rates",
            soft_wrap=True,
        )
    for name, path in {"best settings": out / "best.toml", "best model": found.model}.items():
        view.console.print(f"{name}: {path}", highlight=False, soft_wrap=True)


class TuningView:
    """Draws a search on the terminal: which trial it is at, its training, F1 of those before."""

    def __init__(self) -> None:
        self.console = Console(stderr=True, markup=False, emoji=False)

    def read(self, split: str, log: ReadingLog) -> None:
        """Report what was noteworthy in the files of a split."""
        if log.notes or log.problems:
            typer.echo(f"{split}:", err=True)
        report(log)

    @contextmanager
    def training(self, number: int, total: int, chosen: Mapping[str, Any]) -> Iterator[Watcher]:
        """Show the training of a trial."""
        from spanwright.cli.progress import TrainingView

        self.console.rule(Text(f"trial {number} of {total}"))
        for key, value in chosen.items():
            self.console.print(f"{key} = {value}", highlight=False, soft_wrap=True)
        with TrainingView() as view:
            yield view

    def tried(self, outcome: TrialOutcome, outcomes: Sequence[TrialOutcome]) -> None:
        """Report how a trial went, and the best so far."""
        best = max((each.f1 or 0.0 for each in outcomes if each.state == "finished"), default=0.0)
        f1 = "" if outcome.f1 is None else f", F1 {100 * outcome.f1:.2f}"
        reason = f": {outcome.reason}" if outcome.reason else f1
        self.console.print(
            f"trial {outcome.number} {outcome.state}{reason}; best so far {100 * best:.2f}",
            highlight=False,
            soft_wrap=True,
        )
