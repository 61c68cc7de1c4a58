"""Ids of the documents of one file: as the file gives them, made up where it gives none, and never twice."""

from __future__ import annotations

from pathlib import Path

from spanwright.formats.format import ReadingLog
from spanwright.formats.io.opening import bare_path


class Ids:
    """Hands out the ids of one file in reading order."""

    def __init__(self, path: Path, log: ReadingLog) -> None:
        self._path = path
        self._log = log
        self._documents = 0
        self._uses: dict[str, int] = {}

    def take(self, given: str | None, line: int) -> tuple[str, bool]:
        """The id of the next document of the file, and whether it was made up.

        Without a given id it is the stem of the file and the number of the document. An id that the file
        gave before gets a number after it, and a remark in the log.
        """
        self._documents += 1
        wanted = f"{bare_path(self._path).stem}#{self._documents}" if given is None else given
        uses = self._uses.get(wanted, 0) + 1
        self._uses[wanted] = uses
        if uses == 1:
            return wanted, given is None
        unique = f"{wanted}#{uses}"
        while unique in self._uses:
            uses += 1
            unique = f"{wanted}#{uses}"
        self._uses[unique] = 1
        self._log.remark(
            self._path, line, f"the id {wanted!r} stands in the file before; it is read as {unique!r}"
        )
        return unique, given is None
