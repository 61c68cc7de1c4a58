"""A short form is of the type of its long form in the same document."""

from __future__ import annotations

from spanwright.predicting.short_forms import with_short_forms
from spanwright.text import Document, Entity

TEXT = "Tumour necrosis factor (TNF) is high. TNF-alpha, and TNFs, and TNF."
LONG = Entity(0, 22, "Gene", concepts=("G1",), confidence=0.9)


def found(*entities: Entity) -> list[tuple[str, str]]:
    document = with_short_forms(Document("1", TEXT, entities))
    return [(document.mention(entity), entity.type) for entity in document.entities]


def test_every_place_of_a_short_form_becomes_an_entity() -> None:
    assert found(LONG) == [("Tumour necrosis factor", "Gene"), *[("TNF", "Gene")] * 3]


def test_confidence_and_concepts_are_those_of_the_long_form() -> None:
    short = with_short_forms(Document("1", TEXT, (LONG,))).entities[1]
    assert (short.confidence, short.concepts) == (0.9, ("G1",))


def test_another_type_of_a_short_form_gives_way_but_wider_entities_stay() -> None:
    last, wider = TEXT.rindex("TNF"), TEXT.index("TNF-alpha")
    entities = (LONG, Entity(wider, wider + 9, "Drug"), Entity(last, last + 3, "Drug"))
    assert found(*entities)[1:] == [("TNF", "Gene"), ("TNF-alpha", "Drug"), ("TNF", "Gene")]


def test_nothing_changes_where_the_long_form_is_no_entity() -> None:
    document = Document("1", TEXT, (Entity(0, 6, "Gene"),))
    assert with_short_forms(document) is document


def test_a_span_with_two_types_keeps_both_and_so_do_its_short_forms() -> None:
    entities = (LONG, Entity(0, 22, "Protein"), Entity(33, 37, "Gene"), Entity(33, 37, "Protein"))
    mentions = [TEXT[:22], TEXT[33:37], "TNF", "TNF", "TNF"]
    expected = [(mention, type_) for type_ in ("Gene", "Protein") for mention in mentions]
    assert sorted(found(*entities)) == sorted(expected)
