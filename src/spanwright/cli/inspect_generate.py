"""`spanwright inspect generate`: what the auto-encoders of a model write from entities."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from spanwright.cli.devices import Device, shown_choice
from spanwright.cli.reading import FORMAT_HELP, read_and_report, reported
from spanwright.cli.tables.inspections import writing_scores_table, written_spans_table
from spanwright.devices import AUTO
from spanwright.errors import InputError
from spanwright.lexicons import read_lexicon
from spanwright.lexicons.synonyms import Synonyms
from spanwright.text import Document

if TYPE_CHECKING:
    from spanwright.analysis import GenerationScores, WrittenSpan
    from spanwright.artifact import TrainedModel


_Model = Annotated[
    Path,
    typer.Argument(help="A model directory, such as RUN/model, trained with auxiliaries.span_vae.keep=true."),
]
_Text = Annotated[list[str] | None, typer.Option(help="A text to find entities in; may be repeated.")]
_File = Annotated[
    list[Path] | None, typer.Option(help="A file or folder to find entities in; may be repeated.")
]
_Gold = Annotated[
    list[Path] | None,
    typer.Option(help="Files whose gold entities are written again and scored; may be repeated."),
]
_Lexicon = Annotated[
    list[Path] | None,
    typer.Option(help="With --gold: a lexicon whose synonyms count as right; may be repeated."),
]
_CorpusIds = Annotated[
    list[Path] | None,
    typer.Option(
        help="With --gold: training documents, whose mentions of one concept id are synonyms; may be "
        "repeated."
    ),
]


def generate_command(
    model: _Model,
    text: _Text = None,
    file: _File = None,
    gold: _Gold = None,
    lexicon: _Lexicon = None,
    corpus_ids: _CorpusIds = None,
    format: Annotated[str | None, typer.Option(help=f"Format of all documents: {FORMAT_HELP}.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the texts and scores as JSON.")] = False,
    device: Device = AUTO,
) -> None:
    """Write the entities of texts again, and synonyms of them, with a model that keeps its auto-encoders.

    With --gold, BLEU-2 says how well: reconstructions against the words of the entity, synonyms against
    those of the lexicons and concept ids, or the words of the entity where these know none.

    Example: spanwright inspect generate runs/joint-ib/model --text "familial breast cancer was found"

    Example: spanwright inspect generate runs/joint-ib/model --gold dev.pubtator --corpus-ids train.pubtator
    """
    _check_call(bool(text or file), bool(gold), bool(lexicon or corpus_ids))
    documents = _documents(text or (), [*(file or ()), *(gold or ())], format)
    synonyms = _synonyms(lexicon or (), corpus_ids or (), format)

    from spanwright import artifact
    from spanwright.analysis import left_out, rewritten, score_written

    loaded = artifact.load(model, shown_choice(device))
    _check_model(loaded, bool(lexicon or corpus_ids))
    with Console(stderr=True).status("writing entities"):
        entities = documents if gold else _tagged(loaded, documents)
        written = rewritten(loaded, entities, synonyms)
    scores = score_written(written, loaded.vocabulary) if gold else None
    missing = left_out(entities, written)
    _tell(missing, written, scores)
    if as_json:
        answer: dict[str, Any] = {"scores": scores.to_dict()} if scores else {}
        answer |= {"left_out": missing, "spans": [_plain(each) for each in written]}
        typer.echo(json.dumps(answer, indent=2, ensure_ascii=False))
    else:
        Console().print(writing_scores_table(scores) if scores else written_spans_table(written))


def _check_call(texts: bool, gold: bool, sources: bool) -> None:
    if texts == gold:
        raise InputError(
            f"found {'--gold beside --text or --file' if gold else 'nothing to write'}; expected --gold "
            f"FILE, or --text TEXT and --file FILE in any number"
        )
    if sources and not gold:
        raise InputError("--lexicon and --corpus-ids say what is right; give them with --gold FILE")


def _check_model(model: TrainedModel, sources: bool) -> None:
    """Refuse a model that cannot write what is asked for."""
    from spanwright.analysis import writes_synonyms

    learnt = writes_synonyms(model)
    if sources and not learnt:
        raise InputError(
            "this model never learnt synonyms (auxiliaries.span_vae.synonyms is empty); leave out --lexicon "
            "and --corpus-ids"
        )


def _documents(texts: Sequence[str], files: Sequence[Path], format: str | None) -> list[Document]:
    given = [Document(f"text-{number}", text, generated_id=True) for number, text in enumerate(texts, 1)]
    return given + (read_and_report(files, format=format).documents if files else [])


def _synonyms(lexicons: Sequence[Path], corpus_ids: Sequence[Path], format: str | None) -> Synonyms:
    annotated = read_and_report(corpus_ids, format=format).documents if corpus_ids else ()
    return Synonyms(annotated, [reported(read_lexicon(path)) for path in lexicons])


def _tagged(model: TrainedModel, documents: Sequence[Document]) -> list[Document]:
    from spanwright.predicting.tagger import Tagger

    return list(Tagger(model).tag(documents))


def _tell(missing: int, written: Sequence[WrittenSpan], scores: GenerationScores | None) -> None:
    """Say on stderr what the numbers do not count."""
    if missing:
        typer.echo(
            f"note: spans of entities that are not candidates of the model, left out: {missing:,}", err=True
        )
    if scores and not scores.synonyms and any(each.synonym is not None for each in written):
        typer.echo(
            "note: synonyms are not scored, as no span has any to compare with; sources of synonyms are "
            "--lexicon FILE and --corpus-ids FILE",
            err=True,
        )


def _plain(written: WrittenSpan) -> dict[str, Any]:
    """A written span for JSON."""
    return {
        "document": written.document,
        "start": written.start,
        "end": written.end,
        "text": written.text,
        "types": written.types,
        "reconstruction": " ".join(written.reconstruction),
        "synonym": None if written.synonym is None else " ".join(written.synonym),
    }
