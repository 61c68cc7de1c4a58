"""`spanwright quickstart`: the whole loop on the built-in sample."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from spanwright import sample
from spanwright.cli.tables.tagging import found_entities_table

_SENTENCE = "Loss of BRCA2 made human breast cancer cells sensitive to olaparib and cisplatin."
_CHANGES = {"training.epochs": 4}


def quickstart_command(
    text: Annotated[str, typer.Option(help="A sentence to tag with the trained model.")] = _SENTENCE,
    out: Annotated[Path, typer.Option(help="Folder of the run.")] = Path("quickstart-run"),
) -> None:
    """Train, evaluate and use a model on the built-in sample, in a minute or two.

    Example: spanwright quickstart --text "TP53 mutations are common in lung adenocarcinoma."
    """
    from spanwright.cli.progress import TrainingView
    from spanwright.training.loop import train
    from spanwright.training.run_folder import has_run

    files = sample.files()
    with TrainingView() as view:
        result = train(
            "plain",
            train=files["train"],
            dev=files["dev"],
            test=files["test"],
            out=out,
            set=_CHANGES,
            resume=has_run(out),
            watcher=view,
        )
    view.summary(result)
    console = Console()
    console.print(found_entities_table(result.tag(text)))
    console.print(_next_steps(out), highlight=False)


def _next_steps(out: Path) -> str:
    return (
        "The sample is made up: these scores say nothing about real text. Next:\n"
        f"  tag your text    spanwright tag {out}/model YOUR.txt --out tagged.jsonl\n"
        "  train your own   spanwright train plain --train T --dev D --out runs/mine\n"
        "  score two files  spanwright evaluate GOLD PREDICTED\n"
        "  see the recipes  spanwright recipes"
    )
