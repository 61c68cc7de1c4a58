"""The tagger: documents in, documents with entities out, as a stream."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar, overload

import numpy as np

from spanwright.arrays import Floats, Integers
from spanwright.batches.batch import Array, Batch
from spanwright.batches.collate import collate
from spanwright.batches.order import with_least_work
from spanwright.batches.predictions import Predictions
from spanwright.batches.prepare import PreparedDocument, prepare_in_steps, window_lengths, windows_of
from spanwright.batches.steps import Steps, finished
from spanwright.devices import AUTO, AnyDevice, Precision, refuse_for_graphs
from spanwright.errors import InputError, did_you_mean, needing
from spanwright.labels import LabelSpace
from spanwright.lexicons import Lexicon
from spanwright.linking.building import build_linker
from spanwright.linking.linker import Linker
from spanwright.model_files.folders import model_folder, usual_runtime
from spanwright.model_files.tagging_model import TaggingModel
from spanwright.predicting.ahead import results_in_order
from spanwright.predicting.found import Found, Reporting
from spanwright.predicting.onnx.files import Runtime, check_runtime
from spanwright.predicting.onnx.loading import has_all_graphs, load_graphs
from spanwright.text import Document

Item = TypeVar("Item")
Texts = Iterable[Document] | list[str] | Iterator[str]

_FIRST_CHUNK = 4_000
"""Characters of the first documents of a stream that are worked through together, so that answers come at
once; of the next, twice as many, until there are as many as a device can use."""
_SORTED_WINDOWS = 2048
"""Windows of such documents that are sorted by length together; the others are not made before."""


def load(
    model: str | Path,
    runtime: Runtime | None = None,
    *,
    device: str = AUTO,
    precision: Precision = "float32",
    threads: int | None = None,
) -> Tagger:
    """Load a model directory, or the installed model of that name, ready to tag text.

    The runtimes `onnx` and `onnx-int8` run graphs that `spanwright export` makes, by onnxruntime and without
    torch. Unless named, the runtime is the one that an export was made for, or `onnx` where there are graphs,
    or else `torch`.

    With `torch`, the network runs on a device, by default a GPU where there is one (docs/devices.md), and
    its Transformer blocks compute in a precision of `float32`, `bf16` or `fp16`.

    Threads are those of the network, by default as many as there are cores.
    """
    if runtime is not None:
        check_runtime(runtime)  # before anything is looked for
    folder = model_folder(model)
    chosen = check_runtime(runtime or usual_runtime(folder))
    if chosen != "torch":
        refuse_for_graphs(device, precision)
        if has_all_graphs(folder, chosen):
            return Tagger(load_graphs(folder, chosen, threads))
    with needing("a model without graphs of its whole network, or the runtime torch,"):
        from spanwright.predicting.by_torch import load_by_torch

    return Tagger(load_by_torch(folder, chosen, device=device, precision=precision, threads=threads))


class Tagger:
    """Tags texts and documents with a trained model."""

    def __init__(
        self,
        model: TaggingModel[Any],
        *,
        corpus: str | None = None,
        shared_types: bool = False,
        linker: Linker | None = None,
    ) -> None:
        """Models of several corpora answer as `corpus` would; unless named, as a document's corpus, or as
        their target. With `shared_types` they answer in the types of their label map. With a linker,
        entities have the concepts that they mean."""
        self.model = model
        self._linker = linker
        self._plan = model.plan
        self._corpus = _known_corpus(model.labels, corpus)
        self._names = _answer_names(model.labels) if shared_types else model.labels.types

    @property
    def device(self) -> AnyDevice:
        """What the network runs on."""
        return self.model.device

    @property
    def types(self) -> tuple[str, ...]:
        """The types that its entities may have, each once."""
        labels = self.model.labels
        all_answer = self._corpus is None or not labels.corpus
        numbers = [number for number, name in enumerate(self._names) if name]
        own = labels.corpus_id(self._corpus)
        return tuple(
            dict.fromkeys(self._names[each] for each in numbers if all_answer or labels.corpus[each] == own)
        )

    def answering(self, *, corpus: str | None = None, shared_types: bool = False) -> Tagger:
        """A tagger with the same model that answers with the types of a corpus, or with the shared types."""
        return Tagger(self.model, corpus=corpus, shared_types=shared_types, linker=self._linker)

    def linked(self, lexicon: Lexicon | Linker) -> Tagger:
        """A tagger that answers as this one, and gives entities the concepts of a lexicon or of a linker."""
        changed = copy(self)
        changed._linker = build_linker(lexicon) if isinstance(lexicon, Lexicon) else lexicon
        return changed

    @overload
    def tag(
        self, source: str | Document, *, minimum_confidence: float = 0.0, tuned_thresholds: bool = False
    ) -> Document: ...

    @overload
    def tag(
        self, source: Texts, *, minimum_confidence: float = 0.0, tuned_thresholds: bool = False
    ) -> Iterator[Document]: ...

    def tag(
        self,
        source: str | Document | Texts,
        *,
        minimum_confidence: float = 0.0,
        tuned_thresholds: bool = False,
    ) -> Document | Iterator[Document]:
        """Find the entities of a text or document, or of each of a stream of them.

        A stream is worked through in bounded memory, and answers come in its order. Entities that a
        document already has are replaced. Of those found, the ones below `minimum_confidence` are dropped,
        and with `tuned_thresholds` those below the threshold that the model has for their type.
        """
        lowest = self._lowest(minimum_confidence, tuned_thresholds)
        if isinstance(source, str | Document):
            return finished(self._steps([_as_document(source, 0)], lowest))[0]
        if not isinstance(source, Iterable):
            raise _not_a_text(source)
        return self._tag_stream(source, lowest)

    def tag_in_steps(self, documents: Sequence[Document]) -> Steps[list[Document]]:
        """Tag documents together, in steps of about one batch: `tag` for those who have more to do than wait.

        After each step they may do something else, or stop for good by closing the generator. It returns the
        documents with all entities of any confidence.
        """
        return self._steps(documents, self._lowest(0.0, False))

    def tag_prepared(self, documents: Iterable[PreparedDocument]) -> Iterator[Document]:
        """The same for a stream of documents that are prepared already, with entities of any confidence."""
        lowest = self._lowest(0.0, False)
        for chunk in self.chunks(documents, lambda prepared: prepared.document):
            yield from finished(self._prepared_steps(chunk, lowest))

    def with_types(self, descriptions: Mapping[str, str]) -> Tagger:
        """A tagger that also looks for types the model was not trained on, by name and description.

        Only models that read descriptions can (recipe `binder`). How well this works depends on what the
        model has learnt to compare; see docs/binder.md.
        """
        return Tagger(self.model.with_types(descriptions), corpus=self._corpus, linker=self._linker)

    def _lowest(self, minimum: float, tuned: bool) -> Floats:
        """The lowest confidence that an entity of each type may have, `(types,)`."""
        if not 0 <= minimum <= 1:
            raise InputError(f"minimum confidence: found {minimum}; expected 0 <= minimum <= 1")
        if tuned and not self.model.tuned:
            raise InputError(
                "tuned thresholds: the model has none, as it was trained without a calibration; give a "
                "minimum confidence for all types, or train the model again"
            )
        return np.array(
            [max(minimum, self.model.threshold(*key) if tuned else 0.0) for key in self.model.labels.keys]
        )

    def _tag_stream(self, source: Iterable[str | Document], lowest: Floats) -> Iterator[Document]:
        documents = (_as_document(item, number) for number, item in enumerate(source))
        for chunk in self.chunks(documents, lambda document: document):
            yield from finished(self._steps(chunk, lowest))

    def _steps(self, documents: Sequence[Document], lowest: Floats) -> Steps[list[Document]]:
        prepared = []
        for document in documents:
            prepared.append((yield from self._prepare_in_steps(document)))
        return (yield from self._prepared_steps(prepared, lowest))

    def _prepared_steps(self, prepared: Sequence[PreparedDocument], lowest: Floats) -> Steps[list[Document]]:
        """What is kept of a step is small: memory grows little with the length of a text."""
        found: list[Found] = []
        for each in results_in_order(self._found, self.batches(prepared), self.model.load.batches):
            found.append(each)
            yield
        reporting = Reporting(self.model, self._names, lowest)
        tagged = yield from reporting.tagged(prepared, Found.joined(found))
        return tagged if self._linker is None else list(self._linker.link(tagged))

    def _found(self, batch: Batch[Array]) -> Found:
        return Found.of(*self.placed(self.model.predict(batch), batch))

    def chunks(self, items: Iterable[Item], document: Callable[[Item], Document]) -> Iterator[list[Item]]:
        """A stream of documents, or of what has one, in runs that are worked through together."""
        return document_chunks(items, document, self.model.load.characters)

    def prepare(self, documents: Sequence[Document]) -> list[PreparedDocument]:
        """Documents as arrays, each with the corpus as which it is answered."""
        return [finished(self._prepare_in_steps(document)) for document in documents]

    def _prepare_in_steps(self, document: Document) -> Steps[PreparedDocument]:
        corpus = self.model.labels.corpus_id(self._corpus or document.corpus)
        return prepare_in_steps(document, self.model.pieces, self._plan, corpus=corpus)

    def batches(
        self, prepared: Sequence[PreparedDocument], golds: Sequence[Integers] | None = None
    ) -> Iterator[Batch[Array]]:
        """The windows of prepared documents, in batches of similar length; with gold rows where given."""
        special_count, load = self.model.pieces.special_count, self.model.load
        following = (
            window
            for index, item in enumerate(prepared)
            for window in windows_of(item, index, self._plan, special_count)
        )
        while windows := list(islice(following, _SORTED_WINDOWS)):
            lengths = window_lengths(windows, prepared, special_count)
            for batch in with_least_work(
                lengths,
                windows=load.windows,
                pieces=load.pieces,
                overhead=load.overhead,
            ):
                yield collate(
                    [windows[position] for position in batch],
                    prepared,
                    self.model.pieces,
                    width_limit=self._plan.width_limit,
                    golds=golds,
                )

    def placed(self, found: Predictions[Array], batch: Batch[Array]) -> tuple[np.ndarray, ...]:
        """Document, first word, last word, type, confidence and rank of the predictions of a batch."""
        window, first, last, *others = found.columns
        offset = batch.word_offset[window]
        return batch.document[window], first + offset, last + offset, *others


def document_chunks(
    items: Iterable[Item], document: Callable[[Item], Document], most: int
) -> Iterator[list[Item]]:
    """A stream of documents, or of what has one, in runs of about so many characters, the first shorter."""
    chunk: list[Item] = []
    characters, room = 0, min(_FIRST_CHUNK, most)
    for item in items:
        chunk.append(item)
        characters += len(document(item).text) + 1  # so that empty texts fill a chunk, too
        if characters >= room:
            yield chunk
            chunk, characters, room = [], 0, min(2 * room, most)
    if chunk:
        yield chunk


def _known_corpus(labels: LabelSpace, corpus: str | None) -> str | None:
    if corpus is not None and corpus not in labels.corpora:
        known = ", ".join(labels.corpora) or "none, as it was trained on one corpus"
        near = did_you_mean(corpus, labels.corpora)
        raise InputError(f"the model knows no corpus {corpus!r}{near}; expected: {known}")
    return corpus


def _answer_names(labels: LabelSpace) -> tuple[str, ...]:
    """The shared type of each type; empty for a type that has none, which is then no answer."""
    if not labels.corpus:
        return labels.types
    if not labels.shared:
        raise InputError(
            "shared types: the model was trained without a label map, so its corpora share no types; ask for "
            "the types of a corpus"
        )
    return labels.shared


def _as_document(source: str | Document, number: int) -> Document:
    if isinstance(source, Document):
        return source
    if not isinstance(source, str):
        raise _not_a_text(source)
    return Document(id=f"text-{number + 1}", text=source, generated_id=True)


def _not_a_text(found: object) -> InputError:
    return InputError(
        f"tag: found {found!r:.80}, of the type {type(found).__name__}; expected a text, a Document, or a "
        f"list or an iterator of these"
    )
