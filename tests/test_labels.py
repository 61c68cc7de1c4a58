"""The label space: types, their order and their ids."""

from __future__ import annotations

import pytest

from spanwright.errors import InputError
from spanwright.labels import LabelSpace
from spanwright.text import Document, Entity


def test_the_types_of_documents_are_sorted_by_name() -> None:
    documents = [
        Document("1", "p53 cell", (Entity(4, 8, "Cell"), Entity(0, 3, "Gene"))),
        Document("2", "asthma", (Entity(0, 6, "Disease"),)),
        Document("3", "cell", (Entity(0, 4, "Cell"),)),
    ]
    assert LabelSpace.of(documents).types == ("Cell", "Disease", "Gene")


def test_the_id_of_a_type_is_its_position() -> None:
    labels = LabelSpace(("B", "A"))
    assert labels.ids == {"B": 0, "A": 1}
    assert len(labels) == 2


@pytest.mark.parametrize("types", [(), ("A", "A")])
def test_no_type_or_a_type_twice_is_refused(types: tuple[str, ...]) -> None:
    with pytest.raises(InputError, match="at least one type and no type twice"):
        LabelSpace(types)
