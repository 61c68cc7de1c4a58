"""Reading and writing corpus files: the one door between files and documents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial as bound
from itertools import chain
from pathlib import Path
from typing import Any, TextIO, overload

from spanwright.errors import InputError, did_you_mean
from spanwright.formats import bc2gm, plain_text
from spanwright.formats.bioc import json as bioc_json
from spanwright.formats.bioc import xml as bioc_xml
from spanwright.formats.brat import documents as brat
from spanwright.formats.columns import documents as columns
from spanwright.formats.format import Format, Problem, ReadingLog
from spanwright.formats.genia import jsonl as genia_jsonl
from spanwright.formats.genia import xml as genia_xml
from spanwright.formats.io.file_names import FoundFile, found_file
from spanwright.formats.io.lines import read_head
from spanwright.formats.io.opening import bare_path, is_compressed
from spanwright.formats.io.whole_files import whole_file
from spanwright.formats.io.whole_folders import filled_folder
from spanwright.formats.json import conll04, scierc
from spanwright.formats.json import documents as jsonl
from spanwright.formats.offsets import MentionCounts
from spanwright.formats.pubtator import documents as pubtator
from spanwright.formats.spacy import documents as docbin
from spanwright.formats.tables import entity_rows, parquet
from spanwright.formats.tools import argilla, cas, doccano, label_studio, prodigy
from spanwright.formats.unwritable import Unwritable
from spanwright.frames import frame
from spanwright.outside import Known
from spanwright.text import Document

_OWN = (
    parquet,
    docbin,
    prodigy,
    doccano,
    jsonl,
    genia_jsonl,
    scierc,
    conll04,
    label_studio,
    argilla,
    bioc_json,
    bioc_xml,
    genia_xml,
    cas,
    bc2gm,
    pubtator,
    brat,
    columns,
    plain_text,
)
_SHOWN = 10
"""Documents of a corpus that a notebook shows."""
FORMATS: Mapping[str, Format] = Known(
    {module.FORMAT.name: module.FORMAT for module in _OWN}, group="spanwright.formats", expected=Format
)
"""In the order in which they are tried on an unknown file: the strictest tests first, and formats of other
packages after ours."""
TABLES = {table.name: table for table in (entity_rows.CSV, entity_rows.TSV)}
"""Tables of entities, which are only written."""
FOLDERS = tuple(module.FORMAT.name for module in _OWN if module.FORMAT.is_folder)
"""Formats that are written as folders."""


@dataclass(frozen=True, slots=True)
class Corpus(Sequence[Document]):
    """Documents read into memory, as a sequence, and the log of their reading."""

    documents: list[Document]
    log: ReadingLog

    @property
    def problems(self) -> list[Problem]:
        """What could not be read as it stands, with file, line and reason."""
        return self.log.problems

    def check_to_train(self) -> None:
        """Refuse files most of whose mentions are not what stands at their offsets."""
        if self.log.misplaced:
            raise InputError(self.log.misplaced[0])

    def to_frame(self) -> Any:
        """A table of pandas with a row for each entity."""
        names = ("document", "start", "end", "type", "mention", "confidence", "concepts")
        rows = (
            (
                document.id,
                each.start,
                each.end,
                each.type,
                document.mention(each),
                each.confidence,
                each.concepts,
            )
            for document in self
            for each in document.entities
        )
        return frame(rows, names)

    def _repr_html_(self) -> str:
        """What a notebook shows: the first documents, with their entities as brackets."""
        from spanwright.drawing import display

        return display(self.documents[:_SHOWN])

    def __len__(self) -> int:
        return len(self.documents)

    def __iter__(self) -> Iterator[Document]:
        return iter(self.documents)

    @overload
    def __getitem__(self, index: int) -> Document: ...

    @overload
    def __getitem__(self, index: slice) -> list[Document]: ...

    def __getitem__(self, index: int | slice) -> Document | list[Document]:
        return self.documents[index]


def read(
    *paths: str | Path | FoundFile,
    format: str | None = None,
    options: Mapping[str, str] | None = None,
    strict: bool = False,
    to_train: bool = False,
) -> Corpus:
    """Read corpus files into memory.

    The format is recognised from each file unless given; `options` are choices of that format. What cannot
    be read is in `problems`; with `strict`, the first of them is raised as an error. With `to_train`, a
    file is refused if most of the mentions that it gives are not what stands at their offsets.
    """
    log = ReadingLog()
    documents = [document for path in paths for document in stream(path, log, format=format, options=options)]
    if strict and log.problems:
        raise InputError(f"{log.problems[0]} (the first of {len(log.problems)})")
    corpus = Corpus(documents, log)
    if to_train:
        corpus.check_to_train()
    return corpus


def stream(
    path: str | Path | FoundFile,
    log: ReadingLog,
    *,
    format: str | None = None,
    options: Mapping[str, str] | None = None,
) -> Iterator[Document]:
    """Yield the documents of one file or folder one by one; problems and counts go into the log."""
    path, folder = found_file(path)
    chosen = reader_of(path, format)
    values = _parsed(chosen.name, chosen.options, options or {})
    if folder is not None and chosen.takes_folder:
        values["folder"] = folder
    return _accepted(path, chosen, values, log)


def _accepted(path: Path, format: Format, options: dict[str, Any], log: ReadingLog) -> Iterator[Document]:
    log.mentions = MentionCounts(options.get("offsets", "characters"))
    try:
        for document in format.read(path, log, **options):
            yield log.accept(document)
        log.conclude(path)
    except IsADirectoryError:
        raise InputError(f"{path}: a folder, but the format {format.name!r} is one file") from None


def _parsed(
    format: str, known: Mapping[str, Callable[[str], Any]], options: Mapping[str, str], to: str = ""
) -> dict[str, Any]:
    """The values of a format's options."""
    values: dict[str, Any] = {}
    for name, text in options.items():
        if name not in known:
            listed = ", ".join(known) or "none"
            near = did_you_mean(name, known)
            raise InputError(f"the format {format!r} has no option {name!r}{to}{near}; expected: {listed}")
        try:
            values[name] = known[name](text)
        except ValueError as error:
            raise InputError(f"option {name}={text!r} of the format {format!r}: {error}") from None
    return values


