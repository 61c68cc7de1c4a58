"""Which predicted document answers which gold document, and in which offsets the two are compared.

Documents are paired by id. Those whose id says nothing (a reader made it up), and all of them when no id
is shared, are paired by text. Two texts that differ only in white space are compared in offsets that
count no white space, so a column file joined by blanks can be scored against the original text.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from spanwright.errors import InputError
from spanwright.text import Document, Range

Key = tuple[tuple[Range, ...], str]
"""What strict scoring compares within a pair: the exact character ranges and the type."""

_Numbered = dict[int, Document]
"""Documents of one side by their position, so that equal ones stay apart."""

_EXCERPT = 24


@dataclass(frozen=True, slots=True)
class Pair:
    """A gold document and the predicted one that answers it; None where one side lacks the document."""

    gold: Document | None
    predicted: Document | None
    blank_free: bool = False
    """True when the texts differ in white space, so that offsets count the other characters only."""

    @property
    def document(self) -> Document:
        """The document whose words and sentences stand for both: the gold one, if there is one."""
        document = self.gold or self.predicted
        if document is None:
            raise ValueError("a pair has at least one document")
        return document

    def compared(self, ranges: Sequence[Range]) -> Sequence[Range]:
        """Ranges of `document` in the offsets that the two sides are compared in."""
        if not self.blank_free:
            return ranges
        visible_before = _visible_before(self.document.text)
        return [(visible_before[start], visible_before[end]) for start, end in ranges]

    def gold_keys(self) -> list[Key]:
        """The key of every gold entity, duplicates included."""
        return _keys(self.gold, self.blank_free)

    def predicted_keys(self) -> list[Key]:
        """The key of every predicted entity, duplicates included."""
        return _keys(self.predicted, self.blank_free)


@dataclass(frozen=True, slots=True)
class Pairing:
    """All documents of both sides: in the order of gold, then those that gold lacks."""

    pairs: tuple[Pair, ...]
    notes: tuple[str, ...]
    """What a reader of the scores must know about how documents were paired."""


def pair_documents(gold: Iterable[Document], predicted: Iterable[Document]) -> Pairing:
    """Pair every gold document with the predicted one of the same id, or of the same text.

    Raises `InputError` when there is no gold document, when nothing can be paired, or when the texts of a
    pair differ in more than white space.
    """
    notes: list[str] = []
    golds = _pool_repeated(gold, "gold", notes)
    predictions = _pool_repeated(predicted, "prediction", notes)
    if not golds:
        raise InputError("gold: no documents; scores need at least one document with its gold entities")
    partners = _partners(golds, predictions, notes)
    if predictions and not partners:
        raise InputError(_nothing_in_common(golds, predictions))
    pairs = [_aligned(document, predictions.get(partners.get(i, -1))) for i, document in golds.items()]
    answered = set(partners.values())
    pairs += [Pair(None, document) for i, document in predictions.items() if i not in answered]
    if blank_free := sum(pair.blank_free for pair in pairs):
        notes.append(
            f"documents whose texts differ in white space between gold and prediction: {blank_free}; "
            f"their offsets were compared without counting white space"
        )
    return Pairing(tuple(pairs), tuple(notes))


def _pool_repeated(documents: Iterable[Document], side: str, notes: list[str]) -> _Numbered:
    """Number the documents of one side; a repeated document is pooled with its first appearance."""
    numbered: _Numbered = {}
    appeared: dict[tuple[str, str], int] = {}
    repeated = 0
    for position, document in enumerate(documents):
        identity = (document.id, document.text)
        first = position if document.generated_id else appeared.setdefault(identity, position)
        if first == position:
            numbered[position] = document
        else:
            numbered[first] = numbered[first].with_entities(numbered[first].entities + document.entities)
            repeated += 1
    if repeated:
        notes.append(
            f"{side}: documents that repeat the id and text of an earlier one: {repeated}; "
            f"their entities were pooled"
        )
    return numbered


def _partners(golds: _Numbered, predictions: _Numbered, notes: list[str]) -> dict[int, int]:
    """The predicted document that answers each gold document, by position."""
    # Id and text together tell apart copies of a text, and passages that share the id of their article.
    partners = _pair_up(golds, predictions, _id_and_text)
    partners |= _pair_up(
        _with_id(_without(golds, partners)),
        _with_id(_without(predictions, partners.values())),
        lambda document: document.id,
    )
    by_id = len(partners)
    # Where ids are shared, two documents that both have one of their own are different documents.
    choices = [(_without_id, _all), (_all, _without_id)] if partners else [(_all, _all)]
    for key in (lambda document: document.text, _visible_text):
        for choose_gold, choose_predicted in choices:
            partners |= _pair_up(
                choose_gold(_without(golds, partners)),
                choose_predicted(_without(predictions, partners.values())),
                key,
            )
    if by_text := len(partners) - by_id:
        notes.append(
            f"documents paired by their text, as gold and prediction share no id for them: {by_text}"
        )
    return partners


def _pair_up(golds: _Numbered, predictions: _Numbered, key: Callable[[Document], Hashable]) -> dict[int, int]:
    """Pair documents with the same key, in order where several have it."""
    waiting: dict[Hashable, deque[int]] = defaultdict(deque)
    for position, document in predictions.items():
        waiting[key(document)].append(position)
    partners = {}
    for position, document in golds.items():
        if queue := waiting.get(key(document)):
            partners[position] = queue.popleft()
    return partners


def _id_and_text(document: Document) -> tuple[str, str]:
    return document.id, _visible_text(document)


def _visible_text(document: Document) -> str:
    return "".join(document.text.split())


def _with_id(documents: _Numbered) -> _Numbered:
    return {position: document for position, document in documents.items() if not document.generated_id}


def _without_id(documents: _Numbered) -> _Numbered:
    return {position: document for position, document in documents.items() if document.generated_id}


def _all(documents: _Numbered) -> _Numbered:
    return documents


def _without(documents: _Numbered, paired: Iterable[int]) -> _Numbered:
    positions = set(paired)
    return {position: document for position, document in documents.items() if position not in positions}


def _aligned(gold: Document, predicted: Document | None) -> Pair:
    """The pair, once it is clear in which offsets it can be compared."""
    if predicted is None or gold.text == predicted.text:
        return Pair(gold, predicted)
    if _visible_text(gold) == _visible_text(predicted):
        return Pair(gold, predicted, blank_free=True)
    gold_at, predicted_at = _first_difference(gold.text, predicted.text)
    raise InputError(
        f"document {gold.id!r}: the texts differ, gold has {_excerpt(gold.text, gold_at)} at character "
        f"{gold_at} and the prediction has {_excerpt(predicted.text, predicted_at)} at character "
        f"{predicted_at}; expected texts that are equal or differ only in white space"
    )


def _first_difference(left: str, right: str) -> tuple[int, int]:
    """Where two texts first differ in a character that is not white space, as an offset in each."""
    visible_left = [position for position, character in enumerate(left) if not character.isspace()]
    visible_right = [position for position, character in enumerate(right) if not character.isspace()]
    for left_at, right_at in zip(visible_left, visible_right, strict=False):
        if left[left_at] != right[right_at]:
            return left_at, right_at
    shared = min(len(visible_left), len(visible_right))
    return (
        visible_left[shared] if shared < len(visible_left) else len(left),
        visible_right[shared] if shared < len(visible_right) else len(right),
    )


def _keys(document: Document | None, blank_free: bool) -> list[Key]:
    if document is None:
        return []
    if not blank_free:
        return [entity.key for entity in document.entities]
    visible_before = _visible_before(document.text)
    return [(_visible_ranges(entity.ranges, visible_before), entity.type) for entity in document.entities]


def _visible_before(text: str) -> list[int]:
    """How many characters other than white space stand before each offset, the end of the text included."""
    return list(accumulate((not character.isspace() for character in text), initial=0))


def _visible_ranges(ranges: tuple[Range, ...], visible_before: list[int]) -> tuple[Range, ...]:
    """Ranges in offsets that count no white space.

    Ranges that touch there are one: brat cuts a mention at a line break, where a column file has a blank.
    """
    joined: list[Range] = []
    for start, end in ranges:
        first, last = visible_before[start], visible_before[end]
        if joined and joined[-1][1] == first:
            first = joined.pop()[0]
        joined.append((first, last))
    return tuple(joined)


def _nothing_in_common(golds: _Numbered, predictions: _Numbered) -> str:
    gold, predicted = next(iter(golds.values())), next(iter(predictions.values()))
    return (
        f"no document is in both gold and prediction, neither by id nor by text: gold begins with "
        f"{gold.id!r}, {_begin(gold)}, the prediction with {predicted.id!r}, {_begin(predicted)}; expected "
        f"documents with the same ids, or with texts that are equal but for white space (a column file "
        f"without document marks has one document per sentence)"
    )


def _begin(document: Document) -> str:
    return _excerpt(document.text, 0)


def _excerpt(text: str, start: int) -> str:
    if start >= len(text):
        return "the end of the text"
    rest = "..." if start + _EXCERPT < len(text) else ""
    return repr(text[start : start + _EXCERPT] + rest)
