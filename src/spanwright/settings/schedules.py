"""Weights of loss terms: numbers, or schedules over the share of the run that is done."""

from __future__ import annotations

import math
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from spanwright.strict import Strict


class LinearSchedule(Strict):
    """A weight that goes from `start` to `end` between two shares of the run, and is constant outside."""

    kind: Literal["linear"]
    start: float
    end: float
    begin: float = Field(default=0.0, ge=0, le=1)
    finish: float = Field(default=1.0, ge=0, le=1)

    @model_validator(mode="after")
    def _check_order(self) -> Self:
        if self.begin > self.finish:
            raise ValueError(f"begin {self.begin} lies behind finish {self.finish}; legal is begin <= finish")
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
    end: float = 1.0
    centre: float = Field(default=0.5, ge=0, le=1)
    steepness: float = Field(default=10.0, gt=0)

    def at(self, progress: float) -> float:
        """The weight at a share of the run from 0 to 1."""
        # The logistic function by way of tanh, which cannot overflow.
        return self.end * 0.5 * (1 + math.tanh(0.5 * self.steepness * (progress - self.centre)))


Weight = float | Annotated[LinearSchedule | LogisticSchedule, Field(discriminator="kind")]
