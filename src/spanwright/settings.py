"""The settings of a run: pydantic models, read from TOML recipes, saved as resolved JSON."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence, Set
from copy import deepcopy
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Discriminator, Field, NonNegativeInt, PositiveInt, Tag, ValidationError, model_validator

from spanwright.batches.prepare import Context
from spanwright.errors import SettingsError
from spanwright.parts.beside.conditional import CvaeSettings
from spanwright.parts.beside.tagger import TaggerSettings
from spanwright.parts.beside.writer.auto_encoders import SpanVaeSettings
from spanwright.parts.decoding import Decoding
from spanwright.parts.encoder.encoder import EncoderSettings
from spanwright.parts.model import Output
from spanwright.parts.optional import OFF
from spanwright.parts.part import PartSettings
from spanwright.parts.spans.pruning import PruningSettings
from spanwright.parts.spans.representations.composed import ComposedSettings
from spanwright.parts.spans.representations.span_transformer import SpanTransformerSettings
from spanwright.parts.spans.scorers.bi_encoder import BiEncoderSettings
from spanwright.parts.spans.scorers.scorer import ScorerSettings
from spanwright.parts.spans.scorers.sigmoid import SigmoidSettings
from spanwright.parts.spans.scorers.softmax import SoftmaxSettings
from spanwright.parts.spans.transforms.bilstm import BiLstmSettings
from spanwright.parts.spans.transforms.bottleneck import BottleneckSettings
from spanwright.parts.spans.transforms.feed_forward import FeedForwardSettings
from spanwright.recipes import recipe_text
from spanwright.strict import Strict
from spanwright.toml_files import legal_keys
from spanwright.training.corpora import CorporaSettings
from spanwright.training.objective import ObjectiveSettings
from spanwright.training.optimiser import OptimiserSettings

Auto = Literal["auto"]
Precision = Literal["float32", "bf16"]
Changes = Sequence[str] | Mapping[str, Any]
"""Changes of settings: `key=value` as on the command line, or values by their dotted keys."""


class WindowSettings(Strict):
    """How texts are cut for the encoder."""

    context: Context = "document"
    """`document`: windows fill up with neighbouring sentences; `sentence`: they stop at sentence borders."""
    pieces: int = Field(default=256, ge=16)
    """Sub-word pieces of a window, with the special ones."""
    overlap: int = Field(default=24, ge=1)
    """Words that neighbouring windows share, at most half as many as pieces; raised to the width limit."""
    without_gold: Literal["keep", "drop"] = "keep"
    """Whether windows without an entity are trained on."""


class CandidateSettings(Strict):
    """Which spans are scored."""

    width_limit: PositiveInt | Auto = "auto"
    """Words of the widest candidate; `auto` covers 99.5 % of the training entities."""
    negatives: NonNegativeInt | Literal["all"] = "all"
    """Candidates without a gold label that train in each window: all, or a number drawn every epoch."""
    pruning: Annotated[PruningSettings | None, OFF] = None
    """A cheap scorer that leaves only the best candidates of a window to the representation."""


class TrainingSettings(Strict):
    """How long and in which portions to train."""

    epochs: int = Field(default=10, ge=1)
    seed: int = Field(default=1, ge=0, lt=2**64)
    batch_windows: int = Field(default=16, ge=1)
    """Windows of a batch."""
    batch_pieces: int = Field(default=512, ge=16)
    """Pieces of a batch, padding included: some 14 sentences, or two windows of a document. With more, a
    corpus has so few steps as documents that it learns far less than as sentences."""
    accumulate: int = Field(default=1, ge=1)
    """Batches whose gradients are added before a step."""
    score_steps: int | None = Field(default=None, ge=1)
    """Steps after which dev is scored, and a better model kept; after each epoch when None."""
    patience: int | None = Field(default=None, ge=1)
    """How often dev may be scored without a better F1, after all phases, before training stops; without end
    when None."""
    checkpoint_steps: int | None = Field(default=None, ge=1)
    """Steps between checkpoints; only after each epoch when None."""
    targets: Literal["hard", "soft"] = "hard"
    """`soft`: the confidence of a training entity is the probability that is learnt; 1 if it has none."""
    precision: Precision = "float32"
    """`bf16`: Transformer blocks compute in 16 bits while training; weights, losses and scores have 32."""
    leaked: Literal["drop", "keep"] = "drop"
    """What happens to training documents that stand in evaluation data, of whichever corpus."""


class LabelSettings(Strict):
    """What is told about the types."""

    descriptions: str | None = None
    """A TOML or JSON file with a text per type, or the name of a shipped one; else names in words."""


class NoScorer(ScorerSettings):
    """No spans are scored: the tagger is the model."""

    kind: Literal["none"]


class AuxiliarySettings(Strict):
    """Parts that learn beside the span scores."""

    tagger: Annotated[TaggerSettings | None, OFF] = None
    """A tagger of words that shares the encoder (Bundling Learning)."""
    span_vae: Annotated[SpanVaeSettings | None, OFF] = None
    """Auto-encoders that rewrite gold spans and their synonyms (Joint-IB)."""
    cvae: Annotated[CvaeSettings | None, OFF] = None
    """An auto-encoder of span vectors, given their labels (CVAE-NER)."""


def _representation_kind(value: Any) -> Any:
    """The kind of a representation, which need not be said for the composed one."""
    return value.get("kind", "composed") if isinstance(value, dict) else getattr(value, "kind", None)


RepresentationSettings = Annotated[
    Annotated[ComposedSettings, Tag("composed")]
    | Annotated[SpanTransformerSettings, Tag("span-transformer")],
    Discriminator(_representation_kind),
]
TransformSettings = Annotated[
    BiLstmSettings | FeedForwardSettings | BottleneckSettings, Field(discriminator="kind")
]


class Settings(Strict):
    """Everything that decides a run, apart from its data."""

    name: str
    description: str = ""
    encoder: EncoderSettings = EncoderSettings()
    corpora: Annotated[CorporaSettings | None, OFF] = None
    """How several corpora are trained on together; without it, documents are all of one."""
    windows: WindowSettings = WindowSettings()
    candidates: CandidateSettings = CandidateSettings()
    labels: LabelSettings = LabelSettings()
    representation: RepresentationSettings = ComposedSettings()
    transforms: tuple[TransformSettings, ...] = ()
    """What span vectors pass through, one after the other, before they are scored."""
    scorer: SoftmaxSettings | SigmoidSettings | BiEncoderSettings | NoScorer = Field(
        default=SoftmaxSettings(), discriminator="kind"
    )
    auxiliaries: AuxiliarySettings = AuxiliarySettings()
    output: Output = "spans"
    """Whether entities are read from the spans or from the tagger's tags."""
    decoding: Decoding | Auto = "auto"
    """Which overlaps a model may answer with; `auto` allows those that training entities have."""
    objective: ObjectiveSettings = ObjectiveSettings()
    optimiser: OptimiserSettings = OptimiserSettings()
    training: TrainingSettings = TrainingSettings()

    @property
    def has_spans(self) -> bool:
        """Whether the model scores spans."""
        return self.scorer.kind != "none"

    @property
    def parts(self) -> tuple[PartSettings, ...]:
        """The settings of the parts that the model has, in the order of the flow."""
        chosen, beside = (self.representation, *self.transforms, self.scorer), self.auxiliaries
        spans = (self.candidates.pruning, *chosen) if self.has_spans else ()
        every = (self.encoder, *spans, beside.tagger, beside.span_vae, beside.cvae)
        return tuple(part for part in every if part is not None)

    @property
    def shares(self) -> Set[str]:
        """The loss terms that a convex objective gives a share of the loss."""
        return {term for part in self.parts for term in part.usual_shares()}

    @property
    def names_corpus(self) -> bool:
        """Whether the encoder is told which corpus a text is from."""
        return self.corpora is not None and self.corpora.token

    @property
    def near(self) -> int:
        """How far from an entity spans have a part of its target."""
        if self.scorer.kind == "softmax" and self.scorer.smoothing > 0:
            return self.scorer.smoothing_distance
        return 0

    @model_validator(mode="after")
    def _check_combination(self) -> Self:
        """Refuse parts that cannot work together, with the reason."""
        scorer, tagger = self.scorer, self.auxiliaries.tagger
        if self.output == "tags" and tagger is None:
            raise ValueError("output is 'tags', but there is no tagger: set auxiliaries.tagger")
        if not self.has_spans and self.output == "spans":
            raise ValueError("scorer.kind is 'none', so there are no spans to answer with: set output='tags'")
        for name in ("span_vae", "cvae"):
            if not self.has_spans and getattr(self.auxiliaries, name) is not None:
                raise ValueError(f"auxiliaries.{name} reads spans, but scorer.kind is 'none': there are none")
        self._check_windows()
        self._check_representation()
        self._check_bottleneck()
        self._check_soft_targets()
        if scorer.kind == "bi-encoder":
            self._check_bi_encoder(scorer)
        elif self.labels.descriptions is not None:
            raise ValueError(
                f"labels.descriptions is given, but scorer.kind {scorer.kind!r} reads none; 'bi-encoder' does"
            )
        return self

    def _check_windows(self) -> None:
        # A word has at least one piece, and windows go on by at least half of their pieces.
        pieces, overlap = self.windows.pieces, self.windows.overlap
        if 2 * overlap > pieces:
            raise ValueError(
                f"windows.overlap is {overlap}, but windows of {pieces} pieces can share at most "
                f"{pieces // 2} words: set windows.overlap={pieces // 2} or less, or raise windows.pieces"
            )

    def _check_representation(self) -> None:
        if self.representation.kind == "span-transformer" and self.encoder.pooling == "ends":
            raise ValueError(
                "a span Transformer reads one state per word and layer, but encoder.pooling 'ends' gives two "
                "at the top; legal are 'first', 'mean' and 'max'"
            )
        bilstm = any(transform.kind == "bilstm" for transform in self.transforms)
        if bilstm and self.candidates.negatives != "all":
            raise ValueError(
                f"candidates.negatives is {self.candidates.negatives}, but the transform 'bilstm' reads "
                "neighbouring spans, and some would be missing in training: set candidates.negatives='all'"
            )
        if bilstm and self.candidates.pruning is not None:
            raise ValueError(
                "candidates.pruning is set, but the transform 'bilstm' reads neighbouring spans, and most "
                "would be missing: leave out one of the two"
            )
        if not self.has_spans and self.candidates.pruning is not None:
            raise ValueError("candidates.pruning is set, but scorer.kind is 'none': there are no spans")

    def _check_bottleneck(self) -> None:
        kinds = [transform.kind for transform in self.transforms]
        if "bottleneck" in kinds[:-1]:
            raise ValueError(
                "transforms have a 'bottleneck' before others, but what it draws goes to the scorer: legal "
                "is one, as the last"
            )
        if "bottleneck" in kinds and self.scorer.kind == "bi-encoder":
            raise ValueError(
                "a 'bottleneck' draws vectors around a mean, but the scorer 'bi-encoder' looks at their "
                "angles alone: legal are the scorers 'softmax' and 'sigmoid'"
            )

    def _check_soft_targets(self) -> None:
        if self.training.targets == "hard":
            return
        scorer = self.scorer
        if scorer.kind not in ("softmax", "sigmoid"):
            raise ValueError(
                f"training.targets is 'soft', but scorer.kind {scorer.kind!r} learns no probabilities of "
                "spans: it must be 'softmax' or 'sigmoid'"
            )
        if scorer.kind == "softmax" and scorer.smoothing:
            raise ValueError(
                "training.targets is 'soft', but scorer.smoothing makes targets of its own: set "
                "scorer.smoothing=0"
            )
        for name in AuxiliarySettings.model_fields:
            if getattr(self.auxiliaries, name) is not None:
                raise ValueError(
                    f"training.targets is 'soft', but auxiliaries.{name} learns from entities that are "
                    f"certain: set auxiliaries.{name}=false"
                )

    def _check_bi_encoder(self, scorer: BiEncoderSettings) -> None:
        if scorer.joint and not scorer.positions:
            raise ValueError("scorer.joint needs the starts and ends of entities: set scorer.positions=true")
        if scorer.joint and scorer.threshold == "tuned":
            raise ValueError(
                "scorer.joint needs thresholds of starts and ends, but only those of spans are tuned"
            )
        chosen = self.representation
        ends = chosen.kind == "composed" and {"first", "last"} <= set(chosen.ingredients)
        if scorer.share_projections and not ends:
            raise ValueError("scorer.share_projections needs the ingredients 'first' and 'last' in spans")
        if scorer.share_projections and self.transforms:
            raise ValueError(
                "scorer.share_projections compares words as parts of spans, so transforms must be []"
            )
        if self.labels.descriptions is not None and scorer.types in ("atomic", "prototypes"):
            raise ValueError(f"labels.descriptions is given, but scorer.types is {scorer.types!r}")


