"""The recipes that ship with Spanwright, as TOML. A folder holds small changes to the recipe of its name."""

from __future__ import annotations

from importlib import resources

from spanwright.errors import SettingsError, did_you_mean

_ENDING = ".toml"


def recipe_names() -> list[str]:
    """The names of the shipped recipes."""
    return _names(resources.files(__name__))


def overlay_names(recipe: str) -> list[str]:
    """The names of the shipped variants of a recipe, such as `binder/joint`."""
    folder = resources.files(__name__) / recipe
    return [f"{recipe}/{name}" for name in _names(folder)] if folder.is_dir() else []


def recipe_text(name: str) -> str:
    """The TOML of a shipped recipe or variant, with its comments."""
    known = recipe_names()
    variants = [variant for recipe in known for variant in overlay_names(recipe)]
    if name not in known and name not in variants:
        near = [variant for variant in variants if variant.startswith(f"{name.partition('/')[0]}/")]
        raise SettingsError(
            f"unknown recipe {name!r}{did_you_mean(name, known + variants)}; expected "
            f"{', '.join(known + near)}, or the path of a TOML file"
        )
    return resources.files(__name__).joinpath(f"{name}{_ENDING}").read_text(encoding="utf-8")


def _names(folder: resources.abc.Traversable) -> list[str]:
    entries = (entry.name for entry in folder.iterdir())
    return sorted(name.removesuffix(_ENDING) for name in entries if name.endswith(_ENDING))