def reader_of(path: Path, format: str | None = None) -> Format:
    """The format to read a path with: the one named, else the one recognised from the file."""
    if not path.exists():
        raise InputError(f"{path}: no such file or folder")
    chosen = _recognised(path) if format is None else named(format)
    if chosen.name in TABLES:
        entity_rows.refuse(path)
    if is_compressed(path) and not path.is_dir() and not chosen.compressible:
        raise InputError(
            f"{path}: files of the format {chosen.name!r} cannot be read compressed; expected "
            f"{bare_path(path).name}: decompress it first"
        )
    return chosen


def _recognised(path: Path) -> Format:
    head = "" if path.is_dir() else read_head(path)
    for candidate in chain(TABLES.values(), FORMATS.values()):
        if candidate.recognises(path if path.is_dir() else bare_path(path), head):
            return candidate
    raise InputError(
        f"{path}: the format was not recognised; expected one of {', '.join(FORMATS)}", choice="input format"
    )


def named(name: str) -> Format:
    """The format of that name."""
    if name in TABLES:
        return TABLES[name]
    if name not in FORMATS:
        known = (*FORMATS, *TABLES)
        raise InputError(f"unknown format {name!r}{did_you_mean(name, known)}; expected {', '.join(known)}")
    return FORMATS[name]


def with_options(format: Format, options: Mapping[str, str]) -> Format:
    """A format whose writing is bound to options."""
    values = _parsed(format.name, format.writing_options, options, " to write with")
    if not values or format.serialise is None:
        return format
    own_unwritable = bound(format.own_unwritable, **values)
    return replace(format, serialise=bound(format.serialise, **values), own_unwritable=own_unwritable)


