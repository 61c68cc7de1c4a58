"""Looking at report pages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any


def opened(browser: Any, file: Path) -> Iterator[Any]:
    """A page on which a complaint of the browser or a request to anywhere fails the test."""
    shown = browser.new_page(viewport={"width": 1280, "height": 900})
    complaints: list[str] = []
    shown.on("console", lambda message: complaints.append(message.text))
    shown.on("pageerror", lambda error: complaints.append(str(error)))
    shown.on("request", lambda request: complaints.append(request.url))
    shown.goto(file.as_uri())
    yield shown
    assert complaints == [file.as_uri()]
    shown.close()


def count(page: Any) -> tuple[int, int]:
    """Passages and mistakes that fit the filters, as the page says."""
    words = page.inner_text("#browser-count").replace(",", "").split()
    return int(words[0]), int(words[5])


def undrawn(page: Any) -> list[str]:
    """The charts that show nothing."""
    return [
        chart.get_attribute("aria-label")
        for chart in page.locator("svg.chart").all()
        if not chart.evaluate(
            "chart => [...chart.querySelectorAll('rect, circle, polyline')].filter(part => {"
            " const box = part.getBoundingClientRect(); return box.width + box.height > 0 }).length"
        )
    ]
