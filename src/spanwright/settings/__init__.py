"""The settings of a run: pydantic models, read from TOML recipes, saved as resolved JSON.

A module for each group of settings. Those of parts stand here, without torch, rather than beside their
parts, so that a recipe can be read and checked at once.
"""

from spanwright.settings.reading import Changes, check, load_settings
from spanwright.settings.settings import Settings

__all__ = ["Changes", "Settings", "check", "load_settings"]
