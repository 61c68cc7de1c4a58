"""What a plan says about claims: sentences about recipes that its runs decide, and those that none can."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Self

from pydantic import Field, model_validator

from spanwright.strict import Strict

Test = Literal["difference", "best", "trend", "correlation"]
_FEWEST_IN_ORDER = 3


class ClaimPlan(Strict):
    """A claim of a paper, in our own words, and which runs decide it.

    What is given decides the test: `better` and one recipe in `than` are a difference, several the best of a
    choice; `order` is a trend over recipes; `partner` a correlation over corpora.
    """

    name: str
    place: str
    """Where the paper says so, such as a table."""
    says: str
    better: str = ""
    than: tuple[str, ...] = ()
    than_corpus: str = ""
    """The corpus that runs of `than` are taken from, if it is not that of `better`; both must have the same
    test documents."""
    order: tuple[str, ...] = ()
    """Recipes along which the number is said to rise."""
    partner: str = ""
    """The gain of `better` over `than` is said to be larger where this recipe is better than `than`."""
    of: str = "f1"
    """The number of a run: `f1`, F1 on a part of the entities as `ATTRIBUTE/BUCKET` or `type/TYPE`, the share
    of a kind of mistakes as `mistakes/KIND`, or what `numbers.jsonl` has as `number/NAME`."""
    less: bool = False
    """Whether the number is said to be smaller, as mistakes are."""
    corpora: tuple[str, ...] = ()
    """All of the plan unless given."""
    reported: dict[str, tuple[float, ...]] = Field(default_factory=dict)
    """The paper's numbers by its corpora: of `better` and then of `than`, or those of `order`."""

    @model_validator(mode="after")
    def _check_sides(self) -> Self:
        if self.order and (self.better or self.than or self.partner):
            raise ValueError("order is given, so better, than and partner cannot be")
        if not self.order and not (self.better and self.than):
            raise ValueError("expected better and than, or order")
        if self.order and len(self.order) < _FEWEST_IN_ORDER:
            raise ValueError(f"order has {len(self.order)} recipes; expected {_FEWEST_IN_ORDER} or more")
        if self.partner and (len(self.than) > 1 or self.of != "f1"):
            raise ValueError("with a partner, expected one recipe in than, and F1")
        return self

    @property
    def test(self) -> Test:
        """How the claim is decided."""
        if self.order:
            return "trend"
        if self.partner:
            return "correlation"
        return "best" if len(self.than) > 1 else "difference"

    @property
    def recipes(self) -> tuple[str, ...]:
        """All recipes that the claim is about, the better one first."""
        named = (self.better, *self.than, *self.order, self.partner)
        return tuple(recipe for recipe in named if recipe)

    def sides(self, corpus: str) -> dict[str, tuple[str, str]]:
        """Corpus and recipe of the runs that decide the claim on a corpus, by what each side is called."""
        rivals = {self.rival(recipe): (self.than_corpus or corpus, recipe) for recipe in self.than}
        others = (self.better, *self.order, self.partner)
        return {recipe: (corpus, recipe) for recipe in others if recipe} | rivals

    def rival(self, recipe: str) -> str:
        """What a recipe of `than` is called."""
        return f"{recipe} from {self.than_corpus}" if self.than_corpus else recipe

    @property
    def in_points(self) -> bool:
        """Whether the number is a share, which is shown in hundredths."""
        return not self.of.startswith("number/") and self.test != "correlation"

    def reported_effect(self, corpus: str) -> float | None:
        """The paper's effect, as ours is meant, in its own unit; None where it has no numbers."""
        numbers = self.reported.get(corpus)
        if not numbers or self.test == "correlation":
            return None
        sign = -1 if self.less else 1
        if self.order:
            return sign * (numbers[-1] - numbers[0])
        return min(sign * (numbers[0] - other) for other in numbers[1:])


class UntestablePlan(Strict):
    """A claim that no run here can decide."""

    place: str
    says: str
    reason: str


class AnalysisPlan(Strict):
    """What is looked at in finished runs beside their scores."""

    place: str
    says: str
    commands: tuple[str, ...] = Field(min_length=1)
    files: tuple[str, ...] = Field(min_length=1)
    """What the commands write, in the folder of the results: pictures, tables in markdown, JSON."""


def check_claims(claims: Sequence[ClaimPlan], recipes: Sequence[str], corpora: Sequence[str]) -> None:
    """Refuse claims about recipes and corpora that are not compared, and two of one name."""
    names = [claim.name for claim in claims]
    if twice := [name for name in names if names.count(name) > 1]:
        raise ValueError(f"two claims are named {twice[0]!r}; rename one")
    for claim in claims:
        for key, named, known in (
            ("recipe", claim.recipes, recipes),
            ("corpus", (*claim.corpora, *filter(None, [claim.than_corpus])), corpora),
        ):
            if unknown := [name for name in named if name not in known]:
                raise ValueError(
                    f"the claim {claim.name!r} names the {key} {unknown[0]!r}; expected one of "
                    f"{', '.join(known)}"
                )
