"""What is searched: a recipe, its files, what is fixed and what is chosen. A plan is a TOML file:

recipe = "plain"
train = "train.jsonl"
dev = "dev.jsonl"
trials = 20
set = ["training.epochs=5"]

[search]
"optimiser.learning_rates.encoder" = {low = 1e-5, high = 5e-4, log = true}
"training.batch_windows" = [8, 16, 32]
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import (
    BeforeValidator,
    Field,
    NonNegativeInt,
    PositiveInt,
    StrictFloat,
    StrictInt,
    ValidationError,
    model_validator,
)

from spanwright.errors import InputError, SettingsError
from spanwright.settings import Settings, load_settings
from spanwright.strict import Strict
from spanwright.toml_files import read_toml, reasons
from spanwright.toml_text import value_text
from spanwright.training.corpora_file import DocumentLimits, Files, load_corpora_file

Number = StrictInt | StrictFloat
_RANGE_KEYS = ("low", "high", "step", "log")
_SEED = "training.seed"


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
            raise ValueError(f"low {self.low} lies above high {self.high}; expected low <= high")
        if self.step is not None and self.step <= 0:
            raise ValueError(f"step is {self.step}; expected a number above 0")
        if self.step is not None and self.log:
            raise ValueError("step is given with log = true; expected one of the two")
        if self.log and self.low <= 0:
            raise ValueError(f"low is {self.low} with log = true; expected a number above 0")
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
            raise ValueError("the list is empty; expected one value or more")
        if len(set(map(value_text, self.values))) < len(self.values):
            raise ValueError(f"{value_text(self.values)} has a value twice; expected each once")
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
        f"{value!r} is not a range; expected a list, such as [1, 2, 4], or a table, such as "
        "{low = 1e-5, high = 5e-4, log = true}"
    )


def flat_ranges(tables: Mapping[str, Any], place: str = "") -> dict[str, Any]:
    """Ranges by dotted keys, which may be quoted or written as tables in tables."""
    flat: dict[str, Any] = {}
    for key, value in tables.items():
        inner = isinstance(value, Mapping) and not any(name in value for name in _RANGE_KEYS)
        flat |= flat_ranges(value, f"{place}{key}.") if inner and value else {f"{place}{key}": value}
    return flat


def _read_ranges(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return value
    found: dict[str, SettingRange] = {}
    for key, given in flat_ranges(value).items():
        try:
            found[key] = read_range(given)
        except ValidationError as error:
            raise ValueError(f"the range of {key!r}: {reasons(error, NumberRange)}") from None
        except ValueError as error:
            raise ValueError(f"the range of {key!r}: {error}") from None
    return found


class TuningPlan(Strict):
    """A recipe, its documents, and which of its settings are searched for."""

    recipe: str
    """Name of a shipped recipe or path of a TOML file."""
    train: Files | None = None
    dev: Files | None = None
    corpora: Path | None = None
    """A file that names several corpora, instead of the files of one."""
    format: str | None = None
    """The format of all files; recognised unless given."""
    options: dict[str, str] = Field(default_factory=dict)
    """Choices of the format, such as tag_column."""
    documents: DocumentLimits = DocumentLimits()
    trials: PositiveInt = 20
    seed: NonNegativeInt = 1
    """Of the search, and of every training: trials differ in nothing but what is searched."""
    startup_trials: PositiveInt = 5
    """The first trials are drawn at random and never stopped early; later ones are held against them."""
    pruning: bool = True
    """Whether a trial stops after an epoch in which its best F1 so far is below the median of the others."""
    changes: tuple[str, ...] = Field(default=(), alias="set")
    """Settings of all trials as `key=value`."""
    search: Annotated[dict[str, SettingRange], BeforeValidator(_read_ranges), Field(min_length=1)]
    """What each setting is chosen from, by its dotted key."""

    @model_validator(mode="after")
    def _check_files(self) -> Self:
        if self.corpora is None and not (self.train and self.dev):
            missing = "dev" if self.train else "train"
            raise ValueError(f"{missing} is missing; expected train and dev, or corpora")
        choices = self.train or self.dev or self.format or self.options or self.documents != DocumentLimits()
        if self.corpora is not None and choices:
            raise ValueError("corpora is given, so files, formats and numbers of documents belong there")
        if self.documents.test is not None:
            raise ValueError("documents.test is given, but a search looks at train and dev alone")
        return self

    @model_validator(mode="after")
    def _check_keys(self) -> Self:
        fixed = {change.partition("=")[0].strip() for change in self.changes}
        if _SEED in fixed | self.search.keys():
            raise ValueError(
                f"{_SEED} cannot be set or searched for: seed, beside recipe, is that of all trials"
            )
        if both := sorted(fixed & self.search.keys()):
            raise ValueError(f"{both[0]!r} is in set and in search; expected one of the two")
        return self

    def settings(self, chosen: Mapping[str, Any]) -> Settings:
        """The settings of a trial, from the values that were chosen for it."""
        together = load_corpora_file(self.corpora).changes if self.corpora is not None else []
        picked = [f"{key}={value_text(value)}" for key, value in chosen.items()]
        return load_settings(self.recipe, [*together, *self.changes, f"{_SEED}={self.seed}", *picked])


def load_plan(path: Path) -> TuningPlan:
    """The plan of a TOML file."""
    return make_plan(read_toml(path, hint="see docs/tune.md for what belongs in one"), str(path))


def make_plan(values: dict[str, Any], where: str) -> TuningPlan:
    """A plan from plain values; errors name the place. Both ends of every range are tried as a setting."""
    try:
        plan = TuningPlan.model_validate(values)
    except ValidationError as error:
        raise InputError(f"{where}: {reasons(error, TuningPlan)}") from None
    plan.settings({})
    for key, given in plan.search.items():
        for value in given.extremes():
            try:
                plan.settings({key: value})
            except SettingsError as error:
                raise SettingsError(f"{where}: search, {key} = {value_text(value)}: {error}") from None
    return plan
