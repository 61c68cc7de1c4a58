"""Settings of the parts that learn beside the spans, and the names of their loss terms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal, Self

from pydantic import Field, PositiveInt, SerializeAsAny, model_validator

from spanwright.settings.learning import LinearSchedule, LogisticSchedule, Weight
from spanwright.settings.part import OFF, PartSettings, from_outside
from spanwright.strict import Strict

TAGS = "tags"
"""The loss term."""


class TaggerSettings(PartSettings):
    """Settings of the word tagger."""

    kind: Literal["softmax", "crf"] = "softmax"
    """Whether words are tagged one by one or as a path."""
    dropout: float = Field(default=0.1, ge=0, lt=1)
    """Dropout on the word states."""

    def usual_shares(self) -> dict[str, float]:
        """Bundling Learning, section 4.1.2: the tagger's share of the loss is 0.1."""
        return {TAGS: 0.1}

    def usual_rates(self, *, pretrained: float, fresh: float) -> dict[str, float]:
        """It starts from nothing, like the head."""
        return {"auxiliary": fresh}


RECONSTRUCTION = "reconstruction"

SYNONYMS = "synonyms"

DIVERGENCE = "-divergence"
"""Added to the name of an auto-encoder: its second loss term."""

_GAMMA = 1e-3
"""Joint-IB's weight of what is written, which the paper searches for each corpus."""

OutputKind = Literal["softmax", "adaptive"]


class SpanVaeSettings(PartSettings):
    """Settings of the auto-encoders of spans."""

    latent: PositiveInt = 256
    """Size of a latent vector."""
    hidden: PositiveInt = 256
    """Size of the states of a decoder; 16 or more with adaptive output."""
    word_size: PositiveInt = 200
    """Size of the embeddings that a decoder reads; that of the word vectors where a file is given."""
    sharing: Literal["mean", "all", "none"] = "mean"
    """What the posteriors of spans and synonyms share: the mean, mean and deviation, or nothing."""
    word_dropout: float = Field(default=0.3, ge=0, lt=1)
    """Share of the words that a decoder reads as unknown while training, so that it needs the latent."""
    output: OutputKind = "softmax"
    """`adaptive` scores rare words only when their cluster is meant: quicker with thousands of words."""
    keep: bool = False
    """Whether saved models keep the auto-encoders; entities are found without them."""
    vectors: str | None = None
    """A file of word vectors to begin with: word2vec, GloVe or fastText; none starts at random."""
    synonyms: tuple[str, ...] = ()
    """Where synonyms come from: lexicon files, or `corpus` for names that share a concept id in the training
    corpus. Without any there is no auto-encoder of synonyms."""
    synonyms_per_mention: PositiveInt | Literal["all"] = 10
    """Synonyms that a mention is rewritten to, at most."""

    @property
    def names(self) -> tuple[str, ...]:
        """The auto-encoders: one of spans and, where there are any, one of synonyms."""
        return (RECONSTRUCTION, SYNONYMS) if self.synonyms else (RECONSTRUCTION,)

    def usual_weights(self) -> dict[str, Weight]:
        """Small weights of what is written; the divergences join over the whole run (Joint-IB)."""
        rising = LogisticSchedule(kind="logistic", end=_GAMMA)
        weights: dict[str, Weight] = dict.fromkeys(self.names, _GAMMA)
        return weights | {name + DIVERGENCE: rising for name in self.names}

    def usual_rates(self, *, pretrained: float, fresh: float) -> dict[str, float]:
        """They start from nothing, like the head."""
        return {"auxiliary": fresh}

    @model_validator(mode="after")
    def _check_hidden(self) -> Self:
        if self.output == "adaptive" and self.hidden < 16:
            raise ValueError(f"hidden {self.hidden} with adaptive output; expected 16 or more")
        return self


CONDITIONAL = "conditional"

ConditionKind = Literal["both", "own", "shared", "random"]


class CvaeSettings(PartSettings):
    """Settings of the conditional auto-encoder of spans."""

    condition: ConditionKind = "both"
    """What conditions begin as: one-hot vectors of a label itself (`own`), of the shared label that it means
    (`shared`) or both, or standard normal numbers, as many as both have (`random`)."""
    trainable: bool = True
    """Whether conditions learn, or stay as they begin."""
    hidden: PositiveInt = 768
    """Size of the layer between a span vector and its posterior."""
    latent: PositiveInt = 150
    """Size of a latent vector, and of the layer between it and the rebuilt span vector."""
    detach_target: bool = False
    """Whether span vectors are kept from coming to meet what is rebuilt of them."""
    negatives: PositiveInt | Literal["all"] = "all"
    """Spans without an entity that enter from each window: all, or a number drawn at every step."""
    keep: bool = False
    """Whether saved models keep the auto-encoder; entities are found without it."""

    def usual_weights(self) -> dict[str, Weight]:
        """CVAE-NER's alpha and, as in its recipe, alpha shared out over the numbers of a span vector."""
        rising = LinearSchedule(kind="linear", start=0.0, end=2.6e-7)
        return {CONDITIONAL: 1e-4, CONDITIONAL + DIVERGENCE: rising}

    def usual_rates(self, *, pretrained: float, fresh: float) -> dict[str, float]:
        """It starts from nothing, like the head; conditions learn at half that rate (CVAE-NER, appendix)."""
        conditions: dict[str, float] = {"condition": 0.5 * fresh} if self.trainable else {}
        return {"auxiliary": fresh, **conditions}


class OtherAuxiliarySettings(PartSettings):
    """Settings of an auxiliary of another package; what it learns is never asked when entities are found."""

    kind: str

    def usual_rates(self, *, pretrained: float, fresh: float) -> dict[str, float]:
        """It starts from nothing, like the head."""
        return {"auxiliary": fresh}

    def build(self, *, state_width: int, sizes: Sequence[int]) -> Any:
        """The module, an `Auxiliary`; `sizes` counts the types of each corpus."""
        raise NotImplementedError(f"{type(self).__name__} has no method that builds the part")


OtherAuxiliary = Annotated[SerializeAsAny[OtherAuxiliarySettings], from_outside(OtherAuxiliarySettings)]


class AuxiliarySettings(Strict):
    """Parts that learn beside the span scores."""

    tagger: Annotated[TaggerSettings | None, OFF] = None
    """A tagger of words that shares the encoder (Bundling Learning)."""
    span_vae: Annotated[SpanVaeSettings | None, OFF] = None
    """Auto-encoders that rewrite gold spans and their synonyms (Joint-IB)."""
    cvae: Annotated[CvaeSettings | None, OFF] = None
    """An auto-encoder of span vectors, given their labels (CVAE-NER)."""
    others: tuple[OtherAuxiliary, ...] = ()
    """Auxiliaries of other packages."""
