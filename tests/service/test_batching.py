"""Batches: requests that come at the same time are tagged together, and none notices the others."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest

import tiny
from service.serving import GatedTagger, texts
from spanwright.predicting.tagger import Tagger
from spanwright.service.batching import Batcher, BatchFigures, OverloadError
from spanwright.text import Document, split


def documents(*given: str) -> list[Document]:
    return [Document(f"text-{number}", text) for number, text in enumerate(given)]


def entities(document: Document) -> list[tuple[int, int, str, float | None]]:
    return [(e.start, e.end, e.type, round(e.confidence or 0, 4)) for e in document.entities]


@pytest.fixture(scope="module")
def tagger() -> Tagger:
    return Tagger(tiny.model())


class Room:
    """A batcher with a gate before its tagger, and the figures of its batches."""

    def __init__(self, tagger: Tagger, *, requests: int = 64, batch_words: int = 2000) -> None:
        self.gated = GatedTagger(tagger)
        self.figures: list[BatchFigures] = []
        self.batcher = Batcher(
            self.gated, requests=requests, batch_words=batch_words, on_batch=self.figures.append
        )

    def ask(self, *given: str, types: dict[str, str] | None = None) -> asyncio.Task[list[Document]]:
        return asyncio.create_task(self.batcher.tag(documents(*given), types or {}))

    async def is_busy(self) -> None:
        """Wait until a batch stands before the gate."""
        while not self.gated.calls:
            await asyncio.sleep(0.01)

    def open(self) -> None:
        self.gated.gate.set()


def in_room(tagger: Tagger, story: Callable[[Room], Awaitable[None]], **options: Any) -> Room:
    """Play a story in a room, and end its thread."""
    room = Room(tagger, **options)

    async def play() -> None:
        async with asyncio.timeout(60):
            await story(room)

    try:
        asyncio.run(play())
    finally:
        room.open()
        room.batcher.stop()
    return room


def test_answers_are_those_of_the_tagger_alone(tagger: Tagger) -> None:
    requests = [texts(1 + number % 3, seed=number) for number in range(20)]

    async def story(room: Room) -> None:
        room.open()
        answers = await asyncio.gather(*(room.ask(*given) for given in requests))
        for given, answer in zip(requests, answers, strict=True):
            assert [document.text for document in answer] == given
            alone = [tagger.tag(text) for text in given]
            assert [entities(document) for document in answer] == [entities(document) for document in alone]
            assert all(document.words is None for document in answer)

    assert sum(figures.entities for figures in in_room(tagger, story, batch_words=50).figures) > 100


def test_requests_that_wait_go_into_one_batch(tagger: Tagger) -> None:
    async def story(room: Room) -> None:
        first = room.ask("p53 in cells")
        await room.is_busy()
        others = [room.ask(f"p53 in {number} cells") for number in range(10)]
        await asyncio.sleep(0)
        room.open()
        await asyncio.gather(first, *others)

    room = in_room(tagger, story)
    assert [(figures.requests, figures.documents, figures.words) for figures in room.figures] == [
        (1, 1, 3),
        (10, 10, 40),
    ]


def test_all_requests_of_a_batch_are_answered_in_one_go(tagger: Tagger) -> None:
    calls: list[object] = []

    async def story(room: Room) -> None:
        loop = asyncio.get_running_loop()
        call = loop.call_soon_threadsafe
        loop.call_soon_threadsafe = lambda *given: (calls.append(given), call(*given))[1]
        first = room.ask("p53")
        await room.is_busy()
        others = [room.ask("cells") for _ in range(10)]
        await asyncio.sleep(0)
        room.open()
        await asyncio.gather(first, *others)

    in_room(tagger, story)
    assert len(calls) == 2


def test_a_batch_has_as_many_documents_as_fit(tagger: Tagger) -> None:
    given = texts(50, longest=15)

    async def story(room: Room) -> None:
        room.open()
        await room.ask(*given)

    room = in_room(tagger, story, batch_words=25)
    sizes = [sum(len(split(text)) for text in call) for call in room.gated.calls]
    assert [text for call in room.gated.calls for text in call] == given
    assert all(size <= 25 for size in sizes)
    for size, following in zip(sizes, room.gated.calls[1:], strict=False):
        assert size + len(split(following[0])) > 25
    assert [figures.words for figures in room.figures] == sizes


def test_a_long_request_does_not_hold_up_a_short_one(tagger: Tagger) -> None:
    finished: list[str] = []

    async def story(room: Room) -> None:
        long = room.ask(*["p53 in cells"] * 50)
        long.add_done_callback(lambda task: finished.append("long"))
        await room.is_busy()
        short = room.ask("p53")
        short.add_done_callback(lambda task: finished.append("short"))
        await asyncio.sleep(0)
        room.open()
        assert len(await long) == 50
        await short

    in_room(tagger, story, batch_words=6)
    assert finished == ["short", "long"]


def test_more_requests_than_may_be_inside_are_refused(tagger: Tagger) -> None:
    async def story(room: Room) -> None:
        inside = [room.ask("p53") for _ in range(3)]
        await room.is_busy()
        assert room.batcher.length == 3
        with pytest.raises(OverloadError, match="3 requests are waiting already; try again in 1 s"):
            await room.ask("cells")
        room.open()
        await asyncio.gather(*inside)
        assert room.batcher.length == 0
        assert await room.ask("cells")

    in_room(tagger, story, requests=3)


def test_a_cancelled_request_frees_its_place_and_is_never_tagged(tagger: Tagger) -> None:
    async def story(room: Room) -> None:
        first, second = room.ask("first"), room.ask("second")
        await room.is_busy()
        third = room.ask("third")
        await asyncio.sleep(0)
        assert room.batcher.length == 3
        third.cancel()
        await asyncio.wait([third])
        assert room.batcher.length == 2
        fourth = room.ask("fourth")
        await asyncio.sleep(0)
        room.open()
        await asyncio.gather(first, second, fourth)

    room = in_room(tagger, story, requests=3)
    assert sorted(text for call in room.gated.calls for text in call) == ["first", "fourth", "second"]


def test_a_request_that_is_cancelled_in_a_batch_does_not_disturb_the_others(tagger: Tagger) -> None:
    async def story(room: Room) -> None:
        first = room.ask("first")
        await room.is_busy()
        second, third = room.ask("second"), room.ask("third")
        await asyncio.sleep(0)
        first.cancel()
        room.open()
        assert [document.text for task in (second, third) for document in await task] == ["second", "third"]

    in_room(tagger, story)


def test_a_text_that_fails_fails_its_own_request_only(tagger: Tagger) -> None:
    async def story(room: Room) -> None:
        first = room.ask("first")
        await room.is_busy()
        good, bad, other = room.ask("good"), room.ask("fine", "poison"), room.ask("other")
        await asyncio.sleep(0)
        room.open()
        await asyncio.gather(first, good, other)
        with pytest.raises(RuntimeError, match="poisoned"):
            await bad
        assert await room.ask("later")

    in_room(tagger, story)


def test_types_of_requests_are_kept_apart_and_remembered() -> None:
    tagger = Tagger(tiny.model(scorer={"kind": "bi-encoder", "types": "guidelines"}))
    animal, plant = {"Animal": "names of animals"}, {"Plant": "names of plants"}
    made: list[Sequence[str]] = []

    class Describable(GatedTagger):
        def with_types(self, descriptions: dict[str, str]) -> GatedTagger:
            made.append(tuple(descriptions))
            return GatedTagger(self.inner.with_types(descriptions), self.gate, self.calls)

    async def story(room: Room) -> None:
        room.gated = room.batcher._tagger = Describable(tagger)
        first = room.ask("first")
        await room.is_busy()
        asked = [
            room.ask(f"p53 cells {number}", types=[animal, plant, {}][number % 3]) for number in range(9)
        ]
        await asyncio.sleep(0)
        room.open()
        await first
        answers = await asyncio.gather(*asked)
        for number, answer in enumerate(answers):
            alone = tagger.with_types([animal, plant, {}][number % 3]).tag(f"p53 cells {number}")
            assert entities(answer[0]) == entities(alone)

    room = in_room(tagger, story)
    assert made == [("Animal",), ("Plant",)]
    assert [figures.requests for figures in room.figures] == [1, 3, 3, 3]


def test_the_taggers_of_the_last_types_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spanwright.service.batching._KEPT_TAGGERS", 2)
    tagger = Tagger(tiny.model(scorer={"kind": "bi-encoder", "types": "guidelines"}))
    made: list[str] = []

    class Describable(GatedTagger):
        def with_types(self, descriptions: dict[str, str]) -> GatedTagger:
            made.extend(descriptions)
            return GatedTagger(self.inner, self.gate, self.calls)

    async def story(room: Room) -> None:
        room.open()
        room.batcher._tagger = Describable(tagger, room.gated.gate)
        for name in "ABACAB":
            await room.ask("p53", types={name: "a text"})

    in_room(tagger, story)
    assert made == ["A", "B", "C", "B"]


def test_a_batcher_that_is_stopped_answers_what_is_inside(tagger: Tagger) -> None:
    async def story(room: Room) -> None:
        inside = [room.ask("p53"), room.ask("cells")]
        await room.is_busy()
        room.batcher.stop()
        with pytest.raises(OverloadError, match="shutting down"):
            await room.ask("late")
        room.open()
        assert len(await asyncio.gather(*inside)) == 2

    in_room(tagger, story)


def test_a_batcher_that_gives_up_refuses_what_is_inside(tagger: Tagger) -> None:
    async def story(room: Room) -> None:
        inside = [room.ask("p53"), room.ask("cells")]
        await room.is_busy()
        room.batcher.give_up()
        for task in inside:
            with pytest.raises(OverloadError, match="shutting down"):
                await task

    in_room(tagger, story)


def test_the_time_to_try_again_grows_with_what_is_inside(tagger: Tagger) -> None:
    async def story(room: Room) -> None:
        room.batcher._seconds_per_request = 2.0
        assert room.batcher.retry_seconds == 2
        inside = [room.ask("p53") for _ in range(50)]
        await room.is_busy()
        assert room.batcher.retry_seconds == 60
        for task in inside[4:]:
            task.cancel()
        await asyncio.wait(inside[4:])
        assert room.batcher.retry_seconds == 10

    in_room(tagger, story)


LONG = "p53 in cells " * 100


def test_a_long_text_has_the_entities_of_the_tagger_alone(tagger: Tagger) -> None:
    async def story(room: Room) -> None:
        room.open()
        answers = await asyncio.gather(room.ask("p53", LONG, "cells"), room.ask("beta cells"))
        for answer, given in zip(answers, (("p53", LONG, "cells"), ("beta cells",)), strict=True):
            assert [entities(each) for each in answer] == [entities(tagger.tag(text)) for text in given]
            assert all(each.words is None for each in answer)

    room = in_room(tagger, story, batch_words=20)
    assert (1, 1, 300) in [(each.requests, each.documents, each.words) for each in room.figures]
    assert len(room.gated.steps) > 2


def test_short_requests_go_between_the_steps_of_a_long_text(tagger: Tagger) -> None:
    finished: list[str] = []

    async def story(room: Room) -> None:
        long = room.ask(LONG)
        long.add_done_callback(lambda task: finished.append("long"))
        while not room.gated.steps:
            await asyncio.sleep(0.01)
        short = room.ask("p53")
        short.add_done_callback(lambda task: finished.append("short"))
        await asyncio.sleep(0)
        room.open()
        await asyncio.gather(long, short)

    in_room(tagger, story, batch_words=20)
    assert finished == ["short", "long"]


def test_a_long_text_whose_client_leaves_is_tagged_no_further(tagger: Tagger) -> None:
    async def story(room: Room) -> None:
        long = room.ask(LONG)
        while not room.gated.steps:
            await asyncio.sleep(0.01)
        long.cancel()
        await asyncio.wait([long])
        room.open()
        assert await room.ask("p53")
        while room.batcher._begun:
            await asyncio.sleep(0.01)

    assert len(in_room(tagger, story, batch_words=20).gated.steps) == 1


def test_a_long_text_that_fails_fails_its_own_request_only(tagger: Tagger) -> None:
    async def story(room: Room) -> None:
        bad, good = room.ask("poison " * 100), room.ask(LONG)
        room.open()
        with pytest.raises(RuntimeError, match="poisoned"):
            await bad
        assert len(await good) == 1
        assert await room.ask("later")

    in_room(tagger, story, batch_words=20)


def test_few_long_texts_are_begun_together(tagger: Tagger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spanwright.service.batching._LONG_TOGETHER", 2)

    async def story(room: Room) -> None:
        asked = [room.ask(f"{number} {LONG}") for number in range(5)]
        await asyncio.sleep(0)
        room.open()
        await asyncio.gather(*asked)

    steps = in_room(tagger, story, batch_words=20).gated.steps
    texts = set(steps)
    assert {text.split()[0] for text in texts} == set("01234")
    last = {text: place for place, text in enumerate(steps)}
    begun = [{text for text in texts if steps.index(text) <= now <= last[text]} for now in range(len(steps))]
    assert max(map(len, begun)) == 2


def test_the_age_of_a_batch_is_told_while_it_runs(tagger: Tagger) -> None:
    async def story(room: Room) -> None:
        assert room.batcher.busy_seconds == 0
        asked = room.ask("p53")
        await room.is_busy()
        await asyncio.sleep(0.05)
        assert room.batcher.busy_seconds >= 0.05
        room.open()
        await asked

    in_room(tagger, story)
