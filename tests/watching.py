"""A watcher that remembers what a run tells it, and can stop the run at a step."""

from __future__ import annotations

from collections.abc import Mapping

import torch

from spanwright.evaluation import Scores
from spanwright.training.setup import Setup


class StoppedError(Exception):
    """Raised by a recorder in the middle of a run."""


class Recorder:
    """Remembers losses, F1 scores, warnings, the fresh weights and those after each epoch."""

    def __init__(self, *, stop_at_step: int | None = None) -> None:
        self.stop_at_step = stop_at_step
        self.losses: list[float] = []
        self.shares: list[float] = []
        self.f1: list[float] = []
        self.best: list[bool] = []
        self.weights: list[dict[str, torch.Tensor]] = []
        self.warnings: list[str] = []
        self.short: list[str] = []
        """Warnings that a run has few steps, as nearly all runs of tests have."""
        self.idle: list[str] = []
        """Warnings that a model finds nothing."""

    def prepared(self, setup: Setup) -> None:
        self.setup = setup
        self.fresh = self._copied_weights()

    def warned(self, message: str) -> None:
        told = {"this run has only": self.short, "the model finds no entity": self.idle}
        kinds = [kept for beginning, kept in told.items() if message.startswith(beginning)]
        (kinds[0] if kinds else self.warnings).append(message)

    def progressed(self, *, epoch: int, share: float, loss: float, words_per_second: float) -> None:
        self.losses.append(loss)
        self.shares.append(share)
        if len(self.losses) == self.stop_at_step:
            raise StoppedError

    def scored(self, *, epoch: float, scores: Mapping[str, Scores], best: bool) -> None:
        self.f1.append(scores["dev"].micro.f1)
        self.best.append(best)
        self.weights.append(self._copied_weights())

    def _copied_weights(self) -> dict[str, torch.Tensor]:
        network = self.setup.model.network
        return {name: tensor.clone() for name, tensor in network.state_dict().items()}
