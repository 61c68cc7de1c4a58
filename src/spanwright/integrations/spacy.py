"""spaCy: `nlp.add_pipe("spanwright", config={"model": "runs/plain/model"})`. See docs/spacy.md.

The component tags the text of a `Doc` as `Tagger.tag` does, with our own words: it finds the same entities
whatever tokenizer the pipeline has. `doc_entities` says how a `Doc` keeps them.

spaCy imports this file for every pipeline, by an entry point, so it imports neither torch nor a model.
"""

from __future__ import annotations

import os
import shutil
import sys
import weakref
from collections import deque
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from itertools import chain, islice
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any

from spanwright.devices import AUTO
from spanwright.errors import InputError
from spanwright.formats.io.whole_folders import whole_folder
from spanwright.integrations.doc_entities import add_ents, add_group, entities_of_doc, entity_of_span
from spanwright.text import Document

if TYPE_CHECKING:
    from spanwright.predicting.tagger import Tagger

NAME = "spanwright"
"""Of the factory, of the extensions, and of the span group unless another is asked for."""
_LINKER = "linker"
"""The folder of a saved linker, beside the files of the model."""


class SpanwrightComponent:
    """A component of a pipeline. Its model is loaded when the first text needs it."""

    def __init__(
        self,
        model: str | Path,
        *,
        key: str = NAME,
        set_ents: bool = True,
        minimum_confidence: float = 0.0,
        tuned_thresholds: bool = False,
        linker: str | Path | None = None,
        device: str = AUTO,
    ) -> None:
        """`linker` is the folder of a saved linker: spans then have the concept they mean as `kb_id_`."""
        self.key = key
        self.set_ents = set_ents
        self.minimum_confidence = minimum_confidence
        self.tuned_thresholds = tuned_thresholds
        self.device = device
        self._linker_folder = None if linker is None else Path(linker)
        self._held: _Held | None = None
        self._use(Path(model))

    def _use(self, folder: Path) -> None:
        self._folder = folder
        self._tagger: Tagger | None = None
        self._process = os.getpid()

    @property
    def tagger(self) -> Tagger:
        """The tagger with the model."""
        if self._process != os.getpid():
            # A process that spaCy forked has a model whose threads were left behind.
            self._use(self._folder)
            _use_one_thread()
        if self._tagger is None:
            from spanwright.predicting.tagger import load

            self._tagger = load(self._folder, device=self.device)
            if self._linker_folder is not None:
                from spanwright.linking.saved import load_linker

                self._tagger = self._tagger.linked(load_linker(self._linker_folder))
        return self._tagger

    def __call__(self, doc: Any) -> Any:
        """Find the entities of a `Doc`."""
        return next(self._tagged([doc]))

    def pipe(self, stream: Iterable[Any], *, batch_size: int) -> Iterator[Any]:
        """Find the entities of a stream of `Doc`s, of which at most `batch_size` are read ahead."""
        docs = iter(stream)
        for first in docs:
            yield from self._tagged(chain([first], islice(docs, batch_size - 1)))

    def _tagged(self, docs: Iterable[Any]) -> Iterator[Any]:
        # The tagger reads ahead until it has a chunk of texts to work on; their Docs wait here.
        waiting: deque[Any] = deque()

        def documents() -> Iterator[Document]:
            for doc in docs:
                waiting.append(doc)
                yield Document(id="doc", text=doc.text, generated_id=True)

        for document in self.tagger.tag(
            documents(),
            minimum_confidence=self.minimum_confidence,
            tuned_thresholds=self.tuned_thresholds,
        ):
            doc = waiting.popleft()
            add_group(doc, self.key, document.entities)
            if self.set_ents:
                add_ents(doc, self.key)
            yield doc

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Copy the model to a folder, in the place of a model that is there."""
        folder = Path(path)
        _refuse_to_replace_other_files(folder)
        with whole_folder(folder) as partial:
            for name, file in self._files().items():
                (partial / name).parent.mkdir(exist_ok=True)
                shutil.copyfile(file, partial / name)

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> SpanwrightComponent:
        """Use the model that `to_disk` has copied, instead of the one of the configuration."""
        from spanwright.model_files.folders import model_folder

        folder = model_folder(path)
        self._use(folder)
        if (folder / _LINKER).is_dir():
            self._linker_folder = folder / _LINKER
        return self

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """The files of the model, and of the linker, in one string of bytes."""
        from spacy import util

        files = self._files().items()
        packed: bytes = util.to_bytes({name: file.read_bytes for name, file in files}, exclude)
        return packed

    def from_bytes(self, packed: bytes, *, exclude: Iterable[str] = ()) -> SpanwrightComponent:
        """Use the model of `to_bytes`; its files are in a temporary folder as long as the component is."""
        import srsly

        self._held = held = _Held()
        for name, content in srsly.msgpack_loads(packed).items():
            if _is_own_file(name) and name not in exclude:
                (held.folder / name).parent.mkdir(exist_ok=True)
                (held.folder / name).write_bytes(content)
        return self.from_disk(held.folder)

    def _files(self) -> dict[str, Path]:
        """The files of the model, and of the linker in a folder of its own, by their names."""
        from spanwright.hub import model_files

        linker = sorted(self._linker_folder.iterdir()) if self._linker_folder is not None else []
        of_linker = {f"{_LINKER}/{file.name}": file for file in linker if file.is_file()}
        return {file.name: file for file in model_files(self._folder)} | of_linker

    def __getstate__(self) -> dict[str, Any]:
        """Without what is loaded: another process loads the model itself."""
        return self.__dict__ | {"_tagger": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__ |= state | {"_process": os.getpid()}


class _Held:
    """A temporary folder, which is there as long as a component or a copy of it is."""

    def __init__(self) -> None:
        self.folder = Path(mkdtemp(prefix="spanwright-"))
        weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)

    def __deepcopy__(self, memo: object) -> _Held:
        return self


def _is_own_file(name: str) -> bool:
    """Whether bytes of that name are of a model, or of a linker beside it."""
    from spanwright.hub import is_model_file

    folder, _, file = name.rpartition("/")
    return is_model_file(name) or (folder == _LINKER and file == Path(file).name and not file.startswith("."))


def _use_one_thread() -> None:
    """OpenMP cannot start threads in a forked process that had them before."""
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.set_num_threads(1)


def _refuse_to_replace_other_files(folder: Path) -> None:
    if folder.exists() and not (folder / "spanwright.json").exists() and any(folder.iterdir()):
        raise InputError(f"{folder}: holds other files; expected a new or empty folder, or that of a model")


def make_component(
    nlp: Any,
    name: str,
    model: str,
    key: str,
    set_ents: bool,
    minimum_confidence: float,
    tuned_thresholds: bool,
    linker: str | None,
    device: str,
) -> SpanwrightComponent:
    """The factory, which spaCy calls with the configuration of a component."""
    return SpanwrightComponent(
        model,
        key=key,
        set_ents=set_ents,
        minimum_confidence=minimum_confidence,
        tuned_thresholds=tuned_thresholds,
        linker=linker,
        device=device,
    )


def _register() -> None:
    """Make factory and extensions known to spaCy."""
    from spacy.language import Language
    from spacy.tokens import Doc, Span

    Language.factory(
        NAME,
        assigns=["doc.spans", "doc.ents", f"doc._.{NAME}", f"span._.{NAME}"],
        default_config={
            "key": NAME,
            "set_ents": True,
            "minimum_confidence": 0.0,
            "tuned_thresholds": False,
            "linker": None,
            "device": AUTO,
        },
        func=make_component,
    )
    Doc.set_extension(NAME, getter=entities_of_doc, force=True)
    Span.set_extension(NAME, getter=entity_of_span, force=True)


# Without spaCy there is nobody to know them, and the file can still be imported.
if find_spec("spacy") is not None:
    _register()
