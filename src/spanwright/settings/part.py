"""What the settings of all parts have in common, and how those of other packages are found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BeforeValidator, Discriminator, ValidationError

from spanwright.outside import Known
from spanwright.settings.learning import Weight
from spanwright.strict import Strict
from spanwright.toml_files import reasons


class PartSettings(Strict):
    """Settings of a part, and what is usual for it unless a recipe says otherwise."""

    def usual_weights(self) -> dict[str, Weight]:
        """The weights of its loss terms; those not named weigh 1."""
        return {}

    def usual_shares(self) -> dict[str, float]:
        """The loss terms that have a share of the loss beside the spans, whose terms have the rest."""
        return {}

    def usual_rates(self, *, pretrained: float, fresh: float) -> dict[str, float]:
        """The learning rates of its roles, from those that suit pretrained weights and such that are new."""
        return {"head": fresh}


OFF = BeforeValidator(lambda value: None if value is False else value)
"""Lets recipes switch a part off that another recipe has: TOML can say `false`, but not `None`."""


PARTS: Mapping[str, type] = Known({}, group="spanwright.parts", expected=type)
"""The settings classes of parts that other packages bring along, by their kinds."""
OUTSIDE = "outside"
"""The tag of the branch of a union that stands for them."""


def by_kind(*own: str, usual: str | None = None) -> Discriminator:
    """Chooses a settings class by `kind`, which need not be said for the usual one."""

    def tag(value: Any) -> str | None:
        kind = value.get("kind", usual) if isinstance(value, dict) else getattr(value, "kind", None)
        return kind if kind is None or kind in own else OUTSIDE

    expected = f"expected {', '.join(own)}, or the kind of a part of an installed package"
    return Discriminator(
        tag, custom_error_type="kind_missing", custom_error_message=f"'kind' is missing; {expected}"
    )


def from_outside(base: type[PartSettings], *own: str) -> BeforeValidator:
    """Reads the settings of a part of another package, whose class must be a `base`; `own` are our kinds."""

    def read(value: Any) -> Any:
        if isinstance(value, base):
            return value
        kind = str(value.get("kind", "")) if isinstance(value, dict) else ""
        if kind not in PARTS:
            installed = ", ".join(PARTS) or "none"
            ours = f"expected {', '.join(own)}, or" if own else "expected"
            raise ValueError(f"unknown kind {kind!r}; {ours} one of an installed package: {installed}")
        found = PARTS[kind]
        if not issubclass(found, base):
            raise ValueError(f"the kind {kind!r} is a {found.__name__}; expected a {base.__name__}")
        try:
            return found.model_validate(value)
        except ValidationError as error:
            raise ValueError(reasons(error, found)) from None

    return BeforeValidator(read)
