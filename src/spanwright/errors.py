"""Every error that Spanwright raises on purpose, and words that messages share.

A message says where the trouble is, what was found there and what is expected. The command line prints it
as one line and leaves with exit code 2 for an `InputError` (the call or the data was wrong) and 1 for
any other `SpanwrightError` (the work failed).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Literal


class SpanwrightError(Exception):
    """Base of all errors that Spanwright raises on purpose."""


Choice = Literal["input format", "output format", "output", "losses"]
"""What a user may choose to get round an error, whatever a command calls it."""


class InputError(SpanwrightError):
    """The data, a path or an argument that the user gave cannot be used."""

    def __init__(self, message: str, *, choice: Choice | None = None) -> None:
        """With a choice, the command line adds the option by which its command offers that."""
        super().__init__(message)
        self.choice = choice


class SettingsError(InputError):
    """A recipe or a `--set` value is misspelt, out of range, or part of a combination that is not allowed."""


class ModelError(InputError):
    """A directory is not a model that this version can load."""


class DivergenceError(SpanwrightError):
    """Losses, gradients or weights of a training have left all bounds."""


class MissingPackageError(InputError):
    """A feature needs a package that is not installed."""

    def __init__(self, feature: str, package: str, command: str) -> None:
        super().__init__(
            f"{feature} needs the package {package!r}, which is not installed. Install it with: {command}"
        )


class MissingExtraError(MissingPackageError):
    """A feature needs an optional package that one of our extras brings."""

    def __init__(self, feature: str, package: str, extra: str) -> None:
        super().__init__(feature, package, f"pip install 'spanwright[{extra}]'")


TRAIN = "train"
"""The extra that brings torch, and what else trainings need."""
_OF_TRAIN = frozenset(("torch", "transformers", "huggingface_hub"))


@contextmanager
def needing(feature: str) -> Iterator[None]:
    """Where torch or another package of the extra `train` is missing, say that a feature needs it."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in _OF_TRAIN:
            raise
        raise MissingExtraError(feature, package, TRAIN) from None


def counted(number: int, noun: str) -> str:
    """A number with a noun that agrees with it: `1 document`, `1,234 entities`."""
    return f"{number:,} {noun if number == 1 else _PLURALS.get(noun, f'{noun}s')}"


_PLURALS = {"entity": "entities", "corpus": "corpora", "metadata": "metadata", "loss": "losses"}


def did_you_mean(found: str, known: Iterable[str]) -> str:
    """` (did you mean 'this'?)` with the known name that is most like the one found, or nothing."""
    from difflib import get_close_matches

    folded = {name.lower(): name for name in known}
    near = get_close_matches(found.lower(), folded, n=1, cutoff=_LIKENESS)
    # In short names, two letters in the wrong order are much of them: `cvs` for `csv`.
    near = near or [name for name in folded if sorted(name) == sorted(found.lower())]
    return f" (did you mean {folded[near[0]]!r}?)" if near else ""


_LIKENESS = 0.7
"""How much of two names must agree for one to be a slip of the other."""
