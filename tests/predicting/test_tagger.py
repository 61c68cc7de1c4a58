"""The tagger: documents in, documents out, in order, whatever goes through the model together."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import tiny
from spanwright.errors import InputError
from spanwright.formats.files import FORMATS, read, write
from spanwright.predicting.tagger import Tagger
from spanwright.text import Argument, Document, Entity, Relation, split

WORDS = (
    "cells",
    "p53",
    "of",
    "the",
    "beta-catenin",
    "kinase.",
    "A",
    "TNFα",
    "2.5",
    "mice\n",
    "x" * 60,
    "\u200b",
)


def texts(count: int, *, seed: int = 0, longest: int = 60) -> list[str]:
    generator = random.Random(seed)
    return [" ".join(generator.choices(WORDS, k=generator.randint(0, longest))) for _ in range(count)]


@pytest.fixture(scope="module")
def tagger() -> Tagger:
    return Tagger(tiny.model())


def keys(document: Document) -> list[tuple[int, int, str]]:
    return [(entity.start, entity.end, entity.type) for entity in document.entities]


def assert_same_answers(ours: list[Document], theirs: list[Document]) -> None:
    assert len(ours) == len(theirs)
    for left, right in zip(ours, theirs, strict=True):
        assert left.text == right.text
        assert keys(left) == keys(right)
        confidences = [[entity.confidence for entity in document.entities] for document in (left, right)]
        np.testing.assert_allclose(*confidences, atol=1e-4)


def test_a_text_gives_a_document_and_a_stream_gives_a_stream(tagger: Tagger) -> None:
    alone = tagger.tag("p53 in cells")
    assert isinstance(alone, Document)
    assert alone.text == "p53 in cells"
    assert alone.generated_id
    assert_same_answers([alone], list(tagger.tag(["p53 in cells"])))


def test_the_tiny_model_finds_entities_so_that_these_tests_mean_something(tagger: Tagger) -> None:
    found = [len(document.entities) for document in tagger.tag(texts(20))]
    assert sum(found) > 200


def test_a_stream_keeps_its_order_over_chunks(tagger: Tagger, monkeypatch: pytest.MonkeyPatch) -> None:
    tiny.set_load(monkeypatch, characters=300)
    documents = [Document(f"d{number}", text) for number, text in enumerate(texts(30))]
    tagged = list(tagger.tag(documents))
    assert [(document.id, document.text) for document in tagged] == [
        (each.id, each.text) for each in documents
    ]


def test_a_stream_is_consumed_in_bounded_chunks(tagger: Tagger, monkeypatch: pytest.MonkeyPatch) -> None:
    tiny.set_load(monkeypatch, characters=100)
    taken = 0

    def source() -> Iterator[str]:
        nonlocal taken
        for _ in range(1000):
            taken += 1
            yield "p53 in cells"

    stream = tagger.tag(source())
    assert taken == 0
    for answered in range(1, 25):
        next(stream)
        assert taken < answered + 100 // len("p53 in cells") + 1


def test_a_stream_of_empty_texts_is_consumed_in_bounded_chunks(
    tagger: Tagger, monkeypatch: pytest.MonkeyPatch
) -> None:
    tiny.set_load(monkeypatch, characters=100)
    source = iter([""] * 1000)
    next(tagger.tag(source))
    assert len(list(source)) >= 900


@pytest.mark.parametrize("text", ["", " ", "\n\t\u2003"])
def test_a_text_without_words_has_no_entities(tagger: Tagger, text: str) -> None:
    assert tagger.tag(text).entities == ()
    between = list(tagger.tag(["p53 in cells", text, "p53 in cells"]))
    assert between[1].text == text and between[1].entities == ()
    assert_same_answers([between[0]], [between[2]])


def test_an_empty_stream_gives_nothing(tagger: Tagger) -> None:
    assert list(tagger.tag([])) == []


def test_given_words_are_respected(tagger: Tagger) -> None:
    words = ((0, 6), (7, 9), (10, 14))
    document = Document("d", "NF-κB2 in T-cells", words=words)
    found = tagger.tag(document)
    assert found.words == words
    assert found.entities
    assert {entity.start for entity in found.entities} <= {start for start, _ in words}
    assert {entity.end for entity in found.entities} <= {end for _, end in words}


def test_nothing_that_was_marked_in_a_text_is_in_the_answer_and_everything_else_is(tagger: Tagger) -> None:
    plain = Document("d", "p53 in cells", corpus="c", metadata={"k": [1]})
    old = Entity(0, 3, "Old", concepts=("D1",))
    relations = (Relation("Of", (Argument(old), Argument("D2"))), Relation("Of", (Argument("D1"),)))
    marked = replace(plain, entities=(old,), relations=relations, annotation_notes={"brat_lines": ["#1"]})
    found = tagger.tag(marked)
    assert all(entity.type in ("Cell", "Gene") and not entity.concepts for entity in found.entities)
    assert replace(found, entities=()) == plain


def test_confidences_are_above_0_and_at_most_1(tagger: Tagger) -> None:
    confidences = [entity.confidence for document in tagger.tag(texts(20)) for entity in document.entities]
    assert all(confidence is not None and 0 < confidence <= 1 for confidence in confidences)


def test_no_entity_is_wider_than_the_width_limit(tagger: Tagger) -> None:
    for document in tagger.tag(texts(20)):
        words = split(document.text)
        first, last = ({word[side]: place for place, word in enumerate(words)} for side in (0, 1))
        assert all(last[entity.end] - first[entity.start] < 4 for entity in document.entities)


def test_a_lone_surrogate_is_refused(tagger: Tagger) -> None:
    with pytest.raises(InputError, match="lone surrogate"):
        tagger.tag("ab\ud800")


@pytest.mark.parametrize("family", tiny.FAMILIES)
def test_batch_composition_changes_no_answer(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tagger = Tagger(tiny.model(family=family))
    given_texts = texts(32, seed=1)
    together = list(tagger.tag(given_texts))
    assert sum(len(document.entities) for document in together) > 300
    assert_same_answers([tagger.tag(text) for text in given_texts], together)
    order = random.Random(2).sample(range(32), 32)
    shuffled = list(tagger.tag([given_texts[place] for place in order]))
    assert_same_answers([shuffled[order.index(place)] for place in range(32)], together)
    tiny.set_load(monkeypatch, windows=1)
    assert_same_answers(list(tagger.tag(given_texts)), together)


@pytest.mark.parametrize("decoding", ["flat", "non-crossing"])
def test_documents_decoded_together_are_decoded_as_alone(decoding: str) -> None:
    tagger = Tagger(tiny.model(decoding=decoding))
    given_texts = texts(16, seed=3)
    assert_same_answers([tagger.tag(text) for text in given_texts], list(tagger.tag(given_texts)))


def test_flat_decoding_gives_disjoint_entities() -> None:
    for document in Tagger(tiny.model(decoding="flat")).tag(texts(16)):
        ends = [0, *(entity.end for entity in document.entities)]
        assert all(entity.start >= end for entity, end in zip(document.entities, ends, strict=False))


@pytest.mark.parametrize("family", tiny.FAMILIES)
@pytest.mark.parametrize("words", [1, 2, 7, 40])
def test_a_prefix_in_a_sentence_of_its_own_shifts_every_offset_by_its_length(family: str, words: int) -> None:
    # Windows end at sentence borders, so the model sees the text after the empty line as before.
    windows = {"pieces": 48, "overlap": 6, "context": "sentence"}
    tagger = Tagger(tiny.model(family=family, windows=windows))
    text = "\n\n" + texts(1, seed=4, longest=50)[0] + " beta cells\n\nand p53"
    prefix = " ".join(random.Random(5).choices(WORDS[:4], k=words))
    alone, before, joined = tagger.tag(text), tagger.tag(prefix), tagger.tag(prefix + text)
    shifted = [(start + len(prefix), end + len(prefix), type_) for start, end, type_ in keys(alone)]
    assert alone.entities
    assert keys(joined) == keys(before) + shifted


def test_a_long_document_is_tagged_to_its_last_word(tagger: Tagger) -> None:
    text = " ".join(texts(1, seed=6, longest=50)[0] for _ in range(60))
    document = tagger.tag(text)
    thirds = {entity.start * 3 // len(text) for entity in document.entities}
    assert thirds == {0, 1, 2}
    assert max(entity.end for entity in document.entities) > 0.98 * len(text)


GOLD_GENE, GOLD_CELL = Entity(0, 3, "GENE", concepts=("GOLD1",)), Entity(7, 12, "GENE", concepts=("GOLD2",))
GOLD = Document(
    "d",
    "p53 in cells",
    (GOLD_GENE, GOLD_CELL),
    relations=(
        Relation("GOLDOF", (Argument(GOLD_GENE), Argument(GOLD_CELL))),
        Relation("GOLDOF", (Argument("GOLD1"), Argument("GOLD2")), "GOLDNOTE"),
    ),
    annotation_notes={
        "elsewhere": "GOLDNOTE",
        "clusters": "GOLDNOTE",
        "Comments": ["GOLDNOTE"],
        "brat_lines": ["#1\tAnnotatorNotes T1\tGOLDNOTE"],
        "brat_ids": {"0 3\tGENE\tGOLD1": ["T1"]},
        "pubtator_columns": {"0 3\tGENE\tGOLD1": "GOLD1\tGOLDNOTE"},
        "bioc": {"relations": [{"place": [], "relation": {"id": "R0", "infons": {"by": "GOLDNOTE"}}}]},
        "genia_lex": {"0 3\tGENE\tGOLD1": ["GOLDNOTE"]},
    },
)


def content(path: Path) -> str:
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    return " ".join(file.read_bytes().decode("utf-8", "replace") for file in files)


OFFSETS_ALONE = ("text", "conll", "bc2gm", "argilla")
"""Formats that hold nothing of an annotation but offsets and types."""


@pytest.mark.parametrize("format", [name for name in FORMATS if name not in OFFSETS_ALONE])
def test_nothing_of_the_gold_is_in_a_tagged_file(tagger: Tagger, tmp_path: Path, format: str) -> None:
    if format in ("parquet", "spacy"):
        pytest.importorskip({"parquet": "pyarrow"}.get(format, format))
    write([GOLD], tmp_path / "gold", format=format, lossy=True)
    (given,) = read(tmp_path / "gold", format=format).documents
    assert "GOLD" in repr(given)
    write([tagger.tag(given)], tmp_path / "tagged", format=format, lossy=True)
    assert "GOLD" not in repr(read(tmp_path / "tagged", format=format).documents)
    assert "GOLD" not in content(tmp_path / "tagged")
