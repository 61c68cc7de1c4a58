"""`spanwright quickstart`: the whole loop on the built-in sample."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from spanwright import sample
from spanwright.cli.tables.tagging import found_entities_table
from spanwright.model_files.folders import MODELS, installed_names

_SENTENCE = "Loss of BRCA2 made human breast cancer cells sensitive to olaparib and cisplatin."
_REAL = (
    "Carriers of the BRAF V600E mutation with melanoma received vemurafenib and trametinib.",
    "Knockdown of SOX9 slowed the growth of A549 cells, and metformin reduced tumours in mice.",
    "Patients with cystic fibrosis were infected by Pseudomonas aeruginosa and treated with tobramycin.",
)
"""What an installed model is tried on."""
_CHANGES = {"training.epochs": 4}


def quickstart_command(
    text: Annotated[str, typer.Option(help="A sentence to tag with the trained model.")] = _SENTENCE,
    out: Annotated[Path, typer.Option(help="Folder of the run.")] = Path("quickstart-run"),
) -> None:
    """Try the installed model, if there is one; then train, evaluate and use one on the built-in sample.

    Example: spanwright quickstart --text "TP53 mutations are common in lung adenocarcinoma."
    """
    from spanwright.cli.progress import TrainingView
    from spanwright.training.loop import train
    from spanwright.training.run_folder import has_run

    console = Console()
    _try_installed(console)
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
    console.print(found_entities_table(result.tag(text)))
    console.print(_next_steps(out), highlight=False)


def _try_installed(console: Console) -> None:
    """Tag a few sentences with the first installed model."""
    name = next(iter(installed_names()), None)
    if name is None:
        return

    from spanwright.predicting.tagger import load

    console.print(f"What the installed model {name} finds:", highlight=False)
    for document in load(MODELS[name]).tag(iter(_REAL)):
        console.print(found_entities_table(document))


def _next_steps(out: Path) -> str:
    return (
        "The sample is made up: these scores say nothing about real text. Next:\n"
        f"  tag your text    spanwright tag {out}/model YOUR.txt --out tagged.jsonl\n"
        "  train your own   spanwright train plain --train T --dev D --out runs/mine\n"
        "  score two files  spanwright evaluate GOLD PREDICTED\n"
        "  see the recipes  spanwright recipes"
    )