def load_settings(
    recipe: str | Path | Settings,
    changes: Changes = (),
    *,
    encoder: str | Path | None = None,
    descriptions: str | Path | None = None,
) -> Settings:
    """Settings of a recipe (a shipped name, the path of a TOML file, or settings) with changes.

    A recipe with `extends = "other"` changes the settings of another recipe. Changes go over the encoder and
    the descriptions that are named.
    """
    named = {"encoder.name": encoder, "labels.descriptions": descriptions}
    given = [(key, str(value)) for key, value in named.items() if value]
    given += deepcopy(list(changes.items())) if isinstance(changes, Mapping) else map(_read_change, changes)
    if isinstance(recipe, Settings) and not given:
        return recipe
    where = recipe.name if isinstance(recipe, Settings) else str(recipe)
    values = recipe.model_dump(mode="json") if isinstance(recipe, Settings) else _values(where)
    for key, value in given:
        _apply(values, key, value, where)
    return check(values, where)


def check(values: dict[str, Any], where: str) -> Settings:
    """Settings from plain values, or an error that names each wrong key and what is legal."""
    values = _with_present_names(values, where)
    try:
        return Settings.model_validate(values)
    except ValidationError as error:
        reasons = "; ".join(_explain(entry, values) for entry in error.errors())
        raise SettingsError(f"{where}: {reasons}") from None


