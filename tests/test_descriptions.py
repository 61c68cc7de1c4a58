from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import assume
from hypothesis import given as for_all
from hypothesis import strategies as st

import naughty
from spanwright.descriptions import (
    Description,
    check_used,
    describe,
    description_names,
    label_in_words,
    read_descriptions,
    undescribed,
)
from spanwright.descriptions.description_file import DescriptionFile
from spanwright.errors import InputError
from spanwright.formats.files import read

NAMES = description_names()

# Per name, parts of the corpus that have all its types between them.
PARTS = {
    "bc2gm": ["bc2gm/iob/devel.tsv"],
    "bc5cdr": ["bc5cdr/pubtator/CDR_DevelopmentSet.PubTator.txt"],
    "bioid": ["aioner/pubtator/BioID_Test_revision.PubTator"],
    "biored": ["biored/pubtator/Dev.PubTator", "aioner/pubtator/BioRED_Test.PubTator"],
    "conll03": ["conll2003/eng.testa", "conllpp/conllpp_test.txt"],
    "conll04": ["conll04/conll04_dev.json"],
    "genia": ["genia/jsonl/dev.jsonl"],
    "gnormplus": ["aioner/pubtator/GNormPlus_Test.PubTator"],
    "jnlpba": ["jnlpba/bio/valid.tsv", "jnlpba/original/Genia4EReval1.iob2"],
    "linnaeus": ["aioner/pubtator/Linnaeus_Test.PubTator", "linnaeus/iob/devel.tsv"],
    "ncbi-disease": ["ncbi_disease/pubtator/NCBIdevelopset_corpus.txt", "ncbi_disease/iob/devel.tsv"],
    "nlm-chem": ["aioner/pubtator/NLMchem_Test.PubTator"],
    "nlm-gene": ["aioner/pubtator/NLMgene_Test.PubTator"],
    "resume": ["resume/dev.char.bmes"],
    "scierc": ["scierc/dev.json"],
    "species800": ["aioner/pubtator/SPECIES_Test.PubTator"],
    "tmvar3": ["aioner/pubtator/tmVar3_Test.PubTator"],
    "weibo": ["weibo/weiboNER_2nd_conll.dev"],
    "wnut16": ["wnut16/dev"],
    "wnut17": ["wnut17/emerging.dev.conll"],
}


def types_of(paths: list[Path]) -> set[str]:
    return {entity.type for document in read(*paths).documents for entity in document.entities}


def written(folder: Path, text: str | bytes, name: str = "types.toml") -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def given(*names: str) -> dict[str, Description]:
    return {name: Description(f"about {name}", name) for name in names}


# Shipped descriptions


@pytest.mark.parametrize("name", NAMES)
def test_a_shipped_guideline_is_a_sentence_or_two(name: str) -> None:
    for type_, description in read_descriptions(name).items():
        assert 15 <= len(description.guideline.split()) <= 45, type_
        assert description.guideline[0].isupper() and description.guideline.endswith("."), type_


@pytest.mark.parametrize("name", NAMES)
def test_a_shipped_keyword_is_one_or_two_words(name: str) -> None:
    for type_, description in read_descriptions(name).items():
        assert 1 <= len(description.keyword.split()) <= 2, type_


@pytest.mark.parametrize("name", NAMES)
def test_no_two_types_of_a_shipped_file_share_a_guideline(name: str) -> None:
    guidelines = [description.guideline for description in read_descriptions(name).values()]
    assert len(set(guidelines)) == len(guidelines)


@pytest.mark.parametrize("name", PARTS)
def test_a_shipped_file_describes_the_types_of_its_corpus_and_no_others(name: str, corpora: Path) -> None:
    assert set(read_descriptions(name)) == types_of([corpora / part for part in PARTS[name]])


def test_medmentions_has_its_21_types_and_those_of_the_sample(corpora: Path) -> None:
    described = set(read_descriptions("medmentions"))
    assert len(described) == 21
    assert types_of([corpora / "medmentions_sample/med_mentions.txt"]) <= described


def test_every_shipped_file_is_compared_with_its_corpus() -> None:
    assert sorted([*PARTS, "medmentions"]) == NAMES


# Files of one's own

