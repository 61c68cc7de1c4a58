"""Ways to break the good files, and what a reader must say of each."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Mutation:
    """One change of a good file that must be listed as a problem."""

    old: str
    """Stands once in the file."""
    new: str | bytes | None
    """Comes in its place; None takes the whole file away."""
    line: int
    """Of the one problem; 0 when the whole file is meant."""
    reason: str
    """Part of what the problem says."""
    documents: int = 0
    """Rejected."""
    entities: int = 0
    """Rejected."""
    gone_documents: int = 0
    """Documents that nobody can count any more: the rest of a file behind a fault."""
    gone_entities: int = 0
    """Entities that do not stand in the changed file any more, or nobody can count; below 0 for new ones."""
    touched: str = "2"
    """Id of the document that is changed; all others are as in the good file, but for those gone."""
    file: str = ""
    """The file of a folder that is changed."""


PUBTATOR = {
    "missing column": Mutation("\tChemical\tD001241", "", 8, "4 tab-separated columns", entities=1),
    "blanks for tabs": Mutation("2\t0\t8\tDelirium\tDisease\t", "2 0 8 Delirium Disease ", 7, "1 tab-", entities=1),
    "bad offset": Mutation("\t19\t26", "\tx\t26", 8, "are 'x' and '26'", entities=1),
    "negative offset": Mutation("\t19\t26", "\t-19\t26", 8, "are '-19' and '26'", entities=1),
    "offset outside": Mutation("\t19\t26", "\t19\t38", 8, "0 <= start < end <= 37", entities=1),
    "end before start": Mutation("\t19\t26", "\t26\t19", 8, "are '26' and '19'", entities=1),
    "empty mention": Mutation("\t19\t26", "\t19\t19", 8, "are '19' and '19'", entities=1),
    "discontinuous": Mutation("\t19\t26", "\t0;19\t8;26", 8, "are '0;19' and '8;26'", entities=1),
    "wrong mention text": Mutation("\tAspirin\t", "\taspirin\t", 8, "given as 'aspirin', but [19, 26) is 'Aspirin'"),
    "shifted offset": Mutation("\t19\t26", "\t20\t27", 8, "given as 'Aspirin', but [20, 27) is 'spirin '"),
    "no type": Mutation("\tChemical\tD001241", "\t\tD001241", 8, "has no type", entities=1),
    "annotation of another document": Mutation("2\t19", "3\t19", 8, "'3' in the block of '2'", entities=1),
    "missing line end": Mutation("D003693\n2\t", "D0036932\t", 7, "11 tab-separated columns", gone_entities=1),
    "missing title": Mutation("2|t|Delirium and fever\n", "", 5, "a block of 2|a|", documents=1, entities=2),
    "missing abstract": Mutation("2|a|Aspirin was given.\n", "", 7, "are '19' and '26'", entities=1),
    "two abstracts": Mutation("given.\n", "given.\n2|a|More.\n", 5, "2|a| 2|a|", documents=1, entities=2),
    "abstract of another document": Mutation("2|a|", "9|a|", 6, "one id in a block", documents=1, entities=2),
    "no text at all": Mutation(
        "2|t|Delirium and fever\n2|a|Aspirin was given.\n", "", 5, "without an ID|t| line", documents=1, entities=2
    ),
    "NUL": Mutation("|Delirium", "|De\0irium", 7, "but [0, 8) is 'De\\x00irium'"),
    "invalid UTF-8 in a mention": Mutation("\tAspirin\t", b"\tAspir\xefn\t", 8, "byte 0xef", entities=1),
    "invalid UTF-8 in a text": Mutation("fever", b"f\xe8vre", 5, "byte 0xe8", documents=1, entities=2),
    "truncated file": Mutation("\t5\tFever\tDisease\tD005334\n", "", 12, "2 tab-", entities=1, touched="3"),
}

COLUMNS = {
    "missing column": Mutation("fever\tB-Disease", "fever", 12, "the tag of the word 'fever' is missing", entities=1),
    "empty tag": Mutation("fever\tB-Disease", "fever\t", 12, "the tag of the word 'fever' is missing", entities=1),
    "blank for a tab": Mutation("fever\tB", "fever B", 12, "the tag of the word 'fever B-D", entities=1),
    "empty word": Mutation("fever\t", "\t", 12, "the word of the row is empty", documents=1, entities=2),
    "one column more": Mutation("fever\t", "fever\tNN\t", 12, "has 3 columns; legal are 2", documents=1, entities=2),
    "unknown tag": Mutation("fever\tB-", "fever\tX-", 12, "no tag scheme has 'X-Disease'", entities=1),
    "small letter in a tag": Mutation("fever\tB-", "fever\tb-", 12, "no tag scheme has 'b-Disease'", entities=1),
    "tag without type": Mutation("fever\tB-Disease", "fever\tB", 12, "the tag 'B' has no type"),
    "tag with an empty type": Mutation("fever\tB-Disease", "fever\tB-", 12, "the tag 'B-' has no type"),
    "mention without a beginning": Mutation("fever\tB-", "fever\tI-", 12, "begins with 'I-Disease'"),
    "mention across an empty line": Mutation("It\tO", "It\tI-Disease", 15, "begins with 'I-", gone_entities=-1),
    "type that changes inside": Mutation("I-Disease", "I-Chemical", 10, "begins with 'I-Chemical'", gone_entities=-1),
    "duplicate id": Mutation("(2)", "(1)", 7, "the id '1' stands in the file before"),
    "invalid UTF-8 in a word": Mutation("fever", b"f\xe8vre", 12, "byte 0xe8", documents=1, entities=2),
    "invalid UTF-8 in a mark": Mutation("(2)", b"(\xb2)", 7, "byte 0xb2", documents=1, entities=2),
    "truncated file": Mutation(
        "\tB-Disease\nagain\tO\n.\tO\n", "", 21, "the tag of the word 'Fever' is missing", entities=1, touched="3"
    ),
}

_ANN = "2.ann"
BRAT = {
    "missing column": Mutation("\tfever", "", 2, "2 tab-separated columns", entities=1, file=_ANN),
    "bad offset": Mutation("13 18", "13 x", 2, "are 'Disease 13 x'", entities=1, file=_ANN),
    "offset outside": Mutation("13 18", "13 20", 2, "end <= 19", entities=1, file=_ANN),
    "end before start": Mutation("13 18", "18 13", 2, "are 'Disease 18 13'", entities=1, file=_ANN),
    "one offset": Mutation("13 18", "13", 2, "are 'Disease 13'", entities=1, file=_ANN),
    "overlapping pieces": Mutation("13 18", "9 14;13 18", 2, "that do not overlap", entities=1, file=_ANN),
    "no type": Mutation("Disease 13", " 13", 2, "type and offsets are ' 13 18'", entities=1, file=_ANN),
    "wrong mention text": Mutation("\tfever", "\tFEVER", 2, "given as 'FEVER'", file=_ANN),
    "missing line end": Mutation("Delirium\n", "Delirium", 1, "given as 'DeliriumT2\\t", gone_entities=1, file=_ANN),
    "unknown kind of line": Mutation("T2", "Q2", 2, "begins with 'Q'", entities=1, file=_ANN),
    "duplicate id": Mutation("T2\tD", "T1\tD", 2, "the id T1 stands in the file before", file=_ANN),
    "concept of no entity": Mutation("Reference T2", "Reference T9", 3, "a concept of T9", file=_ANN),
    "malformed concept": Mutation("Reference T2 ", "Reference-T2-", 3, "no concept", file=_ANN),
    "NUL": Mutation("fever", "fe\0er", 2, "[13, 18) is 'fe\\x00er'", file="2.txt"),
    "CRLF in the text": Mutation(" and ", "\r\nand ", 2, "[13, 18) is ' feve'", file="2.txt"),
    "invalid UTF-8 in a mention": Mutation("\tfever", b"\tf\xe8ver", 2, "byte 0xe8", entities=1, file=_ANN),
    "invalid UTF-8 in the text": Mutation("fever", b"f\xe8ver", 1, "byte 0xe8", documents=1, entities=2, file="2.txt"),
    "ann without txt": Mutation(
        "fever", None, 0, "there is no text 2.txt to it", documents=1, entities=2, file="2.txt"
    ),
    "truncated file": Mutation(
        " 18\tfever\nN1\tReference T2 MESH:D005334\tFever\n", "", 2, "2 tab-", entities=1, file=_ANN
    ),
}

_LAST = '"end": 18, "type": "Disease", "text": "fever"}'
JSONL = {
    "bad JSON": Mutation('{"id": "2",', '{"id": "2"', 2, "not JSON", documents=1, gone_entities=2),
    "unquoted key": Mutation('"id": "2"', 'id: "2"', 2, "not JSON", documents=1, gone_entities=2),
    "NaN": Mutation("18", "NaN", 2, "NaN is no JSON number", documents=1, gone_entities=2),
    "raw NUL": Mutation("and", "a\0d", 2, "not JSON (Invalid control character", documents=1, gone_entities=2),
    "list for an object": Mutation(
        '{"id": "2", "text": "Delirium and fever", "entities": [',
        '[{"id": "2", "text": "Delirium and fever", "entities": [',
        2,
        "not JSON",
        documents=1,
        gone_entities=2,
    ),
    "missing text": Mutation('"text": "Delirium', '"txt": "Delirium', 2, "'text' is missing", documents=1, entities=2),
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
    "number for an entity": Mutation('{"start": 0, "end": 8, "type": "Disease"}, ', "8, ", 2, "8 was found", entities=1),
    "offset outside": Mutation("18", "19", 2, "[13, 19) is outside the text", entities=1),
    "end before start": Mutation("13", "18", 2, "[18, 18) is outside the text", entities=1),
    "overlapping fragments": Mutation(
        _LAST, '"end": 18, "type": "Disease", "fragments": [[13, 16], [15, 18]]}', 2, "disjoint", entities=1
    ),
    "fragment outside": Mutation(
        _LAST, '"end": 19, "type": "Disease", "fragments": [[13, 16], [17, 19]]}', 2, "outside", entities=1
    ),
    "words out of order": Mutation(
        '"text": "Delirium', '"words": [[9, 12], [0, 8]], "text": "Delirium', 2, "out of order", documents=1, entities=2
    ),
    "wrong mention text": Mutation('"text": "fever"', '"text": "Fever"', 2, "given as 'Fever'"),
    "duplicate id": Mutation('"id": "2"', '"id": "1"', 2, "the id '1' stands in the file before"),
    "lone surrogate escape": Mutation("and", "\\ud800", 2, "lone surrogate U+D800", documents=1, entities=2),
    "invalid UTF-8": Mutation("and", b"\xff", 2, "byte 0xff", documents=1, entities=2),
    "missing line end": Mutation(
        '"fever"}]}\n', '"fever"}]}', 2, "Extra data", documents=1, gone_documents=1, gone_entities=3, touched="2 3"
    ),
    "truncated file": Mutation('"type": "Disease"}]}\n', "", 3, "not JSON", documents=1, gone_entities=1, touched="3"),
}

GENIA = {
    "token out of range": Mutation('"end": 3', '"end": 4', 2, "tokens [2, 4) is outside", entities=1),
    "negative token": Mutation('"start": 2', '"start": -1', 2, "tokens [-1, 3) is outside", entities=1),
    "end before start": Mutation('"end": 3', '"end": 1', 2, "tokens [2, 1) is outside", entities=1),
    "string for a token": Mutation('"start": 2', '"start": "2"', 2, "tokens ['2', 3)", entities=1),
    "missing key": Mutation('"start": 2, ', "", 2, "tokens [None, 3)", entities=1),
    "no type": Mutation('"entity_type": "Disease", "text": "fever"', '"text": "fever"', 2, "type None", entities=1),
    "string for a mention": Mutation(
        '{"start": 0, "end": 1, "entity_type": "Disease", "text": "Delirium"}', '"Delirium"', 2, "an object", entities=1
    ),
    "wrong mention text": Mutation('"text": "fever"', '"text": "fewer"', 2, "given as 'fewer'"),
    "missing tokens": Mutation('"tokens": ["Del', '"words": ["Del', 2, "'tokens' is None", documents=1, entities=2),
    "number for a word": Mutation('"and"', "7", 2, "holds 7 as token 1", documents=1, entities=2),
    "empty word": Mutation('"and"', '""', 2, "holds '' as token 1", documents=1, entities=2),
    "duplicate id": Mutation('"sent_id": "2"', '"sent_id": "1"', 2, "the id '1' stands"),
    "lone surrogate escape": Mutation('"and"', '"\\udc00"', 2, "lone surrogate U+DC00", documents=1, entities=2),
    "invalid UTF-8": Mutation("and", b"\x80", 2, "byte 0x80", documents=1, entities=2),
    "bad JSON": Mutation('"sent_id": "2"', '"sent_id" "2"', 2, "not JSON", documents=1, gone_entities=2),
}

SCIERC = {
    "token out of range": Mutation("[4, 4,", "[4, 5,", 2, "tokens [4, 6) is outside", entities=1),
    "last before first": Mutation("[4, 4,", "[4, 2,", 2, "tokens [4, 3) is outside", entities=1),
    "missing type": Mutation('[4, 4, "Disease"]', "[4, 4]", 2, "the entity [4, 4] was found", entities=1),
    "number for a type": Mutation('[4, 4, "Disease"]', "[4, 4, 1]", 2, "has the type 1", entities=1),
    "string for a token": Mutation("[4, 4,", '["4", 4,', 2, "tokens ['4', 5)", entities=1),
    "object for an entity": Mutation('[4, 4, "Disease"]', '{"first": 4}', 2, "legal is a list", entities=1),
    "fewer lists than sentences": Mutation(
        '[[0, 0, "Disease"]], [[4', '[[0, 0, "Disease"], [4', 2, "'ner' has 1 lists", documents=1, entities=2
    ),
    "missing sentences": Mutation(
        '"sentences": [["Del', '"tokens": [["Del', 2, "'sentences' is None", documents=1, entities=2
    ),
    "string for a sentence": Mutation('["Delirium", "came"]', '"came"', 2, "'came'", documents=1, entities=2),
    "duplicate id": Mutation('"doc_key": "2"', '"doc_key": "1"', 2, "the id '1' stands"),
    "lone surrogate escape": Mutation('"did"', '"\\ud83d"', 2, "lone surrogate U+D83D", documents=1, entities=2),
    "invalid UTF-8": Mutation("did", b"d\xecd", 2, "byte 0xec", documents=1, entities=2),
    "truncated file": Mutation('"Disease"]]]}\n', "", 3, "not JSON", documents=1, gone_entities=1, touched="3"),
}

CONLL04 = {
    "missing tag": Mutation(', "O", "U-', ', "U-', 3, "4 tokens and 3 tags", documents=1, entities=2),
    "missing tags": Mutation('"tags": ["B', '"labels": ["B', 3, "'tags' is None", documents=1, gone_entities=2),
    "unknown tag": Mutation('"O", "U-D', '"O", "Z-D', 3, "no tag scheme has 'Z-Disease'", entities=1),
    "tag without type": Mutation('"O", "U-Disease"', '"O", "U"', 3, "the tag 'U' has no type"),
    "mention without a beginning": Mutation('"O", "U-D', '"O", "L-D', 3, "begins with 'L-Disease'"),
    "number for a word": Mutation('"and"', "7", 3, "holds 7 as token 2", documents=1, entities=2),
    "list for an id": Mutation('"orig_id": 2', '"orig_id": [2]', 3, "'orig_id' is [2]", documents=1, entities=2),
    "duplicate id": Mutation('"orig_id": 2', '"orig_id": 1', 3, "the id '1' stands"),
    "lone surrogate escape": Mutation('"and"', '"\\ud800"', 3, "lone surrogate U+D800", documents=1, entities=2),
    "invalid UTF-8": Mutation("and", b"\xe4nd", 3, "byte 0xe4", documents=1, entities=2),
    "missing comma": Mutation(
        '"orig_id": 2},', '"orig_id": 2}', 4, "was found", documents=1, gone_entities=1, touched="3"
    ),
    "truncated file": Mutation(
        '"orig_id": 3}\n]\n', "", 4, "not JSON", documents=1, gone_entities=1, touched="3"
    ),
    "text behind the list": Mutation("\n]\n", "\n]\n{}\n", 6, "behind the list", documents=1, gone_documents=-1),
}

_PASSAGE = "<passage><offset>0</offset><text>Delirium"
BIOC_XML = {
    "missing location": Mutation('<location offset="13" length="5"/>', "", 12, "there is no location", entities=1),
    "bad offset": Mutation('offset="13"', 'offset="x"', 12, "offset 'x'", entities=1),
    "offset outside": Mutation('offset="13"', 'offset="14"', 12, "an end of at most 18", entities=1),
    "empty location": Mutation('offset="13" length="5"', 'offset="13" length="0"', 12, "length '0'", entities=1),
    "missing length": Mutation('offset="13" length="5"', 'offset="13"', 12, "length None", entities=1),
    "no type": Mutation('"c"><infon key="type">Disease</infon>', '"c">', 12, "the type is None", entities=1),
    "wrong mention text": Mutation(">fever<", ">Fever<", 12, "given as 'Fever'"),
    "missing offset": Mutation(_PASSAGE, "<passage><text>Delirium", 8, "the offset None", documents=1, entities=2),
    "duplicate id": Mutation("<id>2</id>", "<id>1</id>", 8, "the id '1' stands"),
    "passages that overlap": Mutation(
        _PASSAGE, f"<passage><offset>0</offset><text>Much</text></passage>{_PASSAGE}", 9, "begins before the end"
    ),
    "invalid UTF-8": Mutation(
        "and", b"\xe4nd", 9, "not well-formed", documents=1, gone_documents=1, gone_entities=3, touched="2 3"
    ),
    "NUL": Mutation("and", "a\0d", 9, "not well-formed", documents=1, gone_documents=1, gone_entities=3, touched="2 3"),
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
        "</passage></document>\n</collection>\n", "", 19, "the file ends", documents=1, entities=1, touched="3"
    ),
}

_SECOND = '"locations": [{"offset": 13, "length": 5}]'
BIOC_JSON = {
    "missing location": Mutation(_SECOND, '"locations": []', 4, "there is no location", entities=1),
    "bad offset": Mutation('"offset": 13', '"offset": "x"', 4, "offset 'x'", entities=1),
    "offset outside": Mutation('"offset": 13', '"offset": 14', 4, "an end of at most 18", entities=1),
    "wrong JSON type": Mutation(_SECOND, '"locations": 13', 4, "'locations' is 13", entities=1),
    "no type": Mutation('"c", "infons": {"type": "Disease"}', '"c", "infons": {}', 4, "the type is None", entities=1),
    "wrong mention text": Mutation('"text": "fever"', '"text": "Fever"', 4, "given as 'Fever'"),
    "duplicate id": Mutation('"id": "2"', '"id": "1"', 4, "the id '1' stands"),
    "bad offset of a passage": Mutation(
        '"offset": 0, "text": "Delirium', '"offset": -1, "text": "Delirium', 4, "offset -1", documents=1, entities=2
    ),
    "number for a text": Mutation('"Delirium and fever"', "5", 4, "is 5", documents=1, entities=2),
    "lone surrogate escape": Mutation("and", "\\ud800", 4, "lone surrogate U+D800", documents=1, entities=2),
    "invalid UTF-8": Mutation("and", b"\xe4nd", 4, "byte 0xe4", documents=1, entities=2),
    "bad JSON": Mutation(
        '"c", "infons"', '"c" "infons"', 6, "not", documents=1, gone_documents=1, gone_entities=3, touched="2 3"
    ),
    "truncated file": Mutation(
        '"text": "Fever"}]}]}\n]}\n', "", 8, "not", documents=1, gone_entities=1, touched="3"
    ),
}

MUTATIONS = {
    "pubtator": PUBTATOR,
    "conll": COLUMNS,
    "brat": BRAT,
    "jsonl": JSONL,
    "genia-jsonl": GENIA,
    "scierc": SCIERC,
    "conll04": CONLL04,
    "bioc-xml": BIOC_XML,
    "bioc-json": BIOC_JSON,
}
"""By the name of the format and what is wrong."""
