"""The linker: mentions in, concepts out, with candidates and a confidence."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import asdict, dataclass, replace
from typing import Literal

from spanwright.linking.composites import readings
from spanwright.linking.concepts import SameConcepts
from spanwright.linking.confidence import Confidence
from spanwright.linking.index import Candidate, NameIndex
from spanwright.text import Document
from spanwright.text.abbreviations import expansions

LINKS = "links"
"""The annotation notes with everything about the links of a document; `evaluation/concepts.py` reads them."""
ANY_TYPE = ""
"""The key of the index of names that are of no type, and so of any."""
Stage = Literal["exact", "abbreviation", "composite", "similar"]
_CANDIDATES = 5
_PART = 0.6
"""Each part of a composite mention must be as similar to a name."""
_REPEATED = re.compile(r"\b(\w+) \1\b", re.IGNORECASE)
"""A word that a long form ends with and a mention repeats: `WAS syndrome`."""
_CHUNK = 64
"""Documents whose mentions are searched for together."""


@dataclass(frozen=True, slots=True)
class Link:
    """What a mention was linked to."""

    concepts: tuple[str, ...]
    """Empty for no concept; several for a composite mention."""
    confidence: float
    """The probability that the best candidate is right, also where it is too low for an answer."""
    stage: Stage
    """What has found it."""
    candidates: tuple[Candidate, ...]
    """The best first."""


@dataclass(frozen=True, slots=True)
class Mention:
    """What a linker knows of an entity."""

    text: str
    type: str
    expanded: str
    """With the long forms of its abbreviations."""


NO_CANDIDATE = Link((), 0.0, "similar", ())


@dataclass(frozen=True, slots=True)
class Stages:
    """Which stages are on, besides names that are known."""

    abbreviations: bool = True
    composites: bool = True
    similar: bool = True


class Linker:
    """Links the entities of documents to the concepts of a lexicon."""

    def __init__(
        self,
        indexes: Mapping[str, NameIndex],
        same: SameConcepts,
        confidence: Confidence,
        *,
        minimum_confidence: float = 0.0,
        stages: Stages,
        digest: str = "",
    ) -> None:
        """`indexes` are by type, or one of `ANY_TYPE`; `digest` tells what they were made of."""
        self.indexes = indexes
        self.same = same
        self.confidence = confidence
        self.minimum_confidence = minimum_confidence
        self.stages = stages
        self.digest = digest

    def with_confidence(self, confidence: Confidence) -> Linker:
        """The same linker with other confidences."""
        changed = copy(self)
        changed.confidence = confidence
        return changed

    def link(self, documents: Iterable[Document], *, candidates: bool = False) -> Iterator[Document]:
        """The documents with the concepts of their entities, in place of any they had.

        With `candidates`, the annotation notes of each tell all candidates, scores and confidences.
        """
        for document, links in self.links(documents):
            yield with_links(document, links, candidates=candidates)

    def links(self, documents: Iterable[Document]) -> Iterator[tuple[Document, list[Link]]]:
        """Each document with a link for each of its entities."""
        for chunk in _chunks(documents):
            mentions = [self._mentions(document) for document in chunk]
            distinct = list(dict.fromkeys(mention for each in mentions for mention in each))
            found = dict(zip(distinct, self.link_mentions(distinct), strict=True))
            for document, each in zip(chunk, mentions, strict=True):
                yield document, [found[mention] for mention in each]

    def _mentions(self, document: Document) -> list[Mention]:
        long_forms = expansions(document.text) if self.stages.abbreviations and document.entities else {}
        found = []
        for entity in document.entities:
            text = " ".join(document.mention(entity).split())
            found.append(Mention(text, entity.type, _expanded(text, long_forms)))
        return found

    def link_mentions(self, mentions: Sequence[Mention]) -> list[Link]:
        """The links of some mentions."""
        links: dict[Mention, Link] = {}
        open_mentions: dict[str, list[Mention]] = {}
        for mention in mentions:
            index = self._index(mention.type)
            link = self._exact(mention, index) if index else NO_CANDIDATE
            if link is not None:
                links[mention] = link
            else:
                open_mentions.setdefault(mention.type, []).append(mention)
        for type_, waiting in open_mentions.items():
            links.update(zip(waiting, self._near(waiting, type_), strict=True))
        return [links[mention] for mention in mentions]

    def serves(self, type: str) -> bool:
        """Whether entities of a type can be linked."""
        return self._index(type) is not None

    def _index(self, type: str) -> NameIndex | None:
        return self.indexes.get(type) or self.indexes.get(ANY_TYPE)

    def _exact(self, mention: Mention, index: NameIndex) -> Link | None:
        """The link of a name that is known, long forms first; None if neither is."""
        stages: tuple[tuple[str, Stage], ...] = ((mention.text, "exact"),)
        if mention.expanded != mention.text:
            stages = ((mention.expanded, "abbreviation"), *stages)
        for text, stage in stages:
            if candidates := index.exact(text):
                return self._link(candidates, stage)
        parts = self._known_parts(mention.expanded, index) if self.stages.composites else None
        return self._link([parts], "composite") if parts else None

    def _known_parts(self, text: str, index: NameIndex) -> Candidate | None:
        """The composite of parts that are all known."""
        for parts in readings(text):
            found = [index.exact(part) for part in parts]
            if all(found):
                return _joined([candidates[0] for candidates in found])
        return None

    def _near(self, mentions: Sequence[Mention], type: str) -> Iterator[Link]:
        index = self._index(type)
        if index is None or not self.stages.similar:
            yield from (NO_CANDIDATE for _ in mentions)
            return
        texts = [text for mention in mentions for text in self._texts(mention)]
        distinct = list(dict.fromkeys(texts))
        similar = dict(zip(distinct, index.similar(distinct, _CANDIDATES), strict=True))
        for mention in mentions:
            yield self._nearest(mention, index, similar)

    def _texts(self, mention: Mention) -> Iterator[str]:
        """What must be searched for a mention."""
        yield mention.expanded
        yield mention.text
        if self.stages.composites:
            for parts in readings(mention.expanded):
                yield from parts

    def _nearest(self, mention: Mention, index: NameIndex, similar: Mapping[str, list[Candidate]]) -> Link:
        both = (similar[mention.expanded], similar[mention.text])
        candidates = max(both, key=lambda found: found[0].score if found else 0.0)
        composite = self._similar_parts(mention.expanded, index, similar) if self.stages.composites else None
        if composite and composite.score > (candidates[0].score if candidates else 0.0):
            return self._link([composite, *candidates], "composite")
        return self._link(candidates, "similar") if candidates else NO_CANDIDATE

    def _similar_parts(
        self, text: str, index: NameIndex, similar: Mapping[str, list[Candidate]]
    ) -> Candidate | None:
        """The best composite of parts that are all known or similar enough."""
        composites = []
        for parts in readings(text):
            best = [(index.exact(part) or similar[part])[:1] for part in parts]
            if all(found and found[0].score >= _PART for found in best):
                composites.append(_joined([found[0] for found in best]))
        return max(composites, key=lambda each: each.score, default=None)

    def _link(self, candidates: Sequence[Candidate], stage: Stage) -> Link:
        confidence = self.confidence.of(candidates, stage)
        best = candidates[0].concepts if confidence >= self.minimum_confidence else ()
        return Link(best, confidence, stage, tuple(candidates[:_CANDIDATES]))


def with_links(document: Document, links: Sequence[Link], *, candidates: bool = False) -> Document:
    """The document with the concepts of links, one for each of its entities.

    With `candidates`, its annotation notes tell everything about the links, in the order of the entities.
    """
    linked = {
        entity: (replace(entity, concepts=link.concepts), link)
        for entity, link in zip(document.entities, links, strict=True)
    }
    changed = document.with_changed_entities({entity: new for entity, (new, _) in linked.items()})
    if not candidates:
        return changed
    by_entity = dict(linked.values())
    notes = {LINKS: [asdict(by_entity[entity]) for entity in changed.entities]}
    return replace(changed, annotation_notes={**changed.annotation_notes, **notes})


def _chunks(documents: Iterable[Document]) -> Iterator[list[Document]]:
    chunk: list[Document] = []
    for document in documents:
        chunk.append(document)
        if len(chunk) == _CHUNK:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


def _expanded(mention: str, long_forms: Mapping[str, str]) -> str:
    """A mention with the long forms of its abbreviations; one that is explained in it is left out."""
    for short, long in long_forms.items():
        if short not in mention:
            continue
        whole = rf"(?<![^\W_]){re.escape(short)}s?(?![^\W_])"
        if long in mention:
            mention = re.sub(rf"\s*[(\[]\s*{whole}[^)\]]*[)\]]", "", mention)
        else:
            spelt = " ".join(long.split()).replace("\\", r"\\")
            mention = _REPEATED.sub(r"\1", re.sub(whole, spelt, mention))
    return mention


def _joined(parts: Sequence[Candidate]) -> Candidate:
    """A candidate of all concepts of some parts, which are as similar as they are on average."""
    concepts = dict.fromkeys(concept for part in parts for concept in part.concepts)
    score = sum(part.score for part in parts) / len(parts)
    return Candidate(tuple(concepts), " + ".join(part.name for part in parts), score)
