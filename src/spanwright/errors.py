"""Every error that Spanwright raises on purpose.

A message says where the trouble is, what was found there and what is expected. The command line prints it
as one line and leaves with exit code 2 for an `InputError` (the call or the data was wrong) and 1 for
any other `SpanwrightError` (the work failed).
"""


class SpanwrightError(Exception):
    """Base of all errors that Spanwright raises on purpose."""


class InputError(SpanwrightError):
    """The data, a path or an argument that the user gave cannot be used."""


class SettingsError(InputError):
    """A recipe or a `--set` value is misspelt, out of range or an illegal combination."""


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
