"""The label maps that ship with Spanwright, as TOML."""

from __future__ import annotations

from importlib import resources

from spanwright.errors import InputError


def map_names() -> list[str]:
    """The names of the shipped label maps."""
    entries = (entry.name for entry in resources.files(__name__).iterdir())
    return sorted(name.removesuffix(".toml") for name in entries if name.endswith(".toml"))


def map_text(name: str) -> str:
    """The TOML of a shipped label map, with its comments."""
    if name not in map_names():
        raise InputError(f"unknown label map {name!r}; expected {', '.join(map_names())}")
    return (resources.files(__name__) / f"{name}.toml").read_text(encoding="utf-8")
