"""What commands that train share: settings are checked first, and an interruption tells what is kept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from spanwright.settings import Settings

_INTERRUPTED = 130
"""The exit code of shells for Ctrl-C."""


def checked_settings(recipe: str, changes: Sequence[str], **named: Any) -> Settings:
    """The settings of a recipe, with an encoder that can be had; checked before files are read."""
    from spanwright.parts.encoder.pretrained import check_known
    from spanwright.settings import load_settings

    settings = load_settings(recipe, changes, **named)
    if settings.start is None:
        check_known(settings.encoder.name)
    return settings


@contextmanager
def interruptible(out: Path) -> Iterator[None]:
    """Tells what a training leaves in its folder when it is interrupted."""
    try:
        yield
    except KeyboardInterrupt:
        typer.echo(f"interrupted; {_kept(out)}", err=True)
        raise typer.Exit(_INTERRUPTED) from None


def _kept(out: Path) -> str:
    if not any((out / "checkpoints").glob("*")):
        return f"there is no checkpoint yet, so that nothing is kept in {out} to go on from"
    best = f"; the best model so far is {out / 'model'}" if (out / "model").is_dir() else ""
    return f"the run is kept up to its last checkpoint: go on with the same command and --resume{best}"
