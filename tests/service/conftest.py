"""The page of the service in a browser, with a stand-in for the service."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from service.page_view import MODELS, shown
from service.stand_in import StandIn, serving


@pytest.fixture
def stand_in() -> Iterator[StandIn]:
    """A service whose answers tests write."""
    with serving(StandIn(MODELS)) as started:
        yield started


@pytest.fixture
def page(browser: Any, stand_in: StandIn) -> Iterator[Any]:
    """The page, opened; what the browser complains of fails the test."""
    with shown(browser, stand_in) as opened:
        yield opened
