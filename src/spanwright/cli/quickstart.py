"""`spanwright quickstart`: the whole loop on the built-in sample."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from spanwright import sample
from spanwright.text import Document

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
    console.print(_entities(result.tag(text)))
    console.print(_next_steps(out), highlight=False)


def _entities(document: Document) -> Table:
    table = Table("start", "end", "type", "mention", "confidence", title=escape(document.text))
    for entity in document.entities:
        table.add_row(
            str(entity.start),
            str(entity.end),
            entity.type,
            escape(document.mention(entity)),
            f"{entity.confidence or 0:.3f}",
        )
    return table


def _next_steps(out: Path) -> str:
    return (
        "The sample is made up: these scores say nothing about real text. Next:\n"
        f"  tag your text    spanwright tag {out}/model YOUR.txt --out tagged.jsonl\n"
        "  train your own   spanwright train plain --train T --dev D --out runs/mine\n"
        "  score two files  spanwright evaluate GOLD PREDICTED\n"
        "  see the recipes  spanwright recipes"
    )
