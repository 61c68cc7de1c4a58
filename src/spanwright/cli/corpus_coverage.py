"""`spanwright corpus coverage`: how many entities of a corpus have synonyms in each of several lexicons."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from spanwright.cli.reading import FORMAT_HELP, read_and_report, reported
from spanwright.cli.tables.corpora import lexicon_coverage_table
from spanwright.errors import InputError
from spanwright.lexicons import Lexicon, lexicon_from_documents, merge, read_lexicon
from spanwright.lexicons.files import FORMS, form_of
from spanwright.lexicons.obo import DEFAULT_SCOPES, SCOPES

ALL_LEXICONS = "all together"


def coverage_command(
    corpus: Annotated[list[Path], typer.Argument(help="Files or folders with entities, in any format.")],
    lexicon: Annotated[
        list[Path] | None,
        typer.Option(help=f"A dictionary or ontology ({', '.join(FORMS)}); may be repeated."),
    ] = None,
    from_corpus: Annotated[
        list[Path] | None,
        typer.Option(
            help="A corpus with concept ids, whose mentions of one concept are synonyms; may be repeated."
        ),
    ] = None,
    scope: Annotated[
        list[str] | None,
        typer.Option(
            help=f"A scope of synonyms to use from OBO files ({', '.join(SCOPES)}); may be repeated. "
            f"Unless given: {', '.join(DEFAULT_SCOPES)}."
        ),
    ] = None,
    format: Annotated[str | None, typer.Option(help=f"Format of CORPUS: {FORMAT_HELP}.")] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Stop at the first thing in a file that cannot be read.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the counts as JSON.")] = False,
) -> None:
    """Count the entities that have synonyms in each lexicon, side by side, per type and overall.

    Example: spanwright corpus coverage dev.pubtator --lexicon doid.obo --from-corpus train.pubtator
    """
    lexicons = dict(_read_lexicons(lexicon or [], scope, strict=strict))
    for path, name in _labels(from_corpus or []).items():
        annotated = read_and_report([path], strict=strict)
        lexicons[f"concepts of {name}"] = reported(lexicon_from_documents(annotated.documents))
    if not lexicons:
        raise InputError("no lexicon; name one or more with --lexicon FILE or --from-corpus FILE")
    if len(lexicons) > 1:
        lexicons[ALL_LEXICONS] = merge(*lexicons.values())
    documents = read_and_report(corpus, format=format, strict=strict).documents
    coverages = {name: one.coverage(documents) for name, one in lexicons.items()}
    if as_json:
        answer = {
            name: {"terms": len(lexicons[name])} | coverage.to_dict() for name, coverage in coverages.items()
        }
        typer.echo(json.dumps(answer, indent=2))
    else:
        Console().print(lexicon_coverage_table(coverages))


def _read_lexicons(
    paths: Sequence[Path], scopes: Sequence[str] | None, *, strict: bool
) -> Iterable[tuple[str, Lexicon]]:
    """The lexicons by their labels; scopes go to those that have any."""
    with_scopes = {path for path in paths if "scopes" in form_of(path).options}
    if scopes and not with_scopes:
        raise InputError("--scope is for ontologies in OBO form, and none of the lexicons is one")
    for path, label in _labels(paths).items():
        options: dict[str, Any] = {"scopes": scopes} if scopes and path in with_scopes else {}
        yield label, reported(read_lexicon(path, strict=strict, **options))


def _labels(paths: Iterable[Path]) -> dict[Path, str]:
    """The names of files, or their whole paths where two names are the same."""
    distinct = list(dict.fromkeys(paths))
    names = [path.name for path in distinct]
    return {path: path.name if names.count(path.name) == 1 else str(path) for path in distinct}
