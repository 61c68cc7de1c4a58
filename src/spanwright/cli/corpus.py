"""`spanwright corpus`: everything about corpus files."""

from __future__ import annotations

import typer

from spanwright.cli.corpus_check import check_command
from spanwright.cli.corpus_convert import convert_command
from spanwright.cli.corpus_coverage import coverage_command
from spanwright.cli.corpus_label import label_command
from spanwright.cli.corpus_map import map_command
from spanwright.cli.corpus_overlap import overlap_command
from spanwright.cli.corpus_split import split_command
from spanwright.cli.corpus_stats import stats_command

corpus_app = typer.Typer(
    help="Check, convert, measure, split, compare and label corpora.", no_args_is_help=True
)
corpus_app.command("check")(check_command)
corpus_app.command("convert")(convert_command)
corpus_app.command("stats")(stats_command)
corpus_app.command("coverage")(coverage_command)
corpus_app.command("overlap")(overlap_command)
corpus_app.command("map")(map_command)
corpus_app.command("label")(label_command)
corpus_app.command("split")(split_command)
