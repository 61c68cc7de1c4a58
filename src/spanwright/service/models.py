"""The models that are served: their names, what they tell of themselves, which requests they can answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spanwright.devices import AUTO
from spanwright.errors import InputError
from spanwright.linking.linker import Linker
from spanwright.model_files.digests import WEIGHTS
from spanwright.model_files.folders import model_folder
from spanwright.model_files.tagging_model import TaggingModel
from spanwright.palette import colour_numbers
from spanwright.predicting.onnx.loading import GraphModel
from spanwright.predicting.tagger import Tagger, load
from spanwright.predicting.tagging_options import dealt_device
from spanwright.service.batching import Batcher
from spanwright.service.messages import FieldError, ModelAnswer, TagRequest
from spanwright.service.metrics import Metrics
from spanwright.text import Document

_MODEL_FOLDER = "model"
"""The folder of the model in a run: the run's own name says more."""


@dataclass(frozen=True, slots=True)
class ServedModel:
    """A model with its name, and the thread that tags with it."""

    name: str
    tagger: Tagger
    batcher: Batcher
    linker: Linker | None = None

    @property
    def reads_descriptions(self) -> bool:
        """Whether requests may bring types of their own."""
        return self.tagger.model.settings.scorer.reads_descriptions

    def about(self, *, default: bool) -> ModelAnswer:
        """What a client can ask of it."""
        return about_model(self.name, self.tagger.model, links=self.linker is not None, default=default)

    def check(self, request: TagRequest) -> None:
        """Refuse a request that this model cannot answer, by the field that asks too much."""
        model = self.tagger.model
        if request.types and not self.reads_descriptions:
            raise FieldError(
                ("types",), f"the model {self.name!r} reads no descriptions, so it knows its own types only"
            )
        if request.tuned_thresholds and not model.tuned:
            raise FieldError(
                ("tuned_thresholds",),
                f"the model {self.name!r} has none; expected false, with minimum_confidence or thresholds",
            )
        if request.link and self.linker is None:
            raise FieldError(
                ("link",), "the service has no linker; expected false, or a service of `serve --link LEXICON`"
            )
        known = {*model.labels.types, *request.types}
        for name in request.thresholds:
            if name not in known:
                raise FieldError(("thresholds", name), f"no such type; expected {', '.join(sorted(known))}")
        if request.corpus is not None and request.corpus not in model.labels.corpora:
            expected = ", ".join(model.labels.corpora) or "none, as the model has one corpus"
            raise FieldError(("corpus",), f"no such corpus of {self.name!r}; expected: {expected}")

    def kept(self, document: Document, request: TagRequest) -> Document:
        """The document with those entities that are confident enough for a request."""
        model = self.tagger.model
        corpus = model.labels.corpus_id(document.corpus)

        def lowest(type_: str) -> float:
            tuned = model.threshold(type_, corpus) if request.tuned_thresholds else 0.0
            return max(request.minimum_confidence, request.thresholds.get(type_, 0.0), tuned)

        limits = {type_: lowest(type_) for type_ in {entity.type for entity in document.entities}}
        return document.with_entities(
            tuple(e for e in document.entities if (e.confidence or 0.0) >= limits[e.type])
        )

    def linked(self, documents: Sequence[Document]) -> list[Document]:
        """The documents with the concepts of their entities, and all about their links in notes."""
        assert self.linker is not None
        return list(self.linker.link(documents, candidates=True))


def about_model(name: str, model: TaggingModel[Any], *, links: bool, default: bool) -> ModelAnswer:
    """What a model tells of itself under a name."""
    return ModelAnswer(
        name=name,
        recipe=model.settings.name,
        description=model.settings.description,
        types=list(dict.fromkeys(model.labels.types)),
        colours=colour_numbers(model.labels.types),
        reads_descriptions=model.settings.scorer.reads_descriptions,
        corpora=list(model.labels.corpora),
        links=links,
        calibrated=model.calibration is not None,
        tuned_thresholds=model.tuned,
        scores=model.facts.get("scores", {}),
        default=default,
    )


def named_paths(arguments: Sequence[str]) -> dict[str, Path]:
    """Models by name: from `NAME=PATH`, else the folder's name, or that of the run it is in."""
    pairs = [_named_path(argument) for argument in arguments]
    twice = [name for name, count in Counter(name for name, _ in pairs).items() if count > 1]
    if twice:
        raise InputError(
            f"two models have the name {twice[0]!r}; give each its own as NAME=PATH, "
            f"such as {twice[0]}-2={pairs[-1][1]}"
        )
    return dict(pairs)


def _named_path(argument: str) -> tuple[str, Path]:
    name, equals, path = argument.partition("=")
    if equals and name and path and not Path(argument).exists():
        return name, Path(path)
    return served_name(Path(argument)), Path(argument)


def served_name(path: Path) -> str:
    """The name of a folder, or that of the run it is in."""
    folder = path.resolve()
    return (folder.parent.name if folder.name == _MODEL_FOLDER else folder.name) or str(path)


def load_models(
    paths: Mapping[str, Path],
    metrics: Metrics,
    *,
    requests: int,
    batch_words: int,
    runtime: str | None = None,
    device: str = AUTO,
    precision: str = "float32",
    threads: int | None = None,
    worker: int = 0,
    map_weights: bool = False,
    linker: Linker | None = None,
) -> list[ServedModel]:
    """Load models, each with a thread of its own; the first is the default.

    A linker serves all of them. Several workers, told apart by their numbers, take GPUs in turns. With
    `map_weights`, all processes that serve a model on the processor have one copy of its weights in memory.
    """
    options: dict[str, Any] = {"precision": precision, "threads": threads}
    options |= {} if runtime is None else {"runtime": runtime}
    # All of them before any thread is started: a wrong path shall leave nothing behind.
    taggers = {
        name: load(path, device=dealt_device(path, runtime, device, worker), **options)
        for name, path in paths.items()
    }
    if map_weights:
        for name, tagger in taggers.items():
            if not isinstance(tagger.model, GraphModel) and tagger.device.type == "cpu":
                use_mapped_weights(tagger, paths[name])
    return [
        serve_with(name, tagger, metrics, requests=requests, batch_words=batch_words, linker=linker)
        for name, tagger in taggers.items()
    ]


def use_mapped_weights(tagger: Tagger, folder: Path) -> None:
    """Put weights that are mapped from the model's file in the place of equal ones of this process's own.

    The file must not be written over meanwhile; `spanwright train` replaces it whole, which does no harm.
    """
    import safetensors.torch

    mapped = safetensors.torch.load_file(model_folder(folder) / WEIGHTS)
    for name, own in tagger.model.network.named_parameters():
        stored = mapped.get(name)
        if stored is not None and (stored.shape, stored.dtype) == (own.shape, own.dtype):
            own.data = stored


def serve_with(
    name: str,
    tagger: Tagger,
    metrics: Metrics,
    *,
    requests: int,
    batch_words: int,
    linker: Linker | None = None,
) -> ServedModel:
    """A tagger as a served model, whose work is counted."""
    tagger.tag("The first text takes longer than all others.")
    batcher = Batcher(
        tagger,
        requests=requests,
        batch_words=batch_words,
        on_batch=lambda figures: metrics.count_batch(name, figures),
    )
    metrics.watch(name, lambda: batcher.length, lambda: batcher.busy_seconds)
    return ServedModel(name, tagger, batcher, linker)
