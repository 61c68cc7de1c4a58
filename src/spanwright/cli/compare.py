"""`spanwright compare`: recipes x corpora x seeds, from one command."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from spanwright.cli.command import interruptible
from spanwright.cli.completion import recipes as recipe_names
from spanwright.cli.devices import Device
from spanwright.cli.reading import FormatOfAll, InputOptions, parse_options, report
from spanwright.cli.tables.training import claim_verdicts_table, finished_runs_table, recipe_scores_table
from spanwright.devices import AUTO
from spanwright.errors import InputError
from spanwright.formats.format import ReadingLog
from spanwright.reporting.index_page import write_index

if TYPE_CHECKING:
    from spanwright.comparing import Run, RunOutcome
    from spanwright.training.watcher import Watcher


_Encoder = Annotated[
    str | None, typer.Option(help="Encoder: a short name such as minilm, a folder, or a Hugging Face id.")
]
_Changes = Annotated[
    list[str] | None, typer.Option("--set", help="A setting of all runs as key=value; may be repeated.")
]
RecipesOrPlan = Annotated[
    list[str],
    typer.Argument(
        help="Recipes (names or TOML files); or, without --train, a TOML plan.", autocompletion=recipe_names
    ),
]


def compare_command(
    recipes: RecipesOrPlan,
    out: Annotated[Path, typer.Option(help="Folder of the runs and the results.")],
    train: Annotated[list[Path] | None, typer.Option(help="Training files; may be repeated.")] = None,
    dev: Annotated[list[Path] | None, typer.Option(help="Files that choose the best models.")] = None,
    test: Annotated[list[Path] | None, typer.Option(help="Files that the best models are scored on.")] = None,
    corpus: Annotated[str | None, typer.Option(help="Name of the corpus in tables and folders.")] = None,
    seeds: Annotated[int | None, typer.Option(help="Runs of each recipe (3), with seeds 1, 2, ...")] = None,
    base: Annotated[str | None, typer.Option(help="Recipe to compare the others with (the first).")] = None,
    encoder: _Encoder = None,
    documents: Annotated[int | None, typer.Option(help="Train on the first documents only.")] = None,
    descriptions: Annotated[
        str | None, typer.Option(help="Texts about the types, for the recipes that read them.")
    ] = None,
    changes: _Changes = None,
    changes_for: Annotated[
        list[str] | None,
        typer.Option("--set-for", help="A setting of one recipe as RECIPE:key=value; may be repeated."),
    ] = None,
    format: FormatOfAll = None,
    option: InputOptions = None,
    heat_map_split: Annotated[
        str | None, typer.Option(help="Documents of the heat map: dev or test (test).")
    ] = None,
    only_finished: Annotated[
        bool, typer.Option("--only-finished", help="Train nothing: compare the runs that are finished.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the results as JSON.")] = False,
    device: Device = AUTO,
) -> None:
    """Train recipes with several seeds and compare them: scores, significance, time, heat maps.

    The same command again goes on where an interrupted one stopped; finished runs are reused.

    Example: spanwright compare plain bundling --train train.tsv --dev dev.tsv --test test.tsv --out compared
    """
    of_corpus = {
        "train": train,
        "dev": dev,
        "test": test,
        "format": format,
        "options": parse_options(option) if option else None,
        "descriptions": descriptions,
        "documents": {"train": documents} if documents is not None else None,
    }
    of_plan = {
        "seeds": seeds,
        "base": base,
        "encoder": encoder,
        "set": changes,
        "set_for": _by_recipe(changes_for) if changes_for else None,
        "heat_map_split": heat_map_split,
        "corpora": {corpus or "corpus": _given(of_corpus)} if corpus or _given(of_corpus) else None,
    }
    _compare(recipes, _given(of_plan), out, only_finished, as_json, device)


def _compare(
    recipes: Sequence[str],
    options: dict[str, Any],
    out: Path,
    only_finished: bool,
    as_json: bool,
    device: str,
) -> None:
    from spanwright.comparing import compare, load_plan, make_plan
    from spanwright.comparing.result_texts import CLAIM_NOTE, footnote

    if "corpora" in options:
        plan = make_plan({"recipes": recipes, **options}, "compare")
    elif len(recipes) > 1 or not recipes[0].endswith(".toml"):
        raise InputError("compare: without --train, --dev and --test, expected one plan, such as plan.toml")
    elif options:
        raise InputError(f"{recipes[0]}: a plan has everything in it; put {', '.join(options)} there")
    else:
        plan = load_plan(Path(recipes[0]))
    view = ComparisonView()
    with interruptible(lambda: "the same command goes on from here"):
        results = compare(plan, out=out, only_finished=only_finished, device=device, watcher=view)
    if as_json:
        typer.echo(json.dumps(results.to_dict(), indent=2, ensure_ascii=False))
    else:
        for result in results.corpora:
            Console().print(recipe_scores_table(result))
        typer.echo(footnote(results))
        if results.claims:
            Console().print(claim_verdicts_table(results.claims))
            typer.echo(CLAIM_NOTE)
    view.console.print(f"results: {out / 'results.md'}", highlight=False, soft_wrap=True)
    if index := write_index(out):
        view.console.print(f"tables and pictures: {index}", highlight=False, soft_wrap=True)


class ComparisonView:
    """Draws a comparison on the terminal: which run it is at, its training, F1 of the finished ones."""

    def __init__(self) -> None:
        self.console = Console(stderr=True, markup=False, emoji=False)
        self._done: list[RunOutcome] = []

    def read(self, corpus: str, split: str, log: ReadingLog) -> None:
        """Report what was noteworthy in the files of a split."""
        if log.notes or log.problems:
            typer.echo(f"{corpus}, {split}:", err=True)
        report(log)

    @contextmanager
    def training(self, run: Run, number: int, total: int) -> Iterator[Watcher]:
        """Show the training of a run."""
        from spanwright.cli.progress import TrainingView

        self.console.rule(Text(f"run {number} of {total}: {run}"))
        with TrainingView() as view:
            yield view

    def finished(self, run: Run, outcome: RunOutcome, *, reused: bool) -> None:
        """Show the F1 of all runs so far."""
        self._done.append(outcome)
        if reused:
            self.console.print(
                f"{run}: finished before, F1 {100 * outcome.measure('f1'):.2f}", highlight=False
            )
        else:
            self.console.print(finished_runs_table(self._done))


def _by_recipe(changes: Sequence[str]) -> dict[str, list[str]]:
    """`RECIPE:key=value` strings by recipe."""
    by_recipe: defaultdict[str, list[str]] = defaultdict(list)
    for change in changes:
        recipe, colon, setting = change.partition(":")
        if not (recipe and colon and "=" in setting):
            raise InputError(
                f"--set-for {change!r}: expected RECIPE:key=value, such as bundling:training.epochs=3"
            )
        by_recipe[recipe].append(setting)
    return dict(by_recipe)


def _given(options: dict[str, Any]) -> dict[str, Any]:
    """The options that the user gave."""
    return {name: value for name, value in options.items() if value is not None and value != []}
