"""doccano's custom REST request, at /doccano: a text in, a list of labels out, as its template wants."""

from __future__ import annotations

from pydantic import BaseModel

from spanwright.service.answers import Service
from spanwright.service.tools.suggesting import Naming, document_of, suggested


class DoccanoRequest(BaseModel):
    """A text to label."""

    text: str


class DoccanoLabel(BaseModel):
    """A labelled range; offsets count characters."""

    label: str
    start_offset: int
    end_offset: int


class Doccano:
    """The answer."""

    def __init__(self, service: Service, naming: Naming) -> None:
        self._service = service
        self._naming = naming

    async def suggest(self, request: DoccanoRequest) -> list[DoccanoLabel]:
        """Labels for a text."""
        (document,) = await suggested(self._service, [document_of(request.text, ("text",))])
        entities = self._naming.named(document.entities, self._naming.types)
        return [
            DoccanoLabel(label=each.type, start_offset=each.start, end_offset=each.end) for each in entities
        ]
