"""CAS objects of dkpro-cassis: read safely from bytes, made of documents, and asked for their annotations."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from spanwright.errors import InputError, MissingExtraError
from spanwright.formats.io.safe_xml import refuse_doctype, replaced
from spanwright.text import Document, Entity, Range

_DKPRO = "de.tudarmstadt.ukp.dkpro.core.api"
LAYER = f"{_DKPRO}.ner.type.NamedEntity"
TOKEN = f"{_DKPRO}.segmentation.type.Token"
SENTENCE = f"{_DKPRO}.segmentation.type.Sentence"
_DOCUMENT = f"{_DKPRO}.metadata.type.DocumentMetaData"
FEATURE, IDENTIFIER, _DOCUMENT_ID = "value", "identifier", "documentId"
STRING = "uima.cas.String"


def import_cassis() -> Any:
    """The package `cassis`."""
    try:
        import cassis
    except ImportError:
        raise MissingExtraError("the format 'xmi'", "dkpro-cassis", "xmi") from None
    return cassis


def load_types(file: Path | None) -> Any:
    """The type system in a file, or that of what we write."""
    return new_types() if file is None else parse_types(file.read_bytes(), str(file))


def parse_types(content: bytes, name: str) -> Any:
    """The type system of an XML text; `name` is what errors call it."""
    return _parsed(content, import_cassis().load_typesystem, name)


def load_cas(content: bytes, types: Any, name: str = "the file") -> Any:
    """The CAS of an XMI text; annotations of types that are not known are left out."""
    load = import_cassis().load_cas_from_xmi
    return _parsed(content, lambda source: load(source, typesystem=types, lenient=True), name)


def _parsed(content: bytes, load: Any, name: str) -> Any:
    refuse_doctype(content, name)
    try:
        with warnings.catch_warnings(action="ignore"):
            return load(io.BytesIO(content))
    except Exception as error:  # whatever cassis trips over in a broken file
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise InputError(f"{name} cannot be read by dkpro-cassis ({reason:.200}); expected XMI") from None


def features_of(cas: Any, type_name: str) -> list[Any]:
    """The annotations of a type in their order in the text; none where the type is not known."""
    return list(cas.select(type_name)) if cas.typesystem.contains_type(type_name) else []


def ranges_of(cas: Any, type_name: str) -> tuple[Range, ...] | None:
    """Where the annotations of a type are; None where there are none, or where they overlap."""
    ranges = tuple((each.begin, each.end) for each in features_of(cas, type_name))
    ends = (0, *(end for _, end in ranges))
    in_order = all(before <= start < end for before, (start, end) in zip(ends, ranges, strict=False))
    return ranges if ranges and in_order else None


def given_id(cas: Any) -> str:
    """The id that the document's metadata gives; '' if none does."""
    found = (getattr(each, _DOCUMENT_ID, None) for each in features_of(cas, _DOCUMENT))
    return next((str(id) for id in found if id), "")


def new_types() -> Any:
    """The types of what we write."""
    types = import_cassis().TypeSystem()
    for name, supertype, features in (
        (LAYER, "uima.tcas.Annotation", (FEATURE, IDENTIFIER)),
        (TOKEN, "uima.tcas.Annotation", ()),
        (SENTENCE, "uima.tcas.Annotation", ()),
        (_DOCUMENT, "uima.tcas.DocumentAnnotation", (_DOCUMENT_ID,)),
    ):
        made = types.create_type(name, supertypeName=supertype)
        for feature in features:
            types.create_feature(made, feature, STRING)
    return types


def new_cas(document: Document, entities: Iterable[Entity], types: Any) -> Any:
    """The CAS of a document with some of its entities."""
    cas = import_cassis().Cas(typesystem=types)
    cas.sofa_string, cas.sofa_mime = replaced(document.text), "text/plain"
    end = len(document.text)
    made = types.get_type(_DOCUMENT)(begin=0, end=end, language="x-unspecified")
    setattr(made, _DOCUMENT_ID, replaced(document.id))
    cas.add(made)
    for name, ranges in ((SENTENCE, document.sentences), (TOKEN, document.words)):
        for start, stop in ranges or ():
            cas.add(types.get_type(name)(begin=start, end=stop))
    for entity in entities:
        concept = replaced(entity.concepts[0]) if len(entity.concepts) == 1 else None
        values = {FEATURE: replaced(entity.type), IDENTIFIER: concept}
        cas.add(types.get_type(LAYER)(begin=entity.start, end=entity.end, **values))
    return cas
