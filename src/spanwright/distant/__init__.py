"""Distant labels: the names of a dictionary as entities of raw text."""

from spanwright.distant.matcher import Matcher
from spanwright.distant.names import Ambiguous, Case

__all__ = ["Ambiguous", "Case", "Matcher"]
