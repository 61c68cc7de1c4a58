"""The section of the error browser: its controls, a list that the script fills, and what is left out."""

from __future__ import annotations

from collections.abc import Sequence

from spanwright.reporting.content import Content
from spanwright.reporting.marks import KINDS
from spanwright.reporting.markup import Element, Node, make, note, section
from spanwright.reporting.passages import Selection


def errors(content: Content, shown: Selection) -> Element:
    """The error browser, which the script fills."""
    systems = [f"{system.key} · {system.system.name}" for system in content.systems]
    kinds = [("mistake", "any mistake"), *((str(n), kind) for n, kind in enumerate(KINDS) if n)]
    kinds += [("none", "no mistake"), ("", "all passages")]
    controls = make(
        "div",
        {"class": "controls", "role": "search", "aria-label": "Filter passages"},
        _select("filter-system", "System", [("", "all systems"), *_numbered(systems)]),
        _select("filter-type", "Type", [("", "all types"), *_numbered(content.types)]),
        _select("filter-kind", "Mistake", kinds),
        make(
            "label",
            None,
            "Text or document",
            make(
                "input",
                {"id": "filter-text", "type": "search", "placeholder": "search", "autocomplete": "off"},
            ),
        ),
    )
    return section(
        "errors",
        "Error browser",
        make("noscript", None, note("The error browser needs JavaScript; all else on this page does not.")),
        make("p", {"class": "quiet only-print"}, "The error browser is left out in print."),
        make("div", {"id": "browser", "hidden": ""}, controls, make("div", {"id": "legend"}), _list()),
        note(told_left_out(shown)),
    )


def _list() -> Sequence[Node]:
    keys = "j and k or arrow keys: next and previous passage; n and p: next and previous page; /: search"
    return (
        make("p", {"id": "browser-count", "role": "status", "aria-live": "polite"}),
        make("p", {"class": "quiet keys"}, keys),
        make("div", {"id": "passages"}),
        make(
            "div",
            {"class": "pages"},
            make("button", {"id": "page-before", "type": "button"}, "← previous 20"),
            make("span", {"id": "page-number"}),
            make("button", {"id": "page-behind", "type": "button"}, "next 20 →"),
        ),
    )


def told_left_out(shown: Selection) -> str:
    """What is in the error browser, and what is not."""
    parts = [
        f"A passage is a sentence, or several that an entity holds together. Here: {shown.wrong_shown:,} of "
        f"{shown.wrong:,} passages with a mistake of any system and {shown.right_shown:,} of {shown.right:,} "
        f"that all systems have right. Passages without any entity, never shown: {shown.bare:,}."
    ]
    if shown.wrong_shown < shown.wrong:
        parts.append(
            f"{shown.wrong - shown.wrong_shown:,} passages with mistakes were left out to keep this file "
            f"small; those shown are drawn by chance. All numbers above count all of them."
        )
    return " ".join(parts)


def _numbered(labels: Sequence[str]) -> list[tuple[str, str]]:
    return [(str(number), label) for number, label in enumerate(labels)]


def _select(key: str, label: str, options: Sequence[tuple[str, str]]) -> Element:
    items = (make("option", {"value": value}, text) for value, text in options)
    return make("label", None, label, make("select", {"id": key}, items))