def writer_for(path: Path, format: str | Format | None = None) -> Format:
    """The format to write a path in: the one given or named, else by the ending of the path."""
    if isinstance(format, Format):
        return format
    if format is not None:
        return named(format)
    # Tables first: `.entities.tsv` ends as column files do.
    # One by one, as formats of other packages are imported when they are looked at.
    for candidate in chain(TABLES.values(), FORMATS.values()):
        if path.name.lower().endswith(candidate.suffixes):
            return candidate
    known = chain(FORMATS.values(), TABLES.values())
    endings = ", ".join(f"{' '.join(each.suffixes)} ({each.name})" for each in known if each.suffixes)
    raise InputError(
        f"{path}: the ending does not say which format it is; expected {endings}, or the name of a format",
        choice="output format",
    )


def check_place(path: Path, format: Format) -> None:
    """Refuse a compressed file, a folder for a format that is one file, and a file for a folder's."""
    if is_compressed(path):
        raise InputError(f"{path}: files are written uncompressed; expected {bare_path(path).name}")
    if path.is_dir() and not format.is_folder:
        example = path / f"documents{next(iter(format.suffixes), '')}"
        raise InputError(
            f"{path}: a folder, but the format {format.name!r} is one file; expected a file, such as "
            f"{example}"
        )
    if format.is_folder and path.exists() and not path.is_dir():
        raise InputError(f"{path}: no folder, but the format {format.name!r} is one; expected a folder")


def check_streamable(format: Format) -> None:
    """Refuse a format that is no text, or several files."""
    if format.serialise is None:
        raise InputError(
            f"the format {format.name!r} is a folder or a binary file and cannot go to a stream of text",
            choice="output",
        )


def write(
    documents: Iterable[Document],
    path: str | Path,
    *,
    format: str | Format | None = None,
    options: Mapping[str, str] | None = None,
    lossy: bool = False,
    unwritable: list[Unwritable] | None = None,
) -> None:
    """Write documents to a file, or to a folder for formats of several files.

    `options` are choices of the format that is written, such as `{"layers": "4"}` for column files.
    What the format cannot express (nested entities in a column file, say) is an error that names the
    entity, unless `lossy`: then it is left out and a line for each goes into `unwritable`. By-products
    (confidences, metadata, annotation notes, names of corpora) need no leave, but go into `unwritable`, too.
    A file appears under its name only when it is complete.
    """
    path = Path(path)
    target = with_options(writer_for(path, format), options or {})
    check_place(path, target)
    if target.serialise_folder is not None:
        _write_folder(_expressible(documents, target, lossy, unwritable), path, target)
    elif target.write is not None:
        target.write(_expressible(documents, target, lossy, unwritable), path)
    else:
        with whole_file(path) as partial, partial.open("w", encoding="utf-8", newline="") as file:
            write_stream(documents, file, target, lossy=lossy, unwritable=unwritable)


def write_stream(
    documents: Iterable[Document],
    stream: TextIO,
    format: Format,
    *,
    lossy: bool = False,
    unwritable: list[Unwritable] | None = None,
) -> None:
    """Write documents to an open text stream as they come; what is unwritable is treated as by `write`."""
    check_streamable(format)
    assert format.serialise is not None
    for chunk in format.serialise(_expressible(documents, format, lossy, unwritable)):
        stream.write(chunk)


def _expressible(
    documents: Iterable[Document], format: Format, lossy: bool, unwritable: list[Unwritable] | None
) -> Iterator[Document]:
    for document in documents:
        for line in format.unwritable(document):
            if line.needs_leave and not lossy:
                raise InputError(
                    f"{format.name} cannot express {line}; choose another format{_other_options(format)} or "
                    f"let it be {line.fate}",
                    choice="losses",
                )
            if unwritable is not None:
                unwritable.append(line)
        yield document


def _other_options(format: Format) -> str:
    names = ", ".join(format.writing_options)
    return f", other options ({names}) of `spanwright corpus convert --out-option`" if names else ""


def _write_folder(documents: Iterable[Document], folder: Path, format: Format) -> None:
    if format.serialise_folder is None:
        raise InputError(f"the format {format.name!r} is written as one file")
    written: set[str] = set()
    with filled_folder(folder) as partial:
        for document in documents:
            for name, text in format.serialise_folder(document):
                if name in written:
                    raise InputError(
                        f"{folder / name}: two documents have the id {document.id!r}; expected distinct ids"
                    )
                written.add(name)
                (partial / name).write_text(text, encoding="utf-8", newline="")
