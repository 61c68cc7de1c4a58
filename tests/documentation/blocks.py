"""The examples of a page: its fenced blocks, in order, with the output that the page shows."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

FENCE = re.compile(r"^( *)```(\w*)(.*)$")
MARKER = re.compile(r"^ *<!-- example: (.+) -->$")
TITLE = re.compile(r'title="([^"]+)"')


@dataclass
class Step:
    """A command, a piece of Python or a file to write, and the lines of the page that show what it prints."""

    kind: str
    """`console`, `python` or `file`."""
    source: str
    line: int
    """The line of the page where it stands, counted from 1."""
    shown: tuple[int, int] | None = None
    """The first and the end line of its output, counted from 0; None where the page shows none."""
    marks: frozenset[str] = frozenset()
    """What the comment before the block says: `skip ...`, `needs biomed`, `numbers vary`."""
    title: str = ""

    def marked(self, word: str) -> str | None:
        """What stands after a word in the marks, if it is there."""
        return next((mark.removeprefix(word).strip() for mark in self.marks if mark.startswith(word)), None)


@dataclass
class _Block:
    language: str
    info: str
    first: int
    end: int
    marks: frozenset[str] = field(default_factory=frozenset)


def steps(text: str) -> list[Step]:
    """Everything on a page that can be run."""
    lines = text.splitlines()
    found: list[Step] = []
    before: _Block | None = None
    for block in _blocks(lines):
        title = TITLE.search(block.info)
        if title:
            source = "\n".join(lines[block.first : block.end]) + "\n"
            found.append(Step("file", source, block.first, marks=block.marks, title=title.group(1)))
        elif block.language == "console":
            found += _commands(lines, block)
        elif block.language == "python":
            source = "\n".join(lines[block.first : block.end]) + "\n"
            found.append(Step("python", source, block.first + 1, marks=block.marks))
        elif block.language == "text" and before is not None and _follows(lines, before, block):
            found[-1].shown = (block.first, block.end)
        before = block
    return found


def _blocks(lines: list[str]) -> list[_Block]:
    found: list[_Block] = []
    opened: _Block | None = None
    marks: frozenset[str] = frozenset()
    for number, line in enumerate(lines):
        fence, marker = FENCE.match(line), MARKER.match(line)
        if opened is not None:
            if fence and not fence.group(2):
                opened.end = number
                found.append(opened)
                opened = None
        elif fence:
            opened = _Block(fence.group(2), fence.group(3), number + 1, number + 1, marks)
            marks = frozenset()
        elif marker:
            marks = frozenset(part.strip() for part in marker.group(1).split(";"))
        elif line.strip():
            marks = frozenset()
    return found


def _follows(lines: list[str], before: _Block, block: _Block) -> bool:
    """Whether a block shows what the Python before it prints: nothing but blank lines is between them."""
    return before.language == "python" and not any(
        line.strip() for line in lines[before.end + 1 : block.first - 1]
    )


def _commands(lines: list[str], block: _Block) -> list[Step]:
    found: list[Step] = []
    number = block.first
    while number < block.end:
        line = number + 1
        source = lines[number].removeprefix("$ ")
        assert lines[number].startswith("$ "), f"line {line}: expected a command after '$ '"
        while source.endswith("\\"):
            number += 1
            source = f"{source[:-1]}{lines[number].strip()}"
        first = number = number + 1
        while number < block.end and not lines[number].startswith("$ "):
            number += 1
        shown = (first, number) if number > first else None
        found.append(Step("console", source, line, shown, block.marks))
    return found
