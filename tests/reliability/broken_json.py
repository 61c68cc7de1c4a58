"""Ways to break the JSON formats, and what a reader must say of each."""

from __future__ import annotations

from mutation import Mutation

_LAST = '"end": 18, "type": "Disease", "text": "fever"}'
JSONL = {
    "repeated key": Mutation(
        '{"id": "2",',
        '{"id": "2", "id": "9",',
        2,
        "the key 'id' stands twice",
        documents=1,
        entities=2,
    ),
    "repeated key of an entity": Mutation(
        '"start": 13,', '"start": 0, "start": 13,', 2, "the key 'start' stands twice", documents=1, entities=2
    ),
    "repeated entity": Mutation(
        '[{"start": 0, "end": 8, "type": "Disease"}, ',
        '[{"start": 0, "end": 8, "type": "Disease"}, {"start": 0, "end": 8, "type": "Disease"}, ',
        2,
        "the entity 'Disease' at [0, 8): it stands in the document before",
        gone_entities=-1,
    ),
    "empty type": Mutation('"type": "Disease", "text"', '"type": "", "text"', 2, "its type is blank"),
    "blank type": Mutation('"type": "Disease", "text"', '"type": " ", "text"', 2, "its type is blank"),
    "bad JSON": Mutation('{"id": "2",', '{"id": "2"', 2, "not JSON", documents=1, gone_entities=2),
    "unquoted key": Mutation('"id": "2"', 'id: "2"', 2, "not JSON", documents=1, gone_entities=2),
    "NaN": Mutation("18", "NaN", 2, "NaN is not a JSON number", documents=1, gone_entities=2),
    "raw NUL": Mutation(
        "and", "a\0d", 2, "not JSON (Invalid control character", documents=1, gone_entities=2
    ),
    "list for an object": Mutation(
        '{"id": "2", "text": "Delirium and fever", "entities": [',
        '[{"id": "2", "text": "Delirium and fever", "entities": [',
        2,
        "not JSON",
        documents=1,
        gone_entities=2,
    ),
    "missing text": Mutation(
        '"text": "Delirium', '"txt": "Delirium', 2, "'text' is missing", documents=1, entities=2
    ),
    "number for a text": Mutation('"Delirium and fever"', "2", 2, "'text' is 2", documents=1, entities=2),
    "string for the entities": Mutation(
        '[{"start": 0, "end": 8, "type": "Disease"}, {"start": 13, ' + _LAST + "]",
        '"none"',
        2,
        "'entities' is 'none'",
        documents=1,
        gone_entities=2,
    ),
    "list for an id": Mutation('"id": "2"', '"id": ["2"]', 2, "'id' is ['2']", documents=1, entities=2),
    "missing key": Mutation('"start": 13, ', "", 2, "'start' is missing", entities=1),
    "no type": Mutation(', "type": "Disease", "text"', ', "text"', 2, "'type' is missing", entities=1),
    "string for an offset": Mutation("13", '"13"', 2, "'start' is '13'", entities=1),
    "broken number": Mutation("13", "13.0", 2, "'start' is 13.0", entities=1),
    "true for an offset": Mutation("13", "true", 2, "'start' is True", entities=1),
    "number for an entity": Mutation(
        '{"start": 0, "end": 8, "type": "Disease"}, ', "8, ", 2, "8 was found", entities=1
    ),
    "offset outside": Mutation("18", "19", 2, "[13, 19) is outside the text", entities=1),
    "end before start": Mutation("13", "18", 2, "[18, 18) is outside the text", entities=1),
    "overlapping fragments": Mutation(
        _LAST, '"end": 18, "type": "Disease", "fragments": [[13, 16], [15, 18]]}', 2, "disjoint", entities=1
    ),
    "fragment outside": Mutation(
        _LAST, '"end": 19, "type": "Disease", "fragments": [[13, 16], [17, 19]]}', 2, "outside", entities=1
    ),
    "words out of order": Mutation(
        '"text": "Delirium',
        '"words": [[9, 12], [0, 8]], "text": "Delirium',
        2,
        "out of order",
        documents=1,
        entities=2,
    ),
    "wrong mention text": Mutation('"text": "fever"', '"text": "Fever"', 2, "given as 'Fever'"),
    "duplicate id": Mutation('"id": "2"', '"id": "1"', 2, "the id '1' stands in the file before"),
    "lone surrogate escape": Mutation("and", "\\ud800", 2, "lone surrogate U+D800", documents=1, entities=2),
    "invalid UTF-8": Mutation("and", b"\xff", 2, "byte 0xff", documents=1, entities=2),
    "missing line end": Mutation(
        '"fever"}]}\n',
        '"fever"}]}',
        2,
        "Extra data",
        documents=1,
        gone_documents=1,
        gone_entities=3,
        touched="2 3",
    ),
    "truncated file": Mutation(
        '"type": "Disease"}]}\n', "", 3, "not JSON", documents=1, gone_entities=1, touched="3"
    ),
}

