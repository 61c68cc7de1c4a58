"""Settings of windows."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from spanwright.strict import Strict

Context = Literal["sentence", "document"]


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
