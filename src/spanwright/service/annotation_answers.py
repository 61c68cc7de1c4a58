"""What the service answers about texts that are annotated on its page."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from spanwright.errors import InputError, SpanwrightError
from spanwright.palette import colour_numbers
from spanwright.service.annotation import AnnotationFolder, ConflictError
from spanwright.service.messages import ErrorAnswer, FieldError, TypeName
from spanwright.service.problems import refusal
from spanwright.text import Document, Entity, words

if TYPE_CHECKING:
    from fastapi import FastAPI, Request, Response

_SELECTION = "selection"
"""The metadata in which `spanwright select` says why a text was chosen."""


class MissingTextError(SpanwrightError):
    """There is no text at a place."""


class MarkMessage(BaseModel):
    """An entity of a text; offsets count characters."""

    model_config = ConfigDict(extra="forbid", strict=True)

    start: int
    end: int
    type: TypeName
    fragments: list[Annotated[list[int], Field(min_length=2, max_length=2)]] = Field(default_factory=list)
    """Ranges of a discontinuous one."""
    concepts: list[str] = Field(default_factory=list)
    confidence: float | None = None
    """Of a suggestion; None for what a person has marked."""


class SaveRequest(BaseModel):
    """All entities of a text, and the version at which it was opened."""

    model_config = ConfigDict(extra="forbid", strict=True)

    version: str
    entities: list[MarkMessage] = Field(max_length=100_000)


class TextAnswer(BaseModel):
    """A text to annotate, with suggestions, or as it was saved."""

    id: str
    text: str
    words: list[tuple[int, int]]
    entities: list[MarkMessage]
    done: bool
    version: str
    reason: str


class TextsAnswer(BaseModel):
    """The texts in the order in which they are annotated."""

    texts: list[tuple[str, bool]]
    """Id, and whether it is done."""
    types: list[str]
    colours: dict[str, int]


class SavedAnswer(BaseModel):
    """That a text was saved."""

    version: str


class AnnotationAnswers:
    """The answers about the texts of a folder, one method for each path."""

    def __init__(self, folder: AnnotationFolder, types: Sequence[str]) -> None:
        self._folder = folder
        given = (entity.type for document in folder.texts for entity in document.entities)
        self._types = list(dict.fromkeys((*types, *given)))

    async def texts(self) -> TextsAnswer:
        """The texts, and which of them are done."""
        texts = [(document.id, self._folder.is_done(document)) for document in self._folder.texts]
        return TextsAnswer(texts=texts, types=self._types, colours=colour_numbers(self._types))

    async def text(self, number: int) -> TextAnswer:
        """A text by its place, from 0 on."""
        document = self._document(number)
        found, version = self._folder.latest(document)
        return TextAnswer(
            id=document.id,
            text=document.text,
            words=list(words(document)),
            entities=[_mark(entity) for entity in found.entities],
            done=self._folder.is_done(document),
            version=version,
            reason=_reason(document),
        )

    async def save(self, number: int, request: SaveRequest) -> SavedAnswer:
        """Keep the entities of a text; 409 if somebody else has saved it since it was opened."""
        document = self._document(number)
        entities = list(dict.fromkeys(_entity(mark) for mark in request.entities))
        try:
            document.with_entities(tuple(entities))
        except InputError as error:
            raise FieldError(("entities",), str(error)) from None
        saved = await asyncio.to_thread(self._folder.save, document, entities, request.version)
        return SavedAnswer(version=saved)

    def _document(self, number: int) -> Document:
        if not 0 <= number < len(self._folder.texts):
            last = len(self._folder.texts) - 1
            raise MissingTextError(f"there is no text {number}; expected the place of one, 0 to {last}")
        return self._folder.texts[number]


def add_annotation(
    app: FastAPI, folder: AnnotationFolder, types: Sequence[str], documented: dict[int | str, dict[str, Any]]
) -> None:
    """Let an application answer about the texts of a folder; `documented` are what every path may answer."""
    answers = AnnotationAnswers(folder, types)

    async def missing(request: Request, error: MissingTextError) -> Response:
        return refusal(404, str(error))

    async def conflict(request: Request, error: ConflictError) -> Response:
        return refusal(409, str(error))

    handlers: dict[type[Exception], Any] = {MissingTextError: missing, ConflictError: conflict}
    for kind, handler in handlers.items():
        app.add_exception_handler(kind, handler)
    of_text = documented | {404: {"model": ErrorAnswer, "description": "There is no text at this place"}}
    of_saving = of_text | {409: {"model": ErrorAnswer, "description": "Somebody else has saved the text"}}
    app.add_api_route("/annotation", answers.texts, responses=documented)
    app.add_api_route("/annotation/{number}", answers.text, responses=of_text)
    app.add_api_route("/annotation/{number}", answers.save, methods=["PUT"], responses=of_saving)


def _reason(document: Document) -> str:
    """Why a text was chosen, if anybody says so."""
    selection = document.metadata.get(_SELECTION)
    return str(selection.get("reason", "")) if isinstance(selection, dict) else ""


def _mark(entity: Entity) -> MarkMessage:
    return MarkMessage(
        start=entity.start,
        end=entity.end,
        type=entity.type,
        fragments=[list(each) for each in entity.fragments],
        concepts=list(entity.concepts),
        confidence=entity.confidence,
    )


def _entity(mark: MarkMessage) -> Entity:
    """What a person has decided: it has no confidence."""
    fragments = tuple((start, end) for start, end in mark.fragments)
    return Entity(mark.start, mark.end, mark.type, fragments, tuple(mark.concepts))
