"""Documents that two corpora share."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence

from spanwright.text import Document

_WHITE_SPACE = re.compile(r"\s+")


def fingerprint(text: str) -> bytes:
    """A digest of a text that is blind to case and white space, so that other tokenisations match."""
    return hashlib.blake2b(_WHITE_SPACE.sub("", text).casefold().encode(), digest_size=16).digest()


def drop_shared(
    documents: Sequence[Document], evaluation: Iterable[Document]
) -> tuple[list[Document], list[Document]]:
    """Split documents into those to keep and those that also stand in evaluation data.

    A document is shared when its id (unless made up by a reader) or its text, blind to case and white
    space, is.
    """
    ids: set[str] = set()
    texts: set[bytes] = set()
    for document in evaluation:
        texts.add(fingerprint(document.text))
        if not document.generated_id:
            ids.add(document.id)
    kept: list[Document] = []
    shared: list[Document] = []
    for document in documents:
        same_id = not document.generated_id and document.id in ids
        (shared if same_id or fingerprint(document.text) in texts else kept).append(document)
    return kept, shared
