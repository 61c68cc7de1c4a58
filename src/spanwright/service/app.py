"""The application: answers, errors and limits put together, and what the OpenAPI file says about them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from spanwright import __version__
from spanwright.errors import InputError
from spanwright.service.access import Access
from spanwright.service.annotation_answers import add_annotation
from spanwright.service.answers import Answers, Service, TooLargeError, response
from spanwright.service.batching import OverloadError
from spanwright.service.docs_page import docs_page
from spanwright.service.formats import EXAMPLES, MEDIA_TYPES, TEXT, UNWRITABLE
from spanwright.service.hosts import Hosts
from spanwright.service.limits import Guard
from spanwright.service.messages import (
    BratAnswer,
    ErrorAnswer,
    FieldError,
    FieldsAnswer,
    StatusAnswer,
    TagAnswer,
)
from spanwright.service.metrics import Counted
from spanwright.service.page_files import HTML, page_files
from spanwright.service.problems import problems_of, refusal, undecodable, unreadable, unusable_fields
from spanwright.service.tools.routes import LARGE_BODIES, add_tools

if TYPE_CHECKING:
    from fastapi import FastAPI, Request, Response

OPEN_PATHS = frozenset(("/health", "/ready"))
"""These, and the files of the page, need no token."""

_DESCRIPTION = (
    "Finds the entities of texts. Offsets count Unicode characters (code points) and are half open; "
    "JavaScript counts UTF-16 units instead."
)
_Documented = dict[int | str, dict[str, Any]]
_STRING = {"schema": {"type": "string"}}
_READING = ["GET", "HEAD"]
_FOREIGN: _Documented = {
    400: {"model": ErrorAnswer, "description": "Both Transfer-Encoding and Content-Length are given"},
    403: {"model": ErrorAnswer, "description": "The Origin is another web site"},
    421: {"model": ErrorAnswer, "description": "The Host is none of this service"},
}
_UNAUTHORISED: _Documented = _FOREIGN | {
    401: {"model": ErrorAnswer, "description": "The token is missing, wrong or given twice"}
}
_RETRY = {"Retry-After": {"schema": {"type": "integer"}, "description": "Seconds to wait"}}
_TAG_ANSWERS: _Documented = {
    200: {
        "description": "The entities, in the format that was asked for",
        "content": {kind.partition(";")[0]: _STRING for kind in (TEXT, *MEDIA_TYPES.values())},
        "headers": {
            UNWRITABLE: {"schema": {"type": "integer"}, "description": "What the format could not express"},
            EXAMPLES: {"schema": {"type": "string"}, "description": "The first of it, as a JSON list"},
        },
    },
    400: {
        "model": ErrorAnswer,
        "description": "The body is no JSON in UTF-8, or has Transfer-Encoding and Content-Length",
    },
    408: {"model": ErrorAnswer, "description": "The body did not arrive in time"},
    413: {
        "model": ErrorAnswer,
        "description": "The body has too many bytes, its texts too many words, or it takes too long",
    },
    415: {"model": ErrorAnswer, "description": "The body is compressed, or has another Content-Encoding"},
    422: {
        "model": FieldsAnswer,
        "description": "Fields that cannot be used, with their paths, or no JSON by its type",
    },
    503: {"model": ErrorAnswer, "description": "Overloaded, or about to end", "headers": _RETRY},
}

_REFUSED = _UNAUTHORISED | {status: _TAG_ANSWERS[status] for status in (400, 408, 413, 415, 422, 503)}
"""What a path that takes a body may answer beside what it is asked for."""


def make_app(service: Service) -> FastAPI:
    """The application of a service, with all its limits around it."""
    from fastapi import FastAPI

    app = FastAPI(
        title="Spanwright",
        version=__version__,
        description=_DESCRIPTION,
        # FastAPI's own pages load scripts from elsewhere, which the security policy forbids: we have our own.
        docs_url=None,
        redoc_url=None,
        # They would lead to whatever Host a request names.
        redirect_slashes=False,
    )
    _add_answers(app, Answers(service))
    if service.annotation is not None:
        add_annotation(app, service.annotation, service.models[0].tagger.model.labels.types, _REFUSED)
    add_tools(app, service, _REFUSED)
    pages = page_files(annotate=service.annotation is not None) | {"/docs": (docs_page(app.openapi()), HTML)}
    for path, (content, media_type) in pages.items():
        app.add_api_route(
            path, _file(content, media_type), methods=_READING, response_model=None, include_in_schema=False
        )
    _add_errors(app)
    # The last one added is the first to see a request.
    app.add_middleware(Guard, limits=service.limits, check_room=service.check_room, tool_paths=LARGE_BODIES)
    app.add_middleware(Access, token=service.token, open_paths=OPEN_PATHS | pages.keys())
    app.add_middleware(Hosts, allowed=service.hosts)
    app.add_middleware(Counted, metrics=service.metrics, routes=app.routes)
    return app


def _add_answers(app: FastAPI, answers: Answers) -> None:
    from fastapi.responses import PlainTextResponse

    not_ready: _Documented = {
        503: {"model": StatusAnswer, "description": "The service is about to end, or a batch is stuck"}
    }
    # First, as paths are looked for one after another.
    app.add_api_route(
        "/tag",
        answers.tag,
        methods=["POST"],
        response_model=TagAnswer | list[BratAnswer],
        responses=_UNAUTHORISED | _TAG_ANSWERS,
    )
    app.add_api_route("/health", answers.health, responses=_FOREIGN)
    app.add_api_route("/ready", answers.ready, response_model=StatusAnswer, responses=_FOREIGN | not_ready)
    for path, probe in (("/health", answers.health), ("/ready", answers.ready)):
        app.add_api_route(path, probe, methods=["HEAD"], response_model=None, include_in_schema=False)
    app.add_api_route("/model", answers.models, responses=_UNAUTHORISED)
    app.add_api_route(
        "/metrics",
        answers.metrics,
        response_model=None,
        response_class=PlainTextResponse,
        responses=_UNAUTHORISED,
    )


def _file(content: bytes, media_type: str) -> Callable[[], Awaitable[Response]]:
    async def answer() -> Response:
        return response(content, media_type)

    return answer


def _add_errors(app: FastAPI) -> None:
    from fastapi.exceptions import RequestValidationError

    async def overloaded(request: Request, error: OverloadError) -> Response:
        return refusal(503, str(error), {"Retry-After": str(error.seconds)})

    async def too_large(request: Request, error: TooLargeError) -> Response:
        return refusal(413, str(error))

    async def invalid(request: Request, error: RequestValidationError) -> Response:
        for each in error.errors():
            if each["type"] == "json_invalid":
                return refusal(400, unreadable(each, request.url.path))
        content_type = request.headers.get("Content-Type", "")
        return unusable_fields(problems_of(error.errors(), request.url.path, content_type))

    async def unparsed(request: Request, error: Exception) -> Response:
        return refusal(400, undecodable(error.__cause__))

    async def unusable(request: Request, error: InputError) -> Response:
        field, reason = (error.field, error.reason) if isinstance(error, FieldError) else ((), str(error))
        return unusable_fields([(("body", *field), reason, "value_error")])

    handlers: dict[int | type[Exception], Any] = {
        400: unparsed,  # what FastAPI says of bodies that its parser fails at
        OverloadError: overloaded,
        TooLargeError: too_large,
        RequestValidationError: invalid,
        InputError: unusable,
    }
    for kind, handler in handlers.items():
        app.add_exception_handler(kind, handler)
