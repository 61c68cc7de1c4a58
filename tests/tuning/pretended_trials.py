"""A training that learns nothing: its F1 is a function of settings and epoch, so searches take no time."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace

from spanwright.evaluation import Scores
from spanwright.evaluation.scores import Counts
from spanwright.settings import Settings
from spanwright.text import Document
from spanwright.training.watcher import Watcher

Quality = Callable[[Settings, int], int]
"""Of 100 golds, those that are found after an epoch, counted from 1."""


class Trainings:
    """Stands for `train`, and remembers what was asked of it."""

    def __init__(self, quality: Quality) -> None:
        self.quality = quality
        self.settings: list[Settings] = []
        self.epochs: list[int] = []
        """All epochs that were trained, of one training after the other."""
        self.interrupt_at: int | None = None
        """The number of the epoch, of all, after which the user loses patience."""

    def __call__(
        self,
        settings: Settings,
        *,
        train: Sequence[Document],
        dev: Sequence[Document],
        out: Path,
        resume: bool,
        watcher: Watcher,
        device: str,
    ) -> SimpleNamespace:
        assert device == "auto"
        assert resume == (out / "settings.json").exists()
        self.settings.append(settings)
        for name in ("model", "checkpoints"):
            (out / name).mkdir(parents=True, exist_ok=True)
        (out / "settings.json").write_text("{}")
        checkpoint = out / "checkpoints" / "epoch.json"
        done = json.loads(checkpoint.read_text()) if checkpoint.exists() else 0
        watcher.prepared(SimpleNamespace(data=SimpleNamespace(deciding=("dev",))))
        best = Scores(per_type={}, documents=1)
        for epoch in range(1, settings.training.epochs + 1):
            scores = Scores(per_type={"Gene": _counts(self.quality(settings, epoch))}, documents=1)
            best = max(best, scores, key=lambda found: found.micro.f1)
            if epoch <= done:
                continue
            self.epochs.append(epoch)
            watcher.scored(epoch=epoch, scores={"dev": scores}, best=scores is best)
            if len(self.epochs) == self.interrupt_at:
                raise KeyboardInterrupt
            checkpoint.write_text(json.dumps(epoch))
        return SimpleNamespace(scores={"dev": best})


def _counts(found: int) -> Counts:
    """Counts with an F1 of so many percent."""
    return Counts(found, 100 - found, 100 - found)