SIMPLE = {
    "types.toml": 'CellLine = "Cells in culture."\n"PER.NAM" = "People."\n',
    "types.json": '{"CellLine": "Cells in culture.", "PER.NAM": "People."}',
    "TYPES.JSON": '\ufeff{"CellLine": "Cells in culture.",\r\n "PER.NAM": "People."}',
}
FULL = {
    "types.toml": '[types.CellLine]\nguideline = "Cells in culture."\nkeyword = "culture"\n',
    "types.json": '{"types": {"CellLine": {"guideline": "Cells in culture.", "keyword": "culture"}}}',
}


@pytest.mark.parametrize("name", SIMPLE)
def test_the_simple_form_takes_the_keyword_from_the_name(name: str, tmp_path: Path) -> None:
    assert read_descriptions(written(tmp_path, SIMPLE[name], name)) == {
        "CellLine": Description("Cells in culture.", "cell line"),
        "PER.NAM": Description("People.", label_in_words("PER.NAM")),
    }


@pytest.mark.parametrize("name", FULL)
def test_the_full_form_has_a_keyword_of_its_own(name: str, tmp_path: Path) -> None:
    path = written(tmp_path, FULL[name], name)
    assert read_descriptions(str(path)) == {"CellLine": Description("Cells in culture.", "culture")}


def test_the_full_form_may_leave_out_the_keyword(tmp_path: Path) -> None:
    path = written(tmp_path, '[types.CellLine]\nguideline = "Cells."')
    assert read_descriptions(path)["CellLine"].keyword == "cell line"


def test_a_type_may_itself_be_called_types(tmp_path: Path) -> None:
    path = written(tmp_path, 'types = "Kinds of things."\nGene = "Genes."')
    assert list(read_descriptions(path)) == ["types", "Gene"]


def test_line_breaks_in_a_text_become_blanks(tmp_path: Path) -> None:
    path = written(tmp_path, 'Gene = """\n  Genes\n  and proteins. """')
    assert read_descriptions(path)["Gene"].guideline == "Genes and proteins."


TEXT = naughty.texts(2).map(lambda text: f"{text} a")
NAME = naughty.texts(2).filter(str.strip)


@for_all(st.dictionaries(NAME, st.builds(Description, TEXT, TEXT), min_size=1))
def test_what_is_written_as_json_is_read_again_on_one_line(described: dict[str, Description]) -> None:
    data = json.dumps({"types": {name: text._asdict() for name, text in described.items()}}).encode()
    expected = {
        name: Description(*(" ".join(text.split()) for text in texts)) for name, texts in described.items()
    }
    assert DescriptionFile("types.json", ".json").parsed(data) == expected


