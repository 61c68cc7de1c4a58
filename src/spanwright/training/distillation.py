"""Distillation: a student learns the probabilities that larger models, or several seeds, give to spans.

The folder of a distillation is that of the student's run, with the softened documents in `soft`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from spanwright import artifact
from spanwright.errors import InputError
from spanwright.formats.files import stream
from spanwright.formats.format import ReadingLog
from spanwright.formats.io.whole_files import digest_of_files
from spanwright.predicting.softening import LOWEST, Teachers
from spanwright.settings import Settings, check, load_settings
from spanwright.text import Document
from spanwright.training import loop
from spanwright.training.loop import DocumentSource, RunResult
from spanwright.training.processes import refuse_several
from spanwright.training.run_folder import check_folder, has_run
from spanwright.training.selection import Documents, select
from spanwright.training.setup import digest, span_choices
from spanwright.training.soft_files import SoftFile, check_soft_files, make_soft_files, mixed
from spanwright.training.watcher import DistillationWatcher, Silent

GOLD_SHARE = 0.5
"""What annotated documents have of their probabilities from the annotation, unless told otherwise."""


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
    watcher: DistillationWatcher | None = None,
) -> RunResult:
    """Let teachers, which are model directories, soften documents, and train a student on them in `out`.

    `train`, `dev`, `test`, `encoder` and `set` are as in a training. `raw` are files of texts; entities
    that they may have are not looked at. Softened files that are there already are used if they are
    whole and were made from the same teachers, documents and options.
    """
    refuse_several("distill", "softens documents")
    if not 0 <= gold_share <= 1:
        raise InputError(f"the gold share is {gold_share}; expected 0 to 1")
    folder, told = Path(out), watcher or Silent()
    # A distillation that stopped before all files were softened has no run yet: there is none to resume.
    resume = resume and not ((folder / "soft").is_dir() and not has_run(folder))
    check_folder(folder, resume)
    warnings: list[str] = []
    annotated, dev, test = (loop.documents_of(source, warnings) for source in (train, dev, test))
    for warning in warnings:
        told.warned(warning)
    settings = _student(load_settings(student, set or {}, encoder=encoder), annotated, dev, test)
    common = {"teachers": [_model_digest(Path(teacher)) for teacher in teachers], "lowest": lowest}
    files = [_annotated_file(annotated, gold_share, common)]
    files += [_raw_file([Path(path) for path in raw], common, told)] if raw else []
    if resume:
        check_soft_files(folder / "soft", files)
    made = make_soft_files(folder / "soft", files, lambda: Teachers.load(teachers, lowest=lowest), told)
    return loop.train(settings, train=made, dev=dev, test=test, out=folder, resume=resume, watcher=told)


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


def _raw_file(paths: Sequence[Path], common: dict[str, object], told: DistillationWatcher) -> SoftFile:
    def documents(teachers: Teachers) -> Iterator[Document]:
        log = ReadingLog()
        yield from teachers.soften(document for path in paths for document in stream(path, log))
        if log.problems:
            told.warned(f"raw texts: {len(log.problems)} problems in reading, the first: {log.problems[0]}")

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
            f"the training documents have types that the teachers lack: {', '.join(unknown)}; expected are "
            f"the types of the teachers: {', '.join(teachers.types)}"
        )


def _model_digest(folder: Path) -> str:
    artifact.check_files(folder)
    return digest_of_files(folder / name for name in artifact.FILES)
