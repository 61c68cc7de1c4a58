"""The built-in sample corpus: offsets, nesting, unseen mentions, separate splits, reproducible bytes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator

import pytest

from places import ROOT
from spanwright import sample
from spanwright.corpora.overlap import overlap
from spanwright.formats.files import read
from spanwright.text import Document, Entity, sentences, words

TYPES = {"Cell", "Chemical", "Disease", "Gene", "Species"}
SIZES = {"train": 300, "dev": 60, "test": 80}


@pytest.fixture(scope="module")
def splits() -> dict[str, list[Document]]:
    return {split: list(read(path, strict=True).documents) for split, path in sample.files().items()}


def entities(documents: list[Document]) -> Iterator[tuple[Document, Entity]]:
    return ((document, entity) for document in documents for entity in document.entities)


def mentions(documents: list[Document]) -> list[str]:
    return [document.mention(entity).lower() for document, entity in entities(documents)]


def nested_share(documents: list[Document]) -> float:
    inside = [
        any(
            other.start <= entity.start and entity.end <= other.end and other.key != entity.key
            for other in document.entities
        )
        for document, entity in entities(documents)
    ]
    return sum(inside) / len(inside)


def unseen_share(documents: list[Document], seen: list[str]) -> float:
    found = mentions(documents)
    return sum(mention not in set(seen) for mention in found) / len(found)


def test_splits_have_their_sizes_and_ids(splits):
    ids = {split: [document.id for document in documents] for split, documents in splits.items()}
    assert ids == {
        split: [f"sample-{split}-{number:04}" for number in range(1, size + 1)]
        for split, size in SIZES.items()
    }


def test_every_entity_begins_and_ends_at_a_word_border(splits):
    for documents in splits.values():
        for document in documents:
            starts = {start for start, _ in words(document)}
            ends = {end for _, end in words(document)}
            for entity in document.entities:
                assert entity.start in starts, (document.id, document.mention(entity))
                assert entity.end in ends, (document.id, document.mention(entity))


@pytest.mark.parametrize(("word", "type_"), [("mice", "Species"), ("Cas9", "Gene"), ("methanol", "Chemical")])
def test_a_name_with_one_meaning_is_marked_wherever_it_stands(splits, word, type_):
    places = [
        (document, match.span())
        for documents in splits.values()
        for document in documents
        for match in re.finditer(rf"\b{word}\b", document.text)
    ]
    assert places
    for document, span in places:
        assert (*span, type_) in {(e.start, e.end, e.type) for e in document.entities}, document.text


@pytest.mark.parametrize("split", SIZES)
def test_all_five_types_occur_often(splits, split):
    counts = Counter(entity.type for _, entity in entities(splits[split]))
    assert set(counts) == TYPES
    assert min(counts.values()) >= 30


@pytest.mark.parametrize("split", SIZES)
def test_at_least_8_percent_of_the_entities_are_nested(splits, split):
    assert nested_share(splits[split]) >= 0.08


def test_entities_nest_but_never_cross(splits):
    for documents in splits.values():
        for document in documents:
            spans = [(entity.start, entity.end) for entity in document.entities]
            assert len(spans) == len(set(spans)), document.id
            assert not any(a < c < b < d for a, b in spans for c, d in spans), document.id


@pytest.mark.parametrize("split", ["dev", "test"])
def test_a_quarter_to_three_fifths_of_the_mentions_are_unseen_in_train(splits, split):
    assert 0.25 <= unseen_share(splits[split], mentions(splits["train"])) <= 0.60


def test_no_text_stands_twice(splits):
    texts = Counter(document.text for documents in splits.values() for document in documents)
    assert texts.most_common(1)[0][1] == 1


def test_documents_have_two_to_four_sentences(splits):
    """The rule splitter joins two where one ends in an initial (`withaferin A.`) or begins small (`mTOR`)."""
    counts = [len(sentences(document)) for documents in splits.values() for document in documents]
    assert set(counts) <= {1, 2, 3, 4}
    assert counts.count(1) <= 0.02 * len(counts)


def test_some_documents_have_no_entity(splits):
    for documents in splits.values():
        assert 0 < sum(not document.entities for document in documents) < len(documents) / 10


@pytest.mark.parametrize("word", ["kit", "lead", "set", "rest", "met", "mouse", "gold", "er", "depression"])
def test_ambiguous_words_are_entities_in_one_place_and_not_in_another(splits, word):
    uses = set()
    for document in splits["train"]:
        marked = {(entity.start, entity.end) for entity in document.entities}
        uses |= {span in marked for span in words(document) if document.text[slice(*span)].lower() == word}
    assert uses == {True, False}


def test_sentences_are_well_formed(splits):
    blanks, marks, doubled = r"  |\s[.,;)]|\( |\.\.", r"[<>{}\[\]|#]", r"\b(\w+) \1\b"
    articles = r"\ba [aeio]|(?:^|\. )A [aeio]|\b[Aa]n [bcdfgjkpqtvwz]"
    faults = re.compile("|".join([blanks, marks, doubled, articles]))
    for documents in splits.values():
        for document in documents:
            assert not faults.search(document.text), document.text
            for start, end in sentences(document):
                assert document.text[end - 1] == ".", document.text
                assert not re.match(r"[a-z]{5}", document.text[start:end]), document.text


def test_the_tool_writes_the_same_bytes_again(tmp_path):
    command = [sys.executable, str(ROOT / "tools" / "make_sample.py"), "--out", str(tmp_path)]
    paths = os.pathsep.join(path for path in (str(ROOT / "src"), os.environ.get("PYTHONPATH")) if path)
    subprocess.run(command, check=True, env={**os.environ, "PYTHONPATH": paths, "PYTHONHASHSEED": "7"})
    for split, path in sample.files().items():
        assert (tmp_path / f"{split}.jsonl").read_bytes() == path.read_bytes()


def test_the_readme_states_the_counts(splits):
    readme = (sample.files()["train"].parent / "README.md").read_text(encoding="utf-8")
    seen = mentions(splits["train"])
    for split, documents in splits.items():
        count, nested = len(mentions(documents)), f"{nested_share(documents):.0%}"
        unseen = "–" if split == "train" else f"{unseen_share(documents, seen):.0%}"
        word_count = sum(len(words(document)) for document in documents)
        cells = [split, len(documents), f"{word_count:,}", f"{count:,}", nested, unseen]
        assert f"| {' | '.join(map(str, cells))} |".replace("%", " %") in readme


def test_the_corpus_is_small():
    assert sum(path.stat().st_size for path in sample.files().values()) < 600_000


@pytest.mark.parametrize("later, earlier", [("test", "train"), ("dev", "train"), ("test", "dev")])
def test_splits_share_no_document(splits, later: str, earlier: str) -> None:
    assert overlap(splits[later], splits[earlier]).pairs == ()
