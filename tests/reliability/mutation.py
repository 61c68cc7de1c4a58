"""What a mutation of a good file is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Mutation:
    """One change of a good file that must be listed as a problem."""

    old: str
    """Stands once in the file."""
    new: str | bytes | None
    """Comes in its place; None takes the whole file away."""
    line: int
    """Of the one problem; 0 when the whole file is meant."""
    reason: str
    """Part of what the problem says."""
    documents: int = 0
    """Rejected."""
    entities: int = 0
    """Rejected."""
    gone_documents: int = 0
    """Documents that nobody can count any more: the rest of a file after a fault."""
    gone_entities: int = 0
    """Entities that do not stand in the changed file any more, or nobody can count; below 0 for new ones."""
    touched: str = "2"
    """Id of the document that is changed; all others are as in the good file, but for those gone."""
    file: str = ""
    """The file of a folder that is changed."""
    told_of: str = ""
    """The file that the problem names, where it is another one."""
