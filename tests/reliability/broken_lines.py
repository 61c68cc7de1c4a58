"""Ways to break PubTator, column and BRAT files, and what a reader must say of each."""

from __future__ import annotations

from mutation import Mutation

PUBTATOR = {
    "missing column": Mutation("\tChemical\tD001241", "", 8, "4 tab-separated columns", entities=1),
    "blanks for tabs": Mutation(
        "2\t0\t8\tDelirium\tDisease\t", "2 0 8 Delirium Disease ", 7, "1 tab-", entities=1
    ),
    "bad offset": Mutation("\t19\t26", "\tx\t26", 8, "are 'x' and '26'", entities=1),
    "negative offset": Mutation("\t19\t26", "\t-19\t26", 8, "are '-19' and '26'", entities=1),
    "offset outside": Mutation("\t19\t26", "\t19\t38", 8, "0 <= start < end <= 37", entities=1),
    "end before start": Mutation("\t19\t26", "\t26\t19", 8, "are '26' and '19'", entities=1),
    "empty mention": Mutation("\t19\t26", "\t19\t19", 8, "are '19' and '19'", entities=1),
    "discontinuous": Mutation("\t19\t26", "\t0;19\t8;26", 8, "are '0;19' and '8;26'", entities=1),
    "wrong mention text": Mutation(
        "\tAspirin\t", "\taspirin\t", 8, "given as 'aspirin', but [19, 26) is 'Aspirin'"
    ),
    "shifted offset": Mutation("\t19\t26", "\t20\t27", 8, "given as 'Aspirin', but [20, 27) is 'spirin '"),
    "no type": Mutation("\tChemical\tD001241", "\t\tD001241", 8, "has no type", entities=1),
    "annotation of another document": Mutation("2\t19", "3\t19", 8, "'3' in the block of '2'", entities=1),
    "missing line end": Mutation(
        "D003693\n2\t", "D0036932\t", 7, "11 tab-separated columns", gone_entities=1
    ),
    "missing title": Mutation("2|t|Delirium and fever\n", "", 5, "a block of 2|a|", documents=1, entities=2),
    "missing abstract": Mutation("2|a|Aspirin was given.\n", "", 7, "are '19' and '26'", entities=1),
    "two abstracts": Mutation("given.\n", "given.\n2|a|More.\n", 5, "2|a| 2|a|", documents=1, entities=2),
    "abstract of another document": Mutation("2|a|", "9|a|", 6, "one id in a block", documents=1, entities=2),
    "no text at all": Mutation(
        "2|t|Delirium and fever\n2|a|Aspirin was given.\n",
        "",
        5,
        "without an ID|t| line",
        documents=1,
        entities=2,
    ),
    "NUL": Mutation("|Delirium", "|De\0irium", 7, "but [0, 8) is 'De\\x00irium'"),
    "invalid UTF-8 in a mention": Mutation("\tAspirin\t", b"\tAspir\xefn\t", 8, "byte 0xef", entities=1),
    "invalid UTF-8 in a text": Mutation("fever", b"f\xe8vre", 5, "byte 0xe8", documents=1, entities=2),
    "truncated file": Mutation("\t5\tFever\tDisease\tD005334\n", "", 12, "2 tab-", entities=1, touched="3"),
}

COLUMNS = {
    "missing column": Mutation(
        "fever\tB-Disease", "fever", 12, "the tag of the word 'fever' is missing", entities=1
    ),
    "empty tag": Mutation(
        "fever\tB-Disease", "fever\t", 12, "the tag of the word 'fever' is missing", entities=1
    ),
    "blank for a tab": Mutation("fever\tB", "fever B", 12, "the tag of the word 'fever B-D", entities=1),
    "empty word": Mutation("fever\t", "\t", 12, "the word of the row is empty", documents=1, entities=2),
    "one column more": Mutation(
        "fever\t", "fever\tNN\t", 12, "has 3 columns", documents=1, entities=1, gone_entities=1
    ),
    "unknown tag": Mutation("fever\tB-", "fever\tX-", 12, "no tag scheme has 'X-Disease'", entities=1),
    "small letter in a tag": Mutation(
        "fever\tB-", "fever\tb-", 12, "no tag scheme has 'b-Disease'", entities=1
    ),
    "tag without type": Mutation("fever\tB-Disease", "fever\tB", 12, "the tag 'B' has no type"),
    "tag with an empty type": Mutation("fever\tB-Disease", "fever\tB-", 12, "the tag 'B-' has no type"),
    "mention without a beginning": Mutation("fever\tB-", "fever\tI-", 12, "begins with 'I-Disease'"),
    "mention across an empty line": Mutation(
        "It\tO", "It\tI-Disease", 15, "begins with 'I-", gone_entities=-1
    ),
    "type that changes inside": Mutation(
        "I-Disease", "I-Chemical", 10, "begins with 'I-Chemical'", gone_entities=-1
    ),
    "duplicate id": Mutation("(2)", "(1)", 7, "the id '1' stands in the file before"),
    "invalid UTF-8 in a word": Mutation("fever", b"f\xe8vre", 12, "byte 0xe8", documents=1, entities=2),
    "invalid UTF-8 in a mark": Mutation("(2)", b"(\xb2)", 7, "byte 0xb2", documents=1, entities=2),
    "truncated file": Mutation(
        "\tB-Disease\nagain\tO\n.\tO\n",
        "",
        21,
        "the tag of the word 'Fever' is missing",
        entities=1,
        touched="3",
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
    "missing line end": Mutation(
        "Delirium\nT2", "DeliriumT2", 1, "given as 'DeliriumT2\\t", gone_entities=1, file=_ANN
    ),
    "unknown kind of line": Mutation("T2\tD", "Q2\tD", 2, "begins with 'Q'", entities=1, file=_ANN),
    "duplicate id": Mutation("T2\tD", "T1\tD", 2, "the id T1 stands in the file before", file=_ANN),
    "concept of no entity": Mutation("Reference T1", "Reference T9", 3, "a concept of T9", file=_ANN),
    "malformed concept": Mutation("Reference T1 ", "Reference-T1-", 3, "no concept", file=_ANN),
    "NUL": Mutation("fever", "fe\0er", 2, "[13, 18) is 'fe\\x00er'", file="2.txt", told_of=_ANN),
    "CRLF in the text": Mutation(" and ", "\r\nand ", 2, "[13, 18) is ' feve'", file="2.txt", told_of=_ANN),
    "invalid UTF-8 in a mention": Mutation("\tfever", b"\tf\xe8ver", 2, "byte 0xe8", entities=1, file=_ANN),
    "invalid UTF-8 in the text": Mutation(
        "fever", b"f\xe8ver", 1, "byte 0xe8", documents=1, entities=2, file="2.txt"
    ),
    "ann without txt": Mutation(
        "fever", None, 0, "its text 2.txt is missing", documents=1, entities=2, file="2.txt", told_of=_ANN
    ),
    "truncated file": Mutation(
        " 18\tfever\nN1\tReference T1 MESH:D003693\tDelirium\n", "", 2, "2 tab-", entities=1, file=_ANN
    ),
}
