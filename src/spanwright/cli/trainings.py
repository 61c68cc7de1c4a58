"""What commands that train share: settings that are checked first, and what is kept of an interrupted run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spanwright.settings import Settings


def checked_settings(recipe: str, changes: Sequence[str], **named: Any) -> Settings:
    """The settings of a recipe, with an encoder that can be had; checked before files are read."""
    from spanwright.parts.encoder.pretrained import check_known
    from spanwright.settings import load_settings

    settings = load_settings(recipe, changes, **named)
    if settings.start is None:
        check_known(settings.encoder.name)
    return settings


def kept_run(out: Path) -> str:
    """What an interrupted training leaves in its folder."""
    if not any((out / "checkpoints").glob("*")):
        return f"there is no checkpoint yet, so nothing is kept in {out} to go on from"
    best = f"; the best model so far is {out / 'model'}" if (out / "model").is_dir() else ""
    return f"the run is kept up to its last checkpoint: go on with the same command and --resume{best}"
