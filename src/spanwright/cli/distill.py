"""`spanwright distill`: train a student on the probabilities of teachers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from spanwright.cli.command import interruptible
from spanwright.cli.devices import Device
from spanwright.cli.reading import FORMAT_HELP, InputOptions, StopAtProblems, parse_options, report
from spanwright.cli.tagging import expand
from spanwright.cli.trainings import checked_settings, kept_run
from spanwright.devices import AUTO
from spanwright.formats.files import read
from spanwright.text import Document

_Teachers = Annotated[
    list[Path], typer.Argument(help="Model directories, such as RUN/model; several count equally.")
]
_Student = Annotated[
    str, typer.Option(help="Recipe of the student (see `spanwright recipes`) or a TOML file.")
]
_Raw = Annotated[
    list[str] | None,
    typer.Option(help="Texts without annotation: a file, folder or glob; may be repeated."),
]
_GoldShare = Annotated[
    float,
    typer.Option(min=0, max=1, help="What the annotation has of the probabilities in training files."),
]
_Lowest = Annotated[
    float, typer.Option(min=0, max=1, help="Leave out what the teachers find less likely than this.")
]
_Encoder = Annotated[
    str | None, typer.Option(help="Encoder of the student: minilm, a folder, or a Hugging Face id.")
]
_Changes = Annotated[
    list[str] | None,
    typer.Option("--set", help="A setting of the student as key=value; may be repeated."),
]
_Format = Annotated[str | None, typer.Option(help=f"Format of all files but raw ones: {FORMAT_HELP}.")]


def distill_command(
    teachers: _Teachers,
    student: _Student,
    train: Annotated[list[Path], typer.Option(help="Training files; may be repeated.")],
    dev: Annotated[list[Path], typer.Option(help="Files that choose the best model; may be repeated.")],
    out: Annotated[Path, typer.Option(help="Folder of the run; softened files go to OUT/soft.")],
    test: Annotated[list[Path] | None, typer.Option(help="Files to score the best model on.")] = None,
    raw: _Raw = None,
    gold_share: _GoldShare = 0.5,
    lowest: _Lowest = 0.01,
    encoder: _Encoder = None,
    changes: _Changes = None,
    format: _Format = None,
    option: InputOptions = None,
    strict: StopAtProblems = False,
    resume: Annotated[bool, typer.Option("--resume", help="Continue an interrupted run.")] = False,
    device: Device = AUTO,
) -> None:
    """Train a student on what teachers think of training files and of texts without annotation.

    Example: spanwright distill runs/large/model --student plain --train train.tsv --dev dev.tsv
    --raw abstracts/ --out runs/student
    """
    texts = [file.path for file in expand(raw or [])]

    settings = checked_settings(student, changes or [], encoder=encoder)

    from spanwright.cli.progress import DistillationView
    from spanwright.training.distillation import distill

    splits: list[list[Document]] = []
    for paths in (train, dev, test):
        options = parse_options(option or ())
        found = read(*paths or (), format=format, options=options, strict=strict, to_train=True)
        report(found.log)
        splits.append(found.documents)
    with interruptible(lambda: kept_run(out)), DistillationView() as view:
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
            device=device,
            watcher=view,
        )
    view.summary(result)
