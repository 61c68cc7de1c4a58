"""Label maps: which type of each corpus is which shared type, or none.

A label map is a TOML file that people read and edit:

    types = ["Disease", "Gene"]

    [corpora.NLMGene]
    Gene = "Gene"
    FamilyName = "Gene"
    Cell = ""

A type that is mapped to the empty string has no counterpart: its mentions are left out.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from spanwright.corpora.maps import map_names, map_text
from spanwright.errors import InputError
from spanwright.text import Document, Entity
from spanwright.toml_text import key_text, value_text

Comments = Mapping[tuple[str, str], Sequence[str]]
"""By corpus and type: lines to stand above the type in the file, such as the evidence for it."""

_NONE = ""


@dataclass(frozen=True, slots=True)
class LabelMap:
    """For each corpus, the shared type of each of its types; None for a type that has no counterpart."""

    types: tuple[str, ...]
    """The shared types."""
    corpora: Mapping[str, Mapping[str, str | None]]
    description: str = ""

    def __post_init__(self) -> None:
        for corpus, targets in self.corpora.items():
            for type_, target in targets.items():
                if target is not None and target not in self.types:
                    raise InputError(
                        f"label map: {type_!r} of corpus {corpus!r} is mapped to {target!r}; expected "
                        f'the shared types {", ".join(self.types)}, or "" for none'
                    )

    def targets(self, corpus: str | None) -> Mapping[str, str | None]:
        """The shared type of each type of a corpus. The name may be left open if the map has one corpus."""
        if corpus is None and len(self.corpora) == 1:
            return next(iter(self.corpora.values()))
        if corpus is None or corpus not in self.corpora:
            found = "no corpus name was given" if corpus is None else f"there is no corpus {corpus!r}"
            raise InputError(f"label map: {found}; expected {', '.join(self.corpora)}")
        return self.corpora[corpus]

    def unknown_types(self, documents: Iterable[Document], corpus: str | None = None) -> Counter[str]:
        """Mentions of types that the map does not list for the corpus of their document."""
        return Counter(
            entity.type
            for document in documents
            for entity in document.entities
            if entity.type not in self.targets(corpus or document.corpus)
        )

    def apply(self, document: Document, corpus: str | None = None) -> Document:
        """The document with shared types; mentions of types without one are left out.

        The corpus is the one given, else that of the document, else the only one of the map. Of mentions that
        become the same (a Gene and a FamilyName of one span) the first is kept. A type that the map does not
        list is an error.
        """
        corpus = corpus or document.corpus
        targets = self.targets(corpus)
        changes: dict[Entity, Entity] = {}
        mapped: dict[object, Entity] = {}
        for entity in document.entities:
            if entity.type not in targets:
                raise InputError(_unlisted(document, entity.type, targets))
            if (target := targets[entity.type]) is not None:
                shared = replace(entity, type=target)
                changes[entity] = mapped.setdefault(shared.key, shared)
        return document.with_changed_entities(changes)


def _unlisted(document: Document, type_: str, targets: Mapping[str, str | None]) -> str:
    return (
        f"document {document.id!r} has a mention of type {type_!r}, which the label map does not list; "
        f'expected {", ".join(targets)}. Add a line such as: {key_text(type_)} = ""'
    )


def load_map(name_or_path: str | Path) -> LabelMap:
    """A label map by the name of a shipped one (`cvae-ner`), or by the path of its TOML file."""
    if str(name_or_path) in map_names():
        return parse_map(map_text(str(name_or_path)), str(name_or_path))
    path = Path(name_or_path)
    if not path.is_file():
        raise InputError(
            f"{path}: no such file, and no label map of that name; shipped are {', '.join(map_names())}"
        )
    try:
        return parse_map(path.read_text(encoding="utf-8-sig"), str(path))
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: byte {error.start} is not UTF-8; expected TOML in UTF-8") from None


def parse_map(text: str, where: str) -> LabelMap:
    """The label map that a TOML text describes; `where` names it in errors."""
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{where}: not TOML: {error}") from None
    if unknown := table.keys() - {"types", "corpora", "description"}:
        raise InputError(
            f"{where}: unknown key {sorted(unknown)[0]!r}; expected types, corpora and description"
        )
    types, corpora = table.get("types"), table.get("corpora")
    if not isinstance(types, list) or not all(isinstance(type_, str) and type_ for type_ in types):
        raise InputError(f"{where}: types is {types!r:.80}; expected a list of the shared types")
    if not isinstance(corpora, dict):
        raise InputError(f"{where}: corpora is {corpora!r:.80}; expected tables such as [corpora.NAME]")
    targets = {
        name: _parsed_targets(entries, f"{where}: [corpora.{name}]") for name, entries in corpora.items()
    }
    try:
        return LabelMap(tuple(types), targets, str(table.get("description", "")))
    except InputError as error:
        raise InputError(f"{where}: {error}") from None


def _parsed_targets(entries: Any, where: str) -> dict[str, str | None]:
    if not isinstance(entries, dict):
        raise InputError(f'{where} is {entries!r:.80}; expected lines such as Gene = "Gene"')
    for type_, target in entries.items():
        if not isinstance(target, str):
            raise InputError(f'{where}: {type_!r} is {target!r:.80}; expected a shared type, or "" for none')
    return {type_: target or None for type_, target in entries.items()}


def map_toml(label_map: LabelMap, comments: Comments | None = None) -> str:
    """The TOML of a label map, with comments above its lines."""
    lines = [f"description = {value_text(label_map.description)}"] if label_map.description else []
    lines += [
        "# The shared types. A type without a counterpart among them is mapped to the empty string.",
        f"types = {value_text(label_map.types)}",
    ]
    for corpus, targets in label_map.corpora.items():
        lines += ["", f"[corpora.{key_text(corpus)}]"]
        for type_, target in targets.items():
            lines += [_comment(line) for line in (comments or {}).get((corpus, type_), ())]
            lines.append(f"{key_text(type_)} = {value_text(target or _NONE)}")
    return "\n".join(lines) + "\n"


def _comment(line: str) -> str:
    """A comment; TOML allows no control characters there, and a line end would end it."""
    return f"# {''.join(letter if letter.isprintable() else ' ' for letter in line)}"
