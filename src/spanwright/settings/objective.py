"""Settings of the objective: weights and phases of loss terms."""

from __future__ import annotations

from itertools import accumulate
from typing import Any, Self

from pydantic import Field, NonNegativeFloat, model_validator

from spanwright.settings.schedules import Weight
from spanwright.strict import Strict

ROUNDING = 1e-9
"""How far shares may sum up beyond 1: numbers such as 0.1 are not exact."""


class Phase(Strict):
    """A part of the run in which only the named terms are trained."""

    share: float = Field(gt=0, le=1)
    """How much of the run it takes."""
    terms: tuple[str, ...] = Field(min_length=1)
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
    """Phases in order; behind the last, all terms are on."""

    @model_validator(mode="after")
    def _check_phases(self) -> Self:
        if self.phased > 1 + ROUNDING:
            raise ValueError(f"the shares of the phases sum up to {self.phased:g}; legal is up to 1")
        return self

    @property
    def beginnings(self) -> tuple[float, ...]:
        """The shares of the run at which terms join: the end of each phase."""
        return tuple(accumulate(phase.share for phase in self.phases))

    @property
    def phased(self) -> float:
        """The share of the run that phases take; behind it, all terms are on."""
        return sum(phase.share for phase in self.phases)
