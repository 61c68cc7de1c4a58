"""What all values have in common that a user writes: settings, plans and lists of corpora."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Strict(BaseModel):
    """Values that a user writes: unknown keys, NaN and infinity are refused, and nothing changes later."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)
