"""`spanwright models`: list the models that are installed."""

from __future__ import annotations

import typer
from rich.console import Console

from spanwright.cli.tables.tagging import installed_models_table
from spanwright.model_files.folders import MAKE_BIOMED, installed_models


def models_command() -> None:
    """List the models that installed packages bring. Their names are taken wherever a model folder is.

    Example: spanwright models
    """
    found = list(installed_models())
    if not found:
        typer.echo(f"no model is installed; {MAKE_BIOMED}")
        return
    Console(markup=False, emoji=False).print(installed_models_table(found))
