"""The arguments and options that `spanwright tag` and `spanwright job` have in common."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from spanwright.cli.reading import FORMAT_HELP

ModelFolder = Annotated[Path, typer.Argument(help="A model directory, such as RUN/model.")]
InputFormat = Annotated[str | None, typer.Option(help=f"Format of the inputs: {FORMAT_HELP}.")]
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
Lossy = Annotated[bool, typer.Option("--lossy", help="Leave out what the output format cannot express.")]
RuntimeName = Annotated[
    Literal["torch", "onnx", "onnx-int8"],
    typer.Option(help="What runs the network; the last two need a model of `spanwright export`."),
]
