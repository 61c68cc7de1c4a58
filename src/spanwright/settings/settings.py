"""All settings of a run, in one tree."""

from __future__ import annotations

from collections.abc import Set
from typing import Annotated, Literal, Self

from pydantic import model_validator

from spanwright.errors import SettingsError
from spanwright.settings.auxiliaries import AuxiliarySettings
from spanwright.settings.combinations import check_combination
from spanwright.settings.data import CandidateSettings, CorporaSettings, WindowSettings
from spanwright.settings.encoder import EncoderSettings
from spanwright.settings.learning import ObjectiveSettings, OptimiserSettings, StartSettings, TrainingSettings
from spanwright.settings.part import OFF, PartSettings
from spanwright.settings.representations import AnyRepresentation, ComposedSettings
from spanwright.settings.scorers import AnyScorer, SoftmaxSettings
from spanwright.settings.transforms import AnyTransform
from spanwright.strict import Strict

Output = Literal["spans", "tags"]

Decoding = Literal["nested", "flat", "non-crossing"]


class LabelSettings(Strict):
    """What a model reads about the types."""

    descriptions: str | None = None
    """A TOML or JSON file with a text per type, or the name of a shipped one; else names in words."""


class Settings(Strict):
    """Everything that decides a run, apart from its data."""

    name: str
    """What the recipe is called in tables and model cards."""
    description: str = ""
    """What it is, in a line."""
    encoder: EncoderSettings = EncoderSettings()
    start: Annotated[StartSettings | None, OFF] = None
    """The model that a training starts from; without it, from the encoder alone."""
    corpora: Annotated[CorporaSettings | None, OFF] = None
    """How several corpora are trained on together; without it, documents are all of one."""
    windows: WindowSettings = WindowSettings()
    candidates: CandidateSettings = CandidateSettings()
    labels: LabelSettings = LabelSettings()
    representation: AnyRepresentation = ComposedSettings()
    transforms: tuple[AnyTransform, ...] = ()
    """What span vectors pass through, one after the other, before they are scored."""
    scorer: AnyScorer = SoftmaxSettings()
    auxiliaries: AuxiliarySettings = AuxiliarySettings()
    output: Output = "spans"
    """Whether entities are read from the spans or from the tagger's tags."""
    decoding: Decoding | Literal["auto"] = "auto"
    """Which overlaps a model may answer with; `auto` allows those that training entities have."""
    objective: ObjectiveSettings = ObjectiveSettings()
    optimiser: OptimiserSettings = OptimiserSettings()
    training: TrainingSettings = TrainingSettings()

    @property
    def has_spans(self) -> bool:
        """Whether the model scores spans."""
        return self.scorer.kind != "none"

    @property
    def resolved_width_limit(self) -> int:
        """The width limit, once its `auto` has been decided."""
        limit = self.candidates.width_limit
        if limit == "auto":
            raise SettingsError(
                "candidates.width_limit is still 'auto'; give a number of words to build a model"
            )
        return limit

    @property
    def parts(self) -> tuple[PartSettings, ...]:
        """The settings of the parts that the model has, in the order of the flow."""
        chosen, beside = (self.representation, *self.transforms, self.scorer), self.auxiliaries
        spans = (self.candidates.pruning, *chosen) if self.has_spans else ()
        every = (self.encoder, *spans, beside.tagger, beside.span_vae, beside.cvae, *beside.others)
        return tuple(part for part in every if part is not None)

    @property
    def shares(self) -> Set[str]:
        """The loss terms that a convex objective gives a share of the loss."""
        return {term for part in self.parts for term in part.usual_shares()}

    @property
    def names_corpus(self) -> bool:
        """Whether the encoder reads which corpus a text is from."""
        return self.corpora is not None and self.corpora.token

    @property
    def keeps_types(self) -> bool:
        """Whether types of the model that the training starts from are answered as before."""
        return self.start is not None and self.start.keep_types

    @property
    def soft_targets(self) -> bool:
        """Whether training entities have probabilities."""
        return self.training.targets == "soft" or self.keeps_types

    @model_validator(mode="after")
    def _check_combination(self) -> Self:
        """Refuse parts that cannot work together, with the reason."""
        check_combination(self)
        return self
