"""Ontologies in OBO 1.2 and 1.4: the terms that are in use, with synonyms of chosen scopes.

A file consists of stanzas: a header and lines of `tag: value`. Values may end with modifiers in braces and a
comment after an exclamation mark; a backslash escapes the character after it.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

from spanwright.errors import InputError
from spanwright.formats.io.lines import Undecodable, read_lines
from spanwright.lexicons.form import Form, LexiconLog
from spanwright.lexicons.lexicon import Term

SynonymScope = Literal["EXACT", "RELATED", "NARROW", "BROAD"]
SCOPES: tuple[SynonymScope, ...] = get_args(SynonymScope)
_SCOPE_OF: dict[str, SynonymScope] = {scope: scope for scope in SCOPES}
_OTHER_STANZAS = ("[Typedef]", "[Instance]", "[Annotation]")
_SYNONYM = re.compile(r'\s*"([^"\\]*(?:\\.[^"\\]*)*)"\s*(\w*)')
_TRAILER = re.compile(r"\s(?:!.*|\{[^{}=]*=[^{}]*\}\s*(?:!.*)?)$")
_ESCAPE = re.compile(r"\\(.)")
_ESCAPED = {"n": "\n", "t": "\t", "W": " "}
DEFAULT_SCOPES: tuple[SynonymScope, ...] = ("EXACT", "RELATED")
"""Narrower and broader names mean something else than the term."""


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
                log.remark(path, number, f"a stanza {line!r}; expected [Term], {', '.join(_OTHER_STANZAS)}")
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
        return _repeated("id", value, stanza)
    stanza.id = _first_word(value)
    return ""


def _set_name(stanza: Stanza, value: str) -> str:
    if stanza.name:
        return _repeated("name", value, stanza)
    stanza.name = _unquoted(value)
    return ""


def _repeated(what: str, value: str, stanza: Stanza) -> str:
    return (
        f"a second {what} {value.strip()!r} in the stanza of {stanza.id!r}; expected one, the first is kept"
    )


def _add_synonym(stanza: Stanza, value: str) -> str:
    match = _SYNONYM.match(value)
    text = _unescaped(match[1]).strip() if match else ""
    if match is None or not text:
        return f'no synonym in {value.strip()!r}; expected "text" and one of {", ".join(SCOPES)}'
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
    """An identifier, without the modifiers and the comment after it."""
    words = value.split(maxsplit=1)
    return _unescaped(words[0]) if words else ""


def _unquoted(value: str) -> str:
    """A value that is free text, without the modifiers and the comment after it."""
    if "!" in value or "{" in value:
        value = _TRAILER.sub("", value)
    return _unescaped(value).strip()


def _unescaped(value: str) -> str:
    if "\\" not in value:
        return value
    return _ESCAPE.sub(lambda match: _ESCAPED.get(match[1], match[1]), value)


def read(
    path: Path,
    log: LexiconLog,
    *,
    scopes: Iterable[str] = DEFAULT_SCOPES,
    roots: Mapping[str, str] | None = None,
    namespaces: bool = False,
    xrefs: bool = False,
) -> Iterator[Term]:
    """Yield the terms of a file that are not obsolete.

    With `roots` (term id -> type), the type of a term is that of the nearest root above it by `is_a`, and
    terms below no root are left out; with `namespaces` it is the namespace. Else it is unknown, since most
    namespaces are names of ontologies (`disease_ontology`). `xrefs` keeps the cross references.
    """
    chosen = frozenset(scopes)
    if not chosen or not chosen <= set(SCOPES):
        raise InputError(f"synonym scopes {sorted(chosen)}; expected one or more of {', '.join(SCOPES)}")
    stanzas: Iterable[Stanza] = term_stanzas(path, log)
    types: Mapping[str, str] | None = None
    if roots is not None:
        stanzas = list(stanzas)
        types = _types_below(roots, stanzas, path)
    other_scopes: Counter[str] = Counter()
    for stanza in _usable(stanzas, path, log):
        if types is not None and stanza.id not in types:
            log.left_out["terms below no root"] += 1
            continue
        log.entries_read += 1
        synonyms = [text for text, scope in stanza.synonyms if scope in chosen]
        if len(synonyms) < len(stanza.synonyms):
            other_scopes.update(scope for _, scope in stanza.synonyms if scope not in chosen)
        yield Term(
            stanza.name,
            types[stanza.id] if types is not None else (stanza.namespace or None) if namespaces else None,
            stanza.id,
            tuple(dict.fromkeys(synonyms)),
            tuple(stanza.alternative_ids),
            tuple(stanza.xrefs) if xrefs else (),
        )
    if other_scopes:
        counts = ", ".join(f"{scope} {count:,}" for scope, count in sorted(other_scopes.items()))
        log.notes.append(f"{path}: synonyms of other scopes left out: {counts}")


def _usable(stanzas: Iterable[Stanza], path: Path, log: LexiconLog) -> Iterator[Stanza]:
    """The terms in use that have an id and a name."""
    for stanza in stanzas:
        if stanza.is_obsolete:
            log.left_out["obsolete terms"] += 1
        elif not stanza.id or not stanza.name:
            missing = "id" if not stanza.id else "name"
            log.reject(path, stanza.line, f"the term {stanza.id or stanza.name!r} has no {missing}")
        else:
            yield stanza


def _types_below(roots: Mapping[str, str], stanzas: Iterable[Stanza], path: Path) -> dict[str, str]:
    """The types of the roots and of all terms below them; the nearest root wins, then the first given."""
    children: dict[str, list[str]] = defaultdict(list)
    ids: set[str] = set()
    for stanza in stanzas:
        ids.add(stanza.id)
        for parent in stanza.parents:
            children[parent].append(stanza.id)
    for root in roots:
        if root not in ids:
            raise InputError(f"{path}: no term has the id {root!r}, which is given as a root")
    types = dict(roots)
    waiting = deque(roots)
    while waiting:
        parent = waiting.popleft()
        for child in children.get(parent, ()):
            if child not in types:
                types[child] = types[parent]
                waiting.append(child)
    return types


def recognises(path: Path, head: str) -> bool:
    """Whether a file is an ontology in OBO form."""
    return path.suffix.lower() == ".obo" or head.startswith("format-version:") or "\n[Term]\n" in head


FORM = Form(
    name="obo",
    description="ontologies in OBO 1.2 or 1.4",
    recognises=recognises,
    read=read,
    options=("scopes", "roots", "namespaces", "xrefs"),
    typing_options=("roots", "namespaces"),
)
