"""`spanwright inspect spans`: the span vectors of a trained model, in numbers and pictures."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from spanwright.cli.reading import FORMAT_HELP, read_and_report
from spanwright.errors import InputError
from spanwright.formats.io.whole_files import write_whole

if TYPE_CHECKING:
    from spanwright.analysis import Inspection


def spans_command(
    model: Annotated[Path, typer.Argument(help="A model directory, such as RUN/model.")],
    corpus: Annotated[list[Path], typer.Argument(help="Files or folders with gold entities.")],
    out: Annotated[Path, typer.Option(help="Folder for the pictures and figures.json.")],
    spans: Annotated[
        int, typer.Option(min=1, help="The most entities, and the most other spans, to look at.")
    ] = 500,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the sample and of t-SNE.")] = 0,
    format: Annotated[str | None, typer.Option(help=f"Format: {FORMAT_HELP}.")] = None,
) -> None:
    """Analyse the span vectors of a model: overlaps, classes, templates, projections and scores.

    Models with transforms, such as a bottleneck, are looked at before and after them.

    Example: spanwright inspect spans runs/plain/model dev.pubtator --out runs/plain/spans
    """
    documents = read_and_report(corpus, format=format).documents

    from spanwright import artifact
    from spanwright.analysis import draw_inspection, inspect_spans

    if out.is_file():
        raise InputError(f"{out}: a file; legal is a folder, which is made where there is none")
    with Console(stderr=True).status("looking at spans"):
        inspection = inspect_spans(artifact.load(model), documents, spans=spans, seed=seed)
    out.mkdir(parents=True, exist_ok=True)
    figures = {"model": str(model), "corpus": [str(path) for path in corpus], **inspection.to_dict()}
    path = out / "figures.json"
    write_whole(path, json.dumps(figures, indent=2, ensure_ascii=False) + "\n")
    written = [*draw_inspection(inspection, out), path]
    Console().print(_table(inspection))
    typer.echo(f"written to {out}: {', '.join(file.name for file in written)}", err=True)


def _table(inspection: Inspection) -> Table:
    entities = int(inspection.sample.is_entity.sum())
    others = len(inspection.sample.type) - entities
    title = f"{entities:,} entities and {others:,} other spans of {inspection.sample.documents:,} documents"
    table = Table("", "", title=title, show_header=False)
    table.columns[1].justify = "right"
    for rows in (_cosine_rows(inspection), _cluster_rows(inspection), _score_rows(inspection)):
        for name, value in rows:
            # Text, because a type may hold square brackets, which rich would take for markup.
            table.add_row(Text(name), "-" if value is None else f"{value:.3f}")
        table.add_section()
    return table


Rows = Iterator[tuple[str, float | None]]


def _cosine_rows(inspection: Inspection) -> Rows:
    overlaps, classes, templates = inspection.overlaps, inspection.classes, inspection.templates
    yield "cosine of entities and near spans: no word shared", overlaps["apart"].mean
    yield "  up to half of the words shared", overlaps["weak"].mean
    yield "  more than half", overlaps["strong"].mean
    yield "cosine of entities: of one type", classes.within
    yield "  of different types", classes.between
    yield "  and spans that are none", classes.against_none
    yield "absolute cosine of class templates: types", templates.between_types
    yield "  types and no entity", templates.against_none


def _cluster_rows(inspection: Inspection) -> Rows:
    for stage, projections in inspection.stages.items():
        for name, projection in projections.items():
            yield f"{name}{stage}: silhouette of types", projection.types.silhouette
            yield "  purity of types among neighbours", projection.types.purity
            yield "  purity with no entity as a class", projection.types_and_none.purity


def _score_rows(inspection: Inspection) -> Rows:
    for name, scores in inspection.scores.items():
        yield f"{name}: an entity scores above another span", scores.separation
