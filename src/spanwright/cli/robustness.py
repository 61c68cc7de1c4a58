"""`spanwright robustness`: how much F1 a model loses to typos, other mentions and the like."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import track

from spanwright.cli.devices import Device, tell_device
from spanwright.cli.reading import FormatOfAll, read_and_report
from spanwright.cli.tables.scores import perturbation_scores_table
from spanwright.cli.tagging import ModelFolder
from spanwright.devices import AUTO
from spanwright.errors import InputError, did_you_mean
from spanwright.perturbing import NEED_TRAINING, PERTURBATIONS
from spanwright.perturbing.measuring import measurable, measure

_WITHOUT_TRAINING = f"left out for want of training files (--train): {', '.join(NEED_TRAINING)}"


def robustness_command(
    model: ModelFolder,
    gold: Annotated[Path, typer.Argument(help="File or folder with gold entities.")],
    train: Annotated[
        list[Path] | None,
        typer.Option(help="Training files, for the swaps of mentions; may be repeated."),
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option(help=f"One of {', '.join(PERTURBATIONS)}; may be repeated.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of everything that is drawn.")] = 0,
    format: FormatOfAll = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the scores as JSON.")] = False,
    device: Device = AUTO,
) -> None:
    """Score a model on gold documents and on the same documents perturbed in ten ways.

    Example: spanwright robustness runs/plain/model test.pubtator --train train.pubtator
    """
    names = _names(only or [], with_training=bool(train))
    documents = read_and_report([gold], format=format).documents
    training = read_and_report(train, format=format).documents if train else []
    notes = [] if only or train else [_WITHOUT_TRAINING]
    for note in notes:
        typer.echo(f"note: {note}", err=True)

    from spanwright.predicting.tagger import load

    tagger = load(model, device=device)
    tell_device(tagger.device)
    tracked = track(names, "perturbing", console=Console(stderr=True), transient=True)
    untouched, *rows = measure(tagger.tag, documents, tracked, seed=seed, training=training)
    if as_json:
        found = {"untouched": untouched.counts.to_dict(), "perturbations": [row.to_dict() for row in rows]}
        about = {"model": str(model), "gold": str(gold), "seed": seed, "notes": notes}
        typer.echo(json.dumps(about | found, indent=2))
    else:
        Console().print(perturbation_scores_table(untouched, rows))


def _names(only: list[str], *, with_training: bool) -> list[str]:
    """The perturbations to measure, in their order."""
    unknown = [name for name in only if name not in PERTURBATIONS]
    if unknown:
        near = did_you_mean(unknown[0], PERTURBATIONS)
        raise InputError(f"--only {unknown[0]!r}{near}: expected {', '.join(PERTURBATIONS)}")
    impossible = [name for name in NEED_TRAINING if name in only and not with_training]
    if impossible:
        raise InputError(f"--only {impossible[0]}: mentions come from training files; add --train FILE")
    return [name for name in PERTURBATIONS if name in (only or measurable(with_training=with_training))]
