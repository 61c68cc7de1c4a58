"""HTML and SVG as a tree, whose strings are text and never markup: every one is escaped at writing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import escape

_VOID = frozenset(("br", "img", "input", "link", "meta"))


@dataclass(frozen=True, slots=True)
class Element:
    """A tag with its attributes and what is inside it."""

    name: str
    attributes: Mapping[str, object]
    children: tuple[Node, ...]


Node = Element | str


def make(
    name: str, attributes: Mapping[str, object] | None = None, *children: Node | Iterable[Node]
) -> Element:
    """An element; children may be elements, texts, or iterables of them. An attribute of None is left out."""
    flat: list[Node] = []
    for child in children:
        if isinstance(child, Element | str):
            flat.append(child)
        else:
            flat.extend(child)
    return Element(name, attributes or {}, tuple(flat))


def name_of(text: str) -> Element:
    """A name from outside (of a type, a file, a system), which cannot turn the direction of text around."""
    return make("bdi", None, text)


def write(node: Node) -> str:
    """The text of a tree."""
    parts: list[str] = []
    _write(node, parts)
    return "".join(parts)


def _write(node: Node, parts: list[str]) -> None:
    if isinstance(node, str):
        parts.append(escape(node))
        return
    attributes = "".join(
        f' {key}="{escape(str(value))}"' for key, value in node.attributes.items() if value is not None
    )
    parts.append(f"<{node.name}{attributes}>")
    for child in node.children:
        _write(child, parts)
    if node.name not in _VOID:
        parts.append(f"</{node.name}>")


def section(key: str, heading: str, *children: Node | Iterable[Node]) -> Element:
    """A section that the navigation can lead to; its heading is its first child."""
    attributes = {"id": key, "aria-labelledby": f"{key}-heading"}
    return make("section", attributes, make("h2", {"id": f"{key}-heading"}, heading), *children)


def figure(caption: Node, *children: Node | Iterable[Node]) -> Element:
    """A chart with what it shows."""
    return make("figure", None, make("figcaption", None, caption), *children)


def note(*children: Node) -> Element:
    """A remark that a reader of the numbers must know."""
    return make("p", {"class": "note"}, *children)
