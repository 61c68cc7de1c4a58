"""What a search chooses from: a range of numbers, or a list of values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from pydantic import StrictFloat, StrictInt, model_validator

from spanwright.strict import Strict
from spanwright.toml_text import value_text

Number = StrictInt | StrictFloat
_RANGE_KEYS = ("low", "high", "step", "log")


class NumberRange(Strict):
    """Numbers between two, both included: whole ones if `low`, `high` and `step` are whole."""

    low: Number
    high: Number
    step: Number | None = None
    log: bool = False
    """Whether factors count, not differences: from 1e-5 to 1e-3, half of the numbers lie below 1e-4."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.low > self.high:
            raise ValueError(f"low {self.low} lies above high {self.high}; legal is low <= high")
        if self.step is not None and self.step <= 0:
            raise ValueError(f"step is {self.step}; legal is a number above 0")
        if self.step is not None and self.log:
            raise ValueError("step is given beside log = true; legal is one of the two")
        if self.log and self.low <= 0:
            raise ValueError(f"low is {self.low} with log = true; legal is a number above 0")
        return self

    @property
    def whole(self) -> bool:
        """Whether the numbers are whole."""
        return all(isinstance(number, int) for number in (self.low, self.high, self.step or 0))

    def extremes(self) -> list[Any]:
        """The values that show whether a setting can be chosen from the range."""
        return [self.low, self.high]

    def suggested(self, trial: Any, key: str) -> Any:
        """A number for a trial of optuna."""
        if self.whole:
            return trial.suggest_int(key, self.low, self.high, step=self.step or 1, log=self.log)
        return trial.suggest_float(key, self.low, self.high, step=self.step, log=self.log)


class ValueChoice(Strict):
    """Some values, of any kind that a setting can have."""

    values: tuple[Any, ...]

    @model_validator(mode="after")
    def _check(self) -> Self:
        if not self.values:
            raise ValueError("the list is empty; legal is one value or more")
        if len(set(map(value_text, self.values))) < len(self.values):
            raise ValueError(f"{value_text(self.values)} has a value twice; legal is each once")
        return self

    def extremes(self) -> list[Any]:
        """The values that show whether a setting can be chosen from the list."""
        return list(self.values)

    def suggested(self, trial: Any, key: str) -> Any:
        """A value for a trial of optuna, which knows it by its text: lists and tables can be chosen, too."""
        by_text = {value_text(value): value for value in self.values}
        return by_text[trial.suggest_categorical(key, list(by_text))]


SettingRange = NumberRange | ValueChoice


def read_range(value: Any) -> SettingRange:
    """A range as a plan gives it: a list of values, or a table with `low` and `high`."""
    if isinstance(value, list):
        return ValueChoice(values=tuple(value))
    if isinstance(value, Mapping):
        return NumberRange.model_validate(value)
    raise ValueError(
        f"{value!r} is no range; legal are a list, such as [1, 2, 4], and a table, such as "
        "{low = 1e-5, high = 5e-4, log = true}"
    )


def flat_ranges(tables: Mapping[str, Any], place: str = "") -> dict[str, Any]:
    """Ranges by dotted keys, which may be quoted or written as tables in tables."""
    flat: dict[str, Any] = {}
    for key, value in tables.items():
        inner = isinstance(value, Mapping) and not any(name in value for name in _RANGE_KEYS)
        flat |= flat_ranges(value, f"{place}{key}.") if inner and value else {f"{place}{key}": value}
    return flat
