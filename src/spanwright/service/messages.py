"""What goes over the wire: the bodies of requests and answers, checked by pydantic."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator
from pydantic.config import JsonDict

from spanwright.errors import InputError


def _with_characters(name: str) -> str:
    if not name.strip():
        raise ValueError("expected a name, found nothing but blanks")
    return name


Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
TypeName = Annotated[str, Field(min_length=1, max_length=100), AfterValidator(_with_characters)]
DescriptionText = Annotated[str, Field(min_length=1, max_length=2000)]
OutputFormat = Literal["json", "jsonl", "csv", "tsv", "pubtator", "brat", "conll"]

_EITHER: JsonDict = {"oneOf": [{"required": ["text"]}, {"required": ["texts"]}]}


class FieldError(InputError):
    """A field of a request that is well formed, but does not fit the model that is asked."""

    def __init__(self, field: tuple[str | int, ...], reason: str) -> None:
        super().__init__(f"{'.'.join(map(str, field))}: {reason}")
        self.field = field
        self.reason = reason


class TagRequest(BaseModel):
    """Texts to find entities in, and which entities to answer with."""

    model_config = ConfigDict(
        extra="forbid", strict=True, use_attribute_docstrings=True, json_schema_extra=_EITHER
    )

    text: str | None = None
    """One text; `texts` takes several."""
    texts: list[str] | None = Field(default=None, min_length=1, max_length=1000)
    """Several texts, answered in their order."""
    model: str | None = None
    """The name of a model that is served; the default model unless given."""
    minimum_confidence: Share = 0.0
    """Entities below this confidence are left out."""
    thresholds: dict[TypeName, Share] = Field(default_factory=dict, max_length=1000)
    """The same for single types; of two that apply, the higher counts."""
    tuned_thresholds: bool = False
    """Whether entities below the model's own threshold for their type are left out."""
    types: dict[TypeName, DescriptionText] = Field(default_factory=dict, max_length=20)
    """Types to look for besides, by name and description; only for models that read descriptions."""
    corpus: str | None = None
    """For models of several corpora: the one whose types are asked for."""
    link: bool = False
    """Whether entities shall have the concepts that they mean; only where the service has a linker."""
    format: OutputFormat = "json"
    """The format of the answer."""

    @model_validator(mode="after")
    def _check_texts(self) -> Self:
        if (self.text is None) == (self.texts is None):
            raise ValueError("either 'text' or 'texts' is needed, and not both")
        return self

    @property
    def all_texts(self) -> list[str]:
        """The texts, whichever way they were given."""
        return [self.text] if self.text is not None else self.texts or []


class CandidateAnswer(BaseModel):
    """A concept that an entity may mean."""

    concepts: list[str]
    """Its identifier; several for concepts that are named together."""
    name: str
    """The name of the lexicon that is most like the entity."""
    score: float


class LinkAnswer(BaseModel):
    """Which concept an entity means."""

    concepts: list[str]
    """Empty for no concept, several for a composite mention."""
    confidence: float
    stage: str
    """What has found it: exact, abbreviation, composite or similar."""
    candidates: list[CandidateAnswer]
    """The best first."""


class EntityAnswer(BaseModel):
    """An entity; offsets count Unicode characters (code points) and are half open."""

    start: int
    end: int
    type: str
    text: str
    confidence: float
    link: LinkAnswer | None = None
    """Only if it was asked for."""


class DocumentAnswer(BaseModel):
    """A text and its entities."""

    id: str
    text: str
    characters: int
    """Length of the text in Unicode characters, as offsets count them."""
    entities: list[EntityAnswer]


class TagAnswer(BaseModel):
    """The answer of the format `json`."""

    model: str
    documents: list[DocumentAnswer]


class BratAnswer(BaseModel):
    """A document in the format `brat`: the contents of its two files."""

    id: str
    text: str
    ann: str


class ModelAnswer(BaseModel):
    """What a client can ask of a model."""

    name: str
    recipe: str
    description: str
    types: list[str]
    colours: dict[str, int]
    """The number of the colour of each type, of those in `page/palette.css`."""
    reads_descriptions: bool
    """Whether requests may bring types of their own."""
    corpora: list[str]
    links: bool
    """Whether requests may ask for concepts."""
    calibrated: bool
    """Whether confidences are calibrated on development data."""
    tuned_thresholds: dict[str, float]
    """By type; `Gene of BioRED` where each corpus has types of its own."""
    scores: dict[str, Any]
    default: bool


class ModelsAnswer(BaseModel):
    """All models that are served."""

    models: list[ModelAnswer]


class StatusAnswer(BaseModel):
    """The state of the service in a word."""

    status: str


class ErrorAnswer(BaseModel):
    """Why a request was refused."""

    detail: str


class FieldProblem(BaseModel):
    """One field of a request that cannot be used."""

    loc: list[str | int]
    """The path of the field, from `body` on."""
    msg: str
    type: str


class FieldsAnswer(BaseModel):
    """The fields of a request that cannot be used; at most the first 20."""

    detail: list[FieldProblem]
