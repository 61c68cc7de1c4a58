"""`spanwright distill`: train a student on the probabilities of teachers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from spanwright.cli.reading import FORMAT_HELP, OPTION_HELP, parse_options, report
from spanwright.cli.tag_inputs import expand
from spanwright.formats.files import read
from spanwright.text import Document


def distill_command(
    teachers: Annotated[
        list[Path], typer.Argument(help="Model directories, such as RUN/model; several count equally.")
    ],
    student: Annotated[
        str, typer.Option(help="Recipe of the student (see `spanwright recipes`) or a TOML file.")
    ],
    train: Annotated[list[Path], typer.Option(help="Training files; may be repeated.")],
    dev: Annotated[list[Path], typer.Option(help="Files that choose the best model; may be repeated.")],
    out: Annotated[Path, typer.Option(help="Folder of the run; softened files go to OUT/soft.")],
    test: Annotated[list[Path] | None, typer.Option(help="Files to score the best model on.")] = None,
    raw: Annotated[
        list[str] | None,
        typer.Option(help="Texts without annotation: a file, folder or glob; may be repeated."),
    ] = None,
    gold_share: Annotated[
        float,
        typer.Option(min=0, max=1, help="What the annotation has of the probabilities in training files."),
    ] = 0.5,
    lowest: Annotated[
        float, typer.Option(min=0, max=1, help="Leave out what the teachers find less likely than this.")
    ] = 0.01,
    encoder: Annotated[
        str | None, typer.Option(help="Encoder of the student: minilm, a folder, or a Hugging Face id.")
    ] = None,
    changes: Annotated[
        list[str] | None,
        typer.Option("--set", help="A setting of the student as key=value; may be repeated."),
    ] = None,
    format: Annotated[
        str | None, typer.Option(help=f"Format of all files but raw ones: {FORMAT_HELP}.")
    ] = None,
    option: Annotated[list[str] | None, typer.Option(help=OPTION_HELP)] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Stop at anything that cannot be read.")] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Continue an interrupted run.")] = False,
) -> None:
    """Train a student on what teachers think of training files and of texts without annotation.

    Example: spanwright distill runs/large/model --student plain --train train.tsv --dev dev.tsv
    --raw abstracts/ --out runs/student
    """
    texts = expand(raw or [])

    from spanwright.cli.progress import DistillationView
    from spanwright.settings import load_settings
    from spanwright.training.distillation import distill

    settings = load_settings(student, changes or [], encoder=encoder)
    splits: list[list[Document]] = []
    for paths in (train, dev, test):
        found = read(*paths or (), format=format, options=parse_options(option or ()), strict=strict)
        report(found.log)
        splits.append(found.documents)
    with DistillationView() as view:
        result = distill(
            teachers,
            settings,
            train=splits[0],
            dev=splits[1],
            test=splits[2],
            raw=texts,
            out=out,
            gold_share=gold_share,
            lowest=lowest,
            resume=resume,
            watcher=view,
        )
    view.summary(result)
