"""Settings of transforms: what span vectors pass through before they are scored."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, NonNegativeInt, PositiveInt, SerializeAsAny, Tag

from spanwright.settings.learning import LinearSchedule, Weight
from spanwright.settings.part import OUTSIDE, PartSettings, by_kind, from_outside


class TransformSettings(PartSettings):
    """Settings of a transform."""

    kind: str

    def build(self, *, vector_size: int, width_limit: int) -> Any:
        """The module, a `Transform`; for parts of other packages, as ours meet in `parts/build.py`."""
        raise NotImplementedError(f"{type(self).__name__} has no method that builds the part")


class BiLstmSettings(TransformSettings):
    """Settings of the BiLSTM over spans."""

    kind: Literal["bilstm"]
    hidden: int = Field(default=200, gt=0)
    """Size of a state, in each of the two directions."""
    dropout: float = Field(default=0.5, ge=0, lt=1)
    """Dropout on what the BiLSTM reads."""


class FeedForwardSettings(TransformSettings):
    """Settings of the feed-forward layer."""

    kind: Literal["feed-forward"]
    size: int = Field(default=300, gt=0)
    """Size of the vectors that leave it."""
    width_size: int = Field(default=25, gt=0)
    """Size of the width embedding that enters beside a span's vector."""
    input_dropout: float = Field(default=0.4, ge=0, lt=1)
    """Dropout on vectors and width embeddings."""
    dropout: float = Field(default=0.2, ge=0, lt=1)
    """Dropout after the activation."""


COMPRESSION = "compression"
"""The loss term: the mean divergence of the candidates."""


class BottleneckSettings(TransformSettings):
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


_KINDS = ("bilstm", "feed-forward", "bottleneck")
AnyTransform = Annotated[
    Annotated[BiLstmSettings, Tag("bilstm")]
    | Annotated[FeedForwardSettings, Tag("feed-forward")]
    | Annotated[BottleneckSettings, Tag("bottleneck")]
    | Annotated[SerializeAsAny[TransformSettings], from_outside(TransformSettings, *_KINDS), Tag(OUTSIDE)],
    by_kind(*_KINDS),
]