WRONG = {
    "types.toml": {
        "empty text": ('Gene = ""', "'Gene' is a string without a letter"),
        "blank text": ('Gene = " \u200b "', "'Gene' is a string without a letter"),
        "number": ("Gene = 3", "'Gene' is a number; expected a text"),
        "huge number": (f"Gene = 0x{'F' * 9000}", "'Gene' is a number"),
        "too many digits": (f"Gene = {'9' * 9000}", "cannot be read: "),
        "truth": ("Gene = true", "'Gene' is true or false"),
        "date": ("Gene = 2024-01-01", "'Gene' is a date or time"),
        "list": ('Gene = ["a", "b"]', "'Gene' is a list"),
        "twice": ('Gene = "a"\nGene = "b"', 'Cannot overwrite a value (at end of document): Gene = "b"'),
        "twice, and more after": (
            'Gene = "a"\nGene = "b"\nCell = "c"',
            'Cannot overwrite a value (at line 2, column 11): Gene = "b"',
        ),
        "table twice": (
            '[types.Gene]\nguideline = "a"\n[types.Gene]\nguideline = "b"',
            "twice (at line 3, col",
        ),
        "no quotes": ("Gene = names of genes", "at line 1, column 8): Gene = names of genes; expected TOML"),
        "nothing": ("# only a comment\n", "no type is described"),
        "no types": ("[types]\n", "no type is described"),
        "blank name": ('" " = "text"', "' ' as the name of a type"),
        "dot": ('PER.NAM = "People."', "'PER' is a table (a name with a dot needs quotes"),
        "dot in full": (
            '[types.PER.NAM]\nguideline = "People."',
            "'NAM' of 'PER' of types is a table (a name with a dot needs quotes",
        ),
        "mixed": (
            'Gene = "a"\n[types.Cell]\nguideline = "b"',
            "'Gene' stands beside 'types'; expected every type",
        ),
        "string in full": ('[types]\nGene = "a"', "'Gene' of types is a string; expected a table"),
        "unknown key": (
            '[types.Gene]\nguidelines = "a"',
            "'Gene' of types has a key 'guidelines'; expected guideline",
        ),
        "no guideline": ('[types.Gene]\nkeyword = "a"', "'Gene' of types has no guideline"),
        "bad keyword": (
            '[types.Gene]\nguideline = "a"\nkeyword = 1',
            "the keyword of 'Gene' of types is a number",
        ),
        "not UTF-8": (b'Gene = "caf\xe9"', "byte 11 is not UTF-8; expected TOML in UTF-8"),
        "deep": (f"Gene = {'[' * 100_000}", "cannot be read: nested too deeply"),
    },
    "types.json": {
        "list at the top": ('["Gene"]', "a list at the top level; expected an object"),
        "string at the top": ('"Gene"', "a string at the top level"),
        "null": ('{"Gene": null}', "'Gene' is null"),
        "twice": ('{"Gene": "a", "Gene": "b"}', "the key 'Gene' stands twice in one object"),
        "twice inside": (
            '{"types": {"Gene": {"guideline": "a", "guideline": "b"}}}',
            "the key 'guideline' stands twice in one object",
        ),
        "outer types left out": (
            '{"Gene": {"guideline": "a"}}',
            "'Gene' is a table; expected a string, or the full",
        ),
        "empty file": ("", "cannot be read: Expecting value: line 1 column 1"),
        "surrogate": ('{"Gene": "a \\ud800"}', "'Gene' has half a surrogate pair"),
        "surrogate in a name": ('{"\\ud800": "a"}', "as the name of a type"),
        "not UTF-8": (b'{"Gene": "\xff"}', "byte 10 is not UTF-8; expected JSON in UTF-8"),
        "deep": ("[" * 100_000, "cannot be read: nested too deeply"),
    },
    "types.txt": {"ending": ('Gene = "a"', "the ending is '.txt'; expected a file in .toml or .json")},
    "types": {"no ending": ('Gene = "a"', "the ending is ''; expected a file in .toml or .json")},
}
CASES = [
    pytest.param(file, text, message, id=f"{file}: {case}")
    for file, cases in WRONG.items()
    for case, (text, message) in cases.items()
]


@pytest.mark.parametrize(("file", "text", "message"), CASES)
def test_a_wrong_file_is_refused_with_what_was_found_and_an_example(
    file: str, text: str | bytes, message: str, tmp_path: Path
) -> None:
    path = written(tmp_path, text, file)
    with pytest.raises(InputError) as caught:
        read_descriptions(path)
    complaint, _, example = str(caught.value).partition(", for example:\n")
    assert complaint.startswith(f"{path}: ")
    assert message in complaint
    ending = ".json" if file.endswith(".json") else ".toml"
    assert len(example.splitlines()) == 2
    assert read_descriptions(written(tmp_path, example, f"example{ending}"))["Disease"].keyword == "disease"


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("nothing.toml", "No such file"),
        ("bc5cd", "No such file"),
        (".", "Is a directory"),
        ("x" * 5000, "too long"),
    ],
)
def test_a_missing_file_is_refused_with_the_names_that_are_shipped(source: str, reason: str) -> None:
    with pytest.raises(InputError, match=rf"cannot be read \(.*{reason}.*\).* bc5cdr, ") as caught:
        read_descriptions(source)
    assert str(caught.value).startswith(source)


def test_a_source_with_a_null_byte_is_refused() -> None:
    with pytest.raises(InputError, match="embedded null byte"):
        read_descriptions("a\x00b")


# Descriptions for types


def test_a_type_has_the_description_of_its_very_name_before_one_in_another_case() -> None:
    described = describe(["Gene", "Disease"], given("GENE", "gene", "Gene", "disease"))
    assert {type_: each.keyword for type_, each in described.items()} == {
        "Gene": "Gene",
        "Disease": "disease",
    }


