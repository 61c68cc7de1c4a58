"""Tagging one shard of a job: what every engine does with it, in whatever process.

A shard is tagged by one call of the tagger, so its bytes depend on nothing but its documents, the model and
the options. If that call fails, its documents are tagged one by one, and those that fail are problems.
"""

from __future__ import annotations

import io
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spanwright.errors import InputError, SpanwrightError
from spanwright.formats import plain_text
from spanwright.formats.files import FORMATS, named, write, write_stream
from spanwright.formats.format import Format
from spanwright.formats.unwritable import count_unwritable
from spanwright.predicting.jobs.shards import Shard
from spanwright.predicting.tagging_options import TaggingOptions, tag_documents
from spanwright.text import Document, words

if TYPE_CHECKING:
    from spanwright.predicting.tagger import Tagger


@dataclass(frozen=True, slots=True)
class DocumentCounts:
    """What a shard or a whole job held. All documents that were read were tagged, failed or were lost."""

    read: int = 0
    tagged: int = 0
    failed: int = 0
    """Documents that could not be tagged or written."""
    lost: int = 0
    """Documents in shards that took their worker down every time: the next run tries them again."""
    rejected: int = 0
    """Documents that could not be read."""
    unreadable_inputs: int = 0
    entities: int = 0
    words: int = 0
    problems: int = 0
    left_out: int = 0
    """By-products of documents, such as confidences, that the format has no place for."""

    def __add__(self, other: DocumentCounts) -> DocumentCounts:
        return DocumentCounts(
            *(getattr(self, each.name) + getattr(other, each.name) for each in fields(DocumentCounts))
        )


@dataclass(frozen=True, slots=True)
class ShardResult:
    """A shard that is done: the bytes of its file, and what is reported about it."""

    name: str
    content: bytes
    counts: DocumentCounts
    problems: tuple[dict[str, Any], ...]
    position: int
    """As of the shard."""


Loader = Callable[[TaggingOptions], "Tagger"]
"""Makes the tagger of a job, once in each process that tags."""


def shard_format(tagging: TaggingOptions) -> Format:
    """The format of shards, if shards can have it."""
    chosen = named(tagging.format)
    if not _is_one_file(chosen):
        allowed = ", ".join(name for name, each in FORMATS.items() if _is_one_file(each))
        raise InputError(f"the format {chosen.name!r} is not one file for many documents; expected {allowed}")
    return chosen


def _is_one_file(format: Format) -> bool:
    """Whether many documents are written as one file; a text file holds one document."""
    is_written = format.serialise is not None or format.write is not None
    return is_written and not format.is_folder and format is not plain_text.FORMAT


def tag_shard(tagger: Tagger, shard: Shard, tagging: TaggingOptions) -> ShardResult:
    """Tag the documents of a shard and bring them into the form of its file."""
    problems = [{"path": each.path, "line": each.line, "reason": each.reason} for each in shard.problems]
    tagged = list(_tagged(tagger, shard, tagging, problems))
    written, content = _content(tagged, tagging, problems)
    counts = DocumentCounts(
        read=len(shard.documents),
        tagged=len(written),
        failed=len(shard.documents) - len(written),
        rejected=shard.rejected,
        unreadable_inputs=shard.unreadable,
        entities=sum(len(document.entities) for document in written),
        words=sum(len(words(document)) for document in written),
        problems=len(problems),
        left_out=sum(_by_products(document, shard_format(tagging)) for document in written),
    )
    return ShardResult(shard.name, content, counts, tuple(problems), shard.position)


Placed = tuple[str, Document]
"""A document and the path of its input."""


def _tagged(
    tagger: Tagger, shard: Shard, tagging: TaggingOptions, problems: list[dict[str, Any]]
) -> Iterator[Placed]:
    """The tagged documents; those that cannot be tagged are problems."""
    try:
        found = list(tag_documents(tagger, shard.documents, tagging))
    except MemoryError:
        raise
    except Exception:  # whatever a strange document does to the network, the others shall not suffer
        for path, document in zip(shard.paths, shard.documents, strict=True):
            try:
                yield path, next(tag_documents(tagger, [document], tagging))
            except MemoryError:
                raise
            except Exception as error:
                problems.append(_problem(path, document, f"tagging failed: {_phrase(error)}"))
    else:
        yield from zip(shard.paths, found, strict=True)


def _content(
    tagged: Sequence[Placed], tagging: TaggingOptions, problems: list[dict[str, Any]]
) -> tuple[list[Document], bytes]:
    """The documents that the format can express, and the bytes of their file."""
    format = shard_format(tagging)
    expressible = [each for each in tagged if _is_expressible(*each, format, tagging.lossy, problems)]
    try:
        documents = [document for _, document in expressible]
        return documents, _serialised(documents, format)
    except SpanwrightError:
        documents = [each[1] for each in expressible if _is_writable(*each, format, problems)]
        return documents, _serialised(documents, format)


def _is_expressible(
    path: str, document: Document, format: Format, lossy: bool, problems: list[dict[str, Any]]
) -> bool:
    """Whether a document can be written; what is left out of it is reported in any case."""
    unwritable = [line for line in format.unwritable(document) if line.needs_leave]
    refused = f"{format.name} cannot express (allow that with --lossy)"
    problems += [
        _problem(path, document, f"{line.fate if lossy else refused}: {line}") for line in unwritable
    ]
    return lossy or not unwritable


def _by_products(document: Document, format: Format) -> int:
    return count_unwritable(line for line in format.unwritable(document) if not line.needs_leave)


def _is_writable(path: str, document: Document, format: Format, problems: list[dict[str, Any]]) -> bool:
    try:
        _serialised([document], format)
    except SpanwrightError as error:
        problems.append(_problem(path, document, f"not written: {_phrase(error)}"))
        return False
    return True


def _serialised(documents: Sequence[Document], format: Format) -> bytes:
    if format.serialise is not None:
        text = io.StringIO(newline="")
        write_stream(documents, text, format, lossy=True)
        return text.getvalue().encode("utf-8")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "shard"
        write(documents, path, format=format.name, lossy=True)
        return path.read_bytes()


def _problem(path: str, document: Document, reason: str) -> dict[str, Any]:
    return {"path": path, "document": document.id, "reason": reason}


def _phrase(error: Exception) -> str:
    return str(error) if isinstance(error, SpanwrightError) else f"{type(error).__name__}: {error}"
