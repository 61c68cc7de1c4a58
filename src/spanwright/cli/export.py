"""`spanwright export`: a copy of a model that also runs with onnxruntime, in floats or 8-bit integers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from spanwright.cli.reading import FORMAT_HELP, read_and_report
from spanwright.cli.tables.tagging import runtime_figures_table
from spanwright.cli.tagging import ModelFolder

if TYPE_CHECKING:
    pass


def export_command(
    model: ModelFolder,
    out: Annotated[
        Path, typer.Option(help="Folder of the exported model; a model directory of that name is replaced.")
    ],
    check: Annotated[
        Path | None, typer.Option(help="Gold file: compare F1 and speed of all runtimes on its documents.")
    ] = None,
    small: Annotated[
        bool,
        typer.Option(
            "--small", help="Weights in 16 bits and graphs in 8 alone, which run it unless told otherwise."
        ),
    ] = False,
    format: Annotated[str | None, typer.Option(help=f"Format of the gold file: {FORMAT_HELP}.")] = None,
) -> None:
    """Copy a model and add its costly parts as ONNX files; then compare all ways to run it.

    Load it with spanwright.load(OUT, runtime="onnx-int8"), or "onnx", or "torch".

    Example: spanwright export runs/plain/model --out exported --check test.pubtator
    """
    gold = read_and_report([check], format=format).documents if check is not None else None

    from spanwright.predicting.onnx.export import export
    from spanwright.predicting.onnx.runtimes import compare_runtimes

    console = Console(stderr=True)
    with console.status("exporting"):
        export(model, out, small=small)
    with console.status("comparing runtimes"):
        figures = compare_runtimes(out, gold)
    Console().print(runtime_figures_table(figures, "documents" if gold is not None else "random texts"))
