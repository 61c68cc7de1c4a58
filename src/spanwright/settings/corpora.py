"""Settings of a training on several corpora."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field

from spanwright.strict import Strict

Factor = Annotated[float, Field(gt=0)]


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
    """Whether the encoder reads a learnt vector that tells the corpus."""
    sampling: Literal["proportional", "equal"] | Factor = "proportional"
    """How often corpora come: as often as they have windows, equally often, or by a temperature: shares are
    those of the windows to the power of 1 / temperature."""
    weights: dict[str, Factor] = Field(default_factory=dict)
    """How many times the windows of a corpus count; 1 for those not named."""

    def targets(self, names: Sequence[str]) -> tuple[str, ...]:
        """The target corpora, of all names."""
        return self.target or tuple(names)
