"""UIMA's CAS as XMI, as INCEpTION exports it: a folder with one file for each document and the type system.

    corpus/TypeSystem.xml
    corpus/17.xmi

Entities are the annotations of a layer, DKPro's `NamedEntity` unless the option `layer` names another such as
`webanno.custom.Finding`; their types are the values of its feature `value` (the option `feature`), and a
concept is what `identifier` says. `Token` and `Sentence` are the words and sentences. Offsets of the files
count UTF-16 units, which dkpro-cassis turns into characters.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from spanwright.errors import InputError
from spanwright.formats.format import Format, ReadingLog
from spanwright.formats.io.file_names import file_name, id_of_file_name, visible_files
from spanwright.formats.io.ids import Ids
from spanwright.formats.io.opening import open_bytes
from spanwright.formats.io.safe_xml import is_legal, root_name
from spanwright.formats.io.whole_folders import filled_folder
from spanwright.formats.odd_entities import remark_odd_entities
from spanwright.formats.tools.cas_files import (
    FEATURE,
    IDENTIFIER,
    LAYER,
    SENTENCE,
    TOKEN,
    features_of,
    given_id,
    import_cassis,
    load_cas,
    load_types,
    new_cas,
    new_types,
    ranges_of,
)
from spanwright.formats.tools.marks import unwritable_marks, whole_entities
from spanwright.formats.unwritable import Unwritable, shown_entity, unwritable_concepts
from spanwright.text import Document, Entity

_SUFFIX = ".xmi"
TYPES_FILE = "TypeSystem.xml"


def recognises(path: Path, head: str) -> bool:
    """A folder with XMI files, or one of them."""
    if path.is_dir():
        return bool(_files(path))
    return root_name(head) == "xmi:XMI" or (path.suffix.lower() == _SUFFIX and root_name(head) != "")


def is_whole(folder: Path) -> bool:
    """Whether a folder has a type system and files that need it."""
    return bool(_files(folder))


def _files(folder: Path) -> list[Path]:
    return [file for file in visible_files(folder) if file.suffix.lower() == _SUFFIX]


def read(path: Path, log: ReadingLog, *, layer: str = LAYER, feature: str = FEATURE) -> Iterator[Document]:
    """Yield the documents of a folder and the folders in it in the order of their names, or of one file."""
    import_cassis()  # what is not installed is no fault of the files
    ids = Ids(path, log)
    for file in _files(path) if path.is_dir() else [path]:
        try:
            types = load_types(_types_file(file))
            with open_bytes(file) as opened:
                cas = load_cas(opened.read(), types)
            yield _document(cas, file, ids, layer, feature, log)
        except InputError as error:
            log.reject_document(file, 0, str(error))


def _types_file(file: Path) -> Path | None:
    """The type system in the folder of a file, or in the one around it."""
    found = (folder / TYPES_FILE for folder in file.parents[:2])
    return next((each for each in found if each.is_file()), None)


def _document(cas: Any, file: Path, ids: Ids, layer: str, feature: str, log: ReadingLog) -> Document:
    text = cas.sofa_string
    if not isinstance(text, str):
        raise InputError("there is no text in it; expected a CAS with a sofa string")
    id, _ = ids.take(given_id(cas) or id_of_file_name(file.stem), 0)
    entities = tuple(_entities(cas, text, layer, feature, file, log))
    remark_odd_entities(entities, file, 0, log)
    words, sentences = ranges_of(cas, TOKEN), ranges_of(cas, SENTENCE)
    return Document(id, text, entities, words, sentences)


def _entities(cas: Any, text: str, layer: str, feature: str, file: Path, log: ReadingLog) -> Iterator[Entity]:
    """The entities of a layer; one outside the text is rejected."""
    for annotation in features_of(cas, layer):
        start, end = annotation.begin, annotation.end
        if type(start) is not int or type(end) is not int or not 0 <= start < end <= len(text):
            log.reject_entity(file, 0, f"[{start}, {end}) is outside the text, which ends at {len(text)}")
            continue
        concept = getattr(annotation, IDENTIFIER, None)
        type_ = getattr(annotation, feature, None)
        yield Entity(start, end, str(type_ or ""), concepts=(str(concept),) if concept else ())


def write(documents: Iterable[Document], folder: Path) -> None:
    """Write a folder. What `unwritable` names is left out, and control characters are U+FFFD."""
    types = new_types()
    written: set[str] = set()
    with filled_folder(folder) as partial:
        for document in documents:
            name = f"{file_name(document.id)}{_SUFFIX}"
            if name in written:
                raise InputError(
                    f"{folder / name}: two documents have the id {document.id!r}; expected distinct ids"
                )
            written.add(name)
            content = new_cas(document, whole_entities(document), types).to_xmi()
            (partial / name).write_text(content, encoding="utf-8", newline="")
        (partial / TYPES_FILE).write_text(types.to_xml(), encoding="utf-8", newline="")


def unwritable(document: Document) -> Iterator[Unwritable]:
    """A line for each thing of a document that a reader would not get back."""
    if not document.id or not is_legal(document.id):
        yield Unwritable("ids", f"the id {document.id!r} of a document")
    if not is_legal(document.text):
        line = f"the control characters of document {document.id!r}, which XML cannot hold"
        yield Unwritable("texts", line)
    yield from unwritable_marks(document, pairs=False, borders=False)
    for name in ("words", "sentences"):
        if getattr(document, name) == ():
            yield Unwritable("borders", f"that document {document.id!r} has no {name}")
    for entity in whole_entities(document):
        if not all(map(is_legal, (entity.type, *entity.concepts))):
            line = f"the control characters in the type or the concepts of {shown_entity(document, entity)}"
            yield Unwritable("types", line)
        if len(entity.concepts) > 1 or "" in entity.concepts:
            yield unwritable_concepts(document, entity)


FORMAT = Format(
    name="xmi",
    description="a folder of UIMA's XMI files with their type system, as INCEpTION has them",
    suffixes=(_SUFFIX,),
    recognises=recognises,
    read=read,
    options={"layer": str, "feature": str},
    write=write,
    writes_folder=True,
    is_whole=is_whole,
    holds=frozenset(("concepts",)),
    own_unwritable=unwritable,
)
