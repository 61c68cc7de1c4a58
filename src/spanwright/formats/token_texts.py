"""Sentences of words to a text and back: what column files and the JSON formats of tokens share.

Such files hold words, not a text. The text of their documents is made by joining words with a blank and
sentences with a line break. The other way round, the white space between the words of a document stays
behind; what else is left out is listed as unwritable.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from spanwright.formats.unwritable import Unwritable, shown_entity
from spanwright.text import Argument, Document, Entity, Range, Relation, sentences, words
from spanwright.text.tags import WordRun


def joined(
    token_sentences: Sequence[Sequence[str]], blank: str = " "
) -> tuple[str, tuple[Range, ...], tuple[Range, ...]]:
    """The text, the words and the sentences of a document from the words of its sentences.

    No word and no sentence may be empty.
    """
    gap = len(blank)
    word_ranges: list[Range] = []
    sentence_ranges: list[Range] = []
    start = 0
    for tokens in token_sentences:
        first = start
        for length in map(len, tokens):
            end = start + length
            word_ranges.append((start, end))
            start = end + gap
        sentence_ranges.append((first, start - gap))
        start += 1 - gap
    text = "\n".join(map(blank.join, token_sentences))
    return text, tuple(word_ranges), tuple(sentence_ranges)


def entity_of(run: WordRun, word_ranges: Sequence[Range]) -> Entity:
    """The entity that covers a run of words."""
    first, end, type_ = run
    return Entity(word_ranges[first][0], word_ranges[end - 1][1], type_)


def stray_starts(tags: Sequence[str], runs: Iterable[WordRun]) -> list[int]:
    """Word positions of runs that begin with a tag that continues one (`I-`, `M-`, `E-`, `L-`)."""
    return [first for first, _, _ in runs if tags[first][0] in "IMEL"]


def stray_tag(tag: str, scheme: str) -> str:
    """The remark on a stray start."""
    return f"a mention begins with {tag!r}, which {scheme} has inside of mentions only; it is kept"


def untyped_tag(tag: str) -> str:
    """The remark on a mention without a type."""
    return f"the tag {tag!r} has no type; expected one after a hyphen, as in B-Disease; the mention is kept"


def repeated_entity(words: Sequence[str], type_: str, first: int, again: int) -> str:
    """The reason to reject an entity that another layer of tags holds, too."""
    where = f"stands in column {first} and again in column {again}"
    return f"the entity {type_!r} {' '.join(words)!r:.80} {where}; it is read once"


def unreadable_tag(tag: str) -> str:
    """The reason to reject a tag of no scheme."""
    return f"no tag scheme has {tag!r}; expected O, and B, I, M, E, L, S or U with a hyphen and a type"


@dataclass(frozen=True, slots=True)
class Tokens:
    """A document as sentences of words."""

    sentences: list[list[str]]
    runs: list[tuple[WordRun, Entity]]
    """Each entity that covers whole words: word positions counted over the document, and the entity."""
    unwritable: list[Unwritable]
    """What is left out: text in no word, discontinuous entities, entities that cut a word."""

    @property
    def words(self) -> list[str]:
        """The words of all sentences."""
        return [word for tokens in self.sentences for word in tokens]


def tokens_of(document: Document) -> Tokens:
    """The sentences of words and the runs of a document; words and sentences are split where not given."""
    word_ranges = words(document)
    runs, unwritable = _runs(document, word_ranges)
    unwritable = [*_uncovered_text(document, word_ranges), *unwritable]
    counts = [len(list(group)) for _, group in groupby(_sentence_numbers(document, word_ranges, runs))]
    shown = iter([document.text[start:end] for start, end in word_ranges])
    return Tokens([[next(shown) for _ in range(count)] for count in counts], runs, unwritable)


def _runs(
    document: Document, word_ranges: Sequence[Range]
) -> tuple[list[tuple[WordRun, Entity]], list[Unwritable]]:
    first_of = {start: position for position, (start, _) in enumerate(word_ranges)}
    end_of = {end: position + 1 for position, (_, end) in enumerate(word_ranges)}
    runs: list[tuple[WordRun, Entity]] = []
    unwritable: list[Unwritable] = []
    for entity in document.entities:
        first, end = first_of.get(entity.start), end_of.get(entity.end)
        if len(entity.ranges) > 1:
            unwritable.append(
                Unwritable("entities", f"the discontinuous entity {shown_entity(document, entity)}")
            )
        elif first is None or end is None:
            line = f"the entity {shown_entity(document, entity)}, which does not begin and end with a word"
            unwritable.append(Unwritable("entities", line))
        else:
            runs.append(((first, end, entity.type), entity))
    return runs, unwritable


def _uncovered_text(document: Document, word_ranges: Sequence[Range]) -> Iterator[Unwritable]:
    """A line for each stretch of text that is in no word; the splitter leaves none, a corpus may."""
    if document.words is None:
        return
    borders = [0, *(border for word in word_ranges for border in word), len(document.text)]
    for start, end in zip(borders[::2], borders[1::2], strict=True):
        text = document.text[start:end]
        if text.strip():
            where = f"at [{start}, {end}) of document {document.id!r}, outside of words"
            yield Unwritable("texts", f"the text {text!r:.80} {where}")


def _sentence_numbers(
    document: Document, word_ranges: Sequence[Range], runs: Iterable[tuple[WordRun, Entity]]
) -> list[int]:
    """The number of the sentence of each word, which is the one that it begins in.

    Borders that the rules found give way to entities that cross them; borders of the corpus do not.
    """
    starts = [start for start, _ in sentences(document)]
    if document.sentences is None:
        for _, entity in runs:
            left, right = bisect_right(starts, entity.start), bisect_right(starts, entity.end - 1)
            del starts[left:right]
    return [bisect_right(starts, start) for start, _ in word_ranges]


def disjoint(
    document: Document, runs: Iterable[tuple[WordRun, Entity]], layers: int = 1
) -> tuple[list[WordRun], list[Unwritable]]:
    """The runs that can be disjoint in layers of tags, longest first choice, and a line for each other one.

    They come in the order of their beginnings, outer runs before those in them.
    """
    kept: dict[WordRun, None] = {}
    unwritable: list[Unwritable] = []
    covered: Counter[int] = Counter()
    for run, entity in sorted(runs, key=lambda each: each[0][0] - each[0][1]):
        positions = range(run[0], run[1])
        if run not in kept and all(covered[position] < layers for position in positions):
            covered.update(positions)
            kept[run] = None
        else:
            others = (
                "a longer or equal one" if layers == 1 or run in kept else f"{layers} longer or equal ones"
            )
            line = f"the entity {shown_entity(document, entity)}, which overlaps {others}"
            unwritable.append(Unwritable("entities", line))
    return sorted(kept, key=lambda run: (run[0], -run[1])), unwritable


def plain_pair(relation: Relation) -> tuple[Entity, ...]:
    """The mentions of a relation that formats of tokens can hold: two of them, without roles or a note."""
    mentions = relation.mentions
    is_plain = len(mentions) == 2 and relation == Relation(relation.type, tuple(map(Argument, mentions)))
    return mentions if is_plain else ()


def unwritable_borders(document: Document) -> Iterator[Unwritable]:
    """A line when the corpus gives a document several sentences and the format holds one."""
    if document.sentences is not None and len(document.sentences) > 1:
        line = f"the borders of the {len(document.sentences)} sentences of document {document.id!r}"
        yield Unwritable("borders", line)
