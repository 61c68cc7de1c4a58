"""`spanwright link`: which concept of a lexicon each entity means."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from spanwright.cli.linking import LexiconFiles, LinkCounts, NumberPrefix, check_types, read_lexicons
from spanwright.cli.reading import (
    FormatOfAll,
    InputOptions,
    Lossy,
    OutputFormat,
    read_and_report,
    report,
    report_unwritable,
    streamed,
)
from spanwright.errors import InputError, counted
from spanwright.formats.files import write, writer_for
from spanwright.formats.format import ReadingLog
from spanwright.formats.unwritable import Unwritable
from spanwright.linking.building import STEPS
from spanwright.text import Document

if TYPE_CHECKING:
    from spanwright.linking.linker import Linker

_Inputs = Annotated[
    list[Path] | None,
    typer.Argument(help="Files or folders with entities, in any format; their concepts are replaced."),
]
_Output = Annotated[Path | None, typer.Option(help="Output file, or a folder for brat.")]
_FromCorpus = Annotated[
    list[Path] | None,
    typer.Option(help="A corpus with concept ids, whose mentions are names as well; may be repeated."),
]
_Calibrate = Annotated[
    list[Path] | None,
    typer.Option(help="A corpus with concept ids, none of the above, to fit confidences to; repeatable."),
]
_Encoder = Annotated[
    str | None,
    typer.Option(help="An encoder, such as minilm, to compare names by vectors, too; it is trained on them."),
]
_Saved = Annotated[
    Path | None, typer.Option(metavar="FOLDER", help="A linker that --save has written, to use as it is.")
]
_Save = Annotated[
    Path | None, typer.Option(metavar="FOLDER", help="Write the linker to a folder, to use it again.")
]
_Minimum = Annotated[
    float | None,
    typer.Option(min=0, max=1, help="Below this confidence the answer is: no concept. Unless given, 0."),
]


def link_command(
    inputs: _Inputs = None,
    lexicon: LexiconFiles = None,
    out: _Output = None,
    to: OutputFormat = None,
    from_corpus: _FromCorpus = None,
    linker: _Saved = None,
    save: _Save = None,
    encoder: _Encoder = None,
    encoder_steps: Annotated[int, typer.Option(min=0, help="Steps of training of the encoder.")] = STEPS,
    seed: Annotated[int, typer.Option(help="Of the training of the encoder.")] = 0,
    calibrate: _Calibrate = None,
    minimum_confidence: _Minimum = None,
    candidates: Annotated[
        bool, typer.Option("--candidates", help="Also write all candidates, with scores and confidences.")
    ] = False,
    number_prefix: NumberPrefix = "",
    format: FormatOfAll = None,
    option: InputOptions = None,
    lossy: Lossy = False,
) -> None:
    """Give each entity the concept of a lexicon that it means.

    Example: spanwright link tagged.jsonl --lexicon medic.txt:Disease --out linked.pubtator
    """
    if bool(inputs) != (out is not None) or not (inputs or save):
        raise InputError("give files to link and --out, or --save alone to build a linker")
    target = writer_for(out, to).name if out is not None else ""
    training = read_and_report(from_corpus).documents if from_corpus else []
    made = _linker(lexicon or [], training, linker, encoder, encoder_steps, seed, number_prefix)
    if calibrate:
        from spanwright.linking.building import calibrated

        made = calibrated(made, read_and_report(calibrate).documents)
    if minimum_confidence is not None:
        made.minimum_confidence = minimum_confidence
    if save is not None:
        _save(made, save)
    if inputs and out is not None:
        _link(made, inputs, out, target, format, option or (), candidates=candidates, lossy=lossy)


def _linker(
    lexicon: list[str],
    training: list[Document],
    saved: Path | None,
    encoder: str | None,
    steps: int,
    seed: int,
    number_prefix: str,
) -> Linker:
    from spanwright.linking.building import EncoderOptions, build_linker, digest_of
    from spanwright.linking.saved import load_linker

    if not lexicon and saved is None and not training:
        raise InputError("nothing to link to; name a lexicon with --lexicon FILE:TYPE, or a --linker FOLDER")
    names = read_lexicons(lexicon, number_prefix=number_prefix)
    if saved is not None:
        if encoder is not None:
            raise InputError("--encoder is for a linker that is built; a saved one has its own or none")
        return load_linker(saved, digest=digest_of(names, training) if lexicon or training else None)
    options = EncoderOptions(name=encoder, steps=steps, seed=seed) if encoder is not None else None
    return build_linker(names, documents=training, encoder=options, tell=_tell(steps))


def _tell(steps: int) -> Callable[[int, float], None]:
    """Tells of every fiftieth step of a training."""

    def tell(step: int, loss: float) -> None:
        if (step + 1) % 50 == 0 or step + 1 == steps:
            typer.echo(f"encoder of names: step {step + 1} of {steps}, loss {loss:.3f}", err=True)

    return tell


def _save(linker: Linker, folder: Path) -> None:
    from spanwright.linking.saved import save_linker

    save_linker(linker, folder)
    names = sum(len(index.named) for index in linker.indexes.values())
    typer.echo(f"{folder}: a linker with {counted(names, 'name')}")


def _link(
    linker: Linker,
    inputs: list[Path],
    out: Path,
    to: str,
    format: str | None,
    option: Sequence[str],
    *,
    candidates: bool,
    lossy: bool,
) -> None:
    log, counts = ReadingLog(), LinkCounts(linker)
    unwritable: list[Unwritable] = []
    with streamed(inputs, log, format=format, options=option) as documents:
        linked = _checked(counts, linker.link(documents, candidates=candidates))
        with closing(linked):
            write(linked, out, format=to, lossy=lossy, unwritable=unwritable)
    report(log)
    report_unwritable(unwritable)
    counts.tell_others()
    typer.echo(f"{out}: {counted(log.documents_read, 'document')}; {counts}")


def _checked(counts: LinkCounts, documents: Iterator[Document]) -> Generator[Document, None, None]:
    """The linked documents; before any is written, a lexicon for other types than theirs is refused."""
    waiting: list[Document] = []
    for document in counts.counting(documents):
        waiting.append(document)
        if any(map(counts.linker.serves, counts.types)):
            yield from waiting
            waiting.clear()
    check_types(counts.linker, list(counts.types), "--lexicon")
    yield from waiting
