"""Documents refuse what cannot be in a text, and say where and what is legal."""

from __future__ import annotations

import pytest
from hypothesis import given

from naughty import texts
from spanwright.errors import InputError
from spanwright.text import Document, Entity

TEXT = "left and right arm"


def test_a_mention_is_the_text_between_its_offsets() -> None:
    document = Document("d", "a 👩\u200d🔬 b", (Entity(2, 5, "T"),))
    assert document.mention(document.entities[0]) == "👩\u200d🔬"


def test_the_pieces_of_a_discontinuous_mention_are_joined_by_a_blank() -> None:
    entity = Entity(0, 18, "Limb", fragments=((0, 4), (15, 18)))
    assert Document("d", TEXT, (entity,)).mention(entity) == "left arm"


@pytest.mark.parametrize(("start", "end"), [(-1, 2), (3, 3), (4, 2), (17, 19), (18, 19)])
def test_an_entity_outside_the_text_is_refused_with_the_legal_range(start: int, end: int) -> None:
    with pytest.raises(InputError, match=rf"document 'd'.*'T' at \[{start}, {end}\).*<= 18"):
        Document("d", TEXT, (Entity(start, end, "T"),))


@pytest.mark.parametrize(
    "fragments",
    [
        ((15, 18), (0, 4)),  # out of order
        ((0, 6), (4, 18)),  # overlapping
        ((0, 4), (9, 14)),  # does not reach the end
        ((1, 4), (15, 18)),  # does not begin at the start
    ],
)
def test_fragments_must_be_ordered_disjoint_and_reach_from_start_to_end(
    fragments: tuple[tuple[int, int], ...],
) -> None:
    with pytest.raises(InputError, match="expected ordered, disjoint fragments"):
        Document("d", TEXT, (Entity(0, 18, "T", fragments=fragments),))


def test_a_fragment_outside_the_text_is_refused() -> None:
    with pytest.raises(InputError, match=r"\[15, 19\) is outside the text"):
        Document("d", TEXT, (Entity(0, 19, "T", fragments=((0, 4), (15, 19))),))


@pytest.mark.parametrize("name", ["words", "sentences"])
@pytest.mark.parametrize("ranges", [((0, 4), (3, 8)), ((5, 8), (0, 4)), ((0, 0),), ((0, 19),), ((-1, 4),)])
def test_given_borders_must_be_ordered_disjoint_and_inside_the_text(
    name: str, ranges: tuple[tuple[int, int], ...]
) -> None:
    with pytest.raises(InputError, match=f"document 'd': {name.removesuffix('s')} .*expected ordered"):
        Document("d", TEXT, **{name: ranges})


def test_entities_may_nest_cross_and_share_a_span() -> None:
    entities = (Entity(0, 8, "A"), Entity(0, 4, "B"), Entity(5, 14, "A"), Entity(0, 4, "C"))
    assert Document("d", TEXT, entities).entities == entities


def test_a_lone_surrogate_is_refused_with_its_place_and_code() -> None:
    with pytest.raises(InputError, match=r"document 'd': character 2 .*U\+D800"):
        Document("d", "ab\ud800")


@given(texts())
def test_any_other_text_is_kept_untouched(text: str) -> None:
    assert Document("d", text).text == text


def test_the_key_tells_apart_ranges_and_types_and_nothing_else() -> None:
    entity = Entity(0, 4, "A")
    assert entity.key == Entity(0, 4, "A", concepts=("C1",), confidence=0.5).key
    assert entity.key == Entity(0, 4, "A", fragments=((0, 4),)).key
    assert len({entity.key, Entity(0, 4, "B").key, Entity(0, 5, "A").key}) == 3
    assert Entity(0, 5, "A", fragments=((0, 2), (3, 5))).key != Entity(0, 5, "A").key


def test_one_fragment_that_is_the_whole_range_is_no_fragment() -> None:
    assert Entity(0, 4, "A", fragments=((0, 4),)) == Entity(0, 4, "A")


def test_replacing_entities_keeps_everything_else() -> None:
    document = Document("d", TEXT, (Entity(0, 4, "A"),), words=((0, 4),), corpus="c", metadata={"k": 1})
    replaced = document.with_entities((Entity(5, 8, "B"),))
    assert replaced.entities == (Entity(5, 8, "B"),)
    assert replaced.with_entities(document.entities) == document
