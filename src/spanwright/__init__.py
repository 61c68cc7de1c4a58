"""Spanwright: span-based named entity recognition.

    run = spanwright.train("plain", train="train.jsonl", dev="dev.jsonl", out="runs/mine")
    tagger = spanwright.load("runs/mine/model")
    document = tagger.tag("Mutations of BRCA1 cause breast cancer.")

`__all__` is the public interface; docs/api.md has an example of each name. Names are loaded when they are
first used: importing the package loads no torch.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

if TYPE_CHECKING:
    from spanwright.comparing.comparison import compare
    from spanwright.drawing import display
    from spanwright.errors import InputError, SpanwrightError
    from spanwright.evaluation import evaluate
    from spanwright.formats.files import Corpus, read, write
    from spanwright.predicting.tagger import Tagger, load
    from spanwright.text import Argument, Document, Entity, Relation
    from spanwright.training.distillation import distill
    from spanwright.training.loop import RunResult, train

_HOMES = {
    "Argument": "spanwright.text",
    "Corpus": "spanwright.formats.files",
    "Document": "spanwright.text",
    "Entity": "spanwright.text",
    "InputError": "spanwright.errors",
    "Relation": "spanwright.text",
    "RunResult": "spanwright.training.loop",
    "SpanwrightError": "spanwright.errors",
    "Tagger": "spanwright.predicting.tagger",
    "compare": "spanwright.comparing.comparison",
    "display": "spanwright.drawing",
    "distill": "spanwright.training.distillation",
    "evaluate": "spanwright.evaluation",
    "load": "spanwright.predicting.tagger",
    "read": "spanwright.formats.files",
    "train": "spanwright.training.loop",
    "write": "spanwright.formats.files",
}

__all__ = [
    "Argument",
    "Corpus",
    "Document",
    "Entity",
    "InputError",
    "Relation",
    "RunResult",
    "SpanwrightError",
    "Tagger",
    "compare",
    "display",
    "distill",
    "evaluate",
    "load",
    "read",
    "train",
    "write",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'spanwright' has no attribute {name!r}")
    from spanwright.errors import needing

    with needing(f"spanwright.{name}"):
        home = import_module(_HOMES[name])
    return getattr(home, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
