"""spaCy's binary files: exact offsets, nested spans, and what other programs put into them."""

from __future__ import annotations

import struct
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import corpora as several
from strategies import documents, relations
from token_documents import ANY_WORDS, problems, token_documents

from spanwright.errors import InputError, MissingExtraError
from spanwright.formats import files
from spanwright.formats.format import ReadingLog
from spanwright.formats.spacy.documents import FORMAT
from spanwright.text import Document, Entity

spacy = pytest.importorskip("spacy", reason="the extra 'spacy' is not installed")

NESTED = Document("1", "the IL-9 gene", (Entity(4, 13, "DNA"), Entity(4, 8, "protein")))


def read(path: Path) -> tuple[list[Document], ReadingLog]:
    log = ReadingLog()
    return [log.accept(document) for document in FORMAT.read(path, log)], log


def written(*given_documents: Document) -> tuple[list[Document], ReadingLog]:
    """What is read again after writing."""
    assert FORMAT.write is not None
    with TemporaryDirectory() as folder:
        path = Path(folder) / "corpus.spacy"
        FORMAT.write(given_documents, path)
        return read(path)


def docs_of(path: Path) -> list[Any]:
    return list(spacy.tokens.DocBin().from_disk(path).get_docs(spacy.vocab.Vocab()))


def store(path: Path, *docs: Any) -> Path:
    spacy.tokens.DocBin(store_user_data=True, docs=docs).to_disk(path)
    return path


@cache
def splitter() -> Any:
    return spacy.blank("en")


def made(text: str) -> Any:
    """A `Doc` as spaCy splits it."""
    return splitter()(text)


def test_spacy_finds_nested_entities_in_spans_and_the_longest_in_ents(tmp_path: Path) -> None:
    files.write([NESTED], tmp_path / "a.spacy")
    (doc,) = docs_of(tmp_path / "a.spacy")
    assert [(span.text, span.label_) for span in doc.spans["sc"]] == [
        ("IL-9 gene", "DNA"),
        ("IL-9", "protein"),
    ]
    assert [(span.text, span.label_) for span in doc.ents] == [("IL-9 gene", "DNA")]
    assert (doc.text, doc.user_data["id"]) == (NESTED.text, "1")


def test_tokens_are_cut_where_entities_begin_and_end(tmp_path: Path) -> None:
    files.write(
        [Document("1", "antibodies  xy", (Entity(4, 8, "A"), Entity(10, 11, "B")))], tmp_path / "a.spacy"
    )
    (doc,) = docs_of(tmp_path / "a.spacy")
    assert [token.text for token in doc] == ["anti", "bodi", "es", " ", " ", "xy"]


def test_given_words_are_the_tokens(tmp_path: Path) -> None:
    document = Document("1", "well-known p53.", words=((0, 10), (11, 15)), sentences=((0, 15),))
    files.write([document], tmp_path / "a.spacy")
    (doc,) = docs_of(tmp_path / "a.spacy")
    assert [token.text for token in doc] == ["well-known", "p53."]
    assert files.read(tmp_path / "a.spacy").documents == [document]


def test_files_of_others_are_read_with_words_and_sentences(tmp_path: Path) -> None:
    doc = made("We saw p53.\n\nIt  works.")
    doc.ents = [doc.char_span(7, 10, label="GENE", kb_id="P1")]
    for token in doc:
        token.is_sent_start = token.text in ("We", "It")
    doc.user_data["mood"] = "good"
    (document,), log = read(store(tmp_path / "theirs.spacy", doc))
    assert document == Document(
        "theirs#1",
        "We saw p53.\n\nIt  works.",
        (Entity(7, 10, "GENE", concepts=("P1",)),),
        ((0, 2), (3, 6), (7, 10), (10, 11), (13, 15), (17, 22), (22, 23)),
        ((0, 11), (13, 23)),
        generated_id=True,
    )
    assert log.notes == [f"{tmp_path / 'theirs.spacy'}: user data that is not read: mood"]


def test_sentences_are_not_given_where_none_are_marked(tmp_path: Path) -> None:
    (document,), _ = read(store(tmp_path / "a.spacy", made("One. Two.")))
    assert document.sentences is None


@pytest.fixture
def groups(tmp_path: Path) -> Path:
    doc = made("a b c")
    doc.ents = [spacy.tokens.Span(doc, 0, 1, "X")]
    doc.spans["sc"] = [spacy.tokens.Span(doc, 0, 1, "X"), spacy.tokens.Span(doc, 0, 2, "Y")]
    doc.spans["other"] = [spacy.tokens.Span(doc, 2, 3, "Z")]
    return store(tmp_path / "a.spacy", doc)


@pytest.mark.parametrize(
    ("names", "types"),
    [(None, ["X", "Y", "Z"]), ("ents", ["X"]), ("sc", ["X", "Y"]), ("ents, other", ["Z", "X"])],
)
def test_groups_are_read_once_each_or_by_name(groups: Path, names: str | None, types: list[str]) -> None:
    options = {"groups": names} if names else {}
    (document,) = files.read(groups, options=options).documents
    assert [entity.type for entity in document.entities] == types


def test_an_empty_name_of_a_group_is_refused(groups: Path) -> None:
    with pytest.raises(InputError, match="expected names separated by commas"):
        files.read(groups, options={"groups": "sc,"})


