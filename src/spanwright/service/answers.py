"""What each path of the service answers."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from spanwright.errors import InputError
from spanwright.service import formats
from spanwright.service.batching import OverloadError
from spanwright.service.limits import ServiceLimits
from spanwright.service.messages import FieldError, ModelsAnswer, StatusAnswer, TagRequest
from spanwright.service.metrics import Metrics
from spanwright.service.models import ServedModel
from spanwright.text import Document

if TYPE_CHECKING:
    from fastapi import Response

_LONG_CHARACTERS = 20_000
"""Of texts whose answer takes long enough to keep other clients waiting: it is written in a thread."""
METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"


@dataclass(slots=True)
class Service:
    """The state of the service: its models, and whether it is about to end."""

    models: Sequence[ServedModel]
    """The first is the default."""
    metrics: Metrics
    timeout: float = 30.0
    """Seconds in which a request must be tagged."""
    token: str | None = None
    limits: ServiceLimits = field(default_factory=ServiceLimits)
    draining: bool = False

    def model(self, name: str | None) -> ServedModel:
        """The model of that name, or the default."""
        by_name = {model.name: model for model in self.models}
        if name is None:
            return self.models[0]
        if name not in by_name:
            raise FieldError(("model",), f"no such model; legal are {', '.join(by_name)}")
        return by_name[name]

    def check_room(self) -> None:
        """Raise `OverloadError` if no model would take a request."""
        emptiest = min(self.models, key=lambda model: model.batcher.length)
        emptiest.batcher.check_room()


class Answers:
    """The answers of a service, one method for each path."""

    def __init__(self, service: Service) -> None:
        self._service = service

    async def health(self) -> StatusAnswer:
        """Whether the process is alive."""
        return StatusAnswer(status="alive")

    async def ready(self) -> Response:
        """Whether requests are taken: all models are loaded, and the service is not about to end."""
        draining = self._service.draining
        body = StatusAnswer(status="draining" if draining else "ready")
        return response(body.model_dump_json().encode(), formats.JSON, status=503 if draining else 200)

    async def models(self) -> ModelsAnswer:
        """The models that are served, and what can be asked of each."""
        models = self._service.models
        return ModelsAnswer(models=[model.about(default=model is models[0]) for model in models])

    async def metrics(self) -> Response:
        """Figures for Prometheus."""
        return response(self._service.metrics.text(), METRICS_TYPE)

    async def tag(self, request: TagRequest) -> Response:
        """Find the entities of texts."""
        model = self._service.model(request.model)
        model.check(request)
        documents = list(_documents(request))
        try:
            async with asyncio.timeout(self._service.timeout):
                found = await model.batcher.tag(documents, request.types)
        except TimeoutError:
            reason = f"the request was not answered within {self._service.timeout:g} s"
            raise OverloadError(reason, model.batcher.retry_seconds) from None
        if sum(len(document.text) for document in found) < _LONG_CHARACTERS:
            answer = _rendered(found, model, request)
        else:
            answer = await asyncio.to_thread(_rendered, found, model, request)
        return response(answer.content, answer.media_type, headers=answer.headers)


def _documents(request: TagRequest) -> Iterator[Document]:
    for number, text in enumerate(request.all_texts):
        try:
            yield Document(f"text-{number + 1}", text, corpus=request.corpus, generated_id=True)
        except InputError as error:
            place = ("text",) if request.texts is None else ("texts", number)
            raise FieldError(place, str(error)) from None


def _rendered(found: Sequence[Document], model: ServedModel, request: TagRequest) -> formats.Answer:
    kept = [model.kept(document, request) for document in found]
    return formats.answer_with(kept, request.format, model.name)


def response(
    content: bytes, media_type: str, *, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """An answer that is ready to be sent."""
    from fastapi import Response

    return Response(content, status_code=status, media_type=media_type, headers=dict(headers or {}))
