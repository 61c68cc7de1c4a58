"""`spanwright recipes`: list the recipes, or print one."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console

from spanwright.cli.tables.training import shipped_recipes_table
from spanwright.recipes import recipe_text


def recipes_command(
    name: Annotated[str | None, typer.Argument(help="A recipe to print with its comments.")] = None,
) -> None:
    """List the recipes that ship with Spanwright, or print one.

    Example: spanwright recipes plain > mine.toml
    """
    if name is not None:
        typer.echo(recipe_text(name), nl=False)
        return
    Console().print(shipped_recipes_table())
