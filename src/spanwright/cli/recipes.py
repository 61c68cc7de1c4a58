"""`spanwright recipes`: list the recipes, or print one."""

from __future__ import annotations

import tomllib
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from spanwright.recipes import overlay_names, recipe_names, recipe_text


def recipes_command(
    name: Annotated[str | None, typer.Argument(help="A recipe to print with its comments.")] = None,
) -> None:
    """List the recipes that ship with Spanwright, or print one.

    Example: spanwright recipes plain > mine.toml
    """
    if name is not None:
        typer.echo(recipe_text(name), nl=False)
        return
    table = Table("recipe", "what it is", box=None)
    for recipe in recipe_names():
        for entry in (recipe, *overlay_names(recipe)):
            table.add_row(entry, tomllib.loads(recipe_text(entry)).get("description", ""))
    Console().print(table)
