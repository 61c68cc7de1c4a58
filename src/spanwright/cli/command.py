"""What all commands have in common: errors name the option that gets round them, and Ctrl-C what is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import typer
from typer.core import TyperCommand

from spanwright.errors import Choice, InputError

_INTERRUPTED = 130
"""The exit code of shells for Ctrl-C."""
_OPTIONS: dict[Choice, tuple[str, ...]] = {
    "input format": ("input_format", "format"),
    "output format": ("to", "format"),
    "output": ("out",),
    "losses": ("lossy",),
}
"""By what names commands take a choice: those of `tag` and `job`, which read and write by `format`, first."""
_TAKEN_WITH: dict[Choice, str] = {
    "input format": "name it with {0}",
    "output format": "name one with {0}",
    "output": "name one with {0}",
    "losses": "allow that with {0}",
}
_OTHERWISE: dict[Choice, str] = {
    "input format": "convert it: spanwright corpus convert FILE --format NAME --out FILE.jsonl",
    "output format": "choose an ending",
    "output": "choose another format",
    "losses": "convert it afterwards: spanwright corpus convert FILE --out OTHER --lossy",
}


class Command(TyperCommand):
    """A command of ours."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except InputError as error:
            if error.choice is None:
                raise
            raise InputError(f"{error}: {self._way_round(error.choice)}") from error

    def _way_round(self, choice: Choice) -> str:
        """How a user of this command makes a choice."""
        options = {parameter.name: parameter.opts[0] for parameter in self.params}
        names = [name for name in _OPTIONS[choice] if name in options and self._means(name, choice, options)]
        return _TAKEN_WITH[choice].format(options[names[0]]) if names else _OTHERWISE[choice]

    def _means(self, name: str, choice: Choice, options: Mapping[str, str]) -> bool:
        """Whether an option is that choice: `format` is of what is read, unless there is `input_format`."""
        return name != "format" or (choice == "output format") == ("input_format" in options)


@contextmanager
def interruptible(kept: Callable[[], str]) -> Iterator[None]:
    """Says what is kept of the work in the block when the user interrupts it, and ends the command."""
    try:
        yield
    except KeyboardInterrupt:
        typer.echo(f"interrupted; {kept()}", err=True)
        raise typer.Exit(_INTERRUPTED) from None
