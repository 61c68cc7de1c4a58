"""The syntax of OBO 1.2 and 1.4: the `[Term]` stanzas of a file, obsolete ones among them.

A stanza is a header and lines of `tag: value`. Values may end with modifiers in braces and a comment behind
an exclamation mark; a backslash escapes the character behind it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

from spanwright.formats.io.lines import Undecodable, read_lines
from spanwright.lexicons.log import LexiconLog

SynonymScope = Literal["EXACT", "RELATED", "NARROW", "BROAD"]
SCOPES: tuple[SynonymScope, ...] = get_args(SynonymScope)

_SCOPE_OF: dict[str, SynonymScope] = {scope: scope for scope in SCOPES}
_OTHER_STANZAS = ("[Typedef]", "[Instance]", "[Annotation]")
_SYNONYM = re.compile(r'\s*"([^"\\]*(?:\\.[^"\\]*)*)"\s*(\w*)')
_TRAILER = re.compile(r"\s(?:!.*|\{[^{}=]*=[^{}]*\}\s*(?:!.*)?)$")
_ESCAPE = re.compile(r"\\(.)")
_ESCAPED = {"n": "\n", "t": "\t", "W": " "}


@dataclass(slots=True)
class Stanza:
    """What a `[Term]` stanza says about the names, the place and the identity of a term."""

    line: int
    namespace: str
    id: str = ""
    name: str = ""
    synonyms: list[tuple[str, SynonymScope]] = field(default_factory=list)
    parents: list[str] = field(default_factory=list)
    alternative_ids: list[str] = field(default_factory=list)
    xrefs: list[str] = field(default_factory=list)
    is_obsolete: bool = False


def term_stanzas(path: Path, log: LexiconLog) -> Iterator[Stanza]:
    """Yield the `[Term]` stanzas of a file; lines that cannot be read are remarks in the log."""
    stanza: Stanza | None = None
    default_namespace = ""
    for number, line in read_lines(path):
        if isinstance(line, Undecodable):
            log.remark(path, number, line.reason)
            if not line.replaced.startswith("["):
                continue
            line = line.replaced  # A damaged header still ends the stanza before it.
        if line.startswith("["):
            if stanza is not None:
                yield stanza
            stanza = Stanza(number, default_namespace) if line.rstrip() == "[Term]" else None
            if stanza is None and line.rstrip() not in _OTHER_STANZAS:
                log.remark(path, number, f"a stanza {line!r}; legal are [Term], {', '.join(_OTHER_STANZAS)}")
            continue
        tag, _, value = line.partition(":")
        if stanza is None:
            if tag == "default-namespace":
                default_namespace = _first_word(value)
        elif tag in _TAGS and (reason := _TAGS[tag](stanza, value)):
            log.remark(path, number, reason)
    if stanza is not None:
        yield stanza


def _set_id(stanza: Stanza, value: str) -> str:
    if stanza.id:
        return (
            f"a second id {value.strip()!r} in the stanza of {stanza.id!r}; legal is one, the first is kept"
        )
    stanza.id = _first_word(value)
    return ""


def _set_name(stanza: Stanza, value: str) -> str:
    if stanza.name:
        return (
            f"a second name {value.strip()!r} in the stanza of {stanza.id!r}; legal is one, the first is kept"
        )
    stanza.name = _unquoted(value)
    return ""


def _add_synonym(stanza: Stanza, value: str) -> str:
    match = _SYNONYM.match(value)
    text = _unescaped(match[1]).strip() if match else ""
    if match is None or not text:
        return f'no synonym in {value.strip()!r}; legal is "text" and one of {", ".join(SCOPES)}'
    # A synonym without a scope is a related one.
    stanza.synonyms.append((text, _SCOPE_OF.get(match[2], "RELATED")))
    return ""


def _set_namespace(stanza: Stanza, value: str) -> str:
    stanza.namespace = _first_word(value)
    return ""


def _set_obsolete(stanza: Stanza, value: str) -> str:
    stanza.is_obsolete = _first_word(value).lower() == "true"
    return ""


def _add_word(attribute: str) -> Callable[[Stanza, str], str]:
    """A reader of values that are one identifier, which it adds to a list of the stanza."""

    def add(stanza: Stanza, value: str) -> str:
        getattr(stanza, attribute).append(_first_word(value))
        return ""

    return add


_TAGS: dict[str, Callable[[Stanza, str], str]] = {
    "id": _set_id,
    "name": _set_name,
    "namespace": _set_namespace,
    "synonym": _add_synonym,
    "is_a": _add_word("parents"),
    "alt_id": _add_word("alternative_ids"),
    "xref": _add_word("xrefs"),
    "is_obsolete": _set_obsolete,
}
"""What the values of a tag do to a stanza; each returns a problem in words, or ''."""


def _first_word(value: str) -> str:
    """An identifier, without the modifiers and the comment behind it."""
    words = value.split(maxsplit=1)
    return _unescaped(words[0]) if words else ""


def _unquoted(value: str) -> str:
    """A value that is free text, without the modifiers and the comment behind it."""
    if "!" in value or "{" in value:
        value = _TRAILER.sub("", value)
    return _unescaped(value).strip()


def _unescaped(value: str) -> str:
    if "\\" not in value:
        return value
    return _ESCAPE.sub(lambda match: _ESCAPED.get(match[1], match[1]), value)
