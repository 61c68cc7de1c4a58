"""`spanwright select`: the texts to annotate next."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from spanwright.cli.reading import InputOptions, Lossy, read_and_report, report_unwritable
from spanwright.cli.tagging import InputFormat, ModelFolder, expand
from spanwright.formats.files import check_place, write, writer_for
from spanwright.formats.unwritable import Unwritable

_LEFT_OUT = "the same as, or nearly the same as, annotated ones or one another, or empty"


def select_command(
    model: ModelFolder,
    texts: Annotated[list[str], typer.Argument(help="Files, folders or globs of texts to choose from.")],
    out: Annotated[Path, typer.Option(help="Output file; its ending tells the format, such as .jsonl.")],
    count: Annotated[int, typer.Option(min=1, help="How many texts to choose.")] = 100,
    by: Annotated[
        Literal["mixed", "uncertainty", "disagreement", "novelty", "random"],
        typer.Option(
            help="mixed; or only by uncertainty (mistakes that the model expects), disagreement (of its "
            "tagger and its spans), novelty (of words and spans); or at random."
        ),
    ] = "mixed",
    annotated: Annotated[
        list[str] | None,
        typer.Option(help="What is annotated already, which is left out and not new; may be repeated."),
    ] = None,
    input_format: InputFormat = None,
    option: InputOptions = None,
    seed: Annotated[int, typer.Option(help="For --by random.")] = 0,
    lossy: Lossy = False,
) -> None:
    """Choose the texts that are worth annotating next, with suggestions of the model and a reason for each.

    Example: spanwright select runs/plain/model texts/ --annotated done.jsonl --count 100 --out next.jsonl
    """
    check_place(out, writer_for(out))
    pool = read_and_report(expand(texts), format=input_format, options=option or ()).documents
    done = read_and_report(expand(annotated or [])).documents

    from spanwright.predicting.tagger import load
    from spanwright.selecting.select import select

    chosen = select(load(model, "torch"), pool, count=count, by=by, annotated=done, seed=seed)
    unwritable: list[Unwritable] = []
    write(chosen, out, lossy=lossy, unwritable=unwritable)
    report_unwritable(unwritable)
    typer.echo(f"{out}: {_phrase(len(chosen), len(pool), count, by)}")


def _phrase(chosen: int, texts: int, count: int, by: str) -> str:
    """How many texts were chosen, in which order, and why not as many as asked for."""
    phrase = f"{chosen} of {texts} texts"
    if chosen:
        phrase += ", drawn at random" if by == "random" else ", the most worthwhile first"
    if chosen < min(count, texts):  # All that are new were chosen.
        phrase += f"; {texts - chosen} left out: {_LEFT_OUT}"
    return phrase
