"""Memory that is free goes back to the system, now and then."""

from __future__ import annotations

import ctypes
from types import SimpleNamespace

import pytest

from spanwright.service.memory import FreeMemory


def test_memory_is_given_back_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []
    monkeypatch.setattr(ctypes, "CDLL", lambda name: SimpleNamespace(malloc_trim=calls.append))
    memory = FreeMemory()
    memory.give_back()
    assert calls == []
    monkeypatch.setattr("spanwright.service.memory._SECONDS", 0.0)
    memory.give_back()
    memory.give_back()
    assert calls == [0, 0]


def test_a_library_that_cannot_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda name: SimpleNamespace())
    monkeypatch.setattr("spanwright.service.memory._SECONDS", 0.0)
    FreeMemory().give_back()
