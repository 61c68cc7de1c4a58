"""What is compared: recipes on corpora with seeds. A plan is a TOML file, or the options of the command."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field, PositiveInt, ValidationError, model_validator

from spanwright.comparing.claim_plan import AnalysisPlan, ClaimPlan, UntestablePlan, check_claims
from spanwright.errors import InputError, SettingsError
from spanwright.settings import Settings, load_settings
from spanwright.strict import Strict
from spanwright.toml_files import read_toml, reasons
from spanwright.training.corpora_file import CorporaFile, DocumentLimits, Files, load_corpora_file

ScoredSplit = Literal["dev", "test"]
_PART_OF_FILE_NAMES = re.compile(r"\w[\w.-]*")


class CorpusPlan(Strict):
    """The files of a corpus, or several corpora to train on together, and what is special about its runs."""

    train: Files | None = None
    dev: Files | None = None
    test: Files | None = None
    together: Path | None = None
    """A file that names several corpora, instead of the three splits of one."""
    format: str | None = None
    """The format of all files; recognised unless given."""
    options: dict[str, str] = Field(default_factory=dict)
    """Choices of the format, such as tag_column."""
    documents: DocumentLimits = DocumentLimits()
    recipes: tuple[str, ...] = ()
    """Those of the plan that run on this corpus; all unless given."""
    map: str | None = None
    """A label map, a file or the name of a shipped one, that knows this corpus by its name here: entities get
    its shared types, and those without one are left out."""
    descriptions: str | None = None
    """Texts about the types, for the recipes that read them: a file, or the name of a shipped one."""
    changes: tuple[str, ...] = Field(default=(), alias="set")
    """Settings of all runs on this corpus as `key=value`."""

    @model_validator(mode="after")
    def _check_files(self) -> Self:
        splits = {"train": self.train, "dev": self.dev, "test": self.test}
        given = [name for name, files in splits.items() if files]
        if self.together is None and len(given) < len(splits):
            missing = next(name for name in splits if name not in given)
            raise ValueError(f"{missing} is missing; expected train, dev and test, or together")
        choices = given or self.format or self.options or self.map or self.documents != DocumentLimits()
        if self.together is not None and choices:
            raise ValueError(
                "together is given, so files, formats, maps and numbers of documents belong there"
            )
        return self

    def corpora_file(self) -> CorporaFile | None:
        """The corpora that are trained on together."""
        return load_corpora_file(self.together) if self.together is not None else None


class PlotPlan(Strict):
    """A picture of the mean F1 of some recipes."""

    kind: Literal["line", "bars"]
    recipes: tuple[str, ...] = Field(min_length=1)


class Plan(Strict):
    """Recipes x corpora x seeds, and how to look at their results."""

    recipes: tuple[str, ...] = Field(min_length=1)
    """Names of shipped recipes or paths of TOML files."""
    corpora: dict[str, CorpusPlan] = Field(min_length=1)
    seeds: PositiveInt = 3
    """How many runs of each recipe on each corpus; their seeds are 1, 2, 3 and so on."""
    base: str = ""
    """The recipe that the others are held against; the first one unless given."""
    encoder: str | None = None
    changes: tuple[str, ...] = Field(default=(), alias="set")
    """Settings of all runs as `key=value`."""
    changes_for: dict[str, tuple[str, ...]] = Field(default={}, alias="set_for")
    """Settings of single recipes."""
    heat_map_split: ScoredSplit = "test"
    """The documents of the heat map; Bundling Learning used dev."""
    plots: dict[str, PlotPlan] = Field(default_factory=dict)
    paper: str = ""
    """Whose claims these are."""
    changed: tuple[str, ...] = ()
    """What differs from the paper, and why."""
    claims: tuple[ClaimPlan, ...] = ()
    untestable: tuple[UntestablePlan, ...] = ()
    analyses: tuple[AnalysisPlan, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _first_is_base(cls, values: Any) -> Any:
        """The first recipe is the base unless another one is named."""
        recipes = values.get("recipes") if isinstance(values, Mapping) else None
        return {"base": recipes[0], **values} if recipes and isinstance(recipes, list | tuple) else values

    @model_validator(mode="after")
    def _check_names(self) -> Self:
        """Refuse names that lead nowhere or to the same folder, and corpora without the base."""
        _check_file_names("corpus", self.corpora)
        _check_file_names("plot", self.plots)
        named = {"base": [self.base], "set_for": list(self.changes_for)}
        named |= {f"plots.{name}": list(plot.recipes) for name, plot in self.plots.items()}
        named |= {f"corpora.{name}.recipes": list(each.recipes) for name, each in self.corpora.items()}
        for key, recipes in named.items():
            if unknown := [recipe for recipe in recipes if recipe not in self.recipes]:
                raise ValueError(f"{key} names {unknown[0]!r}; expected {', '.join(self.recipes)}")
        if lacking := [name for name in self.corpora if self.base not in self.recipes_on(name)]:
            raise ValueError(
                f"corpora.{lacking[0]}.recipes lacks the base {self.base!r}; add it, or choose another base"
            )
        folders = Counter(map(folder_name, self.recipes))
        if twice := [folder for folder, count in folders.items() if count > 1]:
            raise ValueError(f"two of the recipes would go into the folder {twice[0]!r}; rename one")
        check_claims(self.claims, self.recipes, tuple(self.corpora))
        return self

    @model_validator(mode="after")
    def _check_seed(self) -> Self:
        """A seed among the changes would lose against those of the comparison."""
        places = (self.changes, *self.changes_for.values(), *(each.changes for each in self.corpora.values()))
        if any(change.partition("=")[0].strip() == "training.seed" for place in places for change in place):
            raise ValueError("training.seed cannot be set: a comparison counts its seeds from 1")
        return self

    def recipes_on(self, corpus: str) -> tuple[str, ...]:
        """The recipes that run on a corpus."""
        return self.corpora[corpus].recipes or self.recipes

    def settings(self, recipe: str, corpus: str) -> Settings:
        """The settings of a recipe on a corpus; what is said of recipes goes over what is said of corpora."""
        own = self.corpora[corpus]
        together = own.corpora_file()
        said = together.changes if together is not None else []
        changes = [*said, *self.changes, *own.changes, *self.changes_for.get(recipe, ())]
        settings = load_settings(recipe, changes, encoder=self.encoder)
        if own.descriptions is None or not settings.scorer.reads_descriptions:
            return settings
        return load_settings(recipe, changes, encoder=self.encoder, descriptions=own.descriptions)


def _check_file_names(what: str, names: Iterable[str]) -> None:
    """Refuse a name that would lead out of its folder, or that a file system may not have."""
    for name in names:
        if not _PART_OF_FILE_NAMES.fullmatch(name):
            raise ValueError(
                f"the {what} name {name!r} is part of file names: expected letters, digits, '_', '.' and "
                "'-', beginning with a letter, a digit or '_'"
            )


def load_plan(path: str | Path) -> Plan:
    """The plan of a TOML file."""
    return make_plan(
        read_toml(Path(path), hint="to compare recipes without one, give --train files"), str(path)
    )


def make_plan(values: Mapping[str, Any], where: str) -> Plan:
    """A plan from plain values; errors name the place, and every run's settings are checked."""
    try:
        plan = Plan.model_validate(values)
    except ValidationError as error:
        raise InputError(f"{where}: {reasons(error, Plan)}") from None
    for name, corpus in plan.corpora.items():
        settings = [plan.settings(recipe, name) for recipe in plan.recipes_on(name)]
        if corpus.descriptions is not None and not any(each.scorer.reads_descriptions for each in settings):
            raise SettingsError(
                f"{where}: descriptions are given for the corpus {name!r}, but none of the recipes "
                f"reads any; binder does"
            )
    return plan


def folder_name(recipe: str) -> str:
    """The name of a recipe's folder: `bundling-crf` for `bundling/crf`, `mine` for `recipes/mine.toml`."""
    return Path(recipe).stem if recipe.endswith(".toml") else recipe.replace("/", "-")
