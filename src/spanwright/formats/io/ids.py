"""Ids of documents: as a file gives them, made up where it gives none, and never twice."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from dataclasses import replace
from pathlib import Path

from spanwright.formats.format import ReadingLog
from spanwright.formats.io.opening import bare_path
from spanwright.text import Document


class _Numbering:
    """Gives an id that came before a number: `7`, `7#2`, `7#3`."""

    def __init__(self) -> None:
        self._uses: dict[str, int] = {}

    def unique(self, wanted: str) -> str:
        """The id if it is new, else with the next number that is free."""
        uses = self._uses.get(wanted, 0) + 1
        self._uses[wanted] = uses
        if uses == 1:
            return wanted
        while (unique := f"{wanted}#{uses}") in self._uses:
            uses += 1
        self._uses[unique] = 1
        return unique


class Ids:
    """Hands out the ids of one file in reading order."""

    def __init__(self, path: Path, log: ReadingLog) -> None:
        self._path = path
        self._log = log
        self._documents = 0
        self._numbering = _Numbering()

    def take(self, given: str | None, line: int) -> tuple[str, bool]:
        """The id of the next document of the file, and whether it was made up.

        Without a given id it is the stem of the file and the number of the document. An id that the file
        gave before gets a number after it, and a remark in the log.
        """
        self._documents += 1
        wanted = f"{bare_path(self._path).stem}#{self._documents}" if given is None else given
        unique = self._numbering.unique(wanted)
        if unique != wanted:
            self._log.remark(
                self._path, line, f"the id {wanted!r} stands in the file before; it is read as {unique!r}"
            )
        return unique, given is None


def with_distinct_ids(
    inputs: Iterable[tuple[Path, Iterable[Document]]], log: ReadingLog
) -> Generator[Document, None, None]:
    """The documents of several inputs; an id that an earlier one has gets a number, as in one file.

    Only ids are kept in memory. How many got a number is a note of the log.
    """
    numbering = _Numbering()
    numbered, example = 0, ""
    for path, documents in inputs:
        for document in documents:
            id = numbering.unique(document.id)
            if id != document.id:
                numbered += 1
                example = example or f"{id!r} in {path}"
            yield document if id == document.id else replace(document, id=id)
    if numbered:
        log.notes.append(
            f"documents with the id of an earlier one: {numbered}; their ids got a number, such as {example}"
        )
