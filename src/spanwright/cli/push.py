"""`spanwright push`: share a model on the Hugging Face Hub."""

from __future__ import annotations

from typing import Annotated

import typer

from spanwright.cli.tagging import ModelFolder


def push_command(
    model: ModelFolder,
    repository: Annotated[
        str, typer.Argument(metavar="USER/NAME", help="Where it goes; made if there is no such repository.")
    ],
    private: Annotated[
        bool, typer.Option("--private", help="Make the repository private, if it is new.")
    ] = False,
) -> None:
    """Upload a model to the Hugging Face Hub, as the user of `hf auth login` or HF_TOKEN.

    Only the files of the model are uploaded, whatever else lies in its directory.

    Example: spanwright push runs/plain/model somebody/diseases --private
    """
    from spanwright.hub import push

    typer.echo(push(model, repository, private=private))
