"""What settings leave open, decided by documents, encoder, parts and the model to start from."""

from __future__ import annotations

from typing import Any

from spanwright.artifact import TrainedModel
from spanwright.settings import Settings
from spanwright.settings.learning import ObjectiveSettings, Weight
from spanwright.training.data import automatic_decoding, automatic_width_limit, likely_entities
from spanwright.training.optimiser import default_rates
from spanwright.training.selection import Documents, TrainingData
from spanwright.training.start import model_digest


def resolve(
    settings: Settings, data: TrainingData, encoder_width: int, start: TrainedModel | None = None
) -> Settings:
    """Replace every `auto` by what the training data, the encoder and the model to start from suggest."""
    train, targets = data.train, data.target_documents
    if settings.training.targets == "soft":
        # Unlikely spans are of any width, and overlap wherever a border is in doubt.
        train, targets = likely_entities(train), likely_entities(targets)
    changes = span_choices(settings, train, targets)
    if start is not None and settings.keeps_types:
        changes |= _for_kept_types(settings, changes, start.settings)
    if settings.start is not None:
        digested = {"digest": model_digest(settings.start.model)}
        changes["start"] = settings.start.model_copy(update=digested)
    changes["objective"] = _resolved_objective(settings)
    rates = _usual_rates(settings, encoder_width) | settings.optimiser.learning_rates
    changes["optimiser"] = settings.optimiser.model_copy(update={"learning_rates": rates})
    return settings.model_copy(update=changes)


def span_choices(settings: Settings, train: Documents, targets: Documents) -> dict[str, Any]:
    """What documents, those of target corpora apart, say of candidates and decoding that are `auto`."""
    changes: dict[str, Any] = {}
    if settings.candidates.width_limit == "auto":
        limit = automatic_width_limit(train)
        changes["candidates"] = settings.candidates.model_copy(update={"width_limit": limit})
    if settings.decoding == "auto":
        changes["decoding"] = automatic_decoding(targets)
    return changes


def _for_kept_types(settings: Settings, changes: dict[str, Any], old: Settings) -> dict[str, Any]:
    """What was `auto`, wide and free enough for the entities that the old model finds as well."""
    wider: dict[str, Any] = {}
    if settings.candidates.width_limit == "auto":
        limit = max(changes["candidates"].width_limit, old.resolved_width_limit)
        wider["candidates"] = settings.candidates.model_copy(update={"width_limit": limit})
    if settings.decoding == "auto":
        strict_to_free = ("flat", "non-crossing", "nested")
        # Nobody has annotated both kinds of types in one text: some may well stand in others.
        rules = (changes["decoding"], old.decoding, "non-crossing")
        wider["decoding"] = max(rules, key=strict_to_free.index)
    return wider


def _resolved_objective(settings: Settings) -> ObjectiveSettings:
    """The objective with the usual weights and shares of terms that settings do not name."""
    objective, weights, shares = settings.objective, dict[str, Weight](), dict[str, float]()
    for part in settings.parts:
        weights |= part.usual_weights()
        shares |= part.usual_shares()
    weights |= objective.weights
    # A share of the loss needs others who have the rest.
    unnamed = {term: share for term, share in shares.items() if settings.has_spans and term not in weights}
    convex = bool(unnamed) if objective.convex is None else objective.convex
    return objective.model_copy(update={"weights": weights | unnamed, "convex": convex})


def _usual_rates(settings: Settings, encoder_width: int) -> dict[str, float]:
    """The learning rates of all roles, as parts have them beside an encoder of that width."""
    suited = default_rates(encoder_width)
    rates: dict[str, float] = {}
    for part in settings.parts:
        rates |= part.usual_rates(pretrained=suited["encoder"], fresh=suited["head"])
    return rates
