"""The recipes that ship with Spanwright, as TOML."""

from __future__ import annotations

from importlib import resources

from spanwright.errors import SettingsError


def recipe_names() -> list[str]:
    """The names of the shipped recipes."""
    entries = (entry.name for entry in resources.files(__name__).iterdir())
    return sorted(name.removesuffix(".toml") for name in entries if name.endswith(".toml"))


def recipe_text(name: str) -> str:
    """The TOML of a shipped recipe, with its comments."""
    if name not in recipe_names():
        raise SettingsError(
            f"unknown recipe {name!r}; legal are {', '.join(recipe_names())}, or the path of a TOML file"
        )
    return (resources.files(__name__) / f"{name}.toml").read_text(encoding="utf-8")
