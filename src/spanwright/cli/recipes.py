"""`spanwright recipes`: list the recipes, or print one."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import fill
from typing import Annotated

import typer
from rich.console import Console

from spanwright.cli.completion import recipes
from spanwright.cli.tables.training import shipped_recipes_table
from spanwright.recipes import recipe_text

_INDENT = "    "


def recipes_command(
    name: Annotated[
        str | None, typer.Argument(help="A recipe to print with its comments.", autocompletion=recipes)
    ] = None,
    everything: Annotated[
        bool,
        typer.Option(
            "--all",
            help="Every setting of the recipe with its value, what it means and what may be chosen; without "
            "a recipe, all variants in rows of their own.",
        ),
    ] = False,
) -> None:
    """List the recipes that ship with Spanwright, or print one.

    A variant is named after its recipe, such as binder/joint.

    Example: spanwright recipes plain > mine.toml

    Example: spanwright recipes plain --all
    """
    if name is None:
        Console().print(shipped_recipes_table(unfolded=everything))
    elif everything:
        typer.echo("\n\n".join(_settings_of(name)))
    else:
        typer.echo(recipe_text(name), nl=False)


def _settings_of(recipe: str) -> Iterator[str]:
    """A paragraph for each setting: key and value, what it means, and what may be chosen."""
    from spanwright.settings import load_settings
    from spanwright.settings.listing import with_values

    for setting, value in with_values(load_settings(recipe)):
        kind = f" (of the kind {setting.kind})" if setting.kind else ""
        lines = [f"{setting.key} = {value}{kind}" if value else f"{setting.key}{kind}"]
        if setting.meaning:
            lines.append(fill(setting.meaning, 100, initial_indent=_INDENT, subsequent_indent=_INDENT))
        if setting.choices:
            lines.append(f"{_INDENT}expected: {setting.choices}")
        yield "\n".join(lines)
