"""What a column file turns out to be like while it is read, and what is reported about it at the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from spanwright.formats.format import ReadingLog
from spanwright.formats.token_texts import stray_tag, untyped_tag
from spanwright.text.tags import Scheme, detect_scheme, split_tag


@dataclass(slots=True)
class Findings:
    """What a file turns out to be like while it is read."""

    stretches: Counter[tuple[str, ...]] = field(default_factory=Counter)
    """Tags between two `O`, and how often: a file has few different ones."""
    strays: list[tuple[int, str]] = field(default_factory=list)
    """Line and tag of mentions that begin with a tag that should continue one."""
    untyped: list[tuple[int, str]] = field(default_factory=list)
    """Line and tag of mentions whose tag has no type."""
    comments: int = 0
    entities: Counter[int] = field(default_factory=Counter)
    """By column."""

    def conclude(self, columns: Sequence[int], scheme: Scheme | None, path: Path, log: ReadingLog) -> None:
        """Note layers and scheme of the file, and remark on mentions that it would begin in another way."""
        if len(columns) > 1:
            layers = ", ".join(f"column {column} with {self.entities[column]} entities" for column in columns)
            log.notes.append(f"{path}: {len(columns)} layers of tags: {layers} (columns count from 0)")
        origin = "detected" if scheme is None else "as given"
        # Without strays, counts do not matter: one of each stretch decides as all of them would.
        stretches = self.stretches
        scheme = scheme or detect_scheme(stretches.elements() if self.strays else stretches)
        log.notes.append(f"{path}: tag scheme {scheme} ({origin})")
        self._conclude_types(path, log)
        if self.comments:
            log.notes.append(f"{path}: {self.comments} comment lines are left out")
        if scheme != "IOB1":
            for line, tag in self.strays:
                log.remark(path, line, stray_tag(tag, scheme))

    def _conclude_types(self, path: Path, log: ReadingLog) -> None:
        """Note that the mentions of the file have no types, or remark on those that have none."""
        is_typed = any(split_tag(tag)[1] for stretch in self.stretches for tag in stretch)
        if self.untyped and not is_typed:
            log.notes.append(f"{path}: the tags have no types; all entities are of the type ''")
        for line, tag in self.untyped if is_typed else ():
            log.remark(path, line, untyped_tag(tag))
