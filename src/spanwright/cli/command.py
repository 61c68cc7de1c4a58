"""What all commands have in common: an error names the option of the command that gets round it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from typer.core import TyperCommand

from spanwright.errors import Choice, InputError

_OPTIONS: dict[Choice, tuple[str, ...]] = {
    "input format": ("input_format", "format"),
    "output format": ("to", "format"),
    "losses": ("lossy",),
}
"""By what names commands take a choice: those of `tag` and `job`, which read and write by `format`, first."""
_TAKEN_WITH: dict[Choice, str] = {
    "input format": "name it with {0}",
    "output format": "name one with {0}",
    "losses": "allow that with {0}",
}
_OTHERWISE: dict[Choice, str] = {
    "input format": "convert it: spanwright corpus convert FILE --format NAME --out FILE.jsonl",
    "output format": "choose an ending",
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
