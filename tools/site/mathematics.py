"""Equations: blocks of LaTeX, which the site shows as MathML, so that no script and no network is needed."""

from __future__ import annotations

from typing import Any

from latex2mathml.converter import convert


def format_block(source: str, *_: Any, **__: Any) -> str:
    """The MathML of a fenced block; a row of `\\\\`-separated lines is a line each."""
    lines = [line for line in source.replace("\\\\\n", "\n").splitlines() if line.strip()]
    return "".join(f'<div class="equation">{convert(line, display="block")}</div>' for line in lines)
