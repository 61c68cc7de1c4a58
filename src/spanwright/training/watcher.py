"""What a run reports while it works. The command line draws it; the library is silent by default."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from spanwright.evaluation import Scores
from spanwright.training.setup import Setup


class Watcher(Protocol):
    """Receives the events of a run."""

    def prepared(self, setup: Setup) -> None:
        """Data and model are ready; training is about to begin."""

    def warned(self, message: str) -> None:
        """Something that the user should know."""

    def progressed(self, *, epoch: int, share: float, loss: float, words_per_second: float) -> None:
        """A step is done; `share` of the whole run from 0 to 1."""

    def scored(self, *, epoch: float, scores: Mapping[str, Scores], best: bool) -> None:
        """Dev was scored after so many epochs; with several corpora, that of each as well."""


class DistillationWatcher(Watcher, Protocol):
    """Receives the events of a distillation, of which the last part is a run."""

    def softened(self, *, name: str, documents: int, targets: int) -> None:
        """So many documents of a file are softened by now, and have so many soft targets."""


class Silent:
    """Says nothing."""

    def prepared(self, setup: Setup) -> None:
        """Ignore."""

    def warned(self, message: str) -> None:
        """Ignore."""

    def progressed(self, *, epoch: int, share: float, loss: float, words_per_second: float) -> None:
        """Ignore."""

    def scored(self, *, epoch: float, scores: Mapping[str, Scores], best: bool) -> None:
        """Ignore."""

    def softened(self, *, name: str, documents: int, targets: int) -> None:
        """Ignore."""
