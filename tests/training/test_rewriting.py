"""Rewrites are what a slow search of documents and lexicons gives, padded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tiny
from spanwright.batches.pieces import PieceEncoder
from spanwright.batches.prepare import WindowPlan
from spanwright.batches.writer import END, PAD, Vocabulary, gold_spans
from spanwright.errors import InputError
from spanwright.formats.files import read
from spanwright.labels import LabelSpace
from spanwright.lexicons import Lexicon, Term, lexicon_from_documents, merge, read_lexicon
from spanwright.lexicons.synonyms import Synonyms
from spanwright.text import Document, Entity, words
from spanwright.training.data import Split, prepare_split
from spanwright.training.writer.writing import Rewriting, gold_rewrites

PIECES = PieceEncoder(tiny.tokenizer())
PLAN = WindowPlan("document", 128, 8, 8)
LABELS = LabelSpace(("Disease", "Gene"))


def split_of(*documents: Document) -> Split:
    return prepare_split(documents, PIECES, PLAN, LABELS)


def document(text: str, *entities: tuple[str, tuple[str, ...]], type_: str = "Disease") -> Document:
    """A text with the first occurrence of each mention marked, with its concepts."""
    return Document(
        text,
        text,
        tuple(
            Entity(text.index(mention), text.index(mention) + len(mention), type_, concepts=concepts)
            for mention, concepts in entities
        ),
    )


LEXICON = Lexicon([Term("flu", None, "D1", ("Grippe", "Spanish flu", "catarrh of the lung"))])
DOCUMENTS = (
    document("A flu and an ague.", ("flu", ("D1",)), ("ague", ("D2",))),
    document("No grippe."),
    document("The swamp fever of the year", ("swamp fever", ("D2",)), ("swamp fever of the year", ())),
)
VOCABULARY = Vocabulary.of(DOCUMENTS)
SYNONYMS = Synonyms(DOCUMENTS, [LEXICON])


def rewriting(*documents: Document, **options: int) -> Rewriting:
    return gold_rewrites(split_of(*(documents or DOCUMENTS)), VOCABULARY, SYNONYMS, **options)


def written(
    made: Rewriting, spans: Sequence[tuple[int, int, int]], draw: tuple[int, ...] = (0,)
) -> list[tuple[int, bool, str]]:
    """The rewrites of spans as source, whether it is a synonym, and text."""
    columns = np.asarray(spans, dtype=np.int64).reshape(-1, 3).T
    source, synonym, numbers = made.of(*columns, draw)
    texts = [" ".join(VOCABULARY.words(row)) for row in numbers.tolist()]
    return list(zip(source.tolist(), synonym.tolist(), texts, strict=True))


def test_own_words_come_first_and_then_the_synonyms() -> None:
    assert written(rewriting(), [(2, 1, 2), (0, 1, 1), (2, 1, 5)]) == [
        (0, False, "swamp fever"),
        (1, False, "flu"),
        (2, False, "swamp fever of the year"),
        (0, True, "ague"),
        (1, True, "grippe"),
        (1, True, "<unknown> flu"),
        (1, True, "<unknown> of the <unknown>"),
    ]


def test_rows_end_with_the_end_and_are_padded() -> None:
    _, _, numbers = rewriting().of(np.array([0, 2]), np.array([4, 1]), np.array([4, 2]), (0,))
    known = dict(zip(VOCABULARY.entries, range(4, 100), strict=False))
    ague, fever = known["ague"], [known["swamp"], known["fever"]]
    assert numbers.tolist() == [[ague, END, PAD], [*fever, END], [*fever, END], [ague, END, PAD]]
    assert numbers.dtype == np.int64


def test_a_batch_without_gold_spans_has_no_rewrites() -> None:
    source, synonym, numbers = rewriting().of(*np.zeros((3, 0), dtype=np.int64), (0,))
    assert (source.shape, synonym.shape, synonym.dtype, numbers.shape) == ((0,), (0,), bool, (0, 0))


def test_long_texts_are_cut_and_still_end() -> None:
    assert written(rewriting(longest=2), [(2, 1, 5), (0, 1, 1)]) == [
        (0, False, "swamp fever"),
        (1, False, "flu"),
        (1, True, "grippe"),
        (1, True, "<unknown> flu"),
        (1, True, "<unknown> of"),
    ]
    assert (rewriting(longest=2).texts.values[rewriting(longest=2).texts.offsets[1:] - 1] == END).all()


def test_a_span_with_two_types_is_rewritten_once_with_the_synonyms_of_both() -> None:
    twice = Document(
        "1",
        "ague",
        (Entity(0, 4, "Disease", concepts=("D2",)), Entity(0, 4, "Gene", concepts=("D1",))),
    )
    made = rewriting(twice)
    assert [text for _, _, text in written(made, [(0, 0, 0)])] == [
        "ague",
        "swamp fever",
        "flu",
        "grippe",
        "<unknown> flu",
        "<unknown> of the <unknown>",
    ]
    assert made.coverage().spans == 1


def test_entities_that_words_cannot_express_have_no_rewrites() -> None:
    text = "ague flu fever"
    cutting = Entity(0, 3, "Disease")
    apart = Entity(0, 14, "Disease", fragments=((0, 4), (9, 14)))
    unknown = Entity(5, 8, "Cell")
    assert rewriting(Document("1", text, (cutting, apart, unknown))).coverage().spans == 0


@pytest.mark.parametrize("span", [(0, 0, 0), (1, 1, 1), (9, 1, 1), (0, 1, 2), (1, 0, 100)])
def test_other_spans_are_refused(span: tuple[int, int, int]) -> None:
    with pytest.raises(
        InputError, match=f"document {span[0]}: words {span[1]} to {span[2]} are not a gold span"
    ):
        written(rewriting(), [(0, 1, 1), span])


def test_a_split_without_golds_covers_nothing_and_refuses_every_span() -> None:
    made = rewriting(document("No grippe."))
    assert made.coverage().to_dict() == {
        "spans": 0,
        "spans_covered": 0,
        "synonyms": 0,
        "words": 0,
        "words_unknown": 0,
        "share": 0.0,
        "unknown_share": 0.0,
    }
    with pytest.raises(InputError, match="expected the 0 gold spans"):
        written(made, [(0, 0, 0)])


def test_coverage_counts_spans_and_unknown_words() -> None:
    coverage = rewriting().coverage()
    # flu has three synonyms of 1, 2 and 4 words; ague and swamp fever have each other.
    assert (coverage.spans, coverage.spans_covered, coverage.synonyms) == (4, 3, 5)
    assert (coverage.words, coverage.words_unknown) == (7 + 3, 3)
    assert (coverage.share, coverage.unknown_share) == (0.75, 0.3)


def test_references_are_the_synonyms_or_the_own_words() -> None:
    split = split_of(*DOCUMENTS)
    spans = list(gold_spans(split.documents, split.golds, VOCABULARY, SYNONYMS))
    assert [(span.document, span.first, span.last) for span in spans] == [
        (0, 1, 1),
        (0, 4, 4),
        (2, 1, 2),
        (2, 1, 5),
    ]
    assert spans[0].words == ("flu",)
    # Grippe is known in lower case; Spanish is not known, and keeps its case.
    assert spans[0].synonym_references == (("grippe",), ("Spanish", "flu"), ("catarrh", "of", "the", "lung"))
    assert spans[3].synonym_references == (("swamp", "fever", "of", "the", "year"),)


MANY = Lexicon([Term("flu", None, "D1", tuple(f"name{number}" for number in range(8)))])
MANY_DOCUMENTS = (
    document("flu name0 name1 name2 name3 name4 name5 name6 name7", ("flu", ()), ("name3", ())),
    document("ague", ("ague", ())),
)


@cache
def many(limit: int | None) -> Rewriting:
    vocabulary = Vocabulary.of(MANY_DOCUMENTS)
    return gold_rewrites(
        split_of(*MANY_DOCUMENTS), vocabulary, Synonyms(lexicons=[MANY]), synonyms_per_mention=limit
    )


SPANS = st.lists(st.sampled_from([(0, 0, 0), (0, 4, 4), (1, 0, 0)]), max_size=6)


@given(SPANS, st.integers(0, 9), st.tuples(st.integers(0, 5), st.integers(0, 5)))
def test_drawn_synonyms_are_some_of_all_and_none_twice(
    spans: list[tuple[int, int, int]], limit: int, draw: tuple[int, ...]
) -> None:
    columns = np.asarray(spans, dtype=np.int64).reshape(-1, 3).T
    everything = rows_by_source(*many(None).of(*columns, draw))
    drawn = rows_by_source(*many(limit).of(*columns, draw))
    for source, span in enumerate(spans):
        assert len(everything[source]) == (1 if span[0] else 9)
        own, *some = drawn[source]
        assert own == everything[source][0]
        assert len(some) == min(limit, len(everything[source]) - 1)
        # In the order of all of them.
        rest = iter(everything[source][1:])
        assert all(row in rest for row in some)


def rows_by_source(
    source: np.ndarray, synonym: np.ndarray, numbers: np.ndarray
) -> dict[int, list[tuple[int, ...]]]:
    found: dict[int, list[tuple[int, ...]]] = {}
    assert synonym.tolist() == sorted(synonym.tolist())
    for position, row in zip(source.tolist(), numbers.tolist(), strict=True):
        found.setdefault(position, []).append(tuple(number for number in row if number != PAD))
    return found


def test_a_draw_can_be_repeated_and_others_differ() -> None:
    made = many(2)
    spans = np.array([0]), np.array([0]), np.array([0])
    texts = {draw: made.of(*spans, (3, draw))[2].tolist() for draw in range(20)}
    assert {draw: made.of(*spans, (3, draw))[2].tolist() for draw in range(20)} == texts
    assert len({str(rows) for rows in texts.values()}) > 10


def test_all_synonyms_are_drawn_equally_often() -> None:
    made = many(2)
    spans = np.array([0]), np.array([0]), np.array([0])
    counts = Counter(row[0] for draw in range(1000) for row in made.of(*spans, (draw,))[2].tolist()[1:])
    # 250 each are expected, with a standard deviation of 14.
    assert len(counts) == 8
    assert all(180 < count < 320 for count in counts.values())


NAMES = ["flu", "Flu", "ague", "swamp fever", "swamp"]


@given(
    st.lists(
        st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(["", "D1", "D2"])), max_size=5), max_size=4
    ),
    st.integers(1, 2),
)
def test_rewrites_are_those_of_a_slow_search(texts: list[list[tuple[str, str]]], longest: int) -> None:
    documents = [lines(mentions) for mentions in texts]
    vocabulary = Vocabulary.of(documents, least_count=2)
    synonyms = Synonyms(documents, [LEXICON])
    split = split_of(*documents)
    made = gold_rewrites(split, vocabulary, synonyms, longest=longest)
    rows = [(index, *row[:2].tolist()) for index, golds in enumerate(split.golds) for row in golds]
    columns = np.asarray(rows, dtype=np.int64).reshape(-1, 3).T
    found = rows_by_source(*made.of(*columns, (0,)))
    for source, (index, first, last) in enumerate(rows):
        text, ranges = documents[index].text, words(documents[index])
        (entity,) = (one for one in documents[index].entities if one.start == ranges[first][0])
        assert entity.end == ranges[last][1]
        names = [
            documents[index].mention(entity),
            *synonyms.of(documents[index].mention(entity), entity.concepts),
        ]
        expected = [
            [text[start:end] for start, end in ranges[first : last + 1]],
            *([vocabulary.spelt(word) for word in name.split()] for name in names[1:]),
        ]
        assert found[source] == [(*vocabulary.numbers(own[:longest]), END) for own in expected]


def lines(mentions: list[tuple[str, str]]) -> Document:
    text, entities = "", []
    for mention, concept in mentions:
        concepts = (concept,) if concept else ()
        entities.append(Entity(len(text), len(text) + len(mention), "Disease", concepts=concepts))
        text += f"{mention}\nand\n"
    return Document("1", text, tuple(entities))


@pytest.fixture(scope="module")
def ncbi(corpora: Path) -> Split:
    documents = read(corpora / "ncbi_disease" / "pubtator" / "NCBItrainset_corpus.txt").documents
    return prepare_split(documents, PIECES, PLAN, LabelSpace.of(documents))


@pytest.fixture(scope="module")
def medic(corpora: Path) -> Lexicon:
    return read_lexicon(corpora / "ontologies" / "medic_06Jul2012.txt", number_prefix="OMIM:")


@pytest.mark.parametrize(
    ("with_concepts", "with_medic", "covered"), [(True, False, 4587), (False, True, 3286), (True, True, 5087)]
)
def test_a_real_corpus_is_covered_as_its_sources_say(
    ncbi: Split, medic: Lexicon, with_concepts: bool, with_medic: bool, covered: int
) -> None:
    documents = [prepared.document for prepared in ncbi.documents]
    annotated = documents if with_concepts else ()
    lexicons = [medic] if with_medic else []
    made = gold_rewrites(ncbi, Vocabulary.of(documents), Synonyms(annotated, lexicons))
    together = merge(lexicon_from_documents(annotated), *lexicons)
    overall = together.coverage(in_words(ncbi)).overall
    coverage = made.coverage()
    assert (coverage.spans, coverage.spans_covered) == (overall.mentions, overall.mentions_covered)
    assert coverage.spans_covered == covered


def in_words(split: Split) -> list[Document]:
    """The documents with one entity for each span that is made of words."""
    documents = []
    for prepared, rows in zip(split.documents, split.golds, strict=True):
        starts, ends = prepared.words[:, 0].tolist(), prepared.words[:, 1].tolist()
        spans = {(starts[first], ends[last]) for first, last, *_ in rows.tolist()}
        documents.append(prepared.document.with_entities(tuple(Entity(*span, "Disease") for span in spans)))
    return documents
