from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwright.errors import InputError
from spanwright.lexicons import Lexicon, Term, read_lexicon

ANIMALS = """\
format-version: 1.2
default-namespace: animals

[Term]
id: A:1
name: animal

[Term]
id: A:2
name: dog
alt_id: A:20
synonym: "domestic dog" EXACT [WIKI:dog]
synonym: "hound" RELATED HUNTING []
synonym: "puppy" NARROW []
synonym: "canine" BROAD []
xref: WIKI:Dog "a page"
is_a: A:1 {source="me"} ! animal

[Term]
id: A:3
name: poodle
namespace: breeds
is_a: A:2 ! dog

[Term]
id: A:4
name: unicorn
is_a: A:1
is_obsolete: true

[Typedef]
id: part_of
name: part of
"""


def read(folder: Path, text: str | bytes, **options: object) -> Lexicon:
    path = folder / "animals.obo"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_lexicon(path, **options)


def only(folder: Path, *lines: str, **options: object) -> Term:
    """The one term of a file with a stanza of these lines."""
    (term,) = read(folder, "\n".join(["[Term]", "id: X:1", *lines, ""]), **options).terms()
    return term


def test_terms_have_their_name_id_and_exact_and_related_synonyms(tmp_path: Path) -> None:
    dog = list(read(tmp_path, ANIMALS).terms())[1]
    assert dog == Term("dog", None, "A:2", ("domestic dog", "hound"), ("A:20",))


@pytest.mark.parametrize(
    ("scopes", "synonyms"),
    [
        (["EXACT"], ("domestic dog",)),
        (["NARROW", "BROAD"], ("puppy", "canine")),
        (["EXACT", "RELATED", "NARROW", "BROAD"], ("domestic dog", "hound", "puppy", "canine")),
    ],
)
def test_scopes_choose_the_synonyms(tmp_path: Path, scopes: list[str], synonyms: tuple[str, ...]) -> None:
    assert list(read(tmp_path, ANIMALS, scopes=scopes).terms())[1].synonyms == synonyms


def test_synonyms_of_other_scopes_are_noted(tmp_path: Path) -> None:
    assert read(tmp_path, ANIMALS).log.notes[-1].endswith("other scopes left out: BROAD 1, NARROW 1")


@pytest.mark.parametrize("scopes", [["exact"], [], ["EXACT", "NEAR"]])
def test_an_unknown_scope_is_an_error(tmp_path: Path, scopes: list[str]) -> None:
    with pytest.raises(InputError, match="expected one or more of EXACT, RELATED, NARROW, BROAD"):
        read(tmp_path, ANIMALS, scopes=scopes)


def test_obsolete_terms_are_left_out_and_counted(tmp_path: Path) -> None:
    log = read(tmp_path, ANIMALS).log
    assert log.left_out == {"obsolete terms": 1}
    assert (log.entries_read, log.entries) == (3, 4)


def test_other_stanzas_are_no_terms(tmp_path: Path) -> None:
    assert read(tmp_path, ANIMALS).concepts("part of") == ()


def test_namespaces_are_types_on_demand(tmp_path: Path) -> None:
    lexicon = read(tmp_path, ANIMALS, namespaces=True)
    assert [term.type for term in lexicon.terms()] == ["animals", "animals", "breeds"]
    assert read(tmp_path, ANIMALS).types == ()


def test_without_a_namespace_the_type_is_unknown(tmp_path: Path) -> None:
    assert only(tmp_path, "name: x", namespaces=True).type is None


def test_a_given_type_is_that_of_all_terms(tmp_path: Path) -> None:
    assert read(tmp_path, ANIMALS, type="Animal").types == ("Animal",)


@pytest.mark.parametrize(
    ("roots", "types"),
    [
        ({"A:1": "Animal"}, {"animal": "Animal", "dog": "Animal", "poodle": "Animal"}),
        ({"A:2": "Dog"}, {"dog": "Dog", "poodle": "Dog"}),
        ({"A:1": "Animal", "A:2": "Dog"}, {"animal": "Animal", "dog": "Dog", "poodle": "Dog"}),
    ],
)
def test_the_nearest_root_gives_the_type(
    tmp_path: Path, roots: Mapping[str, str], types: dict[str, str]
) -> None:
    lexicon = read(tmp_path, ANIMALS, roots=roots)
    assert {term.name: term.type for term in lexicon.terms()} == types
    assert lexicon.log.left_out["terms below no root"] == 3 - len(types)
    assert lexicon.log.entries == 4


def test_between_roots_at_the_same_distance_the_first_given_decides(tmp_path: Path) -> None:
    stanzas = "".join(f"[Term]\nid: {id}\nname: {id}\n" for id in ("R:1", "R:2"))
    text = f"{stanzas}[Term]\nid: C\nname: child\nis_a: R:1\nis_a: R:2\n"
    assert list(read(tmp_path, text, roots={"R:2": "two", "R:1": "one"}).terms("two"))[-1].name == "child"


def test_a_circle_of_parents_ends(tmp_path: Path) -> None:
    text = "[Term]\nid: A\nname: a\nis_a: B\n[Term]\nid: B\nname: b\nis_a: A\n"
    assert len(read(tmp_path, text, roots={"A": "X"})) == 2


def test_a_root_that_is_no_term_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no term has the id 'A:9'"):
        read(tmp_path, ANIMALS, roots={"A:9": "X"})


