"""Work in steps: a generator that pauses after each of them, and returns what it has made in the end.

Whoever runs it may do something else between two steps, or stop by closing it.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TypeVar

Made = TypeVar("Made")
Steps = Generator[None, None, Made]


def finished(steps: Steps[Made]) -> Made:
    """What is made by all of the steps, one right after another."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            made: Made = end.value
            return made
