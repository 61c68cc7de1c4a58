"""The reference of the Python interface: every public name, by mkdocstrings."""

from __future__ import annotations

import griffe

import spanwright

HEAD = """# Python

Every public name with its signature, made from the code. [The Python interface](../api.md) shows each in use.
"""


def text() -> str:
    """The page, in Markdown. The source is read, so that nothing heavy is imported."""
    package = griffe.load("spanwright", resolve_aliases=True)
    names = sorted(spanwright.__all__, key=lambda name: (name[0].isupper(), name))
    sections = [
        f"::: {package[name].canonical_path}\n    options:\n      heading: spanwright.{name}\n"
        for name in names
    ]
    return "\n".join([HEAD, *sections])
