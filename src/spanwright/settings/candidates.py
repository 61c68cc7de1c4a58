"""Settings of candidate spans and their pruner."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, NonNegativeInt, PositiveInt

from spanwright.settings.part import OFF, PartSettings
from spanwright.strict import Strict


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
