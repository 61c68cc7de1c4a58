"""`spanwright train`: train a recipe on corpus files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from spanwright.cli.reading import FORMAT_HELP, OPTION_HELP, parse_options, report
from spanwright.corpora.stored import StoredDocuments
from spanwright.errors import InputError
from spanwright.formats.files import read
from spanwright.formats.format import ReadingLog
from spanwright.text import Document


def train_command(
    recipe: Annotated[str, typer.Argument(help="A recipe (see `spanwright recipes`) or a TOML file.")],
    out: Annotated[Path, typer.Option(help="Folder of the run; the model goes to OUT/model.")],
    train: Annotated[list[Path] | None, typer.Option(help="Training files; may be repeated.")] = None,
    dev: Annotated[
        list[Path] | None, typer.Option(help="Files that choose the best model; may be repeated.")
    ] = None,
    test: Annotated[list[Path] | None, typer.Option(help="Files to score the best model on.")] = None,
    corpora: Annotated[
        Path | None,
        typer.Option(help="A TOML file that names several corpora to train on together, instead of files."),
    ] = None,
    encoder: Annotated[
        str | None, typer.Option(help="Encoder: a short name such as minilm, a folder, or a Hugging Face id.")
    ] = None,
    descriptions: Annotated[
        str | None,
        typer.Option(help="Texts about the types: a TOML or JSON file, or a shipped name (recipe binder)."),
    ] = None,
    changes: Annotated[
        list[str] | None,
        typer.Option("--set", help="A setting as key=value, such as training.epochs=3; may be repeated."),
    ] = None,
    format: Annotated[str | None, typer.Option(help=f"Format of all files: {FORMAT_HELP}.")] = None,
    option: Annotated[list[str] | None, typer.Option(help=OPTION_HELP)] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Stop at anything that cannot be read.")] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Continue an interrupted run.")] = False,
) -> None:
    """Train a recipe and keep the model that scores best on the dev files.

    With torchrun, several processes train it together: torchrun --nproc-per-node 2 -m spanwright train ...

    Example: spanwright train plain --train train.tsv --dev dev.tsv --test test.tsv --out runs/plain
    """
    if corpora is None and not (train and dev):
        raise InputError("there is nothing to train on: give --train and --dev files, or --corpora FILE")
    if corpora is not None and (train or dev or test):
        raise InputError("--corpora names all files, so --train, --dev and --test cannot be given beside it")

    from spanwright.cli.progress import TrainingView
    from spanwright.settings import load_settings
    from spanwright.training.corpora_file import SPLITS, load_corpora_file, read_splits
    from spanwright.training.loop import train as run
    from spanwright.training.processes import is_first_process

    # Of several processes, all read the files and one tells what is in them.
    tell = report if is_first_process() else _nothing
    said: list[str] = []
    splits: dict[str, StoredDocuments | list[Document]] = {}
    if corpora is not None:
        together = load_corpora_file(corpora)
        said = together.changes
        stored = {name: StoredDocuments() for name in SPLITS}
        for reading in read_splits(together, strict=strict):
            tell(reading.log)
            stored[reading.split].extend(reading.documents)
        splits |= stored
    else:
        for name, paths in (("train", train), ("dev", dev), ("test", test)):
            chosen = parse_options(option or ())
            found = read(*paths or (), format=format, options=chosen, strict=strict, to_train=True)
            tell(found.log)
            splits[name] = found.documents
    asked = [*said, *(changes or [])]
    settings = load_settings(recipe, asked, encoder=encoder, descriptions=descriptions)
    with TrainingView() as view:
        result = run(
            settings,
            train=splits["train"],
            dev=splits["dev"],
            test=splits["test"],
            out=out,
            resume=resume,
            watcher=view,
        )
    if is_first_process():
        view.summary(result)


def _nothing(log: ReadingLog) -> None:
    pass
