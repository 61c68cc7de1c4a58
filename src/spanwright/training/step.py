"""One optimiser step: rates and weights of the moment, the gradients of its batches, and what they change."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from spanwright.arrays import Integers
from spanwright.errors import SettingsError
from spanwright.parts.batch import to_tensors
from spanwright.parts.precision import check_precision, lowered
from spanwright.training.checkpoint import Position
from spanwright.training.divergence import check_step, rates_of, read_at_once
from spanwright.training.objective import check_roles, check_terms, role_rates_at, total, weights_at
from spanwright.training.optimiser import limit_gradients, make_optimiser, rate_factor, set_rates
from spanwright.training.processes import BatchPart, Processes, parts_of
from spanwright.training.runtime import seed_draws
from spanwright.training.setup import Setup


class Learner:
    """The network of a run and its optimiser, step by step."""

    def __init__(self, setup: Setup, processes: Processes) -> None:
        self.setup = setup
        self.processes = processes
        self.settings = setup.model.settings
        self.network = setup.model.network.to(processes.device)
        self.roles = self.network.roles()
        self.optimiser = make_optimiser(self.roles, self.settings.optimiser)
        self.rates = rates_of(self.roles, self.optimiser)
        self.still: frozenset[str] = frozenset()
        check_precision(self.settings.training.precision, processes.device)
        check_terms(self.settings.objective, self.network.terms, self.settings.shares)
        check_roles(self.settings.objective, set(self.roles))

    def step(self, group: Sequence[Integers], position: Position, *, progress: float) -> tuple[float, float]:
        """One step over a group of batches, at a share of the run from 0 to 1.

        The mean loss, and the words that all processes have trained on.
        """
        settings = self.settings
        self.network.train()
        weights = weights_at(settings.objective, self.network.terms, settings.shares, progress=progress)
        self._set_rates(progress)
        parts = parts_of(
            group,
            draw=(settings.training.seed, position.epoch),
            first=position.batch,
            accumulate=settings.training.accumulate,
            processes=self.processes.count,
        )
        learnt = [self._learn(part, weights) for part in self.processes.own(parts)]
        self.processes.sum_gradients(self.network.parameters())
        total_norm = limit_gradients(self.optimiser, settings.optimiser.clip)
        losses, norm = read_at_once([row for row, _ in learnt], total_norm, size=1 + len(weights))
        words, mean, *terms = self.processes.sums(sum(count for _, count in learnt), *losses)
        named = dict(zip(weights, terms, strict=True))
        check_step(position.step + 1, loss=mean, terms=named, norm=norm, rates=self.rates)
        self.optimiser.step()
        self.optimiser.zero_grad(set_to_none=True)
        return mean, words

    def _set_rates(self, progress: float) -> None:
        """Set the learning rates of all roles; roles whose rate is 0 are kept as they are."""
        objective, warmup = self.settings.objective, self.settings.optimiser.warmup
        of_roles = role_rates_at(objective, progress=progress)
        self._hold(frozenset(role for role, rate in of_roles.items() if rate == 0))
        set_rates(self.optimiser, rate_factor(progress, warmup, objective.beginnings), of_roles)

    def _hold(self, still: frozenset[str]) -> None:
        """Keep the weights of some roles as they are, and let all others learn."""
        if still == self.still:
            return
        for role, named in self.roles.items():
            for _, parameter in named:
                parameter.requires_grad_(role not in still)
        self.still = still

    def _learn(self, part: BatchPart, weights: dict[str, float]) -> tuple[Tensor, int]:
        """Add the gradients of a part to those that are there.

        Its share (1 + terms,) of the loss and of each term, before it is weighted, and its words.
        """
        made = self.setup.batch(part.positions, part.draw)
        batch = to_tensors(made, self.network.device)
        seed_draws(part.draw)
        with lowered(self.network, self.settings.training.precision):
            losses = self.network.losses(batch, weights)
        # By its share of the windows, so that a group is as good as one large batch.
        loss = total(losses, weights) * part.share
        if not loss.requires_grad:
            raise SettingsError(
                f"objective.phases: the terms {sorted(weights)} train roles alone whose "
                f"rates are 0 in that phase; expected more than 0 for one of {sorted(self.still)}"
            )
        torch.autograd.backward(loss)
        terms = (losses[term].detach() * part.share for term in weights)
        return torch.stack([loss.detach(), *terms]), int(made.word_counts.sum())
