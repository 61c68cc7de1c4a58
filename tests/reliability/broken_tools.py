"""Ways to break the formats of annotation tools, and what a reader must say of each."""

from __future__ import annotations

from mutation import Mutation

_SURROGATE = "lone surrogate U+D800"
LABEL_STUDIO = {
    "missing data": Mutation(
        '"data": {"id": "2"', '"date": {"id": "2"', 3, "'data' is missing", documents=1, entities=2
    ),
    "missing text": Mutation(
        '"text": "Delirium and', '"body": "Delirium and', 3, "no text under 'text'", documents=1, entities=2
    ),
    "offset outside the text": Mutation('"end": 18', '"end": 99', 3, "is not in the text", entities=1),
    "string for an offset": Mutation('"start": 13', '"start": "13"', 3, "'start' is '13'", entities=1),
    "other mention": Mutation('"text": "fever"', '"text": "cough"', 3, "the mention is given as 'cough'"),
    "other annotation": Mutation(
        '"annotations": [{"result": [{"id": "b"',
        '"annotations": [{"ground_truth": true, "result": []}, {"result": [{"id": "b"',
        3,
        "other annotations or predictions are left out",
        entities=2,
    ),
    "repeated id": Mutation('{"id": "2"', '{"id": "1"', 3, "the id '1' stands"),
    "invalid UTF-8": Mutation("Delirium and", b"D\xe4lirium and", 3, "byte 0xe4", documents=1, entities=2),
    "lone surrogate": Mutation("Delirium and", "\\ud800 and", 3, _SURROGATE, documents=1, entities=2),
    "truncated file": Mutation("]}}]}]}\n]\n", "", 4, "not JSON", documents=1, gone_entities=1, touched="3"),
}
DOCCANO = {
    "missing text": Mutation(
        '"text": "Delirium', '"txt": "Delirium', 2, "'text' is missing", documents=1, entities=2
    ),
    "object for the labels": Mutation(
        '[[0, 8, "Disease"], [13, 18, "Disease"]]', "{}", 2, "'label' is {}", documents=1, gone_entities=2
    ),
    "label of two": Mutation('[13, 18, "Disease"]', "[13, 18]", 2, "expected an object", entities=1),
    "offset outside the text": Mutation("13, 18", "13, 99", 2, "is not in the text", entities=1),
    "number for a type": Mutation('18, "Disease"', "18, 7", 2, "'label' is 7", entities=1),
    "blank type": Mutation('18, "Disease"', '18, " "', 2, "its type is blank"),
    "bad JSON": Mutation('{"id": 2,', '{"id": 2', 2, "not JSON", documents=1, gone_entities=2),
}
PRODIGY = {
    "rejected task": Mutation(
        '"answer": "accept", "id": "2"',
        '"answer": "reject", "id": "2"',
        2,
        "the answer is 'reject'",
        documents=1,
        entities=2,
    ),
    "token outside the text": Mutation(
        '{"start": 13, "end": 18, "id": 2}',
        '{"start": 13, "end": 99, "id": 2}',
        2,
        "is not in the text",
        documents=1,
        entities=2,
    ),
    "overlapping tokens": Mutation(
        '{"start": 13, "end": 18, "id": 2}',
        '{"start": 9, "end": 18, "id": 2}',
        2,
        "out of order",
        documents=1,
        entities=2,
    ),
    "span outside the text": Mutation(
        '"end": 18, "label"', '"end": 99, "label"', 2, "is not in the text", entities=1
    ),
    "endless score": Mutation('"score": 0.5', '"score": 1e999', 2, "'score' is inf", entities=1),
}
ARGILLA = {
    "missing fields": Mutation(
        '"id": "2", "fields"', '"id": "2", "field"', 3, "'fields' is missing", documents=1, entities=2
    ),
    "list for a text": Mutation(
        '"Delirium and fever"', "[]", 3, "no text in the field", documents=1, entities=2
    ),
    "offset outside the text": Mutation('"end": 18', '"end": 99', 3, "is not in the text", entities=1),
    "missing label": Mutation('18, "label"', '18, "type"', 3, "'label' is missing", entities=1),
    "string for the metadata": Mutation(
        '"metadata": {"number": 2}', '"metadata": "2"', 3, "'metadata' is '2'", documents=1, entities=2
    ),
    "missing comma": Mutation(
        '"number": 2}},', '"number": 2}}', 4, "was found", documents=1, gone_entities=1, touched="3"
    ),
}
