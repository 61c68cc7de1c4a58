"""The built-in sample corpus: a synthetic one, for `spanwright quickstart` and for tests."""

from __future__ import annotations

from importlib.resources import files as _resources
from pathlib import Path

SPLITS = ("train", "dev", "test")


def files() -> dict[str, Path]:
    """The JSON-lines file of each split, by the name of the split."""
    folder = Path(str(_resources(__name__)))
    return {split: folder / f"{split}.jsonl" for split in SPLITS}
