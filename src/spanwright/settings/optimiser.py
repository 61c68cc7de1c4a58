"""Settings of the optimiser."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, NonNegativeFloat, PositiveFloat

from spanwright.strict import Strict

Beta = Annotated[float, Field(ge=0, lt=1)]


class OptimiserSettings(Strict):
    """Learning rates and regularisation."""

    learning_rates: dict[str, NonNegativeFloat] = Field(default_factory=dict)
    """Learning rate of each role: `encoder`, `head` (spans) and `auxiliary` (tagger and auto-encoders).
    Unless named, those of encoder and head suit the encoder's width, and auxiliaries, which start from
    nothing as well, learn at the head's."""
    weight_decay: float = Field(default=0.01, ge=0)
    """On weight matrices and embeddings; biases and norms are left alone."""
    warmup: float = Field(default=0.1, ge=0, lt=1)
    """Share of the steps over which the learning rates rise from 0."""
    clip: PositiveFloat | Literal["normalise"] = "normalise"
    """The largest norm of the gradient; `normalise`: gradients are divided by the running mean of their norm,
    and none is left longer than 1. Adam forgets the size of gradients slowly: where it falls tenfold in the
    first steps, as with losses that are means over spans, a fixed limit leaves all later steps too short."""
    betas: tuple[Beta, Beta] = (0.9, 0.999)
    """How slowly Adam forgets gradients, and their squares."""
    epsilon: PositiveFloat = 1e-8
    """What Adam adds to the root of the squares; gradients that are not far above it hardly count."""