def _with_present_names(values: dict[str, Any], where: str) -> dict[str, Any]:
    """The values with `training.leaked` where it has its former name, `corpora.leaked`."""
    corpora, training = values.get("corpora"), values.get("training", {})
    if not (isinstance(corpora, dict) and "leaked" in corpora and isinstance(training, dict)):
        return values
    former = corpora["leaked"]
    if training.get("leaked", former) != former:
        raise SettingsError(
            f"{where}: training.leaked is {training['leaked']!r}, but corpora.leaked, its former name, is "
            f"{former!r}; leave out corpora.leaked"
        )
    others = {key: value for key, value in corpora.items() if key != "leaked"}
    return {**values, "corpora": others, "training": {**training, "leaked": former}}


def _values(recipe: str, extended_by: tuple[str, ...] = ()) -> dict[str, Any]:
    try:
        values = tomllib.loads(_text(recipe))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{recipe}: not valid TOML: {error}") from None
    base = values.pop("extends", None)
    if base is None:
        return values
    chain = (*extended_by, recipe)
    if not isinstance(base, str) or base in chain:
        raise SettingsError(
            f"{recipe}: extends {base!r}; legal is another recipe, which does not extend this one"
        )
    return _merged(_values(base, chain), values)


def _text(recipe: str) -> str:
    path = Path(recipe)
    if not recipe.endswith(".toml"):
        return recipe_text(recipe)
    if not path.is_file():
        raise SettingsError(f"{recipe}: no such recipe file")
    return path.read_text(encoding="utf-8")


