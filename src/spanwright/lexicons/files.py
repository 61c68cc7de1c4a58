"""Reading lexicon files: the one door between files and lexicons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from spanwright.errors import InputError
from spanwright.formats.io.lines import read_head
from spanwright.lexicons import medic, name_tables, obo, umls
from spanwright.lexicons.form import Form, LexiconLog
from spanwright.lexicons.lexicon import Lexicon
from spanwright.outside import Known

_OWN = (
    umls.FORM,
    obo.FORM,
    medic.FORM,
    name_tables.TYPED_SURFACES,
    name_tables.TABLE,
    name_tables.SURFACES,
)
FORMS: Mapping[str, Form] = Known(
    {form.name: form for form in _OWN}, group="spanwright.lexicons", expected=Form
)
"""In the order in which they are tried on an unknown file: the strictest tests first, and forms of other
packages after ours."""


def read_lexicon(
    path: str | Path,
    *,
    form: str | None = None,
    type: str | None = None,
    strict: bool = False,
    **options: Any,
) -> Lexicon:
    """Read a lexicon file into memory.

    The form is recognised from the file unless given. `type` is the type of all terms, in place of what the
    file tells. Options are those of the form:

    - obo: `scopes` of synonyms to keep, `roots` (term id -> type), `namespaces` (are the types), `xrefs`
      (keep cross references)
    - umls: `language`, `semantic_types` (TUI or name -> type)
    - medic: `number_prefix` of ids that are plain numbers
    - tsv: `columns` in order, `skip_first_line`

    What cannot be read is in `log.problems` of the lexicon; with `strict`, the first is raised as an error.
    """
    path = Path(path)
    chosen = form_of(path, form)
    _check_options(chosen, type, options)
    log = LexiconLog()
    if form is None:
        log.notes.append(f"{path}: read as {chosen.name} ({chosen.description})")
    terms = chosen.read(path, log, **options)
    lexicon = Lexicon(terms if type is None else (replace(term, type=type) for term in terms), log)
    if strict and log.problems:
        raise InputError(f"{log.problems[0]} (the first of {len(log.problems)})")
    return lexicon


def form_of(path: Path, form: str | None = None) -> Form:
    """The form to read a path in: the one named, else the one recognised from the file."""
    if not path.exists():
        raise InputError(f"{path}: no such file or folder")
    if form is not None:
        if form not in FORMS:
            raise InputError(f"unknown form of lexicon {form!r}; expected {', '.join(FORMS)}")
        if path.is_dir() and not FORMS[form].recognises(path, ""):
            raise InputError(f"{path}: this folder is not a lexicon of the form {form!r}; give a file in it")
        return FORMS[form]
    head = "" if path.is_dir() else read_head(path)
    for candidate in FORMS.values():
        if candidate.recognises(path, head):
            return candidate
    expected = "; ".join(f"{form.name} ({form.description})" for form in FORMS.values())
    raise InputError(f"{path}: not recognised as a lexicon; expected one of these: {expected}")


def _check_options(form: Form, type: str | None, options: dict[str, Any]) -> None:
    for name in options:
        if name not in form.options:
            known = ", ".join(form.options) or "none"
            raise InputError(f"lexicons of the form {form.name!r} have no option {name!r}; expected: {known}")
        if type is not None and name in form.typing_options:
            raise InputError(f"the type is given twice, as type={type!r} and with {name!r}; expected one")