GENIA = {
    "repeated key": Mutation(
        '"sent_id": "2"',
        '"sent_id": "2", "sent_id": "2"',
        2,
        "'sent_id' stands twice",
        documents=1,
        entities=2,
    ),
    "repeated entity": Mutation(
        '{"start": 2, "end": 3, "entity_type": "Disease"',
        '{"start": 0, "end": 1, "entity_type": "Disease"}, {"start": 2, "end": 3, "entity_type": "Disease"',
        2,
        "it stands in the document before",
        gone_entities=-1,
    ),
    "blank type": Mutation(
        '"entity_type": "Disease", "text": "fever"',
        '"entity_type": " ", "text": "fever"',
        2,
        "its type is blank",
    ),
    "token out of range": Mutation('"end": 3', '"end": 4', 2, "tokens [2, 4) is outside", entities=1),
    "negative token": Mutation('"start": 2', '"start": -1', 2, "tokens [-1, 3) is outside", entities=1),
    "end before start": Mutation('"end": 3', '"end": 1', 2, "tokens [2, 1) is outside", entities=1),
    "string for a token": Mutation('"start": 2', '"start": "2"', 2, "tokens ['2', 3)", entities=1),
    "missing key": Mutation('"start": 2, ', "", 2, "tokens [None, 3)", entities=1),
    "no type": Mutation(
        '"entity_type": "Disease", "text": "fever"', '"text": "fever"', 2, "type None", entities=1
    ),
    "string for a mention": Mutation(
        '{"start": 0, "end": 1, "entity_type": "Disease", "text": "Delirium"}',
        '"Delirium"',
        2,
        "an object",
        entities=1,
    ),
    "wrong mention text": Mutation('"text": "fever"', '"text": "fewer"', 2, "given as 'fewer'"),
    "missing tokens": Mutation(
        '"tokens": ["Del', '"words": ["Del', 2, "'tokens' is None", documents=1, entities=2
    ),
    "number for a word": Mutation('"and"', "7", 2, "holds 7 as token 1", documents=1, entities=2),
    "empty word": Mutation('"and"', '""', 2, "holds '' as token 1", documents=1, entities=2),
    "duplicate id": Mutation('"sent_id": "2"', '"sent_id": "1"', 2, "the id '1' stands"),
    "lone surrogate escape": Mutation(
        '"and"', '"\\udc00"', 2, "lone surrogate U+DC00", documents=1, entities=2
    ),
    "invalid UTF-8": Mutation("and", b"\x80", 2, "byte 0x80", documents=1, entities=2),
    "bad JSON": Mutation('"sent_id": "2"', '"sent_id" "2"', 2, "not JSON", documents=1, gone_entities=2),
}

