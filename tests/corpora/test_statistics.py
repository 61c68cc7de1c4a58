from __future__ import annotations

import pytest

from spanwright.corpora.statistics import quantiles, statistics
from spanwright.text import Document, Entity

TEXT = "BRCA1 mutated breast cancer and BRCA1 and breast"


def _document(*entities: Entity) -> Document:
    return Document("d", TEXT, entities)


def test_sizes_and_types_are_counted() -> None:
    figures = statistics([_document(Entity(0, 5, "Gene"), Entity(14, 27, "Disease")), Document("e", "")])
    assert (figures.documents, figures.without_entities, figures.words) == (2, 1, 8)
    assert figures.types == {"Disease": 1, "Gene": 1}
    assert figures.widths == {1: 1, 2: 1}


def test_nested_crossing_and_doubly_typed_entities_are_counted_apart() -> None:
    outer, inner = Entity(0, 27, "Disease"), Entity(0, 5, "Gene")
    twin, crossing = Entity(0, 5, "Protein"), Entity(14, 31, "Disease")
    nesting = statistics([_document(outer, inner, twin, crossing)]).nesting
    assert (nesting.inside_another, nesting.around_another) == (2, 1)
    assert (nesting.crossing, nesting.same_span) == (2, 2)


def test_discontinuous_and_word_cutting_entities_are_counted() -> None:
    discontinuous = Entity(0, 27, "Disease", fragments=((0, 5), (21, 27)))
    figures = statistics([_document(discontinuous, Entity(0, 3, "Gene"))])
    assert (figures.nesting.discontinuous, figures.nesting.cutting_words) == (1, 1)
    assert figures.widths == {1: 1, 2: 1}


def test_consistency_is_the_annotated_share_of_all_occurrences_of_mention_strings() -> None:
    consistency = statistics([_document(Entity(0, 5, "Gene"), Entity(14, 20, "Organ"))]).consistency
    assert (consistency.occurrences, consistency.annotated, consistency.share) == (4, 2, 0.5)


def test_a_string_with_several_types_is_ambiguous_blind_to_case() -> None:
    documents = [_document(Entity(0, 5, "Gene")), Document("e", "brca1", (Entity(0, 5, "Protein"),))]
    consistency = statistics(documents).consistency
    assert (consistency.strings, consistency.ambiguous) == (1, 1)
    assert consistency.ambiguous_examples == {"brca1": {"Gene": 1, "Protein": 1}}


def test_quantiles_are_values_that_cover_their_share() -> None:
    assert quantiles(list(range(1, 201))) == {"50%": 100, "90%": 180, "99%": 198, "99.5%": 199, "max": 200}
    assert quantiles([]) == {}


def test_a_picture_is_drawn(tmp_path) -> None:
    pytest.importorskip("matplotlib", reason="the extra report is not installed")
    from spanwright.corpora.statistics_picture import draw_statistics

    draw_statistics(statistics([_document(Entity(0, 5, "Gene"))]), tmp_path / "figures.png", title="test")
    assert (tmp_path / "figures.png").read_bytes().startswith(b"\x89PNG")
