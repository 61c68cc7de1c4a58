"""`spanwright inspect corpora`: how a model of several corpora sees their labels and entities."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.console import Console

from spanwright.cli.devices import Device, shown_choice
from spanwright.cli.reading import report
from spanwright.cli.tables.inspections import corpora_nearness_table
from spanwright.devices import AUTO
from spanwright.errors import InputError
from spanwright.formats.io.whole_files import write_whole
from spanwright.text import Document

if TYPE_CHECKING:
    pass

SplitName = Literal["train", "dev", "test"]


def corpora_command(
    model: Annotated[Path, typer.Argument(help="A model directory, such as RUN/model, of several corpora.")],
    out: Annotated[Path, typer.Option(help="Folder for the pictures and corpora.json.")],
    corpora: Annotated[
        Path | None,
        typer.Option(help="The TOML file of corpora whose gold entities are looked at, as `train` reads it."),
    ] = None,
    split: Annotated[SplitName, typer.Option(help="With --corpora: the split that is looked at.")] = "test",
    spans: Annotated[int, typer.Option(min=1, help="The most entities of each corpus to look at.")] = 300,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the sample and of t-SNE.")] = 0,
    device: Device = AUTO,
) -> None:
    """Show whether labels of one meaning lie near to each other, whatever their corpus.

    Looks at the conditions of a model that kept its conditional auto-encoder (auxiliaries.cvae.keep=true),
    and with --corpora at the span vectors of gold entities.

    Example: spanwright inspect corpora runs/cvae/model --corpora corpora.toml --split dev --out corpora
    """
    if out.is_file():
        raise InputError(f"{out}: a file; expected a folder, which is made where there is none")

    from spanwright import artifact
    from spanwright.analysis.corpora import inspect_corpora, lack_of_conditions
    from spanwright.analysis.pictures import draw_corpora

    loaded = artifact.load(model, shown_choice(device))
    documents = _documents(corpora, split) if corpora is not None else []
    with Console(stderr=True).status("looking at corpora"):
        inspection = inspect_corpora(loaded, documents, spans=spans, seed=seed)
    if reason := lack_of_conditions(loaded):
        typer.echo(f"note: no conditions are shown: {reason}", err=True)
    out.mkdir(parents=True, exist_ok=True)
    source = {"file": str(corpora), "split": split} if corpora is not None else None
    numbers = {"model": str(model), "gold": source, **inspection.to_dict()}
    path = out / "corpora.json"
    write_whole(path, json.dumps(numbers, indent=2, ensure_ascii=False) + "\n")
    written = [*draw_corpora(inspection, out), path]
    Console().print(corpora_nearness_table(inspection))
    typer.echo(f"written to {out}: {', '.join(file.name for file in written)}", err=True)


def _documents(path: Path, split: SplitName) -> list[Document]:
    """The documents of one split of all corpora that have it; others are named on stderr."""
    from spanwright.training.corpora_file import SPLITS, load_corpora_file, read_splits

    file = load_corpora_file(path)
    lacking = [name for name, files in file.corpora.items() if not getattr(files, split)]
    if len(lacking) == len(file.corpora):
        raise InputError(f"{path}: no corpus has {split} files; expected a --split that some have")
    if lacking:
        typer.echo(f"note: without {split} files, left out: {', '.join(lacking)}", err=True)
    # Files of other splits are not needed, so they are not read.
    unread: dict[str, tuple[Path, ...]] = {other: () for other in SPLITS if other != split}
    chosen = {name: files.model_copy(update=unread) for name, files in file.corpora.items()}
    documents: list[Document] = []
    for reading in read_splits(file.model_copy(update={"corpora": chosen})):
        report(reading.log)
        documents += reading.documents
    return documents