def test_cross_references_are_kept_on_demand(tmp_path: Path) -> None:
    assert list(read(tmp_path, ANIMALS).terms())[1].xrefs == ()
    assert list(read(tmp_path, ANIMALS, xrefs=True).terms())[1].xrefs == ("WIKI:Dog",)


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ("plain ! a comment", "plain"),
        ('plain {source="x"}', "plain"),
        ('plain {source="x!"} ! a comment', "plain"),
        ("wow! really", "wow! really"),
        (r"beta-\{x\} \! y", "beta-{x} ! y"),
        (r"a\:b\,c\\d\Wd", r"a:b,c\d d"),
        ("poly{A}-poly{B}", "poly{A}-poly{B}"),
    ],
)
def test_names_lose_comments_modifiers_and_escapes(tmp_path: Path, value: str, name: str) -> None:
    assert only(tmp_path, f"name: {value}").name == name


@pytest.mark.parametrize(
    ("value", "synonym"),
    [
        (r'"the \"small\" one" EXACT []', 'the "small" one'),
        (r'"back\\slash" EXACT [a:b]', r"back\slash"),
        (r'"a\:b \(c\)" EXACT', "a:b (c)"),
        ('"sharp ! not a comment" EXACT []', "sharp ! not a comment"),
        ('"without scope" []', "without scope"),
        ('"typed" EXACT IUPAC_NAME [x]', "typed"),
        ('"modified" RELATED [] {source="x"} ! comment', "modified"),
    ],
)
def test_quoted_synonyms(tmp_path: Path, value: str, synonym: str) -> None:
    assert only(tmp_path, "name: x", f"synonym: {value}").synonyms == (synonym,)


quoted_texts = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Zl", "Zp", "Zs"]) | st.just(" "), min_size=1
).filter(lambda text: text == text.strip())


@given(quoted_texts)
def test_any_synonym_survives_its_escapes(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    folder = tmp_path_factory.mktemp("obo")
    assert only(folder, "name: x", f'synonym: "{escaped}" EXACT []').synonyms == (text,)


@pytest.mark.parametrize(
    "value", ["", "unquoted EXACT []", '"open EXACT []', r'"open\" EXACT []', '"" EXACT []']
)
def test_a_broken_synonym_is_a_remark_and_the_term_stays(tmp_path: Path, value: str) -> None:
    text = f'[Term]\nid: X:1\nname: x\nsynonym: {value}\nsynonym: "y" EXACT []\n'
    lexicon = read(tmp_path, text)
    assert [term.synonyms for term in lexicon.terms()] == [("y",)]
    (problem,) = lexicon.log.problems
    assert problem.line == 4
    assert "no synonym in" in problem.reason
    assert lexicon.log.entries_rejected == 0


@pytest.mark.parametrize(("line", "missing"), [("id: X:1", "name"), ("name: x", "id"), ("name:", "id")])
def test_a_term_without_id_or_name_is_rejected(tmp_path: Path, line: str, missing: str) -> None:
    log = read(tmp_path, f"{ANIMALS}\n[Term]\n{line}\n").log
    (problem,) = log.problems
    assert problem.line == ANIMALS.count("\n") + 2
    assert problem.reason.endswith(f"has no {missing}")
    assert (log.entries_read, log.entries_rejected, log.entries) == (3, 1, 5)


@pytest.mark.parametrize("tag", ["id", "name"])
def test_a_second_id_or_name_is_a_remark(tmp_path: Path, tag: str) -> None:
    lexicon = read(tmp_path, f"[Term]\nid: X:1\nname: x\n{tag}: other\n")
    assert [(term.concept, term.name) for term in lexicon.terms()] == [("X:1", "x")]
    assert [problem.line for problem in lexicon.log.problems] == [4]


def test_a_misspelt_header_is_a_remark_and_ends_the_term_before_it(tmp_path: Path) -> None:
    lexicon = read(tmp_path, "[Term]\nid: X:1\nname: x\n[Trem]\nname: y\n")
    assert [term.name for term in lexicon.terms()] == ["x"]
    assert [problem.line for problem in lexicon.log.problems] == [4]


def test_bytes_that_are_not_utf_8_cost_the_line_they_stand_in(tmp_path: Path) -> None:
    text = b'[Term]\nid: X:1\nname: x\nsynonym: "b\xffd" EXACT []\nsynonym: "good" EXACT []\n'
    lexicon = read(tmp_path, text)
    assert [term.synonyms for term in lexicon.terms()] == [("good",)]
    assert [problem.line for problem in lexicon.log.problems] == [4]


def test_a_header_that_is_not_utf_8_ends_the_term_before_it(tmp_path: Path) -> None:
    lexicon = read(tmp_path, b'[Term]\nid: X:1\nname: x\n[Te\xffrm]\nsynonym: "y" EXACT []\n')
    assert [term.names for term in lexicon.terms()] == [("x",)]
    assert {problem.line for problem in lexicon.log.problems} == {4}


def test_line_ends_of_windows_and_a_byte_order_mark_do_not_matter(tmp_path: Path) -> None:
    plain = list(read(tmp_path, ANIMALS).terms())
    assert list(read(tmp_path, "\ufeff" + ANIMALS.replace("\n", "\r\n")).terms()) == plain