def test_a_type_without_a_description_is_described_by_its_name() -> None:
    assert describe(["CellLine"], given("Gene")) == {"CellLine": Description("cell line", "cell line")}


def test_descriptions_come_in_the_order_of_the_types() -> None:
    assert list(describe(["b", "c", "a"], given("a", "b"))) == ["b", "c", "a"]


def test_the_types_without_a_description_are_known() -> None:
    assert undescribed(["Gene", "CellLine", "disease"], given("gene", "Disease")) == ["CellLine"]


def test_two_descriptions_that_differ_from_a_type_only_in_case_are_refused() -> None:
    with pytest.raises(
        InputError, match="the type 'Gene' has descriptions under 'gene', 'GENE'; expected one"
    ):
        describe(["Gene"], given("gene", "GENE"))


def test_a_description_of_no_type_is_refused_with_both_sides() -> None:
    with pytest.raises(InputError) as caught:
        check_used(["Disease", "Gene"], given("Desease", "Gene", "Cell"), "my.toml")
    assert str(caught.value) == (
        "my.toml: describes 'Desease', 'Cell', which would be used for no type; "
        "expected the types 'Disease', 'Gene', each once"
    )


def test_a_second_description_of_a_type_is_refused_too() -> None:
    with pytest.raises(InputError, match="describes 'GENE', which would be used for no type"):
        check_used(["Gene"], given("Gene", "GENE"), "my.toml")


def test_descriptions_that_are_all_used_pass_and_types_may_go_without() -> None:
    check_used(["Disease", "Gene"], given("gene"), "my.toml")


# Names in words


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("CellLine", "cell line"),
        ("cell_type", "cell type"),
        ("B-cell_type", "B cell type"),
        ("geo-loc", "geo loc"),
        ("DNAMutation", "DNA mutation"),
        ("ProteinDNA", "protein DNA"),
        ("DiseaseOrPhenotypicFeature", "disease or phenotypic feature"),
        ("GENE_OR_GENE_PRODUCT", "gene or gene product"),
        ("GENE", "gene"),
        ("DNA", "DNA"),
        ("SNP", "SNP"),
        ("SNPs", "SNPs"),
        ("T_CELL", "T cell"),
        ("T103", "T103"),
        ("mRNA", "mRNA"),
        ("miRNATarget", "miRNA target"),
        ("p53Gene", "p53 gene"),
        ("CD4+Cell", "CD4 + cell"),
        ("2ndAuthor", "2nd author"),
        ("Gene/Protein", "gene protein"),
        ("G#protein_molecule", "G protein molecule"),
        ("Cell line", "cell line"),
        ("ORG", "organization"),
        ("Org", "organization"),
        ("PER", "person"),
        ("LOC", "location"),
        ("MISC", "miscellaneous"),
        ("GPE", "geopolitical entity"),
        ("per:age", "person age"),
        ("PER.NAM", "person nam"),
        ("cost_per_unit", "cost per unit"),
        ("\u00c9tatCivil", "\u00e9tat civil"),
        ("蛋白Cell", "蛋白 cell"),
        ("+-", "+"),
        ("--", "--"),
        (" ", "entity"),
        ("", "entity"),
    ],
)
def test_a_name_in_words(name: str, words: str) -> None:
    assert label_in_words(name) == words


ANY_NAME = st.one_of(
    naughty.texts(), st.text(st.characters(), max_size=20), st.text("aBsL2_-:+. ", max_size=20)
)


@for_all(ANY_NAME)
def test_a_name_in_words_is_never_empty_and_has_single_blanks(name: str) -> None:
    words = label_in_words(name)
    assert words
    if any(map(str.isalnum, name)):
        assert words == " ".join(words.split())


@for_all(ANY_NAME)
def test_a_name_in_words_keeps_letters_and_digits(name: str) -> None:
    def characters(text: str) -> str:
        return "".join(filter(str.isalnum, text.casefold()))

    assume(not any(known in name for known in ("PER", "ORG", "LOC", "MISC", "GPE", "FAC", "VEH", "WEA")))
    # After another word, abbreviations in small letters are not spelt out.
    name = f"a_{name}"
    assert characters(label_in_words(name)) == characters(name)
