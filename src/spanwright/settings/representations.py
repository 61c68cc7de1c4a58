"""Settings of representations: what span vectors are made of."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import Field, NonNegativeInt, SerializeAsAny, Tag, model_validator

from spanwright.settings.part import OUTSIDE, PartSettings, by_kind, from_outside

Ingredient = Literal["first", "last", "max", "mean", "piece-mean", "anchor", "width"]

OF_WORDS: tuple[Ingredient, ...] = ("first", "last", "max", "mean", "piece-mean")
"""The ingredients that tell spans of the same width apart."""


class RepresentationSettings(PartSettings):
    """Settings of a representation."""

    kind: str

    @property
    def reads_pieces(self) -> bool:
        """Whether it reads all pieces of words, which the encoder then hands on."""
        return False

    def build(self, *, state_width: int, width_limit: int) -> Any:
        """The module, a `Representation`; for parts of other packages, as ours meet in `parts/build.py`."""
        raise NotImplementedError(f"{type(self).__name__} has no method that builds the part")


class ComposedSettings(RepresentationSettings):
    """Settings of the composed representation."""

    kind: Literal["composed"] = "composed"
    ingredients: tuple[Ingredient, ...] = ("first", "last", "width")
    """What a span vector is made of: the state of the first or last word, the elementwise maximum or the mean
    of the states of all words, the mean of the states of all pieces, the anchor of the window, an embedding
    of the width."""
    size: int = Field(default=256, gt=0)
    """Size of a span vector."""
    width_size: int = Field(default=32, gt=0)
    """Size of the width embedding."""
    width_deviation: float = Field(default=1.0, gt=0)
    """Standard deviation of the numbers that width embeddings start from."""
    activation: Literal["relu", "none"] = "relu"
    """What follows the Linear."""
    dropout: float = Field(default=0.2, ge=0, lt=1)
    """Dropout on the span vectors."""

    @property
    def reads_pieces(self) -> bool:
        """Whether it reads all pieces of words, which the encoder then hands on."""
        return "piece-mean" in self.ingredients

    @model_validator(mode="after")
    def _check_ingredients(self) -> Self:
        repeated = sorted({name for name in self.ingredients if self.ingredients.count(name) > 1})
        if repeated:
            raise ValueError(f"ingredients repeat {repeated}; expected each ingredient once")
        if not set(self.ingredients) & set(OF_WORDS):
            raise ValueError(
                f"ingredients {list(self.ingredients)} say nothing of a span's words; "
                f"expected at least one of {list(OF_WORDS)}"
            )
        return self


SpanPooling = Literal["max", "mean", "multiplicative", "additive"]


class SpanTransformerSettings(RepresentationSettings):
    """Settings of the span Transformer."""

    kind: Literal["span-transformer"]
    depth: NonNegativeInt | Literal["all"] = "all"
    """Blocks that a span goes through: those at the top of the encoder, or all."""
    aggregation: SpanPooling = "max"
    """What a span starts as: the maximum or mean of its words, or their mean weighted by an attention."""
    blocks: Literal["copied", "shared"] = "copied"
    """Whether blocks are copies that learn on their own, or the encoder's."""
    initial_dropout: float = Field(default=0.2, ge=0, lt=1)
    """Dropout on the words that are aggregated."""
    chunk: int = Field(default=4096, gt=0)
    """Spans that go through the blocks at a time. It bounds memory and changes no result."""


_KINDS = ("composed", "span-transformer")
AnyRepresentation = Annotated[
    Annotated[ComposedSettings, Tag("composed")]
    | Annotated[SpanTransformerSettings, Tag("span-transformer")]
    | Annotated[
        SerializeAsAny[RepresentationSettings], from_outside(RepresentationSettings, *_KINDS), Tag(OUTSIDE)
    ],
    by_kind(*_KINDS, usual="composed"),
]
