"""The page: one HTML file that holds all it needs and asks for nothing else."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib.resources import files
from pathlib import Path
from string import Template

from spanwright.formats.io.whole_files import whole_file
from spanwright.palette import colour_numbers, style_sheet
from spanwright.reporting import sections
from spanwright.reporting.concepts import concepts
from spanwright.reporting.content import Content
from spanwright.reporting.marks import KINDS
from spanwright.reporting.markup import Element, Node, make, name_of, note, section, write
from spanwright.reporting.page_tables import chip, table
from spanwright.reporting.passages import Selection, select_passages, to_json
from spanwright.reporting.pictures import Picture, pictures_section
from spanwright.reporting.sections import errors


@dataclass(frozen=True, slots=True)
class Source:
    """A file or folder that the report was made from."""

    role: str
    """Gold, training, a system or a picture."""
    path: str
    """Its name, or its whole path where that was asked for."""
    size: str
    digest: str
    """Of the content, to tell versions of a file apart; empty for folders."""


@dataclass(frozen=True, slots=True)
class Origin:
    """When the report was made, from what and with what."""

    made: datetime
    sources: Sequence[Source]
    versions: Mapping[str, str]


def write_page(content: Content, origin: Origin, path: Path, pictures: Sequence[Picture] = ()) -> Selection:
    """Write the report; the file appears when it is complete. What the error browser shows is returned."""
    shown = select_passages(content)
    # A type may hold a lone surrogate, which UTF-8 has no bytes for.
    data = render_page(content, origin, shown, pictures).encode("utf-8", "backslashreplace")
    with whole_file(path) as partial:
        partial.write_bytes(data)
    return shown


def render_page(content: Content, origin: Origin, shown: Selection, pictures: Sequence[Picture] = ()) -> str:
    """The whole page as text."""
    script = _resource("page.js")
    digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
    parts = list(_sections(content, origin, shown, pictures))
    links = (
        make("a", {"href": f"#{part.attributes['id']}"}, make("span", None, *_heading(part)))
        for part in parts
    )
    return Template(_resource("page.html")).substitute(
        title=write(_title(content)),
        script_digest=digest,
        style=style_sheet() + _resource("page.css"),
        header=write(_header(content, origin)),
        navigation=write(make("nav", {"aria-label": "Sections"}, links)),
        sections="\n".join(map(write, parts)),
        data=_data(content, shown),
        script=script,
    )


def _sections(
    content: Content, origin: Origin, shown: Selection, pictures: Sequence[Picture]
) -> Iterator[Element]:
    yield sections.summary(content)
    if content.differences:
        yield sections.comparison(content)
    yield sections.types(content)
    yield sections.breakdowns(content)
    yield sections.mistakes(content)
    if any(system.concepts for system in content.systems):
        yield concepts(content)
    yield sections.confidence(content)
    if any(system.system.journal for system in content.systems):
        yield sections.training(content)
    if pictures:
        yield pictures_section(pictures)
    yield errors(content, shown)
    yield _about(content, origin)


def _heading(part: Element) -> tuple[Node, ...]:
    heading = part.children[0]
    return heading.children if isinstance(heading, Element) else (heading,)


def _title(content: Content) -> str:
    return f"Spanwright report: {', '.join(system.system.name for system in content.systems)}"


def _header(content: Content, origin: Origin) -> Element:
    golds = [source.path for source in origin.sources if source.role == "gold"]
    facts = (
        f"{content.gold_documents:,} documents · {content.gold_entities:,} gold entities · "
        f"{len(content.types):,} types · made {origin.made:%Y-%m-%d %H:%M}"
    )
    names: list[Node] = []
    for system in content.systems:
        names += [chip(content, system), "  "]
    return make(
        "header",
        None,
        make("p", {"class": "brand"}, "Spanwright report"),
        make("h1", None, names),
        make(
            "p",
            {"class": "quiet"},
            "against ",
            name_of(", ".join(Path(path).name for path in golds)),
            " · ",
            facts,
        ),
    )


def _about(content: Content, origin: Origin) -> Element:
    files_table = table(
        ("made from", "file", "size", "digest (SHA-256)"),
        (
            [source.role, name_of(source.path), source.size, make("code", None, source.digest)]
            for source in origin.sources
        ),
        caption="Files",
        names=2,
    )
    facts = [
        [chip(content, system), name_of(name), name_of(value)]
        for system in content.systems
        for name, value in system.system.facts.items()
    ]
    versions = ", ".join(f"{name} {version}" for name, version in origin.versions.items())
    return section(
        "about",
        "About this report",
        files_table,
        *([table(("system", "fact", "value"), facts, caption="Systems", names=3)] if facts else []),
        note(f"Made {origin.made:%Y-%m-%d %H:%M:%S} with {versions}. This file loads nothing from anywhere."),
    )


def _data(content: Content, shown: Selection) -> str:
    """What the script reads: names and colours by number, and the passages."""
    colours = colour_numbers(content.types)
    head = {
        "systems": [{"key": each.key, "name": each.system.name} for each in content.systems],
        "types": content.types,
        "colours": [colours[name] for name in content.types],
        "kinds": KINDS,
    }
    return f'{to_json(head)[:-1]},"passages":[{",".join(shown.records)}]}}'


def _resource(name: str) -> str:
    return files("spanwright.reporting").joinpath(name).read_text(encoding="utf-8")
