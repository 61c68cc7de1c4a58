"""What shells complete values with: names of recipes, formats, encoders and installed models."""

from __future__ import annotations

from collections.abc import Iterable

from spanwright.formats.files import FORMATS, TABLES


def recipes(incomplete: str) -> list[str]:
    """Recipes and, once there is a slash, the variants of one."""
    from spanwright.recipes import overlay_names, recipe_names

    recipe, slash, _ = incomplete.partition("/")
    return _beginning(incomplete, overlay_names(recipe) if slash else recipe_names())


def formats(incomplete: str) -> list[str]:
    """Formats that files are read in."""
    return _beginning(incomplete, FORMATS)


def output_formats(incomplete: str) -> list[str]:
    """Formats that files are written in."""
    return _beginning(incomplete, (*FORMATS, *TABLES))


def encoders(incomplete: str) -> list[str]:
    """Encoders with a short name."""
    from spanwright.parts.encoder.pretrained import NAMES

    return _beginning(incomplete, NAMES)


def models(incomplete: str) -> list[str]:
    """Installed models; folders are completed by the shell itself."""
    from spanwright.model_files.folders import installed_names

    return _beginning(incomplete, installed_names())


def _beginning(incomplete: str, names: Iterable[str]) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]