def _merged(base: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in changes.items():
        old = merged.get(key)
        if isinstance(old, dict) and isinstance(value, dict) and _same_kind(old, value):
            merged[key] = _merged(old, value)
        else:
            merged[key] = value
    return merged


def _same_kind(old: dict[str, Any], new: dict[str, Any]) -> bool:
    """A part of another kind replaces the old one; the old one's settings would be foreign to it."""
    return new.get("kind") in (None, old.get("kind"))


def _read_change(change: str) -> tuple[str, Any]:
    """Key and value of `key=value`; the value is read as TOML, else taken as a string."""
    key, equals, text = change.partition("=")
    if not equals or not key:
        raise SettingsError(f"--set {change!r}: legal is key=value, such as --set training.epochs=3")
    try:
        return key, tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return key, text


def _apply(values: dict[str, Any], key: str, value: Any, where: str) -> None:
    """Set one dotted key."""
    *path, last = key.split(".")
    table = values
    for name in path:
        table = table.setdefault(name, {})
        if not isinstance(table, dict):
            raise SettingsError(f"{where}: setting {key!r}: {name!r} is a value, not a table of settings")
    table[last] = value


def _explain(error: Any, values: Any) -> str:
    """One wrong setting in words."""
    key = ".".join(_given_keys(error["loc"], values))
    if not error["loc"]:
        return str(error["msg"]).removeprefix("Value error, ")
    if error["type"] == "extra_forbidden":
        return f"unknown setting {key!r}; legal here are {', '.join(_legal_keys(error['loc']))}"
    if error["type"] == "missing":
        return f"the setting {'.'.join(filter(None, (key, error['loc'][-1])))!r} is missing"
    return f"setting {key!r} is {error['input']!r}: {error['msg']}"


def _given_keys(location: tuple[Any, ...], values: Any) -> Iterator[str]:
    """The parts of a place that the user wrote; pydantic puts the branches of unions between them."""
    for part in location:
        if (isinstance(values, dict) and part in values) or (
            isinstance(values, list) and isinstance(part, int)
        ):
            values = values[part]
            yield str(part)


def _legal_keys(location: tuple[int | str, ...]) -> list[str]:
    """The settings beside a wrong one, which are many: by name."""
    return sorted(legal_keys(Settings, location[:-1]))
