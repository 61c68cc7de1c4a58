"""Entities that are readable and still hardly meant: without a type, or twice in a document."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from spanwright.formats.format import ReadingLog
from spanwright.text import Entity


def remark_odd_entities(
    entities: Iterable[Entity], path: Path, line: int, log: ReadingLog, *, where: str = ""
) -> None:
    """Note each entity of a document with an empty or blank type, and each that repeats one before it.

    Entities with the same place and type but other concepts do not repeat each other. `where` names the
    document in formats that may be all on one line.
    """
    seen: set[tuple[object, ...]] = set()
    for entity in entities:
        content = (*entity.key, entity.concepts)
        faults = ["its type is blank; expected a name"] if not entity.type.strip() else []
        faults += ["it stands in the document before; expected once"] if content in seen else []
        seen.add(content)
        for fault in faults:
            named = f"the entity {entity.type!r} at [{entity.start}, {entity.end})"
            log.remark(path, line, f"{where}{': ' if where else ''}{named}: {fault}; it is kept")
