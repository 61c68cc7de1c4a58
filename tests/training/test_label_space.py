"""The label space of a run: whence types have their descriptions or prototypes."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

import making
from spanwright.descriptions import read_descriptions
from spanwright.errors import InputError
from spanwright.labels import LabelSpace
from spanwright.settings import load_settings
from spanwright.text import Document, Entity
from spanwright.training.label_space import draw_prototypes, label_space

DOCUMENTS = [
    Document("1", "HeLa cells and p53.", (Entity(0, 10, "cell_line"), Entity(15, 18, "protein"))),
    Document("2", "p21 too", (Entity(0, 3, "protein"),)),
]
FULL = """
[types.cell_line]
guideline = "Cultured cells that live on."
keyword = "cell line"

[types.protein]
guideline = "Long chains of amino acids."
keyword = "protein"
"""


def made(*changes: str, recipe: str = "binder") -> tuple[LabelSpace, list[str]]:
    return label_space(load_settings(recipe, changes), making.data(DOCUMENTS))


@pytest.fixture
def full(tmp_path: Path) -> str:
    path = tmp_path / "types.toml"
    path.write_text(FULL)
    return f"labels.descriptions={path}"


def test_given_descriptions_are_read_as_guidelines(full: str) -> None:
    labels, notes = made(full)
    assert labels.types == ("cell_line", "protein")
    assert labels.descriptions == ("Cultured cells that live on.", "Long chains of amino acids.")
    assert notes == []


def test_given_descriptions_are_read_as_keywords(full: str) -> None:
    assert made(full, "scorer.types=keywords")[0].descriptions == ("cell line", "protein")


@pytest.mark.parametrize(("types", "field"), [("guidelines", "guideline"), ("keywords", "keyword")])
def test_shipped_descriptions_are_found_by_name_and_may_describe_more(types: str, field: str) -> None:
    labels, notes = made("labels.descriptions=genia", f"scorer.types={types}")
    shipped = read_descriptions("genia")
    assert len(shipped) > len(labels)
    assert labels.descriptions == tuple(getattr(shipped[name], field) for name in labels.types)
    assert notes == []


@pytest.mark.parametrize("types", ["guidelines", "keywords"])
def test_without_descriptions_names_in_words_serve_and_this_is_told(types: str) -> None:
    labels, notes = made(f"scorer.types={types}")
    assert labels.descriptions == ("cell line", "protein")
    (note,) = notes
    assert "read by their names in words: cell_line, protein; give texts with --descriptions FILE" in note


def test_only_types_without_a_description_are_told(tmp_path: Path) -> None:
    (tmp_path / "types.json").write_text('{"protein": "Long chains of amino acids."}')
    labels, notes = made(f"labels.descriptions={tmp_path / 'types.json'}")
    assert labels.descriptions == ("cell line", "Long chains of amino acids.")
    assert len(notes) == 1 and "in words: cell_line;" in notes[0]


def test_a_given_description_that_no_type_uses_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "types.toml"
    path.write_text('protien = "Long chains of amino acids."\n')
    with pytest.raises(InputError, match=r"describes 'protien', .*expected the types 'cell_line', 'protein'"):
        made(f"labels.descriptions={path}")


@pytest.mark.parametrize(("recipe", "changes"), [("plain", ()), ("binder", ("scorer.types=atomic",))])
def test_models_that_read_nothing_get_nothing_but_types(recipe: str, changes: tuple[str, ...]) -> None:
    labels, notes = made(*changes, recipe=recipe)
    assert labels == LabelSpace(("cell_line", "protein"))
    assert notes == []


def test_prototypes_are_the_mentions_of_each_type_in_their_context() -> None:
    labels, notes = made("scorer.types=prototypes")
    cells, proteins = labels.prototypes
    assert cells == (("", "HeLa cells", " and p53."),)
    assert set(proteins) == {("HeLa cells and ", "p53", "."), ("", "p21", " too")}
    assert labels.descriptions == ()
    assert notes == []


def test_each_mention_is_one_prototype_up_to_the_limit() -> None:
    documents = making.documents(60)
    labels = LabelSpace.of(documents)
    mentions = {name: Counter[str]() for name in labels.types}
    for document in documents:
        for entity in document.entities:
            mentions[entity.type][document.text[entity.start : entity.end]] += 1
    for name, own in zip(labels.types, draw_prototypes(documents, labels, seed=0), strict=True):
        shown = Counter(mention for _, mention, _ in own)
        assert shown <= mentions[name]
        assert shown.total() == min(200, mentions[name].total())


def test_another_seed_draws_the_prototypes_in_another_order() -> None:
    documents = making.documents(10)
    labels = LabelSpace.of(documents)
    one, same, other = (draw_prototypes(documents, labels, seed=seed) for seed in (1, 1, 2))
    assert one == same != other
    for left, right in zip(one, other, strict=True):
        assert sorted(left) == sorted(right)


def test_the_seed_of_the_run_draws_the_prototypes() -> None:
    documents = making.documents(10)
    changes = ["scorer.types=prototypes", "training.seed=5"]
    labels, _ = label_space(load_settings("binder", changes), making.data(documents))
    assert labels.prototypes == draw_prototypes(documents, LabelSpace.of(documents), seed=5)


def prototype_of(text: str, mention: str, sentences: tuple[tuple[int, int], ...] = ()) -> tuple[str, ...]:
    start = text.index(mention)
    entities = (Entity(start, start + len(mention), "T"),)
    document = Document("d", text, entities, sentences=sentences or ((0, len(text)),))
    ((prototype,),) = draw_prototypes([document], LabelSpace(("T",)), seed=0)
    return prototype


def test_the_context_of_a_prototype_ends_with_its_sentence() -> None:
    text = "One is here. The p53 gene is there. Three."
    found = prototype_of(text, "p53", ((0, 12), (13, 35), (36, 42)))
    assert "".join(found).strip() == "The p53 gene is there."
    assert found[1] == "p53"


def test_the_context_of_a_mention_over_two_sentences_is_both() -> None:
    text = "One is here. The p53 gene is there. Three."
    found = prototype_of(text, "here. The p53", ((0, 12), (13, 35), (36, 42)))
    assert "".join(found).strip() == "One is here. The p53 gene is there."


def test_the_context_of_a_prototype_is_cut_on_each_side_in_a_long_sentence() -> None:
    before, mention, after = prototype_of(f"{'a ' * 300}p53{' b' * 300}", "p53")
    assert (before, mention, after) == ("a " * 60, "p53", " b" * 60)
