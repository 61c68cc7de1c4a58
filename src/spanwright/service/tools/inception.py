"""INCEpTION's external recommender, under /inception: predict and train.

A request brings a document as a CAS; the answer is the CAS with predictions in the layer and the feature of
the recommender. It needs dkpro-cassis (the extra `xmi`). Nothing is trained, and nothing is kept.
"""

from __future__ import annotations

import asyncio
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from spanwright.errors import InputError
from spanwright.formats.tools.cas_files import STRING, TOKEN, load_cas, parse_types, ranges_of
from spanwright.service.answers import Service
from spanwright.service.messages import FieldError
from spanwright.service.tools.suggesting import Naming, document_of, suggested
from spanwright.text import Document, Entity

_PREDICTED = "inception_internal_predicted"


class _Lenient(BaseModel):
    model_config = ConfigDict(extra="ignore", use_attribute_docstrings=True)


class RecommenderPlace(_Lenient):
    """Where predictions go."""

    layer: str
    feature: str


class CasDocument(_Lenient):
    """A document of a project."""

    xmi: str


class RecommendRequest(_Lenient):
    """A document to make predictions for."""

    metadata: RecommenderPlace
    document: CasDocument
    type_system: str = Field(alias="typeSystem")


class RecommendAnswer(BaseModel):
    """The document with predictions, as XMI."""

    document: str


class Inception:
    """The answers, one method for each path."""

    def __init__(self, service: Service, naming: Naming) -> None:
        self._service = service
        self._naming = naming

    async def predict(self, request: RecommendRequest) -> RecommendAnswer:
        """Predictions for a document."""
        cas = await asyncio.to_thread(_read, request)
        (found,) = await suggested(self._service, [_document(cas)])
        entities = self._naming.named(found.entities, self._naming.types)
        return RecommendAnswer(document=await asyncio.to_thread(_written, cas, entities, request.metadata))

    async def train(self) -> None:
        """Do nothing: models are trained by `spanwright train`."""


def _read(request: RecommendRequest) -> Any:
    """The CAS of a request, whose type system must have the place of predictions."""
    try:
        types = parse_types(request.type_system.encode(), "typeSystem")
    except (InputError, UnicodeEncodeError) as error:
        raise FieldError(("typeSystem",), str(error)) from None
    _check_place(request.metadata, types)
    try:
        return load_cas(request.document.xmi.encode(), types, "xmi")
    except (InputError, UnicodeEncodeError) as error:
        raise FieldError(("document", "xmi"), str(error)) from None


def _check_place(place: RecommenderPlace, types: Any) -> None:
    """Refuse a layer that is not of text, and a feature that it lacks or that cannot hold a type."""
    layer, feature = place.layer, place.feature
    if not types.contains_type(layer):
        raise FieldError(("metadata", "layer"), f"the type system has no type {layer!r:.100}")
    values = {each.name: each.rangeType.name for each in types.get_type(layer).all_features}
    if not {"begin", "end"} <= values.keys():
        raise FieldError(
            ("metadata", "layer"), f"{layer!r:.100} has no begin and end; expected a layer of annotations"
        )
    for needed in (feature, _PREDICTED):
        if needed not in values:
            raise FieldError(("metadata", "feature"), f"{layer!r:.100} has no feature {needed!r:.100}")
    if not types.subsumes(STRING, values[feature]):
        reason = f"{feature!r:.100} has values of the type {values[feature]!r:.100}; expected {STRING!r}"
        raise FieldError(("metadata", "feature"), reason)


def _document(cas: Any) -> Document:
    """The text of a CAS with its tokens as words, so that predictions begin and end with these."""
    place = ("document", "xmi")
    if not isinstance(cas.sofa_string, str):
        raise FieldError(place, "there is no text in it; expected a CAS with a sofa string")
    document = document_of(cas.sofa_string, place)
    try:
        return Document(document.id, document.text, words=ranges_of(cas, TOKEN), generated_id=True)
    except InputError as error:
        raise FieldError(place, str(error)) from None


def _written(cas: Any, entities: list[Entity], place: RecommenderPlace) -> str:
    """The CAS with predictions, as XMI."""
    made = cas.typesystem.get_type(place.layer)
    scored = f"{place.feature}_score"
    has_score = any(each.name == scored for each in made.all_features)
    for entity in entities:
        values = {place.feature: entity.type, _PREDICTED: True}
        values |= {scored: entity.confidence} if has_score else {}
        cas.add(made(begin=entity.start, end=entity.end, **values))
    xmi: str = cas.to_xmi()
    return xmi
