"""`spanwright corpus sample`: the built-in corpus, as files to try things with."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated

import typer

from spanwright import sample


def sample_command(
    out: Annotated[Path, typer.Argument(help="Folder to write train.jsonl, dev.jsonl and test.jsonl to.")],
) -> None:
    """Write the built-in sample corpus: made-up biomedical texts with nested entities of five types.

    Example: spanwright corpus sample corpus
    """
    out.mkdir(parents=True, exist_ok=True)
    for split, path in sample.files().items():
        target = out / f"{split}.jsonl"
        shutil.copyfile(path, target)
        typer.echo(target)
