"""GENIA term XML: articles, nested and coordinated terms, and the five types of the benchmarks."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import corpora as several
from strategies import documents, texts
from token_documents import problems, read, write

from spanwright.errors import InputError
from spanwright.formats import files
from spanwright.formats.genia.xml import FORMAT
from spanwright.formats.io.safe_xml import is_legal
from spanwright.text import Document, Entity

NESTED = (
    '<cons lex="IL-9_gene" sem="G#DNA_domain_or_region">'
    '<cons lex="IL-9" sem="G#protein_molecule">IL-9</cons> gene</cons>'
)
COORDINATED = (
    '<cons lex="(AND a_chain b_chain)" sem="(AND G#protein_subunit G#protein_subunit)">'
    '<cons lex="a*">a</cons> and <cons lex="b*">b</cons> <cons lex="*chain">chains</cons></cons>'
)


def article(title: str, abstract: str = "", id: str = "MEDLINE:1") -> str:
    """An article whose sections hold some XML."""
    info = f"<articleinfo><bibliomisc>{id}</bibliomisc></articleinfo>" if id else ""
    return f"<article>{info}<title>\n{title}\n</title><abstract>\n{abstract}\n</abstract></article>"


def content(*articles: str) -> str:
    return "<set>" + "".join(articles) + "</set>"


def sentence(inner: str) -> str:
    return f"<sentence>{inner}</sentence>"


def read_five(tmp_path: Path, xml: str) -> files.Corpus:
    path = tmp_path / "five.xml"
    path.write_text(xml, encoding="utf-8")
    return files.read(path, options={"types": "five"})


def test_title_and_abstract_are_joined_by_a_line_break_and_sentences_kept() -> None:
    xml = content(article(sentence("The title."), sentence("One.") + "\n" + sentence("Two.")))
    (document,), log = read(FORMAT, xml)
    assert (document.id, document.text) == ("MEDLINE:1", "The title.\nOne.\nTwo.")
    assert document.sentences == ((0, 10), (11, 15), (16, 20))
    assert (document.words, document.metadata, document.annotation_notes) == (None, {}, {})
    assert log.problems == []


def test_nested_terms_are_entities_with_their_full_class() -> None:
    (document,), log = read(FORMAT, content(article(sentence(f"the {NESTED}"))))
    assert document.entities == (
        Entity(4, 13, "G#DNA_domain_or_region"),
        Entity(4, 8, "G#protein_molecule"),
    )
    assert log.entities_read == 2


def test_a_coordinated_term_is_one_entity_and_its_parts_are_kept() -> None:
    (document,), log = read(FORMAT, content(article(sentence(COORDINATED))))
    assert document.entities == (Entity(0, 14, "(AND G#protein_subunit G#protein_subunit)"),)
    assert document.annotation_notes["genia_parts"] == [[0, 1, "a*"], [6, 7, "b*"], [8, 14, "*chain"]]
    (note,) = log.notes
    assert note.endswith(": 1 coordinated terms, each an entity over its whole range")
    assert log.problems == []


def test_five_types_merge_classes_and_count_what_they_leave_out(tmp_path: Path) -> None:
    inner = '<cons sem="G#protein_complex"><cons sem="G#protein_molecule">p50</cons></cons>'
    other = '<cons sem="G#other_name">growth</cons>'
    corpus = read_five(tmp_path, content(article(sentence(f"{NESTED} {inner} {other} {COORDINATED}"))))
    (document,) = corpus.documents
    assert document.entities == (Entity(0, 9, "DNA"), Entity(0, 4, "protein"), Entity(10, 13, "protein"))
    assert [note.split(": ")[1] for note in corpus.log.notes] == [
        "1 coordinated terms left out",
        "1 terms left out of classes that are none of the five types",
        "1 terms left out that repeat the range and the merged type of another",
    ]
    assert corpus.log.problems == []


def test_words_of_the_five_types_end_at_white_space_and_at_every_element(tmp_path: Path) -> None:
    xml = content(article(sentence('non-<cons sem="G#cell_type">T<cons>-</cons>cell</cons>-like x.')))
    (document,) = read_five(tmp_path, xml).documents
    shown = [document.text[start:end] for start, end in document.words or ()]
    assert shown == ["non-", "T", "-", "cell", "-like", "x."]


def test_an_unknown_choice_of_types_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_text(content(), encoding="utf-8")
    with pytest.raises(InputError, match="expected full and five"):
        files.read(path, format="genia-xml", options={"types": "six"})


def test_an_id_that_repeats_is_made_unique() -> None:
    found, log = read(FORMAT, content(article(""), article(""), article("", id="")), "g.xml")
    assert [(each.id, each.generated_id) for each in found] == [
        ("MEDLINE:1", False),
        ("MEDLINE:1#2", False),
        ("g#3", True),
    ]
    assert len(log.problems) == 1


def test_an_empty_term_is_rejected() -> None:
    (document,), log = read(FORMAT, content(article(sentence('a<cons sem="G#virus"></cons>'))))
    assert document.entities == ()
    assert problems(log) == [(2, "the term of the class 'G#virus' is empty; expected some text")]
    assert log.entities_rejected == 1


def test_text_and_elements_outside_of_sentences_are_not_lost() -> None:
    xml = content(article(f"Loose {sentence('<w>Tight</w>')}"), "<note>x</note>")
    (document,), log = read(FORMAT, xml)
    assert (document.text, document.sentences) == ("Loose Tight", ((6, 11),))
    assert [note.split(": ")[1] for note in log.notes] == [
        "1 elements <note> that are not read",
        "1 elements <w> of which only the text is read",
    ]


def test_a_broken_file_is_read_up_to_the_fault() -> None:
    xml = content(article(sentence("a")), article(sentence(NESTED), id="2"))
    found, log = read(FORMAT, xml[: xml.rindex("</sentence>")])
    assert [document.id for document in found] == ["MEDLINE:1"]
    assert (log.documents_rejected, log.entities_rejected) == (1, 2)


def test_entities_defined_in_the_file_are_refused() -> None:
    with pytest.raises(InputError, match="DOCTYPE"):
        read(FORMAT, '<!DOCTYPE set [<!ENTITY a "b">]>' + content())


def test_a_file_is_written_as_it_was_read() -> None:
    title = sentence(f"The {COORDINATED} of {NESTED}") + "\n" + sentence("2 &lt; 3 &amp; more.")
    xml = content(article(title, sentence('<cons sem="G#virus">HIV</cons>.')))
    found, _ = read(FORMAT, xml)
    again = write(FORMAT, *found)
    assert title in again
    assert read(FORMAT, again)[0] == found


def legal(text: str) -> str:
    return "".join(filter(is_legal, text))


def order(document: Document) -> list[Any]:
    return sorted(document.entities, key=lambda each: (each.start, -each.end, each.type))


def is_nested(document: Document) -> bool:
    return not any("crosses" in line for line in FORMAT.unwritable(document))


@given(corpus=several(documents(text=texts().map(legal)).filter(is_nested)))
def test_texts_and_nested_entities_survive(corpus: list[Document]) -> None:
    assert [line for document in corpus for line in FORMAT.unwritable(document)] == []
    found, log = read(FORMAT, write(FORMAT, *corpus))
    assert [(each.id, each.text, order(each)) for each in found] == [
        (each.id, each.text, order(each)) for each in corpus
    ]
    assert log.problems == []


@st.composite
def with_sentences(draw: st.DrawFn) -> Document:
    document = draw(documents(text=texts().map(legal)))
    borders = sorted(draw(st.sets(st.integers(0, len(document.text)), max_size=6)))
    return replace(document, sentences=tuple(zip(borders[::2], borders[1::2], strict=False)))


@given(document=with_sentences())
def test_what_is_not_read_again_was_named_as_unwritable(document: Document) -> None:
    (found,), log = read(FORMAT, write(FORMAT, document))
    assert (found.text, found.sentences) == (document.text, document.sentences)
    assert len(document.entities) - len(found.entities) == len(list(FORMAT.unwritable(document)))
    assert set(found.entities) <= set(document.entities)
    assert log.problems == []


@pytest.mark.parametrize(
    ("document", "line"),
    [
        (Document(" 1", "a"), "the id ' 1' of a document"),
        (Document("1", "a\x00b"), "the control characters in the text of document '1'"),
        (Document("1", "a", words=((0, 1),)), "the given words of document '1'"),
        (
            Document("1", "abc", (Entity(0, 2, "X"), Entity(1, 3, "Y"))),
            "the entity 'Y' 'bc' at [1, 3) of document '1', which crosses one that begins before it",
        ),
        (
            Document("1", "a b", (Entity(0, 3, "X"),), sentences=((0, 1), (2, 3))),
            "the entity 'X' 'a b' at [0, 3) of document '1', which is not inside one sentence",
        ),
        (
            Document("1", "a b", (Entity(0, 3, "X", fragments=((0, 1), (2, 3))),)),
            "the discontinuous entity 'X' 'a b' at [0, 3) of document '1'",
        ),
        (
            Document("1", "a", (Entity(0, 1, "X", concepts=("D1",)),)),
            "the concepts ['D1'] of 'X' 'a' at [0, 1) of document '1'",
        ),
        (
            Document("1", "a", (Entity(0, 1, "\x01"),)),
            "the control characters in the type of '\\x01' 'a' at [0, 1) of document '1'",
        ),
    ],
)
def test_what_the_format_cannot_express_is_unwritable(document: Document, line: str) -> None:
    assert list(FORMAT.unwritable(document)) == [line]
    assert len(read(FORMAT, write(FORMAT, document))[0]) == 1


def test_entities_in_more_levels_than_xml_readers_allow_are_unwritable() -> None:
    document = Document("1", "a", (Entity(0, 1, "X"),) * 200)
    kept = 200 - len(list(FORMAT.unwritable(document)))
    (found,), log = read(FORMAT, write(FORMAT, document))
    assert (len(found.entities), log.problems) == (kept, [])


def test_notes_from_elsewhere_do_no_harm() -> None:
    document = Document(
        "1",
        "ab",
        (Entity(0, 1, "X"),),
        sentences=((0, 2),),
        metadata={"genia_title_end": 99},
        annotation_notes={"genia_lex": {"0 1\tX": 5}, "genia_parts": [[0, 9, "x"], "a", [1, 2, 3]]},
    )
    (found,), _ = read(FORMAT, write(FORMAT, document))
    assert found == replace(document, metadata={}, annotation_notes={})


@pytest.fixture(scope="module")
def genia(corpora: Path) -> Path:
    return corpora / "genia" / "original" / "GENIAcorpus3.02.xml"


@pytest.fixture(scope="module")
def whole(genia: Path) -> files.Corpus:
    return files.read(genia)


def test_the_corpus_has_the_published_counts(whole: files.Corpus) -> None:
    log = whole.log
    assert (log.documents_read, log.documents_rejected) == (2000, 0)
    assert sum(len(document.sentences or ()) for document in whole.documents) == 18_546
    # Every `cons` element with a class, as they can be counted in the file.
    assert (log.entities_read, log.entities_rejected) == (92_722, 0)
    assert len({document.id for document in whole.documents}) == 2000
    assert len(log.problems) == 1
    assert "'MEDLINE:97218353' stands in the file before" in log.problems[0].reason


def test_the_corpus_survives_writing_and_reading(whole: files.Corpus, tmp_path: Path) -> None:
    assert not any(line for document in whole.documents for line in FORMAT.unwritable(document))
    path = tmp_path / "again.genia.xml"
    files.write(whole.documents, path)
    assert files.read(path).documents == whole.documents


def test_the_five_types_equal_the_sentences_of_the_benchmark(genia: Path, corpora: Path) -> None:
    corpus = files.read(genia, options={"types": "five"})
    found = [each for document in corpus.documents for each in sentences_of(document)]
    assert len(found) == 18_546
    expected = []
    for split in ("train", "dev", "test"):
        with (corpora / "genia" / "jsonl" / f"{split}.jsonl").open(encoding="utf-8") as file:
            expected += [(record["tokens"], mentions(record)) for record in map(json.loads, file)]
    assert found == expected


def mentions(record: dict[str, Any]) -> list[tuple[int, int, str]]:
    return sorted((each["start"], each["end"], each["entity_type"]) for each in record["entity_mentions"])


def sentences_of(document: Document) -> list[tuple[list[str], list[tuple[int, int, str]]]]:
    """Tokens, and mentions by token positions, of each sentence."""
    found = []
    for start, end in document.sentences or ():
        words = [word for word in document.words or () if start <= word[0] < end]
        first = {word[0]: position for position, word in enumerate(words)}
        last = {word[1]: position + 1 for position, word in enumerate(words)}
        runs = [(first[e.start], last[e.end], e.type) for e in document.entities if start <= e.start < end]
        found.append(([document.text[slice(*word)] for word in words], sorted(runs)))
    return found
