"""`spanwright inspect`: look inside a trained model."""

from __future__ import annotations

import typer

from spanwright.cli.inspect_corpora import corpora_command
from spanwright.cli.inspect_generate import generate_command
from spanwright.cli.inspect_spans import spans_command

inspect_app = typer.Typer(help="Look inside a trained model.", no_args_is_help=True)
inspect_app.command("spans")(spans_command)
inspect_app.command("generate")(generate_command)
inspect_app.command("corpora")(corpora_command)
