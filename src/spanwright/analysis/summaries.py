"""Many values in a few numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, slots=True)
class Summary:
    """What a number of values is like; all but the count are None where there is no value."""

    count: int
    mean: float | None = None
    deviation: float | None = None
    low: float | None = None
    """5 % of the values lie below."""
    median: float | None = None
    high: float | None = None
    """5 % of the values lie above."""


def summarise(values: npt.NDArray[np.floating]) -> Summary:
    """The summary of values, (values,)."""
    if not len(values):
        return Summary(0)
    exact = values.astype(np.float64)
    low, median, high = np.quantile(exact, [0.05, 0.5, 0.95]).tolist()
    return Summary(len(exact), float(exact.mean()), float(exact.std()), low, median, high)
