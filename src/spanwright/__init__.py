"""Spanwright: span-based named entity recognition.

    tagger = spanwright.load("runs/plain/model")
    document = tagger.tag("Mutations of BRCA1 cause breast cancer.")

Names are loaded when they are first used: importing the package loads no torch.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from spanwright.evaluation import evaluate
    from spanwright.formats.files import read, write
    from spanwright.predicting.tagger import load
    from spanwright.text import Document, Entity
    from spanwright.training.loop import train

_HOMES = {
    "Document": "spanwright.text",
    "Entity": "spanwright.text",
    "read": "spanwright.formats.files",
    "write": "spanwright.formats.files",
    "train": "spanwright.training.loop",
    "load": "spanwright.predicting.tagger",
    "evaluate": "spanwright.evaluation",
}

__all__ = ["Document", "Entity", "evaluate", "load", "read", "train", "write"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'spanwright' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
