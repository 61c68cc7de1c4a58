"""Label Studio's protocol of ML backends, under /label-studio: health, setup, versions, predict and webhook.

Predictions are made for the labels of the project. Nothing of a request is kept: `setup` hands over a token
of a user, and `predict` a login, neither of which is read. Nothing is trained: webhooks are only answered.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from spanwright.formats.tools.label_studio_results import region_of
from spanwright.service.answers import Service
from spanwright.service.messages import FieldError
from spanwright.service.tools.label_config import LabelledText, labelled_texts
from spanwright.service.tools.suggesting import Naming, document_of, suggested
from spanwright.text import Document, Entity

_MOST_TASKS = 10_000


class _Lenient(BaseModel):
    """A message of a tool, whose other keys are not read."""

    model_config = ConfigDict(extra="ignore", use_attribute_docstrings=True)


class SetupRequest(_Lenient):
    """What a project sends when a backend is connected to it; the token in it is not read."""

    project: Any = None
    label_schema: str = Field(default="", alias="schema")
    """The labelling interface."""


class SetupAnswer(BaseModel):
    """The version of the model."""

    model_config = ConfigDict(protected_namespaces=())
    model_version: str


class VersionsAnswer(BaseModel):
    """All versions of the model, which is one."""

    versions: list[str]


class HealthAnswer(BaseModel):
    """That the backend is there."""

    model_config = ConfigDict(protected_namespaces=())
    status: str
    model_class: str


class Task(_Lenient):
    """A task of a project."""

    data: dict[str, Any] = Field(default_factory=dict)


class PredictRequest(_Lenient):
    """Tasks to make predictions for."""

    tasks: list[Task] = Field(max_length=_MOST_TASKS)
    label_config: str
    """The labelling interface of the project."""


class Prediction(BaseModel):
    """What the model suggests for a task."""

    model_config = ConfigDict(protected_namespaces=())
    result: list[dict[str, Any]]
    score: float
    model_version: str


class PredictAnswer(BaseModel):
    """One prediction for each task, in their order."""

    results: list[Prediction]


class WebhookRequest(_Lenient):
    """What happened in a project."""

    action: str = Field(min_length=1, max_length=100)


class WebhookAnswer(BaseModel):
    """That it was heard of."""

    status: str
    detail: str


class LabelStudio:
    """The answers, one method for each path."""

    def __init__(self, service: Service, naming: Naming) -> None:
        self._service = service
        self._naming = naming

    @property
    def _version(self) -> str:
        return self._service.models[0].name

    async def health(self) -> HealthAnswer:
        """Whether the backend is there."""
        return HealthAnswer(status="UP", model_class="Spanwright")

    async def setup(self, request: SetupRequest) -> SetupAnswer:
        """Take note of a project, of which nothing is kept; refuse one that labels no texts."""
        if request.label_schema:
            self._labels(labelled_texts(request.label_schema, "schema"), "schema")
        return SetupAnswer(model_version=self._version)

    async def versions(self) -> VersionsAnswer:
        """The versions of the model."""
        return VersionsAnswer(versions=[self._version])

    async def predict(self, request: PredictRequest) -> PredictAnswer:
        """Regions for the texts of tasks."""
        tags = labelled_texts(request.label_config, "label_config")
        labels = self._labels(tags, "label_config")
        texts = [_text(task, tag, number) for number, task in enumerate(request.tasks) for tag in tags]
        found = await suggested(self._service, texts)
        rows = [found[start : start + len(tags)] for start in range(0, len(found), len(tags))]
        return PredictAnswer(results=[self._prediction(row, tags, labels) for row in rows])

    async def webhook(self, request: WebhookRequest) -> WebhookAnswer:
        """Hear of annotations and projects; there is nothing to do, even if the project is gone."""
        return WebhookAnswer(status="ok", detail=f"{request.action}: noted; nothing is trained here")

    def _labels(self, tags: Sequence[LabelledText], field: str) -> list[dict[str, str]]:
        """The labels of the model's types, for each tag; at least one has to be there."""
        labels = [self._naming.among(tag.labels) for tag in tags]
        if not any(labels):
            asked = ", ".join(dict.fromkeys(label for tag in tags for label in tag.labels)) or "none"
            raise FieldError(
                (field,),
                f"the model has none of the labels of the project: {asked}; expected one of its types "
                f"{', '.join(self._naming.types.values())}, or names for them in a file (serve --tool-types)",
            )
        return labels

    def _prediction(
        self, documents: Sequence[Document], tags: Sequence[LabelledText], labels: list[dict[str, str]]
    ) -> Prediction:
        """The prediction of one task, from its texts."""
        entities: list[Entity] = []
        result: list[dict[str, Any]] = []
        for document, tag, names in zip(documents, tags, labels, strict=True):
            for entity in self._naming.named(document.entities, names):
                entities.append(entity)
                id, mention = f"s{len(entities)}", document.mention(entity)
                region = region_of(entity, mention, id, from_name=tag.from_name, to_name=tag.to_name)
                result.append(region)
        confidences = [entity.confidence or 0.0 for entity in entities]
        score = sum(confidences) / len(confidences) if confidences else 0.0
        return Prediction(result=result, score=score, model_version=self._version)


def _text(task: Task, tag: LabelledText, number: int) -> Document:
    """The text of a task; an empty one where it has none."""
    value = _found(task.data, tag.key)
    place = ("tasks", number, "data", tag.key)
    if value is not None and not isinstance(value, str):
        raise FieldError(place, "expected a string, as <Text> shows it")
    return document_of(value or "", place)


def _found(data: Any, key: str) -> Any:
    """What stands under a key, as Label Studio looks it up: as it is, or name by name; None for nothing."""
    if key in data:
        return data[key]
    for name in key.split("."):
        data = data.get(name) if isinstance(data, dict) else None
    return data