@pytest.mark.parametrize(
    ("token", "end", "label", "reason"),
    [
        (0, 99, "GENE", "at [0, 99) is outside the text"),
        (0, 3, "unknown", "[E018]"),
        (10**6, 3, "GENE", "[E035]"),
    ],
)
def test_a_wrong_span_is_rejected_alone(
    tmp_path: Path, token: int, end: int, label: str, reason: str
) -> None:
    doc = made("abc d")
    doc.spans["sc"] = [spacy.tokens.Span(doc, 1, 2, "GENE")]
    docs = spacy.tokens.DocBin(docs=[doc])
    label_hash = spacy.strings.hash_string(label)
    good = struct.pack(">QQQllll", 0, 0, spacy.strings.hash_string("GENE"), 1, 2, 4, 5)
    bad = struct.pack(">QQQllll", 0, 0, label_hash, token, token + 1, 0, end)
    assert good in docs.span_groups[0]
    docs.span_groups[0] = docs.span_groups[0].replace(good, bad)
    docs.to_disk(tmp_path / "a.spacy")
    (document,), log = read(tmp_path / "a.spacy")
    assert (document.entities, log.entities_rejected) == ((), 1)
    ((line, found),) = problems(log)
    assert line == 1
    assert reason in found


def test_a_document_with_a_wrong_id_is_rejected(tmp_path: Path) -> None:
    doc, other = made("a"), made("b")
    doc.user_data["id"] = 1.5
    found, log = read(store(tmp_path / "a.spacy", doc, other))
    assert [document.text for document in found] == ["b"]
    assert problems(log) == [(1, "'id' is 1.5; expected a string")]


@pytest.mark.parametrize("content", [b"", b"x\x9cabc", b"x\x9c\x03\x00\x00\x00\x00\x01", b"no such thing"])
def test_a_file_that_is_no_docbin_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.spacy"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"a\.spacy: not a DocBin of spaCy"):
        files.read(path, format="spacy")


def test_files_are_recognised_by_their_ending_and_compression(tmp_path: Path) -> None:
    assert files.reader_of(store(tmp_path / "a.spacy", made("a"))).name == "spacy"
    assert not FORMAT.recognises(Path("a.spacy"), "some text")


def test_a_missing_spacy_is_named_with_the_way_to_install_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'spanwright\[spacy\]'"):
        files.write([NESTED], tmp_path / "a.spacy")
    assert list(tmp_path.iterdir()) == []


@st.composite
def full_documents(draw: st.DrawFn) -> Document:
    """Documents with everything that the format can hold, and entities at any characters."""
    document = draw(documents())
    concepts = draw(st.lists(st.sampled_from([(), ("D1",), ("MESH:D2",)]), min_size=6, max_size=6))
    pairs = zip(document.entities, concepts, strict=False)
    marked = document.with_entities(tuple(replace(entity, concepts=each) for entity, each in pairs))
    return replace(
        marked,
        relations=draw(relations(marked.entities, mentions=True, concepts=True, roles=True, most=3)),
        annotation_notes=draw(st.sampled_from([{}, {"c": [1]}])),
        corpus=draw(st.sampled_from([None, "c"])),
        metadata=draw(st.sampled_from([{}, {"a": [1, {"b": None}]}])),
    )


@settings(max_examples=40)
@given(corpus=several(full_documents()))
def test_documents_without_given_words_survive(corpus: list[Document]) -> None:
    assert [line for document in corpus for line in FORMAT.unwritable(document)] == []
    found, log = written(*corpus)
    assert found == corpus
    assert log.problems == []


@settings(max_examples=40)
@given(corpus=several(token_documents(words=ANY_WORDS, most_sentences=3)))
def test_documents_of_words_survive_or_what_is_unwritable_is_named(corpus: list[Document]) -> None:
    found, _ = written(*corpus)
    for before, after in zip(corpus, found, strict=True):
        unwritable = " ".join(FORMAT.unwritable(before))
        assert (after.text, after.entities) == (before.text, before.entities)
        assert (after.words == before.words) is ("given words" not in unwritable)
        assert (after.sentences == before.sentences) is ("given sentences" not in unwritable)


def test_ordinary_words_and_sentences_have_nothing_unwritable() -> None:
    document = Document(
        "1",
        "p53 binds .\nIt works",
        words=((0, 3), (4, 9), (10, 11), (12, 14), (15, 20)),
        sentences=((0, 11), (12, 20)),
    )
    assert list(FORMAT.unwritable(document)) == []
    assert written(document)[0] == [document]


@pytest.mark.parametrize(
    ("document", "line"),
    [
        (
            Document("1", "abc", (Entity(1, 3, "X"),), words=((0, 3),)),
            "the entity 'X' 'bc' at [1, 3) of document '1', which does not begin and end with a word",
        ),
        (
            Document("1", "a b", (Entity(0, 3, "X", fragments=((0, 1), (2, 3))),)),
            "the discontinuous entity 'X' 'a b' at [0, 3) of document '1'",
        ),
        (
            Document("1", "a", (Entity(0, 1, "X", concepts=("D1", "D2")),)),
            "the concepts ['D1', 'D2'] of 'X' 'a' at [0, 1) of document '1'",
        ),
        (
            Document("1", "a b", words=((0, 1),)),
            "the given words of document '1', which leave out text or are white space",
        ),
        (
            Document("1", "a b", sentences=((0, 1),)),
            "the given sentences of document '1', which do not end with their last words",
        ),
    ],
)
def test_what_the_format_cannot_express_is_unwritable(document: Document, line: str) -> None:
    assert list(FORMAT.unwritable(document)) == [line]
    ((found,), _) = written(document)
    assert found.text == document.text


def test_a_type_that_is_no_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="document '1' cannot be written"):
        files.write([Document("1", "a", (Entity(0, 1, "\ud800"),))], tmp_path / "a.spacy")


def test_a_real_corpus_survives(corpora: Path, tmp_path: Path) -> None:
    corpus = files.read(corpora / "genia" / "jsonl" / "test.jsonl").documents[:100]
    files.write(corpus, tmp_path / "genia.spacy")
    assert files.read(tmp_path / "genia.spacy").documents == corpus
