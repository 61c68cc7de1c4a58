"""What `link`, `tag` and `serve` have in common: linkers from lexicons or from saved folders."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from spanwright.cli.reading import path_and_type, reported
from spanwright.errors import InputError, did_you_mean
from spanwright.lexicons import Lexicon, merge, read_lexicon
from spanwright.lexicons.files import FORMS, form_of
from spanwright.text import Document

if TYPE_CHECKING:
    from spanwright.linking.linker import Linker

LinkTo = Annotated[
    list[str] | None,
    typer.Option(
        metavar="LEXICON",
        help="Link entities to the concepts of a lexicon, FILE or FILE:TYPE, or of a linker that "
        "`spanwright link --save` has written; lexicons may be repeated.",
    ),
]
LexiconFiles = Annotated[
    list[str] | None,
    typer.Option(
        metavar="FILE[:TYPE]",
        help=f"A dictionary or ontology ({', '.join(FORMS)}), and the type of the entities that it is for; "
        "without one, it is for all. May be repeated.",
    ),
]
NumberPrefix = Annotated[
    str, typer.Option(help="What to put before plain numbers of MEDIC, such as OMIM:, as corpora write them.")
]


def read_lexicons(arguments: Sequence[str], *, number_prefix: str = "") -> Lexicon:
    """The lexicons of arguments `FILE` or `FILE:TYPE` as one."""
    return merge(*(_lexicon(argument, number_prefix) for argument in arguments))


def _lexicon(argument: str, number_prefix: str) -> Lexicon:
    path, type_ = path_and_type(argument)
    options: dict[str, Any] = {}
    if number_prefix and "number_prefix" in form_of(path).options:
        options["number_prefix"] = number_prefix
    return reported(read_lexicon(path, type=type_, **options))


def linker_of(arguments: Sequence[str]) -> Linker:
    """The linker of the arguments of `--link`: a saved one, or one that is built from lexicons."""
    from spanwright.linking.building import build_linker
    from spanwright.linking.saved import is_linker, load_linker

    saved = [argument for argument in arguments if is_linker(Path(argument))]
    if saved and len(arguments) > 1:
        raise InputError(
            f"--link {saved[0]}: a saved linker is used alone; build one from all lexicons with "
            f"`spanwright link --save`"
        )
    return load_linker(saved[0]) if saved else build_linker(read_lexicons(arguments))


@dataclass(slots=True)
class LinkCounts:
    """How many entities were linked, and how many there are of each type."""

    linker: Linker
    linked: int = 0
    types: Counter[str] = field(default_factory=Counter)

    def counting(self, documents: Iterable[Document]) -> Generator[Document, None, None]:
        """The linked documents, counted as they come."""
        for document in documents:
            self.linked += sum(bool(entity.concepts) for entity in document.entities)
            self.types.update(entity.type for entity in document.entities)
            yield document

    def tell_others(self) -> None:
        """Say on stderr which entities are of types that the lexicon is not for."""
        others = {type_: n for type_, n in sorted(self.types.items()) if not self.linker.serves(type_)}
        if others:
            known, listed = ", ".join(self.linker.indexes), ", ".join(f"{t} {n:,}" for t, n in others.items())
            typer.echo(f"note: entities of types that the lexicon is not for ({known}): {listed}", err=True)

    def __str__(self) -> str:
        """In words."""
        return f"entities linked: {self.linked:,}, with no concept: {self.types.total() - self.linked:,}"


def check_types(linker: Linker, types: Sequence[str], option: str) -> None:
    """Refuse a lexicon that is for none of the types of entities; `option` is the one that names lexicons."""
    if types and not any(map(linker.serves, types)):
        known = list(linker.indexes)
        raise InputError(
            f"the lexicon is for entities of other types ({', '.join(known)}) than there are "
            f"({', '.join(types)}){did_you_mean(known[0], types)}; name the type of its terms, as in "
            f"{option} FILE:TYPE"
        )
