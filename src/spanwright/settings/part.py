"""What the settings of all parts have in common: what is usual for a part unless a recipe says otherwise."""

from __future__ import annotations

from pydantic import BeforeValidator

from spanwright.settings.schedules import Weight
from spanwright.strict import Strict


class PartSettings(Strict):
    """Settings of a part, and what is usual for it unless a recipe says otherwise."""

    def usual_weights(self) -> dict[str, Weight]:
        """The weights of its loss terms; those not named weigh 1."""
        return {}

    def usual_shares(self) -> dict[str, float]:
        """The loss terms that have a share of the loss beside the spans, whose terms have the rest."""
        return {}

    def usual_rates(self, *, pretrained: float, fresh: float) -> dict[str, float]:
        """The learning rates of its roles, from those that suit pretrained weights and such that are new."""
        return {"head": fresh}


OFF = BeforeValidator(lambda value: None if value is False else value)
"""Lets recipes switch a part off that another recipe has: TOML can say `false`, but not `None`."""
