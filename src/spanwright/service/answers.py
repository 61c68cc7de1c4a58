"""What each path of the service answers."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from spanwright.errors import InputError, SpanwrightError
from spanwright.service import formats
from spanwright.service.annotation import AnnotationFolder
from spanwright.service.batching import OverloadError
from spanwright.service.limits import ServiceLimits
from spanwright.service.messages import FieldError, ModelsAnswer, StatusAnswer, TagRequest
from spanwright.service.metrics import Metrics
from spanwright.service.models import ServedModel
from spanwright.service.worker_figures import WorkerFigures
from spanwright.text import Document, iter_words

if TYPE_CHECKING:
    from fastapi import Response

_LONG_CHARACTERS = 20_000
"""Of texts whose answer takes long enough to keep other clients waiting: it is written in a thread."""
METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class TooLargeError(SpanwrightError):
    """A request is larger than this service answers, however often it is sent."""


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
    hosts: Sequence[str] = ()
    """Names of this service beside those of this machine and the address of the connection."""
    stuck_seconds: float = 30.0
    """A batch that runs for longer is stuck."""
    drain_seconds: float = 2.0
    """How long requests are still taken after the service has said that it is about to end."""
    tool_types: Mapping[str, str] = field(default_factory=dict)
    """What types of the default model are called in annotation tools, where that is not their own name."""
    figures: WorkerFigures | None = None
    """Of all workers, if this is one of several."""
    annotation: AnnotationFolder | None = None
    """Texts that are annotated on the page."""
    draining: bool = False

    def model(self, name: str | None) -> ServedModel:
        """The model of that name, or the default."""
        by_name = {model.name: model for model in self.models}
        if name is None:
            return self.models[0]
        if name not in by_name:
            raise FieldError(("model",), f"no such model; expected {', '.join(by_name)}")
        return by_name[name]

    @property
    def status(self) -> str:
        """`ready`, `draining` when the service is about to end, or `stuck` with the model that is."""
        stuck = [model.name for model in self.models if model.batcher.busy_seconds > self.stuck_seconds]
        return "draining" if self.draining else f"stuck: {', '.join(stuck)}" if stuck else "ready"

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
        """Whether requests are taken: the service is not about to end, and no batch is stuck."""
        status = self._service.status
        body = StatusAnswer(status=status).model_dump_json().encode()
        return response(body, formats.JSON, status=200 if status == "ready" else 503)

    async def models(self) -> ModelsAnswer:
        """The models that are served, and what can be asked of each."""
        models = self._service.models
        return ModelsAnswer(models=[model.about(default=model is models[0]) for model in models])

    async def metrics(self) -> Response:
        """Figures for Prometheus."""
        return response((self._service.figures or self._service.metrics).text(), METRICS_TYPE)

    async def tag(self, request: TagRequest) -> Response:
        """Find the entities of texts."""
        model = self._service.model(request.model)
        model.check(request)
        documents = list(_documents(request))
        await check_words(documents, self._service.limits.request_words)
        try:
            async with asyncio.timeout(self._service.timeout):
                found = await model.batcher.tag(documents, request.types)
        except TimeoutError:
            raise late(self._service.timeout, model) from None
        is_short = sum(len(document.text) for document in found) < _LONG_CHARACTERS
        if is_short and not request.link:
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


async def check_words(documents: Sequence[Document], most: int, called: str = "the request") -> None:
    """Refuse documents, which a message calls so, that together have more words than a request may have."""
    # No text has more words than characters.
    if sum(len(document.text) for document in documents) <= most:
        return
    found = await asyncio.to_thread(lambda: sum(1 for each in documents for _ in iter_words(each)))
    if found > most:
        raise TooLargeError(
            f"{called} has {found} words, and at most {most} are allowed; send it in parts, or start the "
            f"service with --request-words {found}"
        )


def late(limit: float, model: ServedModel) -> SpanwrightError:
    """Why a request was not answered in time: by itself, or for others, which are still inside."""
    others = model.batcher.length
    if not others:
        return TooLargeError(
            f"to tag it takes longer than the limit of {limit:g} s; send its texts in parts, or start the "
            f"service with a longer --timeout, such as --timeout {4 * limit:g}"
        )
    waiting = "1 other" if others == 1 else f"{others} others"
    reason = f"the request was not answered within the limit of {limit:g} s, beside {waiting}"
    return OverloadError(reason, model.batcher.retry_seconds)


def _rendered(found: Sequence[Document], model: ServedModel, request: TagRequest) -> formats.Answer:
    kept = [model.kept(document, request) for document in found]
    if request.link:
        kept = model.linked(kept)
    return formats.answer_with(kept, request.format, model.name)


def response(
    content: bytes, media_type: str, *, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """An answer that is ready to be sent."""
    from fastapi import Response

    return Response(content, status_code=status, media_type=media_type, headers=dict(headers or {}))
