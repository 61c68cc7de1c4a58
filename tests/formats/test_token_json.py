"""The JSON formats of tokens: GENIA, SciERC and CoNLL04."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from strategies import corpora, documents
from token_documents import ANY_WORDS, problems, read, token_documents, write

from spanwright.formats.format import Format
from spanwright.formats.genia.jsonl import FORMAT as GENIA
from spanwright.formats.json.conll04 import FORMAT as CONLL04
from spanwright.formats.json.scierc import FORMAT as SCIERC
from spanwright.text import Argument, Document, Entity, Relation, words

ALL = pytest.mark.parametrize("format", [GENIA, SCIERC, CONLL04], ids=lambda each: each.name)

SENTENCE: dict[str, Any] = {
    "doc_id": "M:1",
    "sent_id": "M:1-2",
    "tokens": ["the", "IL-4", "gene"],
    "entity_mentions": [
        {"start": 1, "end": 2, "entity_type": "protein", "text": "IL-4"},
        {"start": 1, "end": 3, "entity_type": "DNA", "text": "IL-4 gene"},
    ],
}
ABSTRACT: dict[str, Any] = {
    "doc_key": "A1",
    "sentences": [["We", "parse", "."], ["Parsing", "trees", "works", "."]],
    "ner": [[[1, 1, "Task"]], [[3, 4, "Task"], [4, 4, "Material"]]],
    "relations": [[], [[3, 4, 4, 4, "USED-FOR"]]],
    "clusters": [[[3, 3], [4, 4]]],
    "year": 1,
}
ITEM: dict[str, Any] = {
    "tokens": ["Anna", "Berg", "met", "Olaf"],
    "tags": ["B-Peop", "L-Peop", "O", "U-Peop"],
    "relations": [{"head": 0, "tail": 1, "type": "Met"}],
    "orig_id": 5178,
}


def changed(format: Format, **keys: Any) -> str:
    """A file of one document in the format, with other values of some keys."""
    if format is CONLL04:
        return json.dumps([ITEM | keys])
    return json.dumps((SENTENCE if format is GENIA else ABSTRACT) | keys)


def rewritten(format: Format, content: str) -> Any:
    found, _ = read(format, content)
    return json.loads(write(format, *found))


def test_genia_offsets_count_tokens_and_are_half_open() -> None:
    assert read(GENIA, changed(GENIA))[0] == [
        Document(
            "M:1-2",
            "the IL-4 gene",
            (Entity(4, 8, "protein"), Entity(4, 13, "DNA")),
            ((0, 3), (4, 8), (9, 13)),
            ((0, 13),),
            metadata={"doc_id": "M:1"},
        )
    ]


def test_scierc_offsets_count_from_the_document_and_include_the_last_token() -> None:
    (document,), _ = read(SCIERC, changed(SCIERC))
    assert document.text == "We parse .\nParsing trees works ."
    assert document.sentences == ((0, 10), (11, 32))
    assert [document.mention(entity) for entity in document.entities] == ["parse", "Parsing trees", "trees"]
    _, outer, inner = document.entities
    assert document.relations == (Relation("USED-FOR", (Argument(outer), Argument(inner))),)
    assert (document.metadata, document.annotation_notes) == ({"year": 1}, {"clusters": [[[3, 3], [4, 4]]]})


def test_conll04_tags_are_bilou() -> None:
    (document,), log = read(CONLL04, changed(CONLL04))
    assert (document.id, document.text) == ("5178", "Anna Berg met Olaf")
    assert document.entities == (Entity(0, 9, "Peop"), Entity(14, 18, "Peop"))
    assert document.relations == (Relation("Met", tuple(map(Argument, document.entities))),)
    assert document.metadata == {}
    assert log.problems == []


@ALL
def test_a_file_is_written_as_it_was_read(format: Format) -> None:
    assert rewritten(format, changed(format)) == json.loads(changed(format))


@ALL
def test_a_missing_id_is_made_up_and_not_written(format: Format) -> None:
    key = {"genia-jsonl": "sent_id", "scierc": "doc_key", "conll04": "orig_id"}[format.name]
    content = changed(format, **{key: None})
    ((document,), _) = read(format, content, "dev.json")
    assert (document.id, document.generated_id) == ("dev#1", True)
    assert f'"{key}"' not in write(format, document)


def test_repeated_sentence_ids_are_made_unique_with_a_remark() -> None:
    found, log = read(GENIA, changed(GENIA) + "\n" + changed(GENIA))
    assert [document.id for document in found] == ["M:1-2", "M:1-2#2"]
    assert [line for line, _ in problems(log)] == [2]


@pytest.mark.parametrize(
    ("format", "keys", "reason"),
    [
        (GENIA, {"tokens": "a b"}, "'tokens' is 'a b'; expected a list"),
        (GENIA, {"tokens": ["a", ""]}, "'tokens' holds '' as token 1; expected strings that are not empty"),
        (GENIA, {"tokens": [1]}, "'tokens' holds 1 as token 0"),
        (GENIA, {"entity_mentions": None}, "'entity_mentions' is None; expected a list"),
        (GENIA, {"sent_id": 1.5}, "'sent_id' is 1.5; expected a string"),
        (SCIERC, {"sentences": ["We parse"]}, "'sentences' is 'We parse'; expected a list"),
        (SCIERC, {"ner": [[]]}, "'ner' has 1 lists; expected one for each of the 2 sentences"),
        (SCIERC, {"ner": [{}, []]}, "'ner' is {}; expected a list"),
        (CONLL04, {"tags": ["O"]}, "item 0: there are 4 tokens and 1 tags; expected one tag for each token"),
        (CONLL04, {"tags": None}, "item 0: 'tags' is None; expected a list"),
    ],
)
def test_a_wrong_document_is_rejected(format: Format, keys: dict[str, Any], reason: str) -> None:
    found, log = read(format, changed(format, **keys))
    assert found == []
    ((line, found_reason),) = problems(log)
    assert line == 1
    assert found_reason.startswith(reason)
    assert (log.documents_read, log.documents_rejected) == (0, 1)


@pytest.mark.parametrize(
    ("format", "keys", "entities"),
    [
        (GENIA, {"tokens": [""]}, 2),
        (SCIERC, {"sentences": [[""], []]}, 3),
        (CONLL04, {"tokens": ["a"]}, 2),
        (CONLL04, {"tags": [1, 2, 3, 4]}, 0),
    ],
)
def test_entities_of_a_rejected_document_are_counted(
    format: Format, keys: dict[str, Any], entities: int
) -> None:
    assert read(format, changed(format, **keys))[1].entities_rejected == entities


@pytest.mark.parametrize(
    ("format", "keys", "reason"),
    [
        (
            GENIA,
            {"entity_mentions": [{"start": 1, "end": 4, "entity_type": "X"}]},
            "mention 0: the entity of tokens",
        ),
        (
            GENIA,
            {"entity_mentions": [{"start": 1, "end": 2, "entity_type": 1}]},
            "mention 0: the entity of tokens",
        ),
        (GENIA, {"entity_mentions": [[1, 2, "X"]]}, "mention 0: [1, 2, 'X'] was found; expected an object"),
        (
            SCIERC,
            {"ner": [[[6, 7, "Task"]], []]},
            "the entity of tokens [6, 8) is outside the document; expected",
        ),
        (
            SCIERC,
            {"ner": [[[2, 1, "Task"]], []]},
            "the entity of tokens [2, 2) is outside the document; expected",
        ),
        (
            SCIERC,
            {"ner": [[["2", None, "Task"]], []]},
            "the entity of tokens ['2', None) is outside the document",
        ),
        (SCIERC, {"ner": [[[1, 1]], []]}, "the entity [1, 1] was found; expected a list [first, last, type]"),
        (CONLL04, {"tags": ["O", "Peop", "O", "O"]}, "document '5178': no tag scheme has 'Peop'; expected"),
    ],
)
def test_a_wrong_entity_is_rejected_alone(format: Format, keys: dict[str, Any], reason: str) -> None:
    (document,), log = read(format, changed(format, relations=[], **keys))
    assert document.entities == ()
    ((line, found_reason),) = problems(log)
    assert line == 1
    assert found_reason.startswith(reason)
    assert log.entities_rejected == 1


def test_a_genia_mention_that_is_not_its_tokens_is_remarked_on() -> None:
    spaced = {"start": 1, "end": 3, "entity_type": "DNA", "text": "IL-4gene"}
    other = {"start": 1, "end": 3, "entity_type": "RNA", "text": "IL-5 gene"}
    (document,), log = read(GENIA, changed(GENIA, entity_mentions=[spaced, other]))
    assert len(document.entities) == 2
    assert problems(log) == [
        (1, "the mention is given as 'IL-5 gene', but [4, 13) is 'IL-4 gene'; offsets are kept")
    ]


def test_an_empty_sentence_of_scierc_is_remarked_on() -> None:
    (document,), log = read(
        SCIERC, changed(SCIERC, sentences=[[], ["a"]], ner=[[], [[0, 0, "Task"]]], relations=[])
    )
    assert (document.text, document.sentences) == ("a", ((0, 1),))
    assert problems(log) == [(1, "sentence 0 has no tokens and is left out")]


def test_a_stray_tag_of_conll04_is_remarked_on_and_kept() -> None:
    (document,), log = read(CONLL04, changed(CONLL04, tags=["O", "O", "O", "L-Peop"]))
    assert document.entities == (Entity(14, 18, "Peop"),)
    assert [line for line, reason in problems(log) if "a mention begins with 'L-Peop'" in reason] == [1]
    assert log.entities_rejected == 0


@pytest.mark.parametrize(
    ("content", "line", "reason"),
    [
        ("", 1, "'' was found; expected one list of objects"),
        ("{}", 1, "'{}' was found; expected one list of objects"),
        (f"[{json.dumps(ITEM)},\n{{", 2, "not JSON ("),
        (f"[{json.dumps(ITEM)}\n\n{json.dumps(ITEM)}]", 3, '\'{"tokens": ["Anna", \' was found; expected'),
        (f"[{json.dumps(ITEM)}", 1, "'' was found; expected one list of objects"),
        (f"[{json.dumps(ITEM)},\n]", 2, "not JSON ("),
        (f"[{json.dumps(ITEM)},\n5]", 2, "item 1: a JSON int was found; expected an object"),
        (
            f'[{json.dumps(ITEM)},\n{{"tokens": ["\\ud800"], "tags": ["O"]}}]',
            2,
            "item 1: an escape stands for the lone",
        ),
        (f"[{json.dumps(ITEM)}] x", 1, "'x' was found after the list"),
    ],
)
def test_a_broken_list_of_conll04_is_read_up_to_the_fault(content: str, line: int, reason: str) -> None:
    found, log = read(CONLL04, content)
    assert len(found) == ("Anna" in content)
    ((found_line, found_reason),) = problems(log)
    assert found_line == line
    assert found_reason.startswith(reason)


def test_a_list_that_is_not_utf8_is_rejected() -> None:
    found, log = read(CONLL04, b'[\n{"tokens": ["\xff"]}]')
    assert (found, log.documents_rejected) == ([], 1)
    assert [line for line, _ in problems(log)] == [2]


def test_the_id_of_conll04_is_a_number_where_it_can_be() -> None:
    ids = ["5178", "-3", "007", "x", "٣"]
    content = write(CONLL04, *(Document(id, "a") for id in ids))
    assert [item["orig_id"] for item in json.loads(content)] == [5178, -3, "007", "x", "٣"]
    assert [document.id for document in read(CONLL04, content)[0]] == ids


@ALL
@given(corpus=corpora(token_documents(words=ANY_WORDS)))
def test_sentences_survive_writing_and_reading(format: Format, corpus: list[Document]) -> None:
    writable = [document for document in corpus if not list(format.unwritable(document))]
    assert format is CONLL04 or writable == corpus
    found, log = read(format, write(format, *writable))
    assert found == writable
    assert log.problems == []


@given(corpus=corpora(token_documents(words=ANY_WORDS, nested=False)))
def test_flat_sentences_have_nothing_unwritable_in_conll04(corpus: list[Document]) -> None:
    assert [line for document in corpus for line in CONLL04.unwritable(document)] == []


@given(corpus=corpora(token_documents(words=ANY_WORDS, most_sentences=4)))
def test_documents_of_sentences_survive_in_scierc(corpus: list[Document]) -> None:
    assert [line for document in corpus for line in SCIERC.unwritable(document)] == []
    assert read(SCIERC, write(SCIERC, *corpus))[0] == corpus


def covered(document: Document) -> list[tuple[Any, ...]]:
    """The positions of the words that each entity covers, and its type."""
    spans = words(document)
    return sorted(
        ([at for at, (start, _) in enumerate(spans) if entity.start <= start < entity.end], entity.type)
        for entity in document.entities
    )


@ALL
@given(document=documents(discontinuous=True))
def test_what_is_not_read_again_was_named_as_unwritable(format: Format, document: Document) -> None:
    (found,), log = read(format, write(format, document))
    unwritable = list(format.unwritable(document))
    assert len(document.entities) - len(found.entities) == len(unwritable)
    assert unwritable or covered(found) == covered(document)
    assert "".join(found.text.split()) == "".join(document.text.split())
    assert log.problems == []


@pytest.mark.parametrize(
    ("format", "document", "line"),
    [
        (
            GENIA,
            Document("1", "a b", sentences=((0, 1), (2, 3))),
            "the borders of the 2 sentences of document '1'",
        ),
        (
            CONLL04,
            Document("1", "a b", sentences=((0, 1), (2, 3))),
            "the borders of the 2 sentences of document '1'",
        ),
        (
            SCIERC,
            Document("1", "a", metadata={"ner": 1}),
            "the metadata 'ner' of document '1', which is a key of the format",
        ),
        (
            CONLL04,
            Document("1", "a b", (Entity(0, 1, "X"), Entity(0, 3, "Y"))),
            "the entity 'X' 'a' at [0, 1) of document '1', which overlaps a longer or equal one",
        ),
        (
            GENIA,
            Document("1", "abc", (Entity(1, 3, "X"),)),
            "the entity 'X' 'bc' at [1, 3) of document '1', which does not begin and end with a word",
        ),
        (
            SCIERC,
            Document("1", "a b", (Entity(0, 3, "X", fragments=((0, 1), (2, 3))),)),
            "the discontinuous entity 'X' 'a b' at [0, 3) of document '1'",
        ),
    ],
)
def test_what_tokens_cannot_express_is_unwritable(format: Format, document: Document, line: str) -> None:
    assert list(format.unwritable(document)) == [line]
    assert len(read(format, write(format, document))[0]) == 1


@ALL
def test_no_documents_and_documents_without_words_survive(format: Format) -> None:
    assert read(format, write(format))[0] == []
    empty = Document("1", "", (), (), ())
    assert read(format, write(format, empty))[0] == [empty]


@ALL
def test_only_its_own_files_are_recognised(format: Format) -> None:
    for other in (GENIA, SCIERC, CONLL04):
        assert format.recognises(Path("x.json"), changed(other)) is (other is format)


def test_an_empty_list_is_recognised_as_conll04() -> None:
    assert CONLL04.recognises(Path("x.json"), "[]\n")
