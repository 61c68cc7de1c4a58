"""Settings of parts that a model may be without."""

from __future__ import annotations

from pydantic import BeforeValidator

OFF = BeforeValidator(lambda value: None if value is False else value)
"""Lets recipes switch a part off that another recipe has: TOML can say `false`, but not `None`."""
