"""Settings of what a model reads and scores: corpora, windows, and candidate spans with their pruner."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field, NonNegativeInt, PositiveInt

from spanwright.settings.part import OFF, PartSettings
from spanwright.strict import Strict

Factor = Annotated[float, Field(gt=0)]
Context = Literal["sentence", "document"]


class CorporaSettings(Strict):
    """How several corpora are trained on together."""

    target: tuple[str, ...] = ()
    """The corpora whose dev F1, on average, chooses the model; all of them unless named."""
    train: Literal["all", "target"] = "all"
    """Whether the other corpora are trained on as well."""
    labels: Literal["own", "shared"] = "own"
    """Whether each corpus has types of its own, or all have the types of the label map."""
    map: str | None = None
    """The label map: a shipped name, a TOML file, or `auto`, which finds out from the corpora themselves."""
    token: bool = True
    """Whether the encoder reads a learnt vector that stands for the corpus."""
    sampling: Literal["proportional", "equal"] | Factor = "proportional"
    """How often corpora come: as often as they have windows, equally often, or by a temperature: shares are
    those of the windows to the power of 1 / temperature."""
    weights: dict[str, Factor] = Field(default_factory=dict)
    """How many times the windows of a corpus count; 1 for those not named."""

    def targets(self, names: Sequence[str]) -> tuple[str, ...]:
        """The target corpora, of all names."""
        return self.target or tuple(names)


class WindowSettings(Strict):
    """How texts are cut for the encoder."""

    context: Context = "document"
    """`document`: windows fill up with neighbouring sentences; `sentence`: they stop at sentence borders."""
    pieces: int = Field(default=256, ge=16)
    """Sub-word pieces of a window, with the special ones."""
    overlap: int = Field(default=24, ge=1)
    """Words that neighbouring windows share, at most half as many as pieces; raised to the width limit."""
    without_gold: Literal["keep", "drop"] = "keep"
    """Whether windows without an entity are trained on."""


class PruningSettings(PartSettings):
    """Settings of the candidate pruner."""

    keep: float = Field(default=1.0, gt=0)
    """Candidates that a window keeps, for each of its words."""
    size: int = Field(default=64, gt=0)
    """Size of the vectors by which first and last words are compared."""


class CandidateSettings(Strict):
    """Which spans are scored."""

    width_limit: PositiveInt | Literal["auto"] = "auto"
    """Words of the widest candidate; `auto` covers 99.5 % of the training entities."""
    negatives: NonNegativeInt | Literal["all"] = "all"
    """Candidates without a gold label that train in each window: all, or a number drawn every epoch."""
    pruning: Annotated[PruningSettings | None, OFF] = None
    """A cheap scorer that leaves only the best candidates of a window to the representation."""
