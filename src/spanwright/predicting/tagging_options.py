"""The options of tagging, whoever tags: one command at once, the processes of a job, the workers of Spark."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from spanwright.devices import AUTO, Precision, chosen_device, gpu_count
from spanwright.model_files.folders import located, model_folder, usual_runtime
from spanwright.text import Document

if TYPE_CHECKING:
    from spanwright.predicting.onnx.files import Runtime
    from spanwright.predicting.tagger import Tagger


@dataclass(frozen=True, slots=True, kw_only=True)
class TaggingOptions:
    """Which model tags, what it answers with, and how the answers are written."""

    model: str
    runtime: Runtime | None = None
    """What runs the network; as the model has it where None."""
    device: str = AUTO
    """What runs it: auto, cpu, cuda, cuda:N or mps."""
    precision: Precision = "float32"
    """In which the Transformer blocks compute."""
    threads: int | None = 1
    """Of the network in this process, which is one of several by default; None leaves them as they are."""
    types: Mapping[str, str] = field(default_factory=dict)
    """Descriptions of more types to look for."""
    corpus: str | None = None
    shared_types: bool = False
    minimum_confidence: float = 0.0
    tuned_thresholds: bool = False
    format: str = "jsonl"
    lossy: bool = False


def dealt(options: TaggingOptions, number: int) -> TaggingOptions:
    """The options of one of several processes, which take the GPUs of a machine in turns."""
    return replace(options, device=dealt_device(options.model, options.runtime, options.device, number))


def dealt_device(model: str | Path, runtime: str | None, asked: str, number: int) -> str:
    """The device that a model has in one of several processes; graphs have no choice."""
    if number == 0 or not _runs_torch(model, runtime):
        return asked
    return str(chosen_device(asked, number=number))


def usual_processes(options: TaggingOptions) -> int:
    """How many processes use a machine well: one for each GPU, or else for each core."""
    gpus = gpu_count(options.device) if _runs_torch(options.model, options.runtime) else 0
    return gpus or os.cpu_count() or 1


def _runs_torch(model: str | Path, runtime: str | None) -> bool:
    return (runtime or usual_runtime(located(model))) == "torch"


def load_tagger(options: TaggingOptions) -> Tagger:
    """The tagger that obeys these options, after setting the threads; an error if it cannot obey them."""
    model_folder(options.model)  # an error before anything is imported, if there is none

    from spanwright.predicting.tagger import load

    tagger = load(
        options.model,
        options.runtime,
        device=options.device,
        precision=options.precision,
        threads=options.threads,
    )
    if options.types:
        tagger = tagger.with_types(options.types)
    if options.corpus is not None or options.shared_types:
        tagger = tagger.answering(corpus=options.corpus, shared_types=options.shared_types)
    list(tag_documents(tagger, [], options))
    return tagger


def tag_documents(
    tagger: Tagger, documents: Iterable[Document], options: TaggingOptions
) -> Iterator[Document]:
    """Tag a stream of documents with the options that a tagger takes again each time."""
    return tagger.tag(
        documents, minimum_confidence=options.minimum_confidence, tuned_thresholds=options.tuned_thresholds
    )
