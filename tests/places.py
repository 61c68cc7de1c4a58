"""Where the project is, and the material beside it."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def shared_folder(variable: str, name: str) -> Path:
    """A folder of shared test material, from an environment variable or beside the project."""
    return Path(os.environ.get(variable, ROOT.parent / "shared" / name))
