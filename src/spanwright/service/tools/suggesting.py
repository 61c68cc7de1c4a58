"""What all tools ask for: the entities of many texts, under the names that types have in the tool."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from spanwright.errors import InputError
from spanwright.service.answers import Service, check_words, late
from spanwright.service.messages import FieldError
from spanwright.text import Document, Entity

_RUN_CHARACTERS = 20_000
"""Characters of texts that are tagged together: tools send a thousand tasks at once, and others wait, too."""


def document_of(text: str, place: tuple[str | int, ...]) -> Document:
    """A text as a document; `place` is where it stands in the request."""
    try:
        return Document("text", text, generated_id=True)
    except InputError as error:
        raise FieldError(place, str(error)) from None


async def suggested(service: Service, documents: Sequence[Document]) -> list[Document]:
    """The documents with the entities that the default model finds.

    The limit of words is for each, as tools send many at once.
    """
    for document in documents:
        await check_words([document], service.limits.request_words, "a text")
    model = service.models[0]
    found: list[Document] = []
    for run in _runs(documents):
        try:
            async with asyncio.timeout(service.timeout):
                found += await model.batcher.tag(run, {})
        except TimeoutError:
            raise late(service.timeout, model) from None
    return found


def _runs(documents: Sequence[Document]) -> Iterator[list[Document]]:
    """Documents in runs that are tagged together; a long one is a run of its own."""
    run: list[Document] = []
    characters = 0
    for document in documents:
        length = len(document.text) + 1  # so that empty texts fill a run, too
        if run and characters + length > _RUN_CHARACTERS:
            yield run
            run, characters = [], 0
        run.append(document)
        characters += length
    if run:
        yield run


class Naming:
    """The names of types in a tool."""

    def __init__(self, types: Sequence[str], given: Mapping[str, str]) -> None:
        """`given` has names for some types of the model; others are called as they are."""
        unknown = sorted(set(given) - set(types))
        if unknown:
            raise InputError(
                f"the model has no type {unknown[0]!r}, to which a name for tools is given; expected: "
                f"{', '.join(dict.fromkeys(types))}"
            )
        self.types = {type_: given.get(type_, type_) for type_ in types}

    def among(self, labels: Collection[str]) -> dict[str, str]:
        """The label of each type that has one: by its name, whose case, blanks and signs do not matter."""
        plain = {_plain(label): label for label in reversed(list(labels)) if _plain(label)}
        exact = {label: label for label in labels}
        found = {type_: exact.get(name) or plain.get(_plain(name)) for type_, name in self.types.items()}
        return {type_: label for type_, label in found.items() if label}

    def named(self, entities: Sequence[Entity], labels: Mapping[str, str]) -> list[Entity]:
        """The entities whose types have labels, with these."""
        return [replace(each, type=labels[each.type]) for each in entities if each.type in labels]


def _plain(name: str) -> str:
    return "".join(filter(str.isalnum, name.casefold()))
