"""What `spanwright tag` and `spanwright job` have in common: arguments, options and inputs."""

from __future__ import annotations

from collections.abc import Iterable
from glob import glob, has_magic
from pathlib import Path
from typing import Annotated, Literal

import typer

from spanwright.cli.completion import formats, models
from spanwright.cli.reading import FORMAT_HELP
from spanwright.errors import InputError
from spanwright.formats.files import FORMATS, reader_of
from spanwright.formats.io.file_names import FoundFile, visible
from spanwright.formats.io.whole_files import is_device

ModelFolder = Annotated[
    Path,
    typer.Argument(
        help="A model directory, such as RUN/model, or the name of an installed model.", autocompletion=models
    ),
]
InputFormat = Annotated[
    str | None, typer.Option(help=f"Format of the inputs: {FORMAT_HELP}.", autocompletion=formats)
]
DescribedTypes = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=TEXT",
        help='A type to look for by its description, such as --type Gene="names of genes"; '
        "may be repeated. Only for models that read descriptions (recipe binder).",
    ),
]
AnsweringCorpus = Annotated[
    str | None,
    typer.Option(
        help="Whose types to answer with, for models trained on several corpora: the name of one. Unless "
        "given, that of each document, or the target."
    ),
]
AnswerAs = Annotated[
    Literal["own", "shared"],
    typer.Option("--as", help="Whether to answer with the corpus's own types or with the shared types."),
]
MinimumConfidence = Annotated[float, typer.Option(min=0, max=1, help="Drop entities below this confidence.")]
TunedThresholds = Annotated[
    bool, typer.Option("--tuned-thresholds", help="Drop entities below the model's threshold for their type.")
]
RuntimeName = Annotated[
    Literal["torch", "onnx", "onnx-int8"] | None,
    typer.Option(
        help="What runs the network; the last two need a model of `spanwright export`, and no torch. Unless "
        "given, graphs where there are some: onnx-int8 for small exports, else onnx."
    ),
]
STANDARD_STREAM = "-"


def expand(inputs: list[str]) -> list[FoundFile]:
    """Input paths with globs expanded; a folder that is no corpus itself stands for its files."""
    return [file for item in inputs for match in _matches(Path(item)) for file in _found(match)]


def check_readable(files: Iterable[FoundFile], format: str | None) -> None:
    """Refuse files that cannot be read before a model has worked on those that can."""
    for path, folder in files:
        if str(path) == STANDARD_STREAM and format is not None:
            raise InputError(
                "-: standard input has a text on each line, whatever --input-format says; for another format "
                "give /dev/stdin in place of -"
            )
        if str(path) == STANDARD_STREAM or is_device(path):  # what is read of them is gone
            continue
        try:
            reader_of(path, format)
        except InputError as error:
            if folder is None or error.choice != "input format":
                raise
            raise InputError(
                f"{error}: move it away, name the format of all files with --input-format, or give a pattern "
                f"such as {folder / '*.txt'}"
            ) from None


def _matches(path: Path) -> list[Path]:
    """The path itself, or what it matches when it is a pattern that the shell has left alone."""
    if path.exists() or str(path) == STANDARD_STREAM:
        return [path]
    if not has_magic(str(path)):
        raise InputError(f"{path}: no such file or folder")
    found = glob(str(path), recursive=True)  # noqa: PTH207 - leaves out what is hidden, as shells do
    matches = sorted(map(Path, found))
    if not matches:
        raise InputError(f"{path}: no file matches")
    return matches


def _found(path: Path) -> list[FoundFile]:
    files = _files(path)
    if not files:
        raise InputError(f"{path}: the folder has no file")
    return [FoundFile(file, None if file == path else path) for file in files]


def _files(path: Path) -> list[Path]:
    """The path if it is a file or a corpus as a whole, else what is in the folder, without what is hidden."""
    if not path.is_dir() or any(format.is_whole(path) for format in FORMATS.values()):
        return [path]
    return [file for child in visible(path.iterdir()) for file in _files(child)]
