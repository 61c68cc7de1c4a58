"""`spanwright export`: a copy of a model that also runs with onnxruntime, in floats or 8-bit integers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from spanwright.cli.reading import FORMAT_HELP, read_and_report
from spanwright.cli.tables.tagging import runtime_figures_table
from spanwright.cli.tagging import ModelFolder
from spanwright.errors import InputError
from spanwright.text import Document


def export_command(
    model: ModelFolder,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder of the exported model; a model directory of that name is replaced."),
    ] = None,
    check: Annotated[
        Path | None, typer.Option(help="Gold file: compare F1 and speed of all runtimes on its documents.")
    ] = None,
    small: Annotated[
        bool,
        typer.Option("--small", help="Weights in 16 bits and graphs in 8 only, which run it by default."),
    ] = False,
    format: Annotated[str | None, typer.Option(help=f"Format of the gold file: {FORMAT_HELP}.")] = None,
    web: Annotated[
        Path | None, typer.Option(help="Write a folder for a web server instead: a page that tags by itself.")
    ] = None,
    onnxruntime_web: Annotated[
        Path | None, typer.Option(help="With --web: the unpacked npm package; npm fetches it unless given.")
    ] = None,
) -> None:
    """Copy a model and add its network as ONNX files; then compare all ways to run it.

    Load it with spanwright.load(OUT, runtime="onnx-int8"), or "onnx", or "torch".

    Example: spanwright export runs/plain/model --out exported --check test.pubtator

    Example: spanwright export runs/plain/model --web public/
    """
    _check_options(out, web, {"--check": check, "--small": small or None}, onnxruntime_web)
    if web is not None:
        _export_web(model, web, onnxruntime_web)
    else:
        assert out is not None
        _export(model, out, small, read_and_report([check], format=format).documents if check else None)


def _check_options(
    out: Path | None, web: Path | None, of_out: Mapping[str, object], onnxruntime_web: Path | None
) -> None:
    if (out is None) == (web is None):
        raise InputError("expected --out FOLDER for a model, or --web FOLDER for a page, one of the two")
    if onnxruntime_web is not None and web is None:
        raise InputError("--onnxruntime-web is for --web; give both or neither")
    for name, value in of_out.items():
        if web is not None and value is not None:
            raise InputError(f"{name} is for --out; leave it out with --web")


def _export_web(model: Path, web: Path, onnxruntime_web: Path | None) -> None:
    from spanwright.web.folder import export_web

    with Console(stderr=True).status("exporting"):
        size = export_web(model, web, onnxruntime_web=onnxruntime_web)
    typer.echo(
        f"{web}: {size / 1e6:.1f} MB; to look at it: python -m http.server --directory {web}", err=True
    )


def _export(model: Path, out: Path, small: bool, gold: list[Document] | None) -> None:
    from spanwright.predicting.onnx.export import export
    from spanwright.predicting.onnx.runtimes import compare_runtimes

    console = Console(stderr=True)
    with console.status("exporting"):
        export(model, out, small=small)
    with console.status("comparing runtimes"):
        figures = compare_runtimes(out, gold)
    Console().print(runtime_figures_table(figures, "documents" if gold is not None else "random texts"))
