"""Three small corpora whose types differ, and settings to train on them together.

`Alpha` is the usual made-up corpus; `Beta` calls genes proteins, and marks no cells; `Gamma` calls cells
lines. So two of them have a type of the same name, and one lacks a type that the others have.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import making
from spanwright.settings import Settings, load_settings
from spanwright.text import Document

NAMES: Mapping[str, Mapping[str, str]] = {
    "Alpha": {"Gene": "Gene", "Cell": "Cell"},
    "Beta": {"Gene": "Protein"},
    "Gamma": {"Gene": "Gene", "Cell": "Line"},
}
"""What each corpus calls the types of made-up documents; what it leaves out it does not mark."""
TYPES = {name: tuple(sorted(types.values())) for name, types in NAMES.items()}
MAP = """types = ["Gene", "Cell"]

[corpora.Alpha]
Gene = "Gene"
Cell = "Cell"

[corpora.Beta]
Protein = "Gene"

[corpora.Gamma]
Gene = "Gene"
Line = ""
"""
"""A label map in which the lines of Gamma have no counterpart."""


def documents(name: str, count: int, *, prefix: str = "train", flat: bool = False) -> list[Document]:
    """Documents of one of the corpora."""
    made = making.documents(count, prefix=f"{name} {prefix}", flat=flat)
    return making.of_corpus((_renamed(document, NAMES[name]) for document in made), name)


def _renamed(document: Document, names: Mapping[str, str]) -> Document:
    return document.with_entities(
        tuple(
            replace(entity, type=names[entity.type]) for entity in document.entities if entity.type in names
        )
    )


def split(prefix: str, *, flat: bool = False, **counts: int) -> list[Document]:
    """Documents of several corpora: `split("dev", Alpha=3, Beta=2)`."""
    return [
        document
        for name, count in counts.items()
        for document in documents(name, count, prefix=prefix, flat=flat)
    ]


SMALL = (
    *making.SMALL,
    "representation.dropout=0.1",
    "candidates.width_limit=2",
    "training.accumulate=1",
    "training.epochs=2",
)
SMALL_CVAE = ("auxiliaries.cvae.hidden=16", "auxiliaries.cvae.latent=6")


def settings(recipe: str, encoder: str, *changes: str) -> Settings:
    """Settings of a recipe that are small enough for a tiny encoder; all of them have corpora."""
    small = [f"encoder.name={encoder}", *SMALL]
    chosen = load_settings(recipe, small)
    small += ["scorer.hidden=[]"] if recipe.startswith("cvae") else []
    small += SMALL_CVAE if chosen.auxiliaries.cvae is not None else ()
    return load_settings(recipe, [*small, "corpora.target=['Alpha']", *changes])
