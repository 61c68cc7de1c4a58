"""Looking at the page of the service, and what is asked of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from service.stand_in import StandIn, model

TEXT = "A Gene-0.90 and Gene-0.50 in Disease-0.70 of Cell-0.30 here."
ALL = ["Gene Gene-0.90", "Gene Gene-0.50", "Disease Disease-0.70", "Cell Cell-0.30"]
"""What is drawn of that text: type and mention of each entity."""
MODELS = [
    model("first", default=False),
    model("reader", recipe="binder", reads_descriptions=True, calibrated=True, default=True),
    model("several", corpora=["one", "two"], tuned_thresholds={"Gene": 0.6}),
]


PHONE = {
    "viewport": {"width": 390, "height": 844},
    "device_scale_factor": 3,
    "is_mobile": True,
    "has_touch": True,
}


@contextmanager
def shown(browser: Any, stand_in: StandIn, expected: tuple[str, ...] = (), **options: Any) -> Iterator[Any]:
    """The page; a dialog, an unexpected complaint of the browser or a request to elsewhere fails the test."""
    context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
    page = context.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("dialog", lambda dialog: (complaints.append(dialog.message), dialog.dismiss()))
    page.on(
        "request",
        lambda request: request.url.startswith((stand_in.address, "blob:")) or complaints.append(request.url),
    )
    page.goto(stand_in.address)
    page.wait_for_selector("#model option, #notice:not([hidden])", state="attached")
    yield page
    assert [text for text in complaints if not text.startswith(expected)] == []
    context.close()


def tag(page: Any, text: str = TEXT) -> None:
    page.fill("#text", text)
    page.click("#tag")
    wait_for_answer(page)


def wait_for_answer(page: Any) -> None:
    wait_for_text(page, "#status", "entit(y|ies)$")


def wait_for_text(page: Any, place: str, pattern: str) -> None:
    # Not by a function, which playwright would have to evaluate against the policy of the page.
    page.wait_for_selector(f'{place}:text-matches("{pattern}")')


def open_file(page: Any, content: bytes, name: str = "notes.v2.txt") -> None:
    page.set_input_files("#file", files=[{"name": name, "mimeType": "text/plain", "buffer": content}])


def slide(page: Any, value: float) -> None:
    page.locator("#threshold").fill(str(value))
    settle(page)
    assert page.inner_text("#threshold-value") == f"{value:.2f}"


def settle(page: Any) -> None:
    """Wait until what was asked for is drawn."""
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def drawn(page: Any) -> list[str]:
    """Type and text of every entity that is drawn, from all its parts, by their start."""
    entities: dict[str, str] = {}
    for number, label, text in page.evaluate(
        "[...document.querySelectorAll('.entity')].map("
        "part => [part.dataset.number, part.title.split(' ')[0], part.textContent])"
    ):
        entities[number] = entities.get(number, f"{label} ") + text
    return [entities[number] for number in sorted(entities, key=int)]


def counts(page: Any) -> dict[str, str]:
    return {
        row.locator(".name").inner_text(): row.locator(".count").text_content()
        for row in page.locator("#types li").all()
    }


def focused(page: Any) -> str:
    return str(page.evaluate("document.activeElement.getAttribute('aria-label')"))
