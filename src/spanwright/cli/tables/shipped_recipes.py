"""The table of the recipes that ship with Spanwright."""

from __future__ import annotations

import tomllib

from rich.table import Table

from spanwright.recipes import overlay_names, recipe_names, recipe_text


def shipped_recipes_table() -> Table:
    """A row for each recipe and each of its variants."""
    table = Table("recipe", "what it is", box=None)
    for recipe in recipe_names():
        for entry in (recipe, *overlay_names(recipe)):
            table.add_row(entry, tomllib.loads(recipe_text(entry)).get("description", ""))
    return table
