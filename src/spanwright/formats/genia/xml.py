"""GENIA term XML: articles with sentences, in which terms are marked by nested elements.

    <set><article><articleinfo><bibliomisc>MEDLINE:1</bibliomisc></articleinfo>
    <title>
    <sentence>The <cons lex="IL-2_gene" sem="G#DNA_domain_or_region">IL-2 gene</cons> works</sentence>
    </title>
    <abstract> ... </abstract></article></set>

The text of a document is what stands in its title, a line break, and what stands in its abstract: all of it
but one line break or blank right after the opening and before the closing tag. Since GENIA has each sentence
on a line, its sentences are joined by line breaks.

A `cons` element with a class (`sem`) is an entity, and its type is the class as the file has it. A term
that is coordinated ("alpha and beta chains") has a class in parentheses, such as `(AND G#protein_subunit
G#protein_subunit)`: it is one entity over its whole range with that type, because the file does not say which
of its parts, `cons` elements without a class, make up which term. Base forms (`lex`) and such parts are kept
in the annotation notes (`genia_lex`, `genia_parts`), and the end of an unusual title in the metadata
(`genia_title_end`), to be written.

With the option `types=five`, documents are what benchmarks use: the classes are merged into DNA, RNA,
protein, cell_line and cell_type; terms of other classes and coordinated ones are left out, and counted in a
note, as are terms that then repeat another. Words are given, too: they end at white space and at every border
of a `cons` element. They are not given otherwise, because they show where entities begin and end.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, get_args

from spanwright.formats.format import Format, ReadingLog
from spanwright.formats.genia.xml_writing import LEX, PARTS, TITLE_END, serialise, title_end, unwritable
from spanwright.formats.io.ids import Ids
from spanwright.formats.io.safe_xml import XmlElement, root_children, root_name
from spanwright.text import Document, Entity, Range

TypeSet = Literal["full", "five"]
_TYPES: tuple[TypeSet, ...] = get_args(TypeSet)

_FIVE = re.compile(r"(?:G#)?(DNA|RNA|protein|cell_line|cell_type)(?:_.*)?")
_RUN = re.compile(r"\S+")
_LAYOUT = ("\n", " ")
_IN_ARTICLE = frozenset(("articleinfo", "title", "abstract"))


@dataclass(slots=True)
class _Cons:
    """A `cons` element and where its text is in the document."""

    start: int
    end: int
    sem: str | None
    lex: str | None
    line: int

    @property
    def is_coordinated(self) -> bool:
        return self.sem is not None and self.sem.startswith("(")


@dataclass(slots=True)
class _Article:
    """What stands in the sections of an article."""

    chunks: list[str] = field(default_factory=list)
    length: int = 0
    sentences: list[Range] = field(default_factory=list)
    cons: list[_Cons] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    """A line for each element that is not read as more than its text, if at all."""

    def add(self, text: str) -> None:
        """Put a text after the others."""
        self.chunks.append(text)
        self.length += len(text)


def types_named(name: str) -> TypeSet:
    """The choice of types of that name; ValueError for another."""
    for types in _TYPES:
        if types == name:
            return types
    raise ValueError("expected full and five")


def recognises(path: Path, head: str) -> bool:
    """Whether the file is XML of articles."""
    return "<article" in head and root_name(head) == "set"


def read(path: Path, log: ReadingLog, *, types: TypeSet = "full") -> Iterator[Document]:
    """Yield the documents of a file, one for each article, with the classes as they are or merged to five."""
    ids = Ids(path, log)
    counts: Counter[str] = Counter()
    for element in root_children(path, log, root="set", entity="cons"):
        if element.tag == "article":
            yield _document(element, ids, types, counts, path, log)
        elif element.tag != "import":
            counts[f"elements <{element.tag}> that are not read"] += 1
    log.notes += [f"{path}: {count} {what}" for what, count in sorted(counts.items())]


def _document(
    element: XmlElement, ids: Ids, types: TypeSet, counts: Counter[str], path: Path, log: ReadingLog
) -> Document:
    id, generated = ids.take(_given_id(element), element.line)
    article, end = _collected(element)
    counts.update(article.unread)
    text, sentences = "".join(article.chunks), tuple(article.sentences)
    terms = [each for each in article.cons if _is_term(each, path, log)]
    if types == "five":
        entities, words = tuple(_merged(terms, counts)), _words(text, article)
        return Document(id, text, entities, words, sentences, generated_id=generated)
    coordinated = [each for each in terms if each.is_coordinated]
    counts.update("coordinated terms, each an entity over its whole range" for _ in coordinated)
    entities = tuple(Entity(each.start, each.end, str(each.sem)) for each in terms)
    return Document(
        id,
        text,
        entities,
        sentences=sentences,
        generated_id=generated,
        metadata={TITLE_END: end} if end != title_end(text, sentences) else {},
        annotation_notes=_notes(terms, entities, article.cons),
    )


def _given_id(element: XmlElement) -> str | None:
    names = [name for info in element.children("articleinfo") for name in info.children("bibliomisc")]
    return (names[0].text().strip() or None) if names else None


def _collected(element: XmlElement) -> tuple[_Article, int]:
    """The title and the abstract of an article, and where the title ends."""
    article = _Article()
    for title in element.children("title"):
        _collect(_without_layout(title), article)
    end = article.length
    for abstract in element.children("abstract"):
        content = _without_layout(abstract)
        if any(each if isinstance(each, str) else each.text() for each in content):
            article.add("\n")
            _collect(content, article)
    others = (
        each for each in element.content if isinstance(each, XmlElement) and each.tag not in _IN_ARTICLE
    )
    article.unread.extend(f"elements <{each.tag}> that are not read" for each in others)
    return article, end


def _without_layout(section: XmlElement) -> list[XmlElement | str]:
    """What stands in a section but for the line breaks or blanks at its borders."""
    content = list(section.content)
    if content and isinstance(first := content[0], str) and first[:1] in _LAYOUT:
        content[0] = first[1:]
    if content and isinstance(last := content[-1], str) and last[-1:] in _LAYOUT:
        content[-1] = last[:-1]
    return content


def _collect(content: list[XmlElement | str], article: _Article) -> None:
    """Put texts, sentences and terms into an article, outer terms before those in them."""
    for each in content:
        if isinstance(each, str):
            article.add(each)
            continue
        start = article.length
        cons = _Cons(start, start, each.attributes.get("sem"), each.attributes.get("lex"), each.line)
        if each.tag == "cons":
            article.cons.append(cons)
        _collect(each.content, article)
        cons.end = article.length
        if each.tag == "sentence" and cons.end > start:
            article.sentences.append((start, cons.end))
        elif each.tag != "cons":
            article.unread.append(f"elements <{each.tag}> of which only the text is read")


def _is_term(cons: _Cons, path: Path, log: ReadingLog) -> bool:
    """Whether an element is an entity: those without a class are parts of terms, those without text wrong."""
    if cons.sem is not None and cons.start == cons.end:
        log.reject_entity(path, cons.line, f"the term of the class {cons.sem!r} is empty; expected some text")
    return cons.sem is not None and cons.start < cons.end


def _notes(terms: list[_Cons], entities: tuple[Entity, ...], cons: list[_Cons]) -> dict[str, Any]:
    """What is written again beside the entities of the terms."""
    lexes: dict[str, list[str]] = {}
    for term, entity in zip(terms, entities, strict=True):
        if term.lex is not None:
            lexes.setdefault(entity.note_key, []).append(term.lex)
    parts = [[each.start, each.end, each.lex] for each in cons if each.sem is None and each.start < each.end]
    return {name: value for name, value in ((LEX, lexes), (PARTS, parts)) if value}


def _merged(terms: list[_Cons], counts: Counter[str]) -> Iterator[Entity]:
    """The entities of the five types."""
    seen: set[Entity] = set()
    for term in terms:
        match = _FIVE.fullmatch(str(term.sem))
        entity = Entity(term.start, term.end, match[1]) if match else None
        if entity is not None and entity not in seen:
            seen.add(entity)
            yield entity
        elif entity is not None:
            counts["terms left out that repeat the range and the merged type of another"] += 1
        elif term.is_coordinated:
            counts["coordinated terms left out"] += 1
        else:
            counts["terms left out of classes that are none of the five types"] += 1


def _words(text: str, article: _Article) -> tuple[Range, ...]:
    """The runs without white space, cut where an element begins or ends."""
    borders = sorted(
        {border for each in article.cons for border in (each.start, each.end)}
        | {border for sentence in article.sentences for border in sentence}
    )
    words: list[Range] = []
    for match in _RUN.finditer(text):
        inside = borders[bisect_right(borders, match.start()) : bisect_left(borders, match.end())]
        words.extend(pairwise((match.start(), *inside, match.end())))
    return tuple(words)


FORMAT = Format(
    name="genia-xml",
    description="GENIA term XML: articles with nested terms",
    suffixes=(".genia.xml",),
    recognises=recognises,
    read=read,
    options={"types": types_named},
    serialise=serialise,
    keys=frozenset((LEX, PARTS, TITLE_END)),
    own_unwritable=unwritable,
)
