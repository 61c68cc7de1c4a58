"""Settings of transforms: what span vectors pass through before they are scored."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, NonNegativeInt, PositiveInt

from spanwright.settings.part import PartSettings
from spanwright.settings.schedules import LinearSchedule, Weight


class BiLstmSettings(PartSettings):
    """Settings of the BiLSTM over spans."""

    kind: Literal["bilstm"]
    hidden: int = Field(default=200, gt=0)
    """Size of a state, in each of the two directions."""
    dropout: float = Field(default=0.5, ge=0, lt=1)
    """Dropout on what the BiLSTM reads."""


class FeedForwardSettings(PartSettings):
    """Settings of the feed-forward layer."""

    kind: Literal["feed-forward"]
    size: int = Field(default=300, gt=0)
    """Size of the vectors that leave it."""
    width_size: int = Field(default=25, gt=0)
    """Size of the width embedding that enters beside a span's vector."""
    input_dropout: float = Field(default=0.4, ge=0, lt=1)
    """Dropout on vectors and width embeddings."""
    dropout: float = Field(default=0.2, ge=0, lt=1)
    """Dropout behind the activation."""


COMPRESSION = "compression"
"""The loss term: the mean divergence of the candidates."""


class BottleneckSettings(PartSettings):
    """Settings of the information bottleneck."""

    kind: Literal["bottleneck"]
    hidden: tuple[PositiveInt, ...] = ()
    """Sizes of hidden layers, each with ReLU, between span vectors and their distributions."""
    size: int = Field(default=256, gt=0)
    """Size of the vectors that leave it."""
    prior: Literal["learned", "standard"] = "learned"
    """What distributions are kept near to: one that learns with them, or the standard normal one."""
    samples: NonNegativeInt = 5
    """Vectors drawn for each span in training; with 0 the mean stands for the span there, too."""

    def usual_weights(self) -> dict[str, Weight]:
        """Joint-IB's beta, as in its recipe, which rises over the whole run."""
        return {COMPRESSION: LinearSchedule(kind="linear", start=0.0, end=5e-4)}


TransformSettings = Annotated[
    BiLstmSettings | FeedForwardSettings | BottleneckSettings, Field(discriminator="kind")
]
