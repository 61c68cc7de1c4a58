"""Small made-up documents that a tiny encoder can learn: genes end in `ase`, cells are named after a word."""

from __future__ import annotations

import random
import string
from collections.abc import Iterable, Sequence
from dataclasses import replace

from spanwright.artifact import TrainedModel
from spanwright.settings import Settings, load_settings
from spanwright.text import Document, Entity
from spanwright.training.data import Split, prepare_split
from spanwright.training.selection import TrainingData


def documents(count: int, *, seed: int = 0, prefix: str = "made", flat: bool = False) -> list[Document]:
    """Documents with genes (`xvase`) and cells (`xvase cell`, `lot cell`); unless flat, some genes in cells.

    The same arguments give the same documents; another seed gives other texts.
    """
    generator = random.Random(f"{prefix} {seed}")
    return [_document(f"{prefix}-{number}", generator, flat) for number in range(count)]


def _document(id: str, generator: random.Random, flat: bool) -> Document:
    text = ""
    entities: list[Entity] = []
    for _ in range(generator.randint(6, 14)):
        start = len(text) + 1 if text else 0
        chunk, types = _chunk(generator)
        text = f"{text} {chunk}" if text else chunk
        for length, type_ in types[:1] if flat else types:
            entities.append(Entity(start, start + length, type_))
    return Document(id, f"{text}.", tuple(entities))


def _chunk(generator: random.Random) -> tuple[str, list[tuple[int, str]]]:
    """A few words, and the length and type of each entity that begins with them."""
    plain = "".join(generator.choices(string.ascii_lowercase[:20], k=generator.randint(2, 4)))
    gene = f"{plain}ase"
    match generator.randrange(6):
        case 0:
            return gene, [(len(gene), "Gene")]
        case 1:
            return f"{gene} cell", [(len(gene) + 5, "Cell"), (len(gene), "Gene")]
        case 2:
            return f"{plain} cell", [(len(plain) + 5, "Cell")]
        case _:
            return plain, []


def data(documents: Sequence[Document]) -> TrainingData:
    """The documents as those of a training on one corpus."""
    return TrainingData(documents, {"dev": documents}, ("dev",), {"": 0})


def split(model: TrainedModel, documents: Sequence[Document]) -> Split:
    """The documents, prepared for a model."""
    return prepare_split(documents, model.pieces, model.plan, model.labels)


def of_corpus(documents: Iterable[Document], name: str) -> list[Document]:
    """The documents as a corpus of that name, with ids of its own."""
    return [replace(document, id=f"{name}-{document.id}", corpus=name) for document in documents]


def with_concepts(documents: Iterable[Document]) -> list[Document]:
    """The documents with a concept on every entity: those of one type and length have the same."""
    return [
        document.with_entities(
            tuple(
                replace(entity, concepts=(f"{entity.type}:{entity.end - entity.start}",))
                for entity in document.entities
            )
        )
        for document in documents
    ]


SMALL = (
    "windows.pieces=64",
    "windows.overlap=6",
    "representation.size=32",
    "representation.width_size=4",
    "optimiser.learning_rates={encoder=2e-3, head=1e-2}",
    "training.batch_windows=4",
    "training.batch_pieces=4096",
)
"""Settings that make any recipe small enough for a tiny encoder."""
SMALL_JOINT_IB = (
    *SMALL,
    "candidates.width_limit=2",
    "transforms=[{kind='bottleneck', hidden=[16], size=8, samples=2}]",
    "auxiliaries.span_vae.latent=8",
    "auxiliaries.span_vae.hidden=16",
    "auxiliaries.span_vae.word_size=6",
)
"""The same for the recipe joint-ib."""


def settings(encoder: str, *changes: str) -> Settings:
    """Settings of the plain recipe, small enough to train on a tiny encoder in a second."""
    small = (*SMALL, "representation.dropout=0.1", "training.epochs=4")
    return load_settings("plain", [f"encoder.name={encoder}", *small, *changes])
