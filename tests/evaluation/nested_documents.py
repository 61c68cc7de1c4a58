"""Random documents whose entities nest, cross, repeat and have several ranges, for property tests."""

from __future__ import annotations

from hypothesis import strategies as st

from spanwright.text import Document, Entity

TEXT = "Ab cd, ef. Gh ij kl"
TYPES = ("cell", "DNA", "protein")


@st.composite
def entities(draw: st.DrawFn) -> Entity:
    """An entity of `TEXT`, one in a few with a gap."""
    cuts = draw(st.lists(st.integers(0, len(TEXT)), min_size=2, max_size=4, unique=True).map(sorted))
    type_ = draw(st.sampled_from(TYPES))
    if len(cuts) < 4:
        return Entity(cuts[0], cuts[1], type_)
    return Entity(cuts[0], cuts[3], type_, fragments=((cuts[0], cuts[1]), (cuts[2], cuts[3])))


entity_lists = st.lists(entities(), max_size=6)


@st.composite
def two_sides(draw: st.DrawFn) -> tuple[list[Document], list[Document]]:
    """Gold and predicted documents; a prediction keeps some gold entities, so that some are found."""
    gold, predicted = [], []
    for number in range(draw(st.integers(1, 3))):
        found = draw(entity_lists)
        kept = draw(st.lists(st.sampled_from(found), max_size=4)) if found else []
        gold.append(Document(str(number), TEXT, tuple(found)))
        predicted.append(Document(str(number), TEXT, tuple(kept + draw(entity_lists))))
    return gold, predicted


def overlap(left: Entity, right: Entity) -> bool:
    """Whether two entities share a character."""
    return any(set(range(*mine)) & set(range(*theirs)) for mine in left.ranges for theirs in right.ranges)
