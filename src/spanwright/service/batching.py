"""Dynamic batching: the documents of concurrent requests are tagged together, in one thread per model.

Requests wait in a bounded list. Whenever the thread is free, it takes documents from its front until a batch
is full, whichever requests they belong to; a request with more documents than fit goes on after the others,
so that it holds up nobody for longer than a batch. It never waits for more: those who come while it tags are
its next batch, and are read, checked and answered meanwhile. A text that is longer than a batch is tagged in
steps, with the others in between, and no further once its client has left.
"""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from spanwright.errors import SpanwrightError
from spanwright.predicting.tagger import Tagger
from spanwright.service.inside import AskedTypes, InsideRequest, fail, succeed
from spanwright.service.memory import FreeMemory
from spanwright.text import Document, iter_words, words

_KEPT_TAGGERS = 8
"""Taggers with types of requests that are remembered: for each, only the vectors of its types are its own."""
_LONG_TOGETHER = 4
"""Long texts that are begun and not done: each keeps what was found so far, and takes its turns."""
_CHARACTERS_PER_WORD = 10
"""A text with more characters than so many for each word of a batch is long, without a look at its words."""
_LONGEST_RETRY = 60
_INERTIA = 0.8
"""Weight of the past in the mean time of a request."""


class OverloadError(SpanwrightError):
    """The service cannot take or finish a request now, but may be able to in `seconds`."""

    def __init__(self, reason: str, seconds: int) -> None:
        super().__init__(f"{reason}; try again in {seconds} s")
        self.seconds = seconds


@dataclass(frozen=True, slots=True)
class BatchFigures:
    """What was tagged together."""

    requests: int
    documents: int
    words: int
    entities: int


_Batch = list[tuple[InsideRequest, Document]]


