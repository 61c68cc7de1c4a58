"""`spanwright inspect spans`: the span vectors of a trained model, in numbers and pictures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from spanwright.cli.devices import Device, shown_choice
from spanwright.cli.reading import FORMAT_HELP, read_and_report
from spanwright.cli.tables.inspections import span_figures_table
from spanwright.cli.tagging import ModelFolder
from spanwright.devices import AUTO
from spanwright.errors import InputError
from spanwright.formats.io.whole_files import write_whole

if TYPE_CHECKING:
    pass


def spans_command(
    model: ModelFolder,
    corpus: Annotated[list[Path], typer.Argument(help="Files or folders with gold entities.")],
    out: Annotated[Path, typer.Option(help="Folder for the pictures and figures.json.")],
    spans: Annotated[
        int, typer.Option(min=1, help="The most entities, and the most other spans, to look at.")
    ] = 500,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the sample and of t-SNE.")] = 0,
    format: Annotated[str | None, typer.Option(help=f"Format: {FORMAT_HELP}.")] = None,
    device: Device = AUTO,
) -> None:
    """Analyse the span vectors of a model: overlaps, classes, templates, projections and scores.

    Models with transforms, such as a bottleneck, are looked at before and after them.

    Example: spanwright inspect spans runs/plain/model dev.pubtator --out runs/plain/spans
    """
    documents = read_and_report(corpus, format=format).documents

    from spanwright import artifact
    from spanwright.analysis import draw_inspection, inspect_spans

    if out.is_file():
        raise InputError(f"{out}: a file; expected a folder, which is made where there is none")
    with Console(stderr=True).status("looking at spans"):
        inspection = inspect_spans(
            artifact.load(model, shown_choice(device)), documents, spans=spans, seed=seed
        )
    out.mkdir(parents=True, exist_ok=True)
    figures = {"model": str(model), "corpus": [str(path) for path in corpus], **inspection.to_dict()}
    path = out / "figures.json"
    write_whole(path, json.dumps(figures, indent=2, ensure_ascii=False) + "\n")
    written = [*draw_inspection(inspection, out), path]
    Console().print(span_figures_table(inspection))
    typer.echo(f"written to {out}: {', '.join(file.name for file in written)}", err=True)
