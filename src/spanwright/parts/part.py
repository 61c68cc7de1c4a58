"""What a part says about itself: its loss terms with their usual weights, and how its weights learn.

The objective and the optimiser only add up what parts say. Unless a part says more, it adds no loss term,
and its weights, which start from nothing, learn at the rate of the head.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import ClassVar, Literal, get_args

from torch import nn

Role = Literal["encoder", "head", "auxiliary", "condition"]
"""What weights learn as; each role has a learning rate of its own."""
Roles = dict[str, list[tuple[str, nn.Parameter]]]
"""Parameters with their names, by role."""
Row = tuple[str, int]
"""What a row of a weight stands for, by its kind and a number. `type`, `begin` and `inside` number types,
`none` those corpora that have types of their own, `corpus` all corpora; any other kind numbers itself, such
as `width`."""
Rows = dict[str, tuple[Sequence[Row], ...]]
"""By the names of weights, what stands at the places along each of their first axes."""


class Part(nn.Module):
    """A module that may add loss terms, and may say what the weights in it learn as."""

    role: ClassVar[Role | None] = None
    """The role of its weights; None leaves it to the part around it."""

    @property
    def terms(self) -> Set[str]:
        """Names of the loss terms that it adds."""
        return frozenset()

    def named_rows(self) -> Rows:
        """What the rows of weights in it stand for; weights that are not named are of one piece."""
        return {}


def type_rows(types: int) -> list[Row]:
    """The rows of a weight that has one for each type."""
    return [("type", number) for number in range(types)]


def width_rows(width_limit: int) -> list[Row]:
    """The rows of a weight that has one for each width."""
    return [("width", number) for number in range(width_limit)]


def roles_of(network: nn.Module) -> Roles:
    """The parameters that learn, by role: the nearest part around each that names a role decides."""
    groups: Roles = {role: [] for role in get_args(Role)}
    for name, parameter in network.named_parameters():
        if parameter.requires_grad:
            groups[_role_of(network, name)].append((name, parameter))
    return {role: named for role, named in groups.items() if named}


def _role_of(network: nn.Module, name: str) -> Role:
    role: Role = "head"
    module = network
    # The first name, which is empty, is that of the network itself.
    for child in ("", *name.split(".")[:-1]):
        module = module.get_submodule(child)
        if isinstance(module, Part) and module.role is not None:
            role = module.role
    return role