class Batcher:
    """Tags documents for the concurrent requests of an event loop with one tagger, in a thread of its own."""

    def __init__(
        self,
        tagger: Tagger,
        *,
        requests: int,
        batch_words: int,
        on_batch: Callable[[BatchFigures], None] = lambda figures: None,
    ) -> None:
        """At most `requests` are inside; a batch has up to `batch_words` words, longer texts go in steps."""
        self._tagger = tagger
        self._most_requests = requests
        self._batch_words = batch_words
        self._on_batch = on_batch
        self._described: OrderedDict[AskedTypes, Tagger] = OrderedDict()
        self._inside: list[InsideRequest] = []
        self._changed = threading.Condition()
        self._begun: list[InsideRequest] = []
        """Those whose long text is being tagged."""
        self._stopping = False
        self._since: float | None = None
        self._seconds_per_request = 0.1
        # A daemon: a batch that cannot be interrupted shall not keep the process alive.
        threading.Thread(target=self._work, name="spanwright batches", daemon=True).start()

    async def tag(self, documents: Sequence[Document], types: Mapping[str, str]) -> list[Document]:
        """The documents with all entities of any confidence; cancelling this frees its place."""
        answer: asyncio.Future[list[Document]] = asyncio.get_running_loop().create_future()
        request = InsideRequest(deque(documents), tuple(types.items()), answer)
        with self._changed:
            self.check_room()
            self._inside.append(request)
            self._changed.notify()
        try:
            return await answer
        finally:
            with self._changed:
                self._inside.remove(request)
                if request.waiting:  # its client has left
                    self._changed.notify()

    def check_room(self) -> None:
        """Raise `OverloadError` if no further request is taken."""
        if self._stopping:
            raise OverloadError("the service is shutting down", self.retry_seconds)
        if len(self._inside) >= self._most_requests:
            raise OverloadError(f"{len(self._inside)} requests are waiting already", self.retry_seconds)

    @property
    def length(self) -> int:
        """Requests inside: waiting, or being tagged."""
        return len(self._inside)

    @property
    def busy_seconds(self) -> float:
        """How long the present batch or step has been running; 0 between two."""
        since = self._since
        return 0.0 if since is None else time.monotonic() - since

    @property
    def retry_seconds(self) -> int:
        """A guess at the whole seconds until all requests inside are answered."""
        seconds = math.ceil((len(self._inside) + 1) * self._seconds_per_request)
        return min(_LONGEST_RETRY, max(1, seconds))

    def stop(self) -> None:
        """Take no further requests; those inside are still answered."""
        with self._changed:
            self._stopping = True
            self._changed.notify()

    def give_up(self) -> None:
        """Refuse what is still inside."""
        with self._changed:
            for request in self._inside:
                fail(request, OverloadError("the service is shutting down", self.retry_seconds))
            self._changed.notify()

    def _work(self) -> None:
        memory = FreeMemory()
        while (requests := self._next_requests()) is not None:
            self._since = started = time.monotonic()
            served = self._serve(requests)
            seconds = time.monotonic() - started
            self._since = None
            self._to_the_back(served)
            self._seconds_per_request *= _INERTIA
            self._seconds_per_request += (1 - _INERTIA) * seconds / len(served)
            memory.give_back()

    def _serve(self, requests: Sequence[InsideRequest]) -> list[InsideRequest]:
        """Tag a batch, or make a step of the long text of the first request; those that were served."""
        if self._has_long(requests[0]):
            self._step(requests[0])
            return [requests[0]]
        batch = self._fill(requests)
        self._tag(batch)
        return _requests_of(batch)

    def _next_requests(self) -> list[InsideRequest] | None:
        """The requests with documents that wait, once there are any; None when there will be none."""
        with self._changed:
            self._drop_steps()
            while not (requests := self._open_requests()):
                if self._stopping:
                    return None
                self._changed.wait()
                self._drop_steps()
        # Not while the event loop would have to wait: this may look for words.
        begun = sum(request.steps is not None for request in requests)
        return [each for each in requests if begun < _LONG_TOGETHER or each.steps or not self._has_long(each)]

    def _open_requests(self) -> list[InsideRequest]:
        return [request for request in self._inside if request.is_open]

    def _drop_steps(self) -> None:
        """Forget the texts of clients that have left while they were tagged."""
        for request in [request for request in self._begun if not request.is_open]:
            self._begun.remove(request)
            request.steps = None

    def _has_long(self, request: InsideRequest) -> bool:
        """Whether the next document of a request is longer than a batch."""
        if len(request.waiting[0].text) > _CHARACTERS_PER_WORD * self._batch_words:
            return True
        document = request.waiting[0] = _with_words(request.waiting[0])
        return len(words(document)) > self._batch_words

    def _step(self, request: InsideRequest) -> None:
        """Make a step of a long text."""
        try:
            if request.steps is None:
                request.steps = self._tagger_for(request.types).tag_in_steps([request.waiting[0]])
                self._begun.append(request)
            next(request.steps)
        except StopIteration as end:
            self._begun.remove(request)
            request.steps = None
            self._finish_long(request, end.value)
        except Exception as error:
            fail(request, error)

    def _finish_long(self, request: InsideRequest, found: Sequence[Document]) -> None:
        document = request.waiting.popleft()
        counted = sum(1 for _ in iter_words(document))
        request.done.extend(replace(each, words=None) for each in found)
        self._on_batch(BatchFigures(1, 1, counted, len(found[0].entities)))
        if not request.waiting:
            succeed([request])

    def _fill(self, requests: Sequence[InsideRequest]) -> _Batch:
        """Documents of one set of types, in order, up to the first that has no room."""
        batch: _Batch = []
        room = self._batch_words
        for request in requests:
            while request.types == requests[0].types and request.waiting and not self._has_long(request):
                room -= len(words(request.waiting[0]))
                if room < 0 and batch:
                    return batch
                batch.append((request, request.waiting.popleft()))
        return batch

    def _tag(self, batch: _Batch) -> None:
        try:
            tagger = self._tagger_for(batch[0][0].types)
            found = list(tagger.tag([document for _, document in batch]))
        except Exception as error:
            self._blame(batch, error)
            return
        for (request, _), document in zip(batch, found, strict=True):
            request.done.append(replace(document, words=None))
        counted = sum(len(words(document)) for _, document in batch)
        entities = sum(len(document.entities) for document in found)
        requests = _requests_of(batch)
        self._on_batch(BatchFigures(len(requests), len(found), counted, entities))
        succeed([request for request in requests if not request.waiting])

    def _blame(self, batch: _Batch, error: Exception) -> None:
        """Fail the one request of a batch; of several, tag each by itself to spare the innocent."""
        requests = _requests_of(batch)
        if len(requests) == 1:
            fail(requests[0], error)
            return
        for request in requests:
            self._tag([item for item in batch if item[0] is request])

    def _tagger_for(self, types: AskedTypes) -> Tagger:
        if not types:
            return self._tagger
        if types not in self._described:
            self._described[types] = self._tagger.with_types(dict(types))
        self._described.move_to_end(types)
        if len(self._described) > _KEPT_TAGGERS:
            self._described.popitem(last=False)
        return self._described[types]

    def _to_the_back(self, served: Sequence[InsideRequest]) -> None:
        with self._changed:
            self._inside.sort(key=served.__contains__)


def _requests_of(batch: _Batch) -> list[InsideRequest]:
    return list(dict.fromkeys(request for request, _ in batch))


def _with_words(document: Document) -> Document:
    """A document with its words, so that they are found only once."""
    return document if document.words is not None else replace(document, words=words(document))
