"""Ways to break BioC files, and what a reader must say of each."""

from __future__ import annotations

from mutation import Mutation

_PASSAGE = "<passage><offset>0</offset><text>Delirium"
BIOC_XML = {
    "missing location": Mutation(
        '<location offset="13" length="5"/>', "", 12, "there is no location", entities=1
    ),
    "bad offset": Mutation('offset="13"', 'offset="x"', 12, "'x'", entities=1),
    "offset outside": Mutation('offset="13"', 'offset="14"', 12, "an end of at most 18", entities=1),
    "empty location": Mutation(
        'offset="13" length="5"', 'offset="13" length="0"', 12, "a length of at least 1", entities=1
    ),
    "missing length": Mutation('offset="13" length="5"', 'offset="13"', 12, "None", entities=1),
    "no type": Mutation('"c"><infon key="type">Disease</infon>', '"c">', 12, "the type is None", entities=1),
    "wrong mention text": Mutation(">fever<", ">Fever<", 12, "given as 'Fever'"),
    "missing offset": Mutation(
        _PASSAGE, "<passage><text>Delirium", 8, "the offset None", documents=1, entities=2
    ),
    "duplicate id": Mutation("<id>2</id>", "<id>1</id>", 8, "the id '1' stands"),
    "passages that overlap": Mutation(
        _PASSAGE,
        f"<passage><offset>0</offset><text>Much</text></passage>{_PASSAGE}",
        9,
        "begins before the end",
    ),
    "invalid UTF-8": Mutation(
        "and", b"\xe4nd", 9, "not well-formed", documents=1, gone_documents=1, gone_entities=3, touched="2 3"
    ),
    "NUL": Mutation(
        "and", "a\0d", 9, "not well-formed", documents=1, gone_documents=1, gone_entities=3, touched="2 3"
    ),
    "unknown entity": Mutation(
        "and", "&und;", 9, "undefined entity", documents=1, gone_documents=1, gone_entities=3, touched="2 3"
    ),
    "malformed XML": Mutation(
        "Delirium</text></annotation>",
        "Delirium</annotation>",
        11,
        "mismatched tag",
        documents=1,
        entities=1,
        gone_documents=1,
        gone_entities=2,
        touched="2 3",
    ),
    "truncated file": Mutation(
        "</passage></document>\n</collection>\n",
        "",
        19,
        "the file ends",
        documents=1,
        entities=1,
        touched="3",
    ),
}

_SECOND = '"locations": [{"offset": 13, "length": 5}]'
BIOC_JSON = {
    "repeated key": Mutation(
        '"id": "2"', '"id": "2", "id": "2"', 4, "the key 'id' stands twice", documents=1, gone_entities=2
    ),
    "repeated annotation": Mutation(
        '{"id": "c"',
        '{"id": "e", "infons": {"type": "Disease"}, "locations": [{"offset": 0, "length": 8}]}, {"id": "c"',
        4,
        "document '2': the entity 'Disease' at [0, 8): it stands in the document before",
        gone_entities=-1,
    ),
    "blank type": Mutation(
        '"c", "infons": {"type": "Disease"}', '"c", "infons": {"type": " "}', 4, "the type is ' '", entities=1
    ),
    "repeated key of the collection": Mutation(
        '{"source": "made", ',
        '{"source": "made", "source": "made", ',
        1,
        "the key 'source' stands twice",
        documents=1,
        gone_documents=2,
        gone_entities=4,
        touched="1 2 3",
    ),
    "missing location": Mutation(_SECOND, '"locations": []', 4, "there is no location", entities=1),
    "bad offset": Mutation('"offset": 13', '"offset": "x"', 4, "'x'", entities=1),
    "offset outside": Mutation('"offset": 13', '"offset": 14', 4, "an end of at most 18", entities=1),
    "wrong JSON type": Mutation(_SECOND, '"locations": 13', 4, "'locations' is 13", entities=1),
    "no type": Mutation(
        '"c", "infons": {"type": "Disease"}', '"c", "infons": {}', 4, "the type is None", entities=1
    ),
    "wrong mention text": Mutation('"text": "fever"', '"text": "Fever"', 4, "given as 'Fever'"),
    "duplicate id": Mutation('"id": "2"', '"id": "1"', 4, "the id '1' stands"),
    "bad offset of a passage": Mutation(
        '"offset": 0, "text": "Delirium',
        '"offset": -1, "text": "Delirium',
        4,
        "offset -1",
        documents=1,
        entities=2,
    ),
    "number for a text": Mutation('"Delirium and fever"', "5", 4, "is 5", documents=1, entities=2),
    "lone surrogate escape": Mutation(
        "and", "\\ud800", 4, "lone surrogate U+D800", documents=1, gone_entities=2
    ),
    "invalid UTF-8": Mutation(
        "and", b"\xe4nd", 4, "byte 0xe4", documents=1, gone_documents=2, gone_entities=4, touched="1 2 3"
    ),
    "bad JSON": Mutation(
        '"c", "infons"',
        '"c" "infons"',
        6,
        "not",
        documents=1,
        gone_documents=1,
        gone_entities=3,
        touched="2 3",
    ),
    "truncated file": Mutation(
        '"text": "Fever"}]}]}\n]}\n', "", 8, "not", documents=1, gone_entities=1, touched="3"
    ),
}
