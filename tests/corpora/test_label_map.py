from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwright.corpora.label_map import LabelMap, load_map, map_toml, parse_map
from spanwright.corpora.maps import map_names, map_text
from spanwright.errors import InputError
from spanwright.formats.files import read
from spanwright.text import Document, Entity

MAP = LabelMap(
    types=("Gene", "Disease"),
    corpora={
        "NLMGene": {"Gene": "Gene", "FamilyName": "Gene", "Cell": None},
        "BC5CDR": {"Disease": "Disease"},
    },
)


def document(*entities: tuple[int, int, str], corpus: str | None = "NLMGene") -> Document:
    return Document("1", "p53 family of genes", tuple(Entity(*entity) for entity in entities), corpus=corpus)


def types(mapped: Document) -> list[str]:
    return [entity.type for entity in mapped.entities]


def test_types_become_shared_types() -> None:
    assert types(MAP.apply(document((0, 3, "Gene"), (0, 10, "FamilyName")))) == ["Gene", "Gene"]


def test_mentions_of_a_type_without_a_shared_type_are_left_out() -> None:
    assert types(MAP.apply(document((0, 3, "Cell"), (0, 10, "Gene")))) == ["Gene"]


def test_mentions_that_become_the_same_are_one() -> None:
    mapped = MAP.apply(document((0, 3, "Gene"), (0, 3, "FamilyName"), (4, 10, "FamilyName")))
    assert [(entity.start, entity.end) for entity in mapped.entities] == [(0, 3), (4, 10)]


def test_everything_but_the_types_stays() -> None:
    entity = Entity(0, 10, "FamilyName", fragments=((0, 3), (4, 10)), concepts=("7157",), confidence=0.5)
    original = Document("1", "p53 family", (entity,), corpus="NLMGene", metadata={"journal": "Cell"})
    mapped = MAP.apply(original)
    assert mapped.metadata == original.metadata
    assert mapped.entities == (
        Entity(0, 10, "Gene", fragments=((0, 3), (4, 10)), concepts=("7157",), confidence=0.5),
    )


def test_the_corpus_can_be_named_when_the_document_does_not() -> None:
    assert types(MAP.apply(document((0, 3, "FamilyName"), corpus=None), "NLMGene")) == ["Gene"]


def test_the_only_corpus_of_a_map_needs_no_name() -> None:
    single = LabelMap(("Gene",), {"mine": {"FamilyName": "Gene"}})
    assert types(single.apply(document((0, 3, "FamilyName"), corpus=None))) == ["Gene"]


def test_an_unknown_corpus_is_an_error_that_names_the_known_ones() -> None:
    with pytest.raises(InputError, match=r"no corpus 'NLMgene'; expected NLMGene, BC5CDR"):
        MAP.apply(document(corpus="NLMgene"))
    with pytest.raises(InputError, match=r"no corpus name was given; expected NLMGene, BC5CDR"):
        MAP.apply(document(corpus=None))


def test_an_unlisted_type_is_an_error_with_the_line_to_add() -> None:
    with pytest.raises(
        InputError, match=r"document '1' .* type 'Cell line', .* Add .*: \"Cell line\" = \"\""
    ):
        MAP.apply(document((0, 3, "Cell line")))


def test_unlisted_types_can_be_counted_beforehand() -> None:
    documents = [document((0, 3, "SNP"), (4, 10, "SNP")), document((0, 3, "Gene"), (0, 3, "Cell"))]
    assert MAP.unknown_types(documents) == {"SNP": 2}


