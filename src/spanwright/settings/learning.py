"""Settings of learning: weights and phases of the loss terms, optimiser, training, and where it starts."""

from __future__ import annotations

import math
from itertools import accumulate
from typing import Annotated, Any, Literal, Self

from pydantic import Field, NonNegativeFloat, PositiveFloat, model_validator

from spanwright.strict import Strict

ROUNDING = 1e-9
"""How far shares may sum up beyond 1: numbers such as 0.1 are not exact."""
Beta = Annotated[float, Field(ge=0, lt=1)]
TrainingPrecision = Literal["float32", "bf16"]


class LinearSchedule(Strict):
    """A weight that goes from `start` to `end` between two shares of the run, and is constant outside."""

    kind: Literal["linear"]
    start: NonNegativeFloat
    """The weight at first."""
    end: NonNegativeFloat
    """The weight at last."""
    begin: float = Field(default=0.0, ge=0, le=1)
    """The share of the run from which on it changes."""
    finish: float = Field(default=1.0, ge=0, le=1)
    """The share of the run from which on it is `end`."""

    @model_validator(mode="after")
    def _check_order(self) -> Self:
        if self.begin > self.finish:
            raise ValueError(f"begin {self.begin} lies after finish {self.finish}; expected begin <= finish")
        return self

    def at(self, progress: float) -> float:
        """The weight at a share of the run from 0 to 1."""
        if progress >= self.finish:
            return self.end
        if progress <= self.begin:
            return self.start
        share = (progress - self.begin) / (self.finish - self.begin)
        return self.start + (self.end - self.start) * share


class LogisticSchedule(Strict):
    """A weight that rises to `end` along a logistic curve around `centre`, a share of the run."""

    kind: Literal["logistic"]
    end: NonNegativeFloat = 1.0
    """The weight at last."""
    centre: float = Field(default=0.5, ge=0, le=1)
    """The share of the run at which it is half of that."""
    steepness: float = Field(default=10.0, gt=0)
    """How fast it rises there."""

    def at(self, progress: float) -> float:
        """The weight at a share of the run from 0 to 1."""
        # The logistic function by way of tanh, which cannot overflow.
        return self.end * 0.5 * (1 + math.tanh(0.5 * self.steepness * (progress - self.centre)))


Weight = NonNegativeFloat | Annotated[LinearSchedule | LogisticSchedule, Field(discriminator="kind")]


class Phase(Strict):
    """A part of the run in which only the named terms are trained."""

    share: float = Field(gt=0, le=1)
    """How much of the run it takes."""
    terms: tuple[str, ...] = Field(min_length=1)
    """The loss terms that are trained in it."""
    rates: dict[str, NonNegativeFloat] = Field(default_factory=dict)
    """Factors of the learning rates of roles, such as `{ encoder = 0.1 }`; 0 keeps weights as they are.
    Auto-encoders that have the encoder to themselves at its full rate soon lead it away from telling words
    apart."""

    @model_validator(mode="before")
    @classmethod
    def _read_still(cls, values: Any) -> Any:
        """Older settings name the roles that do not learn as `still`."""
        if not isinstance(values, dict) or "still" not in values:
            return values
        rest = {key: value for key, value in values.items() if key != "still"}
        return {**rest, "rates": {**rest.get("rates", {}), **dict.fromkeys(values["still"], 0.0)}}


class ObjectiveSettings(Strict):
    """How the loss terms of a model are put together."""

    weights: dict[str, Weight] = Field(default_factory=dict)
    """Weight of each term; 1 for those not named."""
    convex: bool | None = None
    """What auxiliary terms weigh is taken from the others: `w * auxiliary + (1 - w) * others`. Unless
    said, it is where a tagger learns beside spans with its usual weight."""
    phases: tuple[Phase, ...] = ()
    """Phases in order; after the last, all terms are on."""

    @model_validator(mode="after")
    def _check_phases(self) -> Self:
        if self.phased > 1 + ROUNDING:
            raise ValueError(f"the shares of the phases sum up to {self.phased:g}; expected up to 1")
        return self

    @property
    def beginnings(self) -> tuple[float, ...]:
        """The shares of the run at which terms join: the end of each phase."""
        return tuple(accumulate(phase.share for phase in self.phases))

    @property
    def phased(self) -> float:
        """The share of the run that phases take; after it, all terms are on."""
        return sum(phase.share for phase in self.phases)


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


class TrainingSettings(Strict):
    """How long and in which portions to train."""

    epochs: int = Field(default=10, ge=1)
    """How often all training documents are gone through."""
    seed: int = Field(default=1, ge=0, lt=2**64)
    """What everything drawn depends on; another seed gives another model."""
    batch_windows: int = Field(default=16, ge=1)
    """Windows of a batch."""
    batch_pieces: int = Field(default=512, ge=16)
    """Pieces of a step, padding included: some 14 sentences, or two windows of a document. With more, a
    corpus has so few steps as documents that it learns far less than as sentences. Batches that are
    accumulated share them, but a window is never cut."""
    accumulate: int = Field(default=1, ge=1)
    """Batches whose gradients are added before a step."""
    score_steps: int | None = Field(default=None, ge=1)
    """Steps after which dev is scored, and a better model kept; after each epoch when None."""
    patience: int | None = Field(default=None, ge=1)
    """How often dev may be scored without a better F1, after all phases, before training stops; without end
    when None."""
    checkpoint_steps: int | None = Field(default=None, ge=1)
    """Steps between checkpoints; only after each epoch when None."""
    targets: Literal["hard", "soft"] = "hard"
    """`soft`: the confidence of a training entity is the probability that is learnt; 1 if it has none."""
    precision: TrainingPrecision = "float32"
    """`bf16`: Transformer blocks compute in 16 bits while training; weights, losses and scores have 32."""
    leaked: Literal["drop", "keep"] = "drop"
    """What happens to training documents that stand in the evaluation data of any corpus."""


class StartSettings(Strict):
    """The model that a training starts from, in place of a pretrained encoder and random weights."""

    model: str
    """A model folder, or the name of an installed model."""
    keep_types: bool = False
    """Whether types of that model which the training documents do not annotate are answered as before: what
    it thinks of them in the training texts is learnt."""
    digest: str | None = None
    """Of the files of that model, which a training writes down."""
