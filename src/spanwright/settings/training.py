"""Settings of the training itself."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from spanwright.strict import Strict

Precision = Literal["float32", "bf16"]


class TrainingSettings(Strict):
    """How long and in which portions to train."""

    epochs: int = Field(default=10, ge=1)
    seed: int = Field(default=1, ge=0, lt=2**64)
    batch_windows: int = Field(default=16, ge=1)
    """Windows of a batch."""
    batch_pieces: int = Field(default=512, ge=16)
    """Pieces of a batch, padding included: some 14 sentences, or two windows of a document. With more, a
    corpus has so few steps as documents that it learns far less than as sentences."""
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
    precision: Precision = "float32"
    """`bf16`: Transformer blocks compute in 16 bits while training; weights, losses and scores have 32."""
    leaked: Literal["drop", "keep"] = "drop"
    """What happens to training documents that stand in evaluation data, of whichever corpus."""
