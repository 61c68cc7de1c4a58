"""The two forms of a file of descriptions, in TOML or JSON, and what can be wrong with them.

Disease = "Names of diseases and symptoms."

[types.Disease]
guideline = "Names of diseases and symptoms."
keyword = "disease"
"""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import dataclass
from typing import Any, NamedTuple

from spanwright.descriptions.label_words import label_in_words
from spanwright.errors import InputError

_EXAMPLES = {
    (
        ".toml",
        False,
    ): 'Disease = "Names of diseases and symptoms."\nDrug = "Names of drugs, without proteins."',
    (".toml", True): '[types.Disease]\nguideline = "Names of diseases and symptoms."',
    (".json", False): '{"Disease": "Names of diseases.",\n "Drug": "Names of drugs, without proteins."}',
    (
        ".json",
        True,
    ): '{"types": {"Disease": {"guideline": "Names of diseases and symptoms.",\n "keyword": "disease"}}}',
}
"""By ending of the file, and whether it has the full form, inside `types`."""
_FIELDS = ("guideline", "keyword")
_KINDS = {
    bool: "true or false",
    int: "a number",
    float: "a number",
    str: "a string",
    list: "a list",
    dict: "a table",
    type(None): "null",
}
_LINE = re.compile(r"at line (\d+)")


class Description(NamedTuple):
    """What a type means."""

    guideline: str
    """What belongs to the type and what does not, in a sentence or two."""
    keyword: str
    """A word or two."""


@dataclass(frozen=True, slots=True)
class DescriptionFile:
    """A file by its name, for errors, and its ending, for the language."""

    where: str
    ending: str

    def parsed(self, data: bytes) -> dict[str, Description]:
        """The descriptions in the bytes of the file, by type."""
        table = self._table(data)
        is_full = isinstance(table.get("types"), dict)
        if is_full and len(table) > 1:
            other = next(key for key in table if key != "types")
            raise self._wrong(f"{other!r} stands beside 'types'", "every type inside it", is_full)
        entries = table["types"] if is_full else table
        if not entries:
            raise self._wrong("no type is described", "at least one type", is_full)
        if bad := [name for name in entries if not name.strip() or not _is_unicode(name)]:
            raise self._wrong(f"{bad[0]!r} as the name of a type", "a name in Unicode", is_full)
        parse = self._full if is_full else self._simple
        return {name: parse(name, value) for name, value in entries.items()}

    def _table(self, data: bytes) -> dict[str, Any]:
        """The outermost table or object."""
        if (self.ending, False) not in _EXAMPLES:
            toml = DescriptionFile(self.where, ".toml")
            raise toml._wrong(f"the ending is {self.ending!r}", "a file in .toml or .json")
        language = self.ending[1:].upper()
        try:
            text = data.decode("utf-8-sig")
            table = _toml(text) if self.ending == ".toml" else json.loads(text, object_pairs_hook=_unique)
        except UnicodeDecodeError as error:
            raise self._wrong(f"byte {error.start} is not UTF-8", f"{language} in UTF-8") from None
        except (ValueError, RecursionError) as error:
            reason = "nested too deeply" if isinstance(error, RecursionError) else error
            raise self._wrong(f"cannot be read: {reason}", f"{language} with each type once") from None
        if not isinstance(table, dict):
            raise self._wrong(f"{_kind(table)} at the top level", "an object with types as keys")
        return table

    def _simple(self, name: str, value: object) -> Description:
        """The description of a type by a text alone."""
        if isinstance(value, dict):
            raise self._nested(repr(name), "a string, or the full form")
        return Description(self._text(repr(name), value, is_full=False), label_in_words(name))

    def _full(self, name: str, value: object) -> Description:
        """The description of a type by a table; a keyword that is left out is the name in words."""
        place = f"{name!r} of types"
        if not isinstance(value, dict):
            raise self._wrong(f"{place} is {_kind(value)}", "a table with guideline and keyword", True)
        if unknown := [key for key in value if key not in _FIELDS]:
            if isinstance(value[unknown[0]], dict):
                raise self._nested(f"{unknown[0]!r} of {place}", "a string")
            raise self._wrong(f"{place} has a key {unknown[0]!r}", "guideline or keyword", True)
        if "guideline" not in value:
            raise self._wrong(f"{place} has no guideline", "guideline and, if wanted, keyword", True)
        texts = {key: self._text(f"the {key} of {place}", text, is_full=True) for key, text in value.items()}
        return Description(texts["guideline"], texts.get("keyword", label_in_words(name)))

    def _text(self, place: str, value: object, *, is_full: bool) -> str:
        """A text, on one line."""
        expected = "a text that says what the type means"
        if not isinstance(value, str):
            raise self._wrong(f"{place} is {_kind(value)}", expected, is_full)
        if not any(map(str.isalnum, value)):
            raise self._wrong(f"{place} is a string without a letter", expected, is_full)
        if not _is_unicode(value):
            raise self._wrong(f"{place} has half a surrogate pair", expected, is_full)
        return " ".join(value.split())

    def _nested(self, place: str, expected: str) -> InputError:
        """A table where a text is expected: a dot in a TOML key, or the outer `types` left out."""
        hint = ' (a name with a dot needs quotes: "PER.NAM")' if self.ending == ".toml" else ""
        return self._wrong(f"{place} is a table{hint}", expected, is_full=True)

    def _wrong(self, found: str, expected: str, is_full: bool = False) -> InputError:
        example = _EXAMPLES[self.ending, is_full]
        return InputError(f"{self.where}: {found}; expected {expected}, for example:\n{example}")


def _toml(text: str) -> dict[str, Any]:
    """The table of a TOML text; an error quotes its line, since the standard library names no key."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = _LINE.search(str(error))
        # No number means the end of the text. Only line feeds end lines of TOML, unlike `str.splitlines`.
        line = text.split("\n")[int(place[1]) - 1] if place else text.rstrip().split("\n")[-1]
        raise ValueError(f"{error}: {line.strip():.60}") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object. The standard library would keep the last of equal keys and say nothing."""
    table: dict[str, Any] = {}
    for key, value in pairs:
        if key in table:
            raise ValueError(f"the key {key!r} stands twice in one object")
        table[key] = value
    return table


def _kind(value: object) -> str:
    return _KINDS.get(type(value), "a date or time")


def _is_unicode(text: str) -> bool:
    """Whether there is no lone surrogate, which JSON can escape but no tokenizer reads."""
    return not any("\ud800" <= letter <= "\udfff" for letter in text)
