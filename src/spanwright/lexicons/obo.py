"""Ontologies in OBO form: the terms that are in use, with synonyms of chosen scopes."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from spanwright.errors import InputError
from spanwright.lexicons.form import Form
from spanwright.lexicons.lexicon import Term
from spanwright.lexicons.log import LexiconLog
from spanwright.lexicons.obo_stanzas import SCOPES, Stanza, SynonymScope, term_stanzas

DEFAULT_SCOPES: tuple[SynonymScope, ...] = ("EXACT", "RELATED")
"""Narrower and broader names mean something else than the term."""


def read(
    path: Path,
    log: LexiconLog,
    *,
    scopes: Iterable[str] = DEFAULT_SCOPES,
    roots: Mapping[str, str] | None = None,
    xrefs: bool = False,
) -> Iterator[Term]:
    """Yield the terms of a file that are not obsolete.

    The type of a term is its namespace or, with `roots` (term id -> type), the type of the nearest root
    above it by `is_a`; terms below no root are left out. `xrefs` keeps the cross references.
    """
    chosen = frozenset(scopes)
    if not chosen or not chosen <= set(SCOPES):
        raise InputError(f"synonym scopes {sorted(chosen)}; legal are one or more of {', '.join(SCOPES)}")
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
            types[stanza.id] if types is not None else stanza.namespace or None,
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
    options=("scopes", "roots", "xrefs"),
    typing_options=("roots",),
)
