"""The `spanwright` command."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

import spanwright
from spanwright.cli.command import Command
from spanwright.cli.compare import compare_command
from spanwright.cli.corpus_abbreviations import abbreviations_command
from spanwright.cli.corpus_check import check_command
from spanwright.cli.corpus_convert import convert_command
from spanwright.cli.corpus_coverage import coverage_command
from spanwright.cli.corpus_label import label_command
from spanwright.cli.corpus_map import map_command
from spanwright.cli.corpus_overlap import overlap_command
from spanwright.cli.corpus_sample import sample_command
from spanwright.cli.corpus_split import split_command
from spanwright.cli.corpus_stats import stats_command
from spanwright.cli.distill import distill_command
from spanwright.cli.doctor import doctor_command
from spanwright.cli.encoder import encoder_command
from spanwright.cli.evaluate import evaluate_command
from spanwright.cli.export import export_command
from spanwright.cli.inspect_corpora import corpora_command
from spanwright.cli.inspect_generate import generate_command
from spanwright.cli.inspect_spans import spans_command
from spanwright.cli.job import job_command
from spanwright.cli.link import link_command
from spanwright.cli.models import models_command
from spanwright.cli.push import push_command
from spanwright.cli.quickstart import quickstart_command
from spanwright.cli.recipes import recipes_command
from spanwright.cli.report import report_command
from spanwright.cli.robustness import robustness_command
from spanwright.cli.select import select_command
from spanwright.cli.serve import serve_command
from spanwright.cli.tag import tag_command
from spanwright.cli.train import train_command
from spanwright.cli.tune import tune_command
from spanwright.errors import InputError, SpanwrightError, needing

app = typer.Typer(
    help="Span-based named entity recognition: train, compare, use.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
app.command("quickstart", cls=Command)(quickstart_command)
app.command("train", cls=Command)(train_command)
app.command("distill", cls=Command)(distill_command)
app.command("compare", cls=Command)(compare_command)
app.command("tune", cls=Command)(tune_command)
app.command("tag", cls=Command)(tag_command)
app.command("job", cls=Command)(job_command)
app.command("link", cls=Command)(link_command)
app.command("select", cls=Command)(select_command)
app.command("serve", cls=Command)(serve_command)
app.command("evaluate", cls=Command)(evaluate_command)
app.command("export", cls=Command)(export_command)
app.command("report", cls=Command)(report_command)
app.command("robustness", cls=Command)(robustness_command)
app.command("push", cls=Command)(push_command)
app.command("recipes", cls=Command)(recipes_command)
app.command("models", cls=Command)(models_command)
app.command("encoder", cls=Command)(encoder_command)
app.command("doctor", cls=Command)(doctor_command)

corpus_app = typer.Typer(
    help="Check, convert, measure, split, compare and label corpora.", no_args_is_help=True
)
corpus_app.command("sample", cls=Command)(sample_command)
corpus_app.command("check", cls=Command)(check_command)
corpus_app.command("convert", cls=Command)(convert_command)
corpus_app.command("stats", cls=Command)(stats_command)
corpus_app.command("coverage", cls=Command)(coverage_command)
corpus_app.command("overlap", cls=Command)(overlap_command)
corpus_app.command("map", cls=Command)(map_command)
corpus_app.command("label", cls=Command)(label_command)
corpus_app.command("split", cls=Command)(split_command)
corpus_app.command("abbreviations", cls=Command)(abbreviations_command)
app.add_typer(corpus_app, name="corpus")

inspect_app = typer.Typer(help="Look inside a trained model.", no_args_is_help=True)
inspect_app.command("spans", cls=Command)(spans_command)
inspect_app.command("generate", cls=Command)(generate_command)
inspect_app.command("corpora", cls=Command)(corpora_command)
app.add_typer(inspect_app, name="inspect")


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"spanwright {spanwright.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command; 0 done, 1 the work failed, 2 the input or the call was wrong."""
    try:
        with needing(f"`spanwright {' '.join(sys.argv[1:2])}`"):
            app()
    except SpanwrightError as error:
        typer.secho(f"error{_process()}: {error}", err=True, fg="red")
        sys.exit(2 if isinstance(error, InputError) else 1)
    except BrokenPipeError:
        # The reader of our output has gone, as `head` does. Python would complain again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:
        # A full disk, a folder that may not be written: nothing that a traceback would explain better.
        typer.secho(f"error{_process()}: {error}", err=True, fg="red")
        sys.exit(1)


def _process() -> str:
    """Which of the processes that torchrun started has an error; the first, or a single one, need not say."""
    rank = os.environ.get("RANK", "0")
    return "" if rank == "0" else f" (process {rank})"
