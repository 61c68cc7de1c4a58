"""Answers in the formats that a request can ask for. What a format cannot express is told."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from spanwright.formats.files import named, write_stream
from spanwright.formats.unwritable import Unwritable, count_unwritable
from spanwright.service.messages import OutputFormat
from spanwright.text import Document

TEXT, JSON, LINES = "text/plain; charset=utf-8", "application/json", "application/x-ndjson"
UNWRITABLE, EXAMPLES = "Spanwright-Losses", "Spanwright-Loss-Examples"

_SHOWN_LINES = 10
_SHOWN_CHARACTERS = 200


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
        return Answer(_json({"model": model, "documents": list(map(record_of, documents))}), JSON, [])
    if format == "brat":
        return _brat(documents)
    media_type = LINES if format == "jsonl" else TEXT
    unwritable: list[Unwritable] = []
    stream = io.StringIO(newline="")
    write_stream(documents, stream, named(format), lossy=True, unwritable=unwritable)
    return Answer(stream.getvalue().encode("utf-8"), media_type, unwritable)


def record_of(document: Document) -> dict[str, Any]:
    """A document as `DocumentAnswer` has it."""
    entities = [
        {
            "start": entity.start,
            "end": entity.end,
            "type": entity.type,
            "text": document.mention(entity),
            "confidence": entity.confidence,
        }
        for entity in document.entities
    ]
    return {
        "id": document.id,
        "text": document.text,
        "characters": len(document.text),
        "entities": entities,
    }


def _brat(documents: Sequence[Document]) -> Answer:
    """A list of objects with the contents of the two files of each document."""
    format = named("brat")
    files: Callable[[Document], Any] | None = format.serialise_folder
    assert files is not None
    records = []
    for document in documents:
        (_, text), (_, annotations) = files(document)
        records.append({"id": document.id, "text": text, "ann": annotations})
    return Answer(_json(records), JSON, [line for each in documents for line in format.unwritable(each)])


def _json(values: Any) -> bytes:
    return json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
