"""Distillation: a student learns the probabilities that larger models, or several seeds, give to spans.

The folder of a distillation is that of the student's run, with the softened documents in `soft`. Their files
are made once and used again as long as they are whole:

soft/train.jsonl    the annotated documents: a share of each probability is the annotation's
soft/raw.jsonl      texts without annotation: the teachers alone
soft/inputs.json    of each file, what decides its content, and its digest
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from spanwright.devices import AUTO
from spanwright.errors import InputError, counted
from spanwright.formats.files import stream, write
from spanwright.formats.format import ReadingLog
from spanwright.formats.io.locked_folders import locked_folder
from spanwright.formats.io.whole_files import digest_of_files, whole_file
from spanwright.identity import changed_names
from spanwright.predicting.softening import DIGITS, LOWEST, Teachers
from spanwright.settings import Settings, check, load_settings
from spanwright.text import Document, Entity
from spanwright.training import loop
from spanwright.training.loop import RunResult
from spanwright.training.processes import refuse_several
from spanwright.training.resolving import span_choices
from spanwright.training.run_folder import check_folder, digest, has_run
from spanwright.training.selection import Documents, DocumentSource, documents_of, select
from spanwright.training.start import model_digest
from spanwright.training.watcher import DistillationWatcher, Silent

GOLD_SHARE = 0.5
"""What annotated documents have of their probabilities from the annotation, by default."""
_RECORD = "inputs.json"
_DIGEST = "digest"


def distill(
    teachers: Sequence[str | Path],
    student: str | Path | Settings,
    *,
    train: DocumentSource,
    dev: DocumentSource,
    test: DocumentSource = (),
    raw: Sequence[str | Path] = (),
    out: str | Path,
    encoder: str | Path | None = None,
    set: Mapping[str, Any] | None = None,
    gold_share: float = GOLD_SHARE,
    lowest: float = LOWEST,
    resume: bool = False,
    device: str = AUTO,
    watcher: DistillationWatcher | None = None,
) -> RunResult:
    """Let teachers, which are model directories, soften documents, and train a student on them in `out`.

    `train`, `dev`, `test`, `encoder`, `set` and `device` are as in a training. `raw` are files of texts;
    entities that they may have are not looked at. Softened files that are there already are used if they are
    whole and were made from the same teachers, documents and options.
    """
    refuse_several("distill", "softens documents")
    if not 0 <= gold_share <= 1:
        raise InputError(f"the gold share is {gold_share}; expected 0 to 1")
    folder, watching = Path(out), watcher or Silent()
    # A distillation that stopped before all files were softened has no run yet: there is none to resume.
    resume = resume and not ((folder / "soft").is_dir() and not has_run(folder))
    check_folder(folder, resume)
    warnings: list[str] = []
    annotated, dev, test = (documents_of(source, warnings) for source in (train, dev, test))
    for warning in warnings:
        watching.warned(warning)
    settings = _student(load_settings(student, set or {}, encoder=encoder), annotated, dev, test)
    common = {"teachers": [model_digest(teacher) for teacher in teachers], "lowest": lowest}
    files = [_annotated_file(annotated, gold_share, common)]
    files += [_raw_file([Path(path) for path in raw], common, watching)] if raw else []
    if resume:
        check_soft_files(folder / "soft", files)

    def load() -> Teachers:
        return Teachers.load(teachers, lowest=lowest, device=device)

    made = make_soft_files(folder / "soft", files, load, watching)
    return loop.train(
        settings, train=made, dev=dev, test=test, out=folder, resume=resume, device=device, watcher=watching
    )


def _student(settings: Settings, annotated: Documents, dev: Documents, test: Documents) -> Settings:
    """The settings of a student that learns soft targets."""
    values = settings.model_dump(mode="json")
    values["training"]["targets"] = "soft"
    settings = check(values, f"student {settings.name}")
    # Also, what would stop the training is found out before the teachers have worked for hours.
    data = select(settings, annotated, dev, test)
    # The annotation decides what is `auto`: teachers in doubt find wide spans and overlaps in any corpus.
    return settings.model_copy(update=span_choices(settings, data.train, data.target_documents))


def _annotated_file(annotated: Documents, gold_share: float, common: dict[str, object]) -> SoftFile:
    def documents(teachers: Teachers) -> Iterator[Document]:
        _check_types(annotated, teachers)
        for gold, soft in zip(annotated, teachers.soften(annotated), strict=True):
            yield mixed(gold, soft, gold_share)

    inputs = {**common, "gold_share": gold_share, "train": digest(annotated)}
    return SoftFile("train.jsonl", inputs, documents)


def _raw_file(paths: Sequence[Path], common: dict[str, object], watcher: DistillationWatcher) -> SoftFile:
    def documents(teachers: Teachers) -> Iterator[Document]:
        log = ReadingLog()
        yield from teachers.soften(document for path in paths for document in stream(path, log))
        if log.problems:
            watcher.warned(
                f"raw texts: {counted(len(log.problems), 'problem')} in reading, the first: {log.problems[0]}"
            )

    inside = [file for path in paths for file in (sorted(path.rglob("*")) if path.is_dir() else [path])]
    if missing := [file for file in inside if not file.exists()]:
        raise InputError(f"{missing[0]}: no such file or folder")
    digested = digest_of_files(file for file in inside if file.is_file())
    return SoftFile("raw.jsonl", {**common, "raw": digested}, documents)


def _check_types(annotated: Documents, teachers: Teachers) -> None:
    """Refuse annotations of types about which teachers know nothing."""
    found = {entity.type for document in annotated for entity in document.entities}
    if unknown := sorted(found - set(teachers.types)):
        raise InputError(
            f"the training documents have types that the teachers lack: {', '.join(unknown)}; expected "
            f"the types of the teachers: {', '.join(teachers.types)}"
        )


@dataclass(frozen=True, slots=True)
class SoftFile:
    """A file of softened documents that is to be there."""

    name: str
    inputs: dict[str, Any]
    """All that decides its content: plain values, as in JSON."""
    documents: Callable[[Teachers], Iterator[Document]]
    """What goes into it."""


def make_soft_files(
    folder: Path, files: Sequence[SoftFile], load: Callable[[], Teachers], watcher: DistillationWatcher
) -> list[Path]:
    """Write the files that are not there yet, or not whole, or were made from something else.

    Teachers are loaded only if there is something to do.
    """
    with locked_folder(folder):
        record = _read_record(folder)
        missing = [file for file in files if not _is_made(folder, file, record.get(file.name))]
        teachers = load() if missing else None
        for file in missing:
            assert teachers is not None
            path = folder / file.name
            write(_counted(file.documents(teachers), file.name, watcher), path)
            record[file.name] = {**file.inputs, _DIGEST: digest_of_files([path])}
            with whole_file(folder / _RECORD) as partial:
                partial.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    return [folder / file.name for file in files]


def check_soft_files(folder: Path, files: Sequence[SoftFile]) -> None:
    """Refuse to go on with a run whose files were made from something else."""
    record = _read_record(folder)
    for file in files:
        known = record.get(file.name, file.inputs)
        if changed := changed_names(known, file.inputs):
            raise InputError(
                f"{folder / file.name}: the run was started with other {', '.join(changed)}; give the same, "
                f"or choose another --out"
            )


def mixed(gold: Document, soft: Document, share: float) -> Document:
    """An annotated document whose entities have `share` of their probability from the annotation.

    The rest is that of the softened document. What only one of them has is 0 in the other, also an entity
    that no teacher could find, such as one wider than their limits.
    """
    taught = {entity.key: (1 - share) * (entity.confidence or 0.0) for entity in soft.entities}
    found = {entity.key: _likely(entity, taught[entity.key]) for entity in soft.entities}
    found |= {entity.key: _likely(entity, share + taught.get(entity.key, 0.0)) for entity in gold.entities}
    return gold.with_entities(tuple(entity for entity in found.values() if entity.confidence))


def _likely(entity: Entity, probability: float) -> Entity:
    return replace(entity, confidence=round(probability, DIGITS))


def _is_made(folder: Path, file: SoftFile, known: dict[str, Any] | None) -> bool:
    path = folder / file.name
    return path.is_file() and known == {**file.inputs, _DIGEST: digest_of_files([path])}


def _read_record(folder: Path) -> dict[str, Any]:
    try:
        found = json.loads((folder / _RECORD).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _counted(documents: Iterable[Document], name: str, watcher: DistillationWatcher) -> Iterator[Document]:
    """Hand documents on and report how many there were."""
    targets = 0
    for number, document in enumerate(documents, start=1):
        targets += len(document.entities)
        watcher.softened(name=name, documents=number, targets=targets)
        yield document
