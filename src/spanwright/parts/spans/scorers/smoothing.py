"""Boundary smoothing (Zhu and Li, 2022): spans near an entity are a little of its type.

An entity gives `smoothing / (4 d D)` to each span whose first and last word are, taken together, d words away
from its own, for d = 1 .. D. A place holds 4 d such spans, unless the text or the order of the two words
forbids some: what those would get stays with the entity.
"""

from __future__ import annotations

import torch
from torch import Tensor

from spanwright.parts.batch import Batch
from spanwright.parts.spans.classes import Classes


def smoothed_targets(batch: Batch, classes: Classes, *, smoothing: float) -> Tensor:
    """(spans, classes): the probability of each class.

    What several entities give to a span adds up; a type has at most 1, and types that sum up to more share 1.
    Entities that are no candidates, such as too wide ones, give to candidates all the same, and what is given
    to spans that are no candidates is in no loss.
    """
    near = batch.neighbours
    assert near is not None  # Settings.near tells that smoothing needs them
    # The entity itself stands in front of its neighbours.
    given = near.legal[:, 1:] * smoothing / (4 * near.distance[1:] * near.distance.max())
    mass = torch.cat([1 - given.sum(1, keepdim=True), given], dim=1)
    class_ = classes.of_type[batch.mentions.type[near.mention], None].expand_as(mass)
    targets = mass.new_zeros(len(batch.spans), len(classes))
    targets.index_put_((near.span, class_[near.candidate]), mass[near.candidate], accumulate=True)
    return classes.completed(targets.clamp_(max=1), batch)
