"""What is wrong with a request, in words, with a line to copy where that helps."""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from spanwright.service.formats import JSON
from spanwright.service.messages import TagRequest
from spanwright.wrong_values import reason

if TYPE_CHECKING:
    from fastapi import Response

LINE = """curl localhost:8000/tag -H 'Content-Type: application/json' -d '{"text": "A text."}'"""
"""What a request looks like, for those whose own did not work."""

_TAG_PATH = "/tag"
_SHOWN_PROBLEMS = 20
_SHOWN_CHARACTERS = 100
Problem = tuple[Sequence[str | int], str, str]
"""The path of a field, the reason, and the kind of error."""


def unreadable(error: Mapping[str, Any], path: str) -> str:
    """Why the body of a request to a path is no JSON."""
    such_as = f"; expected a body such as: {LINE}" if path == _TAG_PATH else ""
    return (
        f"the body cannot be read as JSON: {error['ctx']['error']} at character {error['loc'][-1]}{such_as}"
    )


def undecodable(cause: BaseException | None) -> str:
    """Why the body of a request cannot be read at all: its bytes are no text, or no parser goes so deep."""
    return f"the body cannot be read as JSON: {cause}; expected JSON in UTF-8, uncompressed"


def problems_of(errors: Sequence[Mapping[str, Any]], path: str, content_type: str) -> list[Problem]:
    """The first problems that pydantic has found in the body of a request to a path, of that content type."""
    such_as = f", such as: {LINE}" if path == _TAG_PATH else ""
    # What was found is not repeated: it may be long, and need not be possible to encode.
    return [
        (each["loc"], _reason(each, content_type, such_as), each["type"]) for each in errors[:_SHOWN_PROBLEMS]
    ]


def _reason(error: Mapping[str, Any], content_type: str, such_as: str) -> str:
    place = tuple(error["loc"])
    if place == ("body",) and error["type"] != "value_error":
        return _no_object(content_type) + such_as
    if error["type"] == "extra_forbidden":
        return f"there is no such field{_meant(str(place[-1])) if such_as and len(place) == 2 else ''}"
    return reason(error) + (such_as if error["type"] == "value_error" else "")


def _no_object(content_type: str) -> str:
    if content_type.partition(";")[0].strip().lower() == JSON:
        return "expected a JSON object"
    found = f"the Content-Type is {content_type[:_SHOWN_CHARACTERS]}"
    found = found if content_type else "there is no Content-Type"
    return f"{found}; expected a JSON object with the Content-Type {JSON}"


def _meant(name: str) -> str:
    fields = list(TagRequest.model_fields)
    close = difflib.get_close_matches(name[:_SHOWN_CHARACTERS], fields, 1)
    return f"; {f'did you mean {close[0]!r}? ' if close else ''}expected {', '.join(fields)}"


def unusable_fields(problems: Sequence[Problem]) -> Response:
    """The answer about fields that cannot be used."""
    shown = [{"loc": list(map(_shortened, loc)), "msg": msg, "type": kind} for loc, msg, kind in problems]
    return refusal(422, shown)


def refusal(status: int, detail: Any, headers: Mapping[str, str] | None = None) -> Response:
    """The answer to a request that is refused, in ASCII, as names of fields may hold what UTF-8 cannot."""
    from fastapi import Response

    content = json.dumps({"detail": detail}).encode()
    return Response(content, status_code=status, media_type=JSON, headers=dict(headers or {}))


def _shortened(place: str | int) -> str | int:
    """A part of a path; clients can make up names of any length."""
    is_long = isinstance(place, str) and len(place) > _SHOWN_CHARACTERS
    return f"{str(place)[:_SHOWN_CHARACTERS]}…" if is_long else place
