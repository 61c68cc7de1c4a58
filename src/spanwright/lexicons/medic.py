"""Concepts one per line, as the MEDIC disease vocabulary is often shared: `id[|id...]||name[|synonym...]`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from spanwright.formats.io.lines import Undecodable, read_lines
from spanwright.lexicons.form import Form, LexiconLog
from spanwright.lexicons.lexicon import Term

_LINE = re.compile(r"[^|\s]+(?:\|[^|\s]+)*\|\|[^|]")


def read(path: Path, log: LexiconLog, *, number_prefix: str = "") -> Iterator[Term]:
    """Yield a term for each line; the first id is the concept, the first name the preferred one.

    Ids that are plain numbers come after the others, as they do not say whose they are: of `114480|D001943`,
    the concept is `D001943` of MeSH. `number_prefix` is put before them: with `OMIM:`, MEDIC's `310200` is
    the `OMIM:310200` of the corpora that are annotated with it.
    """
    for number, line in read_lines(path):
        if isinstance(line, Undecodable):
            log.reject(path, number, line.reason)
            continue
        if not line.strip():
            continue
        ids, _, names = line.partition("||")
        concept, *other_ids = [
            number_prefix + id if id.isdecimal() else id for id in sorted(_parts(ids), key=str.isdecimal)
        ] or [""]
        name, *synonyms = _parts(names) or [""]
        if not concept or not name:
            log.reject(path, number, f"{line[:80]!r} has no id or no name; expected id|id||name|synonym")
            continue
        log.entries_read += 1
        yield Term(name, None, concept, tuple(synonyms), tuple(other_ids))


def _parts(column: str) -> list[str]:
    """What stands between bars, each once."""
    return list(dict.fromkeys(stripped for part in column.split("|") if (stripped := part.strip())))


def recognises(path: Path, head: str) -> bool:
    """Whether the first line that is not empty looks like one of this form."""
    first = next((line for line in head.splitlines() if line.strip()), "")
    return _LINE.match(first) is not None


FORM = Form(
    name="medic",
    description="one concept per line: id|id||name|synonym",
    recognises=recognises,
    read=read,
    options=("number_prefix",),
)
