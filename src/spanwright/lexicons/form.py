"""What a form of lexicon files is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from spanwright.lexicons.lexicon import Term


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """One form of lexicon files: how to recognise and read it."""

    name: str
    description: str
    recognises: Callable[[Path, str], bool]
    """Given the path and the beginning of the text ('' for a folder): is it this form?"""
    read: Callable[..., Iterator[Term]]
    """Called with a path, a log and options by name; yields the terms as a stream."""
    options: tuple[str, ...] = ()
    """The names of the options."""
    typing_options: tuple[str, ...] = ()
    """Those of the options that decide the types of the terms."""
