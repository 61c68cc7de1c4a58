"""A tagger without a network for tests of jobs: quick to load in many processes, and deadly where told.

It stands in the place of a real one by the `load` of an engine. What it finds depends on all documents of a
call, as the last digits of real confidences do: a shard that is tagged in two calls has other bytes.
"""

from __future__ import annotations

import hashlib
import os
import re
import signal
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from spanwright.errors import InputError
from spanwright.predicting.tagging_options import TaggingOptions
from spanwright.text import Document, Entity

FAILS = "unspeakable"
"""A document with this word cannot be tagged."""
DEADLY = "deadly"
"""A document with this word takes its process down."""
DEADLY_ONCE = "fragile"
"""The same, unless a process has died of it before: the file that its id names is then there."""
SLOW = "slow"


class PretendingTagger:
    """Takes words that end in `ase` for genes."""

    def tag(self, source: Iterable[Document], **_: Any) -> Iterator[Document]:
        """Tag a stream as a whole."""
        documents = list(source)
        together = hashlib.sha256("\n".join(document.text for document in documents).encode()).digest()
        return iter([_tagged(document, together[0] / 256) for document in documents])


def _tagged(document: Document, confidence: float) -> Document:
    if FAILS in document.text:
        raise ArithmeticError("no words for it")
    if DEADLY in document.text:
        os.kill(os.getpid(), signal.SIGKILL)
    if DEADLY_ONCE in document.text and not Path(document.id).exists():
        Path(document.id).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    if SLOW in document.text:
        time.sleep(0.05)
    found = [
        Entity(*match.span(), "Gene", confidence=confidence)
        for match in re.finditer(r"\w+ase\b", document.text)
    ]
    return document.with_entities(tuple(found))


def load(tagging: TaggingOptions) -> Any:
    """What an engine calls in each of its processes."""
    if tagging.corpus is not None:
        raise InputError(f"the model knows no corpus {tagging.corpus!r}")
    return PretendingTagger()


def die(tagging: TaggingOptions) -> Any:
    """Loads a model that does not fit into memory."""
    os.kill(os.getpid(), signal.SIGKILL)
