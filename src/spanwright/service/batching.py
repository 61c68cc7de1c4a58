"""Dynamic batching: the documents of concurrent requests are tagged together, in one thread per model.

Requests wait in a bounded list. Whenever the thread is free, it takes documents from its front until a batch
is full, whichever requests they belong to; a request with more documents than fit goes on after the others,
so that it holds up nobody for longer than a batch. A text that is longer than a batch is tagged in steps,
with the others in between, and no further once its client has left.
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
_PATIENCE, _LONGEST_PATIENCE = 0.1, 0.05
"""How long a batch waits for the next of those who were inside at the last one, as a share of that one's
time, and for all of them, in seconds."""
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
        self._jobs: list[InsideRequest] = []
        self._changed = threading.Condition()
        self._begun: list[InsideRequest] = []
        """Those whose long text is being tagged."""
        self._stopping = False
        self._since: float | None = None
        self._expected = 0
        self._awaited = 1
        """So many requests wake the thread up, while it waits."""
        self._moves = 0
        """How often a request came or went."""
        self._patience = 0.0
        self._seconds_per_request = 0.1
        # A daemon: a batch that cannot be interrupted shall not keep the process alive.
        threading.Thread(target=self._work, name="spanwright batches", daemon=True).start()

    async def tag(self, documents: Sequence[Document], types: Mapping[str, str]) -> list[Document]:
        """The documents with all entities of any confidence; cancelling this frees its place."""
        answer: asyncio.Future[list[Document]] = asyncio.get_running_loop().create_future()
        job = InsideRequest(deque(documents), tuple(types.items()), answer)
        with self._changed:
            self.check_room()
            self._jobs.append(job)
            self._moves += 1
            # Each time that the thread wakes up, the event loop stands still for a moment.
            if self._has_enough():
                self._changed.notify()
        try:
            return await answer
        finally:
            with self._changed:
                self._jobs.remove(job)
                self._moves += 1
                if job.waiting:  # its client has left
                    self._changed.notify()

    def check_room(self) -> None:
        """Raise `OverloadError` if no further request is taken."""
        if self._stopping:
            raise OverloadError("the service is shutting down", self.retry_seconds)
        if len(self._jobs) >= self._most_requests:
            raise OverloadError(f"{len(self._jobs)} requests are waiting already", self.retry_seconds)

    @property
    def length(self) -> int:
        """Requests inside: waiting, or being tagged."""
        return len(self._jobs)

    @property
    def busy_seconds(self) -> float:
        """How long the present batch or step has been running; 0 between two."""
        since = self._since
        return 0.0 if since is None else time.monotonic() - since

    @property
    def retry_seconds(self) -> int:
        """A guess at the whole seconds until all requests inside are answered."""
        seconds = math.ceil((len(self._jobs) + 1) * self._seconds_per_request)
        return min(_LONGEST_RETRY, max(1, seconds))

    def stop(self) -> None:
        """Take no further requests; those inside are still answered."""
        with self._changed:
            self._stopping = True
            self._changed.notify()

    def give_up(self) -> None:
        """Refuse what is still inside."""
        with self._changed:
            for job in self._jobs:
                fail(job, OverloadError("the service is shutting down", self.retry_seconds))
            self._changed.notify()

    def _work(self) -> None:
        memory = FreeMemory()
        while (jobs := self._next_jobs()) is not None:
            if not jobs:  # all of them have left meanwhile
                continue
            self._since = started = time.monotonic()
            served = self._serve(jobs)
            seconds = time.monotonic() - started
            self._since = None
            self._to_the_back(served)
            self._patience = min(_LONGEST_PATIENCE, _PATIENCE * seconds)
            self._seconds_per_request *= _INERTIA
            self._seconds_per_request += (1 - _INERTIA) * seconds / len(served)
            memory.give_back()

    def _serve(self, jobs: Sequence[InsideRequest]) -> list[InsideRequest]:
        """Tag a batch, or make a step of the long text of the first job; those that were served."""
        if self._has_long(jobs[0]):
            self._step(jobs[0])
            self._expected = 0
            return [jobs[0]]
        batch = self._fill(jobs)
        is_full = any(job.waiting for job in jobs)
        self._tag(batch)
        if is_full:
            self._expected = 0
        return _jobs_of(batch)

    def _next_jobs(self) -> list[InsideRequest] | None:
        """The jobs with documents that wait, once there are any; None when there will be none."""
        with self._changed:
            self._awaited = 1
            while not self._has_enough():
                self._drop_steps()
                self._changed.wait()
            self._wait_for_others()
            self._drop_steps()
            jobs = self._open_jobs()
            if self._stopping and not jobs:
                return None
            begun = sum(job.steps is not None for job in jobs)
            return [job for job in jobs if begun < _LONG_TOGETHER or job.steps or not self._has_long(job)]

    def _wait_for_others(self) -> None:
        """Clients that were answered together mostly ask again together: the first shall not go alone.

        As long as some are still being answered or come back, the others are awaited.
        """
        self._awaited = self._expected
        until = time.monotonic() + _LONGEST_PATIENCE
        seen = -1
        while seen != self._moves and (left := until - time.monotonic()) > 0 and not self._has_enough():
            seen = self._moves
            self._changed.wait(min(self._patience, left))

    def _has_enough(self) -> bool:
        return self._stopping or len(self._open_jobs()) >= self._awaited

    def _open_jobs(self) -> list[InsideRequest]:
        return [job for job in self._jobs if job.is_open]

    def _drop_steps(self) -> None:
        """Forget the texts of clients that have left while they were tagged."""
        for job in [job for job in self._begun if not job.is_open]:
            self._begun.remove(job)
            job.steps = None

    def _has_long(self, job: InsideRequest) -> bool:
        """Whether the next document of a job is longer than a batch."""
        if len(job.waiting[0].text) > _CHARACTERS_PER_WORD * self._batch_words:
            return True
        document = job.waiting[0] = _with_words(job.waiting[0])
        return len(words(document)) > self._batch_words

    def _step(self, job: InsideRequest) -> None:
        """Make a step of a long text."""
        try:
            if job.steps is None:
                job.steps = self._tagger_for(job.types).tag_in_steps([job.waiting[0]])
                self._begun.append(job)
            next(job.steps)
        except StopIteration as end:
            self._begun.remove(job)
            job.steps = None
            self._finish_long(job, end.value)
        except Exception as error:
            fail(job, error)

    def _finish_long(self, job: InsideRequest, found: Sequence[Document]) -> None:
        document = job.waiting.popleft()
        counted = sum(1 for _ in iter_words(document))
        job.done.extend(replace(each, words=None) for each in found)
        self._on_batch(BatchFigures(1, 1, counted, len(found[0].entities)))
        if not job.waiting:
            succeed([job])

    def _fill(self, jobs: Sequence[InsideRequest]) -> _Batch:
        """Documents of one set of types, in order, up to the first that has no room."""
        batch: _Batch = []
        room = self._batch_words
        for job in jobs:
            while job.types == jobs[0].types and job.waiting and not self._has_long(job):
                room -= len(words(job.waiting[0]))
                if room < 0 and batch:
                    return batch
                batch.append((job, job.waiting.popleft()))
        return batch

    def _tag(self, batch: _Batch) -> None:
        try:
            tagger = self._tagger_for(batch[0][0].types)
            found = list(tagger.tag([document for _, document in batch]))
        except Exception as error:
            self._blame(batch, error)
            return
        for (job, _), document in zip(batch, found, strict=True):
            job.done.append(replace(document, words=None))
        counted = sum(len(words(document)) for _, document in batch)
        entities = sum(len(document.entities) for document in found)
        jobs = _jobs_of(batch)
        self._on_batch(BatchFigures(len(jobs), len(found), counted, entities))
        # Before any of them is answered, and asks again.
        self._expected = len({*jobs, *self._open_jobs()})
        succeed([job for job in jobs if not job.waiting])

    def _blame(self, batch: _Batch, error: Exception) -> None:
        """Fail the one request of a batch; of several, tag each by itself to spare the innocent."""
        jobs = _jobs_of(batch)
        if len(jobs) == 1:
            fail(jobs[0], error)
            return
        for job in jobs:
            self._tag([item for item in batch if item[0] is job])

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
            for job in served:
                if job in self._jobs:
                    self._jobs.remove(job)
                    self._jobs.append(job)


def _jobs_of(batch: _Batch) -> list[InsideRequest]:
    return list(dict.fromkeys(job for job, _ in batch))


def _with_words(document: Document) -> Document:
    """A document with its words, so that they are found only once."""
    return document if document.words is not None else replace(document, words=words(document))
