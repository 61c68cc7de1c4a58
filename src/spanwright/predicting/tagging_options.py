"""The options of tagging, whoever tags: one command at once, the processes of a job, the workers of Spark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

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
    threads: int | None = 1
    """Of torch in this process, which is one of several unless told; None leaves them as they are."""
    types: Mapping[str, str] = field(default_factory=dict)
    """Descriptions of more types to look for."""
    corpus: str | None = None
    shared_types: bool = False
    minimum_confidence: float = 0.0
    tuned_thresholds: bool = False
    format: str = "jsonl"
    lossy: bool = False


def load_tagger(options: TaggingOptions) -> Tagger:
    """The tagger that obeys these options, after setting the threads; an error if it cannot obey them."""
    import torch

    from spanwright.predicting.tagger import load

    if options.threads is not None:
        torch.set_num_threads(options.threads)
    tagger = load(options.model, options.runtime)
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
