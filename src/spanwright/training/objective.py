"""The training objective: a weighted sum of named loss terms, with schedules and phases."""

from __future__ import annotations

from collections.abc import Mapping, Set

from torch import Tensor

from spanwright.errors import SettingsError
from spanwright.settings.learning import ROUNDING, ObjectiveSettings, Phase, Weight


def check_terms(settings: ObjectiveSettings, terms: Set[str], shares: Set[str] = frozenset()) -> None:
    """Refuse phases and weights (other than 0) of terms that the model does not have.

    `shares` are those of its terms that a convex objective gives a share of the loss.
    """
    weighted = {term for term, weight in settings.weights.items() if weight != 0}
    named = {*weighted, *(term for phase in settings.phases for term in phase.terms)}
    if unknown := sorted(named - terms):
        raise SettingsError(f"objective names the terms {unknown}; this model has {sorted(terms)}")
    if settings.convex:
        _check_shares(terms, shares)


def _check_shares(terms: Set[str], shares: Set[str]) -> None:
    if not (terms & shares and terms - shares):
        raise SettingsError(
            f"a convex objective needs span terms and an auxiliary one; this model has {sorted(terms)}"
        )


def check_roles(settings: ObjectiveSettings, roles: set[str]) -> None:
    """Refuse phases with rates of roles which the model does not have, and phases in which none learns."""
    if unknown := sorted({role for phase in settings.phases for role in phase.rates} - roles):
        raise SettingsError(f"objective.phases name the roles {unknown}; this model has {sorted(roles)}")
    for number, phase in enumerate(settings.phases):
        if all(phase.rates.get(role) == 0 for role in roles):
            raise SettingsError(
                f"objective.phases.{number}.rates are 0 for every role, so nothing would be trained; "
                f"expected more than 0 for one of {sorted(roles)}"
            )


def weights_at(
    settings: ObjectiveSettings, terms: Set[str], shares: Set[str] = frozenset(), *, progress: float
) -> dict[str, float]:
    """The weight of each term that is on, at a share of the run from 0 to 1.

    A convex objective gives `shares`, some of the terms, their weights, and the others what these leave.
    """
    weights = {term: _weight(settings.weights.get(term, 1.0), progress) for term in sorted(terms)}
    if settings.convex:
        _check_shares(terms, shares)
        rest = _rest(sum(weights[term] for term in terms & shares))
        weights |= {term: rest * weights[term] for term in terms - shares}
    phase = _phase_at(settings.phases, progress)
    on = terms if phase is None else set(phase.terms)
    weights = {term: weight for term, weight in weights.items() if term in on and weight != 0.0}
    if not weights:
        raise SettingsError(
            f"objective: nothing is trained at {100 * progress:.0f} % of the run; "
            f"expected a weight other than 0 for one of {sorted(on)}"
        )
    return weights


def _rest(others: float) -> float:
    """What a convex objective leaves to the span terms."""
    if others > 1 + ROUNDING:
        raise SettingsError(f"a convex objective has weights that sum up to {others:g}; expected up to 1")
    return max(0.0, 1 - others)


def total(losses: Mapping[str, Tensor], weights: Mapping[str, float]) -> Tensor:
    """The weighted sum of the terms that are on."""
    parts = [losses[term] * weight for term, weight in weights.items()]
    return sum(parts[1:], start=parts[0])


def _weight(weight: Weight, progress: float) -> float:
    return weight if isinstance(weight, int | float) else weight.at(progress)


def role_rates_at(settings: ObjectiveSettings, *, progress: float) -> dict[str, float]:
    """Factors of the learning rates of roles, at a share of the run from 0 to 1; 1 for those not named."""
    phase = _phase_at(settings.phases, progress)
    return dict(phase.rates) if phase is not None else {}


def _phase_at(phases: tuple[Phase, ...], progress: float) -> Phase | None:
    """The phase at a share of the run; None after the last."""
    end = 0.0
    for phase in phases:
        end += phase.share
        if progress < end:
            return phase
    return None
