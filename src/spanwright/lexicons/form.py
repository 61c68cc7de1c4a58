"""What a form of lexicon files is, and the log of a reading."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from spanwright.errors import counted
from spanwright.formats.format import Problem

if TYPE_CHECKING:
    from spanwright.lexicons.lexicon import Term

_SHOWN_PROBLEMS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """One form of lexicon files: how to recognise and read it."""

    name: str
    description: str
    recognises: Callable[[Path, str], bool]
    """Given the path and the beginning of the text ('' for a folder): is it this form?"""
    read: Callable[..., Iterator[Term]]
    """Called with a path, a log and options by name; yields the terms as a stream."""
    options: tuple[str, ...] = ()
    """The names of the options."""
    typing_options: tuple[str, ...] = ()
    """Those of the options that decide the types of the terms."""


@dataclass(slots=True)
class LexiconLog:
    """Counts and problems of a reading.

    An entry is what the form of the file counts in: a term of an ontology, a row of a table. Each entry is
    read, left out by a rule (an obsolete term, another language) or rejected with a problem. A problem
    without a rejection is a remark: the rest of the entry was kept.
    """

    problems: list[Problem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """What was decided about a file as a whole."""
    entries_read: int = 0
    entries_rejected: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    """Entries that a rule left out, by the rule."""

    @property
    def entries(self) -> int:
        """All entries of the files."""
        return self.entries_read + self.entries_rejected + self.left_out.total()

    def remark(self, path: Path, line: int, reason: str) -> None:
        """Note a peculiarity of an entry that is kept."""
        self.problems.append(Problem(str(path), line, reason))

    def reject(self, path: Path, line: int, reason: str) -> None:
        """Note an entry that cannot be read."""
        self.entries_rejected += 1
        self.remark(path, line, reason)

    def summary(self) -> list[str]:
        """Lines for a user: the notes, what was left out and why, and the first few problems."""
        lines = list(self.notes)
        if self.left_out:
            reasons = ", ".join(f"{reason} {count:,}" for reason, count in self.left_out.items())
            lines.append(f"{self.entries_read:,} of {self.entries:,} entries read; left out: {reasons}")
        if self.problems:
            lines.append(
                f"{counted(len(self.problems), 'problem')} in reading; {self.entries_rejected} entries "
                f"rejected"
            )
            lines.extend(f"  {problem}" for problem in self.problems[:_SHOWN_PROBLEMS])
        if len(self.problems) > _SHOWN_PROBLEMS:
            lines.append(f"  ... and {len(self.problems) - _SHOWN_PROBLEMS} more")
        return lines


def join_logs(logs: Iterable[LexiconLog]) -> LexiconLog:
    """One log with the contents of several."""
    joined = LexiconLog()
    for log in logs:
        joined.problems += log.problems
        joined.notes += log.notes
        joined.entries_read += log.entries_read
        joined.entries_rejected += log.entries_rejected
        joined.left_out += log.left_out
    return joined