def test_a_target_that_is_no_shared_type_is_an_error() -> None:
    with pytest.raises(InputError, match=r"'Cell' of corpus 'x' is mapped to 'Gen'; expected .* Gene"):
        LabelMap(("Gene",), {"x": {"Cell": "Gen"}})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("types = [", "not TOML"),
        ("types = ['A']\n", "corpora is None; expected tables"),
        ("[corpora.x]\nA = 'A'\n", "types is None; expected a list"),
        ("types = ['']\n[corpora.x]\n", "expected a list of the shared types"),
        ("types = ['A']\ncorpora = 3\n", "corpora is 3"),
        ("types = ['A']\n[corpora]\nx = 'A'\n", r"\[corpora.x\] is 'A'"),
        ("types = ['A']\n[corpora.x]\nB = false\n", r"\[corpora.x\]: 'B' is False"),
        ("types = ['A']\n[corpora.x]\nB = 'C'\n", "'B' of corpus 'x' is mapped to 'C'"),
        ("types = ['A']\n[corpora.x]\nB = 'A'\nB = ''\n", "not TOML"),
        ("types = ['A']\n[corpus.x]\nB = 'A'\n", "unknown key 'corpus'"),
    ],
)
def test_a_damaged_file_is_an_error_that_says_where(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "map.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=f"map.toml: .*{message}"):
        load_map(path)


def test_bytes_that_are_no_text_are_an_error(tmp_path: Path) -> None:
    (tmp_path / "map.toml").write_bytes(b"types = ['\xff']")
    with pytest.raises(InputError, match=r"map\.toml: byte 10 is not UTF-8"):
        load_map(tmp_path / "map.toml")


def test_a_missing_file_is_an_error_that_names_the_shipped_maps(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"absent\.toml: no such file.* shipped are cvae-ner"):
        load_map(tmp_path / "absent.toml")


NAMES = st.text(st.characters(exclude_categories=("Cs",)), max_size=8)
TYPES = st.lists(NAMES.filter(bool), min_size=1, max_size=3, unique=True)


@st.composite
def label_maps(draw: st.DrawFn) -> LabelMap:
    shared = draw(TYPES)
    targets = st.dictionaries(NAMES, st.sampled_from([*shared, None]), max_size=3)
    return LabelMap(tuple(shared), draw(st.dictionaries(NAMES, targets, min_size=1, max_size=3)), draw(NAMES))


@given(label_maps(), NAMES)
def test_a_written_map_is_read_as_it_was_whatever_the_names_and_comments(
    original: LabelMap, note: str
) -> None:
    comments = {(corpus, type_): [note] for corpus, entries in original.corpora.items() for type_ in entries}
    assert parse_map(map_toml(original, comments), "text") == original


def test_comments_stand_above_their_line() -> None:
    text = map_toml(MAP, {("NLMGene", "Cell"): ["confidence 0.61", "two\nlines"]})
    assert '# confidence 0.61\n# two lines\nCell = ""\n' in text


def test_maps_ship_by_name() -> None:
    assert map_names() == ["cvae-ner"]
    assert load_map("cvae-ner").types == ("Disease", "Chemical", "Gene", "Variant", "Species", "CellLine")
    with pytest.raises(InputError, match="unknown label map 'cvae'; expected cvae-ner"):
        map_text("cvae")


def test_the_shipped_map_has_the_47_conditions_of_the_paper() -> None:
    corpora = load_map("cvae-ner").corpora
    # A negative for each corpus; Table 7 has a Chemical of tmVar3 that its data lack.
    rows = sum(len(targets) + 1 for targets in corpora.values()) - 1
    assert (len(corpora), rows) == (10, 47)
    unmapped = {
        corpus: [t for t, target in targets.items() if target is None] for corpus, targets in corpora.items()
    }
    assert {corpus: found for corpus, found in unmapped.items() if found} == {
        "GNormPlus": ["DomainMotif"],
        "NLMChem": ["NonStandardRef", "OTHER"],
        "NLMGene": ["Cell", "DomainMotif", "ChromosomeLocation"],
    }


def test_the_shipped_map_agrees_with_the_list_of_the_collection(corpora: Path) -> None:
    shipped = {corpus.lower(): targets for corpus, targets in load_map("cvae-ner").corpora.items()}
    shipped["species"] = shipped["species800"]
    lines = (corpora / "aioner" / "list_train.txt").read_text(encoding="utf-8").split("\n")
    rows = [line.split("\t") for line in lines if line]
    for file, _, *entries in rows:
        targets = shipped[file.partition("_")[0].lower()]
        for shared, own in (entry.split(":") for entry in entries):
            assert {targets[type_] for type_ in own.split("|")} == {shared}


@pytest.mark.parametrize("corpus", ["BC5CDR", "GNormPlus", "NCBIdisease", "NLMChem", "NLMGene", "tmVar3"])
def test_the_shipped_map_lists_all_types_of_the_files(corpora: Path, corpus: str) -> None:
    files = (corpora / "aioner" / "pubtator").glob("*_Test*.PubTator")
    (file,) = (file for file in files if file.name.lower().startswith(f"{corpus.lower()}_"))
    assert not load_map("cvae-ner").unknown_types(read(file).documents, corpus)


def test_the_example_in_the_module_is_a_map() -> None:
    from spanwright.corpora import label_map

    example = (label_map.__doc__ or "").split("edit:\n\n")[1].split("\n\nA type")[0]
    assert tomllib.loads(example)["corpora"] == {
        "NLMGene": {"Gene": "Gene", "FamilyName": "Gene", "Cell": ""}
    }
    assert parse_map(example, "example").corpora["NLMGene"]["Cell"] is None
