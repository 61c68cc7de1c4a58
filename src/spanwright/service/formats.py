"""Answers in the formats that a request can ask for. What a format cannot express is told."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from spanwright.formats.files import named, write_stream
from spanwright.formats.unwritable import Unwritable, count_unwritable
from spanwright.linking.linker import LINKS
from spanwright.service.messages import OutputFormat
from spanwright.text import Document

TEXT, JSON, LINES = "text/plain; charset=utf-8", "application/json", "application/x-ndjson"
MEDIA_TYPES = {
    "jsonl": LINES,
    "csv": "text/csv; charset=utf-8",
    "tsv": "text/tab-separated-values; charset=utf-8",
}
"""Of formats that are neither JSON nor plain text."""
UNWRITABLE, EXAMPLES = "Spanwright-Losses", "Spanwright-Loss-Examples"

_ENTITIES_AT_ONCE = 1000
_SHOWN_LINES = 10
_SHOWN_CHARACTERS = 200
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class Answer:
    """The body of an answer, and what is not in it."""

    content: bytes
    media_type: str
    unwritable: list[Unwritable]
    """One line for each thing that the format could not express."""

    @property
    def headers(self) -> dict[str, str]:
        """How much could not be written, and the first of it as a JSON list of ASCII characters."""
        if not self.unwritable:
            return {UNWRITABLE: "0"}
        examples = [line[:_SHOWN_CHARACTERS] for line in self.unwritable[:_SHOWN_LINES]]
        # JSON leaves one control character as it is, which no header may have.
        return {
            UNWRITABLE: str(count_unwritable(self.unwritable)),
            EXAMPLES: json.dumps(examples).replace("\x7f", "\\u007f"),
        }


def answer_with(documents: Sequence[Document], format: OutputFormat, model: str) -> Answer:
    """The answer with these documents, of the model of that name."""
    if format == "json":
        return Answer(b"".join(_json_parts(documents, model)), JSON, [])
    if format == "brat":
        return _brat(documents)
    unwritable: list[Unwritable] = []
    stream = io.StringIO(newline="")
    write_stream(documents, stream, named(format), lossy=True, unwritable=unwritable)
    return Answer(stream.getvalue().encode("utf-8"), MEDIA_TYPES.get(format, TEXT), unwritable)


def _json_parts(documents: Sequence[Document], model: str) -> Iterator[bytes]:
    """A `TagAnswer` part by part: one call for all of a long text would keep every other client waiting."""
    yield b'{"model":%b,"documents":[' % _json(model)
    for number, document in enumerate(documents):
        about = {"id": document.id, "text": document.text, "characters": len(document.text)}
        yield b"," * (number > 0) + _json(about)[:-1] + b',"entities":['
        for start in range(0, len(document.entities), _ENTITIES_AT_ONCE):
            part = [
                _record(document, place)
                for place in range(start, min(start + _ENTITIES_AT_ONCE, len(document.entities)))
            ]
            yield b"," * (start > 0) + _json(part)[1:-1]
        yield b"]}"
    yield b"]}"


def _record(document: Document, place: int) -> dict[str, Any]:
    """An entity as `EntityAnswer` has it."""
    entity = document.entities[place]
    links = document.annotation_notes.get(LINKS)
    return {
        "start": entity.start,
        "end": entity.end,
        "type": entity.type,
        "text": document.mention(entity),
        "confidence": entity.confidence,
        **({} if links is None else {"link": links[place]}),
    }


def _brat(documents: Sequence[Document]) -> Answer:
    """A list of objects with the contents of the two files of each document."""
    format = named("brat")
    files: Callable[[Document], Any] | None = format.serialise_folder
    assert files is not None
    records = []
    for document in documents:
        _, (_, annotations) = files(document)
        # Not the content of the text file, which has a second U+FEFF where a text begins with one.
        records.append({"id": document.id, "text": document.text, "ann": annotations})
    return Answer(_json(records), JSON, [line for each in documents for line in format.unwritable(each)])


def _json(values: Any) -> bytes:
    return _ENCODER.encode(values).encode("utf-8")