SCIERC = {
    "repeated key": Mutation(
        '"ner": [[[0, 0, "Disease"]], ',
        '"ner": [[], []], "ner": [[[0, 0, "Disease"]], ',
        2,
        "'ner' stands twice",
        documents=1,
        entities=2,
    ),
    "repeated entity": Mutation(
        '[4, 4, "Disease"]', '[4, 4, "Disease"], [4, 4, "Disease"]', 2, "it stands in", gone_entities=-1
    ),
    "empty type": Mutation('[4, 4, "Disease"]', '[4, 4, ""]', 2, "its type is blank"),
    "token out of range": Mutation("[4, 4,", "[4, 5,", 2, "tokens [4, 6) is outside", entities=1),
    "last before first": Mutation("[4, 4,", "[4, 2,", 2, "tokens [4, 3) is outside", entities=1),
    "missing type": Mutation('[4, 4, "Disease"]', "[4, 4]", 2, "the entity [4, 4] was found", entities=1),
    "number for a type": Mutation('[4, 4, "Disease"]', "[4, 4, 1]", 2, "has the type 1", entities=1),
    "string for a token": Mutation("[4, 4,", '["4", 4,', 2, "tokens ['4', 5)", entities=1),
    "object for an entity": Mutation('[4, 4, "Disease"]', '{"first": 4}', 2, "expected a list", entities=1),
    "fewer lists than sentences": Mutation(
        '[[0, 0, "Disease"]], [[4', '[[0, 0, "Disease"], [4', 2, "'ner' has 1 lists", documents=1, entities=2
    ),
    "missing sentences": Mutation(
        '"sentences": [["Del', '"tokens": [["Del', 2, "'sentences' is None", documents=1, entities=2
    ),
    "string for a sentence": Mutation('["Delirium", "came"]', '"came"', 2, "'came'", documents=1, entities=2),
    "duplicate id": Mutation('"doc_key": "2"', '"doc_key": "1"', 2, "the id '1' stands"),
    "lone surrogate escape": Mutation(
        '"did"', '"\\ud83d"', 2, "lone surrogate U+D83D", documents=1, entities=2
    ),
    "invalid UTF-8": Mutation("did", b"d\xecd", 2, "byte 0xec", documents=1, entities=2),
    "truncated file": Mutation(
        '[[[0, 0, "Disease"]]]}\n', "", 3, "not JSON", documents=1, gone_entities=1, touched="3"
    ),
}

CONLL04 = {
    "repeated key": Mutation(
        '"orig_id": 2', '"orig_id": 2, "orig_id": 2', 3, "'orig_id' stands twice", documents=1, entities=2
    ),
    "blank type": Mutation('"O", "U-Disease"', '"O", "U- "', 3, "the tag 'U- ' has no type"),
    "missing tag": Mutation(', "O", "U-', ', "U-', 3, "4 tokens and 3 tags", documents=1, entities=2),
    "missing tags": Mutation(
        '"tags": ["B', '"labels": ["B', 3, "'tags' is None", documents=1, gone_entities=2
    ),
    "unknown tag": Mutation('"O", "U-D', '"O", "Z-D', 3, "no tag scheme has 'Z-Disease'", entities=1),
    "tag without type": Mutation('"O", "U-Disease"', '"O", "U"', 3, "the tag 'U' has no type"),
    "mention without a beginning": Mutation('"O", "U-D', '"O", "L-D', 3, "begins with 'L-Disease'"),
    "number for a word": Mutation('"and"', "7", 3, "holds 7 as token 2", documents=1, entities=2),
    "list for an id": Mutation(
        '"orig_id": 2', '"orig_id": [2]', 3, "'orig_id' is [2]", documents=1, entities=2
    ),
    "duplicate id": Mutation('"orig_id": 2', '"orig_id": 1', 3, "the id '1' stands"),
    "lone surrogate escape": Mutation(
        '"and"', '"\\ud800"', 3, "lone surrogate U+D800", documents=1, entities=2
    ),
    "invalid UTF-8": Mutation("and", b"\xe4nd", 3, "byte 0xe4", documents=1, entities=2),
    "missing comma": Mutation(
        '"orig_id": 2},', '"orig_id": 2}', 4, "was found", documents=1, gone_entities=1, touched="3"
    ),
    "truncated file": Mutation(
        '"orig_id": 3}\n]\n', "", 4, "not JSON", documents=1, gone_entities=1, touched="3"
    ),
    "text after the list": Mutation(
        "\n]\n", "\n]\n{}\n", 6, "after the list", documents=1, gone_documents=-1
    ),
}
