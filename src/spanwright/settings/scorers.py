"""Settings of scorers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import Field, PositiveInt, SerializeAsAny, Tag

from spanwright.settings.part import OUTSIDE, PartSettings, by_kind, from_outside


class ScorerSettings(PartSettings):
    """Settings of a scorer."""

    kind: str

    @property
    def learns_probabilities(self) -> bool:
        """Whether it learns the probabilities of golds where targets are soft."""
        return False

    @property
    def near(self) -> int:
        """How far from an entity spans have a part of its target."""
        return 0

    @property
    def reads_descriptions(self) -> bool:
        """Whether types are given by descriptions, so that the model can meet new ones."""
        return False

    def build(self, *, vector_size: int, state_width: int, sizes: Sequence[int]) -> Any:
        """The module, a `Scorer`; for parts of other packages, as ours meet in `parts/build.py`.

        `sizes` counts the types of each corpus; one number where all have the same types.
        """
        raise NotImplementedError(f"{type(self).__name__} has no method that builds the part")


class SoftmaxSettings(ScorerSettings):
    """Settings of the softmax scorer."""

    kind: Literal["softmax"] = "softmax"
    hidden: tuple[PositiveInt, ...] = ()
    """Sizes of hidden layers, each with ReLU and dropout, between span vectors and classes."""
    dropout: float = Field(default=0.2, ge=0, lt=1)
    """Dropout after each hidden layer."""
    reduction: Literal["windows", "spans"] = "windows"
    """Whether the summed cross entropy is divided by the number of windows or of spans."""
    smoothing: float = Field(default=0.0, ge=0, lt=1)
    """Boundary smoothing: what an entity gives of its probability to spans whose borders are near its own."""
    smoothing_distance: int = Field(default=1, gt=0)
    """How far those spans may be: words between first words, plus words between last words."""

    @property
    def learns_probabilities(self) -> bool:
        """Whether it learns the probabilities of golds where targets are soft."""
        return True

    @property
    def near(self) -> int:
        """How far from an entity spans have a part of its target."""
        return self.smoothing_distance if self.smoothing > 0 else 0


class SigmoidSettings(ScorerSettings):
    """Settings of the sigmoid scorer."""

    kind: Literal["sigmoid"]
    hidden: tuple[PositiveInt, ...] = ()
    """Sizes of hidden layers, each with ReLU and dropout, between span vectors and types."""
    dropout: float = Field(default=0.2, ge=0, lt=1)
    """Dropout after each hidden layer."""
    reduction: Literal["windows", "spans"] = "windows"
    """Whether the summed cross entropy is divided by the number of windows, or of pairs of span and type."""
    threshold: Literal["half", "tuned"] = "tuned"
    """What probabilities of entities exceed: one half, or a number per type, set whenever dev is scored."""

    @property
    def learns_probabilities(self) -> bool:
        """Whether it learns the probabilities of golds where targets are soft."""
        return True


class BiEncoderSettings(ScorerSettings):
    """Settings of the bi-encoder. The vectors of the representation live in the space of the types."""

    kind: Literal["bi-encoder"]
    types: Literal["guidelines", "keywords", "prototypes", "atomic"] = "guidelines"
    """What stands for a type: a description, a keyword, training mentions, or a learnt vector."""
    share_encoder: bool = False
    """Whether types are read by the text encoder, instead of by a copy that learns on its own."""
    share_projections: bool = False
    """Whether words alone are projected as at the ends of spans, and types once for all comparisons."""
    positions: bool = True
    """Whether the first and last words of entities are learnt, too."""
    joint: bool = False
    """Whether a predicted span must begin and end with words above their thresholds."""
    threshold: Literal["dynamic", "learned", "tuned"] = "dynamic"
    """`dynamic`: the window's anchor; `learned`: a number per type; `tuned`: set whenever dev is scored."""
    temperature: float = Field(default=0.07, gt=0)
    """Initial temperature of the similarities."""
    dropout: float = Field(default=0.1, ge=0, lt=1)
    """Dropout on projected words and types."""
    entity_share: float = Field(default=0.5, ge=0, le=1)
    """Share of the entity loss in each term; the threshold loss has the rest."""

    @property
    def reads_descriptions(self) -> bool:
        """Whether types are given by descriptions, so that the model can meet new ones."""
        return self.types in ("guidelines", "keywords")


NO_NEW_TYPES = (
    "this model cannot meet new types: only a bi-encoder that reads descriptions can (recipe binder, with "
    "scorer.types 'guidelines' or 'keywords')"
)


class NoScorer(ScorerSettings):
    """No spans are scored: the tagger is the model."""

    kind: Literal["none"]


_KINDS = ("softmax", "sigmoid", "bi-encoder", "none")
AnyScorer = Annotated[
    Annotated[SoftmaxSettings, Tag("softmax")]
    | Annotated[SigmoidSettings, Tag("sigmoid")]
    | Annotated[BiEncoderSettings, Tag("bi-encoder")]
    | Annotated[NoScorer, Tag("none")]
    | Annotated[SerializeAsAny[ScorerSettings], from_outside(ScorerSettings, *_KINDS), Tag(OUTSIDE)],
    by_kind(*_KINDS),
]
