"""`spanwright robustness`: how much F1 a model loses to typos, other mentions and the like."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import track
from rich.table import Table

from spanwright.cli.reading import FORMAT_HELP, read_and_report
from spanwright.errors import InputError
from spanwright.evaluation import Counts, evaluate
from spanwright.perturbing import NEED_TRAINING, PERTURBATIONS, perturb
from spanwright.text import Document

Tag = Callable[[list[Document]], Iterable[Document]]
_WITHOUT_TRAINING = f"left out for want of training files (--train): {', '.join(NEED_TRAINING)}"
_CAPTION = "lost: points of F1 against the untouched texts; mentions: entities whose text is another"


@dataclass(frozen=True, slots=True)
class Robustness:
    """The scores of a model on documents that were changed in one way."""

    name: str
    counts: Counts
    lost: float
    """F1 on the untouched documents minus F1 on these, from -1 to 1."""
    texts_changed: int
    mentions_changed: int

    def to_dict(self) -> dict[str, Any]:
        """All of it for JSON."""
        return {**asdict(self), "counts": self.counts.to_dict()}


def robustness_command(
    model: Annotated[Path, typer.Argument(help="A model directory, such as RUN/model.")],
    gold: Annotated[Path, typer.Argument(help="File or folder with gold entities.")],
    train: Annotated[
        list[Path] | None,
        typer.Option(help="Training files, for the swaps of mentions; may be repeated."),
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option(help=f"One of {', '.join(PERTURBATIONS)}; may be repeated.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of everything that is drawn.")] = 0,
    format: Annotated[str | None, typer.Option(help=f"Format of all files: {FORMAT_HELP}.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the scores as JSON.")] = False,
) -> None:
    """Score a model on gold documents and on the same documents perturbed in ten ways.

    Example: spanwright robustness runs/plain/model test.pubtator --train train.pubtator
    """
    names = _names(only or [], with_training=bool(train))
    documents = read_and_report([gold], format=format).documents
    training = read_and_report(train, format=format).documents if train else []
    notes = [] if only or train else [_WITHOUT_TRAINING]
    for note in notes:
        typer.echo(f"note: {note}", err=True)

    from spanwright.predicting.tagger import load

    untouched, *rows = measure(load(model).tag, documents, names, seed=seed, training=training)
    if as_json:
        found = {"untouched": untouched.counts.to_dict(), "perturbations": [row.to_dict() for row in rows]}
        about = {"model": str(model), "gold": str(gold), "seed": seed, "notes": notes}
        typer.echo(json.dumps(about | found, indent=2))
    else:
        Console().print(_table(untouched, rows))


def _names(only: list[str], *, with_training: bool) -> list[str]:
    """The perturbations to measure, in their order."""
    unknown = [name for name in only if name not in PERTURBATIONS]
    if unknown:
        raise InputError(f"--only {unknown[0]!r}: legal are {', '.join(PERTURBATIONS)}")
    impossible = [name for name in NEED_TRAINING if name in only and not with_training]
    if impossible:
        raise InputError(f"--only {impossible[0]}: mentions come from training files; add --train FILE")
    wanted = only or [name for name in PERTURBATIONS if with_training or name not in NEED_TRAINING]
    return [name for name in PERTURBATIONS if name in wanted]


def measure(
    tag: Tag,
    documents: Sequence[Document],
    names: Sequence[str],
    *,
    seed: int = 0,
    training: Sequence[Document] = (),
) -> list[Robustness]:
    """Scores on the untouched documents, then on each perturbation of them."""
    untouched = evaluate(documents, tag(list(documents))).micro
    rows = [Robustness("untouched", untouched, 0.0, 0, 0)]
    for name in _tracked(names):
        changed = perturb(documents, name, seed=seed, training=training)
        counts = evaluate(changed, tag(changed)).micro
        lost = untouched.f1 - counts.f1
        rows.append(Robustness(name, counts, lost, *_changes(documents, changed)))
    return rows


def _tracked(names: Sequence[str]) -> Iterator[str]:
    yield from track(names, "perturbing", console=Console(stderr=True), transient=True)


def _changes(old: Sequence[Document], new: Sequence[Document]) -> tuple[int, int]:
    """The number of new texts, and of entities in them whose mention is another."""
    texts = {document.text for document in old}
    # Documents that were joined keep their mentions, and have no partner here.
    pairs = [(left, right) for left, right in zip(old, new, strict=False) if left.id == right.id]
    mentions = sum(
        left.mention(before) != right.mention(behind)
        for left, right in pairs
        for before, behind in zip(left.entities, right.entities, strict=True)
    )
    return sum(document.text not in texts for document in new), mentions


def _table(untouched: Robustness, rows: Sequence[Robustness]) -> Table:
    table = Table("texts", caption=_CAPTION)
    for column in ("F1", "lost", "gold", "predicted", "correct", "texts changed", "mentions changed"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_row(*_cells(untouched, lost=""))
    table.add_section()
    for row in rows:
        table.add_row(*_cells(row, lost=f"{100 * row.lost:.1f}"))
    return table


def _cells(row: Robustness, *, lost: str) -> Sequence[str]:
    counts = row.counts
    found = (counts.gold, counts.predicted, counts.true_positives, row.texts_changed, row.mentions_changed)
    return row.name, f"{100 * counts.f1:.1f}", lost, *(f"{number:,}" for number in found)
