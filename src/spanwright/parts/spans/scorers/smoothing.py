"""Boundary smoothing (Zhu and Li, 2022): spans near an entity are a little of its type.

An entity gives `smoothing / (4 d D)` to each span whose first and last word are, taken together, d words away
from its own, for d = 1 .. D. A place holds 4 d such spans, unless the text or the order of the two words
forbids some: what those would get stays with the entity.
"""

from __future__ import annotations

import torch
from torch import Tensor

from spanwright.batches.batch import Batch
from spanwright.batches.neighbours import Neighbours, positions
from spanwright.parts.spans.classes import Classes


def smoothed_targets(batch: Batch, classes: Classes, *, smoothing: float, distance: int) -> Tensor:
    """(spans, classes): the probability of each class.

    What several entities give to a span adds up; a type has at most 1, and types that sum up to more share 1.
    Entities that are no candidates, such as too wide ones, give to candidates all the same, and what is given
    to spans that are no candidates is in no loss.
    """
    near = Neighbours.of(batch, distance)
    first, last, type_ = (
        column[near.mention, None]
        for column in (batch.mentions.first, batch.mentions.last, batch.mentions.type)
    )
    given = near.legal * smoothing / (4 * near.distance * distance)
    # The entity itself stands in front of its neighbours.
    mass = torch.cat([1 - given.sum(1, keepdim=True), given], dim=1).flatten()
    places = torch.cat([first, near.first], 1).flatten(), torch.cat([last, near.last], 1).flatten()
    span, found = positions(batch.spans, *places)
    kept = found & (mass > 0)
    class_ = classes.of_type[type_].expand(-1, 1 + len(near.distance)).flatten()
    targets = mass.new_zeros(len(batch.spans), len(classes))
    targets.index_put_((span[kept], class_[kept]), mass[kept], accumulate=True)
    return classes.completed(targets.clamp_(max=1), batch)
