"""The study: which trials there are, remembered by optuna in one file, so that a search can be interrupted.

A trial that was interrupted is asked for again, with the same settings and the same folder. The random
numbers of a trial depend on the seed and on how many came before it. So an interrupted search has the same
trials as one that was not.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from spanwright.errors import MissingExtraError
from spanwright.tuning.plan import TuningPlan

if TYPE_CHECKING:
    import optuna

_NUMBER = "number"
"""A user attribute: which trial of the search it is, from 1, however often it was begun."""


@dataclass(frozen=True, slots=True, eq=False)
class Attempt:
    """A trial that is to be trained, or trained on."""

    number: int
    chosen: Mapping[str, Any]
    """Values by setting."""
    trial: optuna.trial.Trial
    reported: dict[int, float]
    """F1 by epoch, as far as an interrupted attempt came."""

    def report(self, epoch: int, f1: float) -> bool:
        """Tell the F1 behind an epoch; whether the trial should stop, since most others were better."""
        if epoch not in self.reported:
            self.trial.report(f1, epoch)
            self.reported[epoch] = f1
        return self.trial.should_prune()


class Study:
    """Asks optuna for trials and tells how they went."""

    def __init__(self, plan: TuningPlan, path: Path) -> None:
        """`path` is the file that remembers them."""
        self._optuna = import_optuna()
        self.plan = plan
        _cut_torn_line(path)
        backend = self._optuna.storages.journal.JournalFileBackend(str(path))
        self._study = self._optuna.create_study(
            storage=self._optuna.storages.JournalStorage(backend),
            study_name="tune",
            direction="maximize",
            load_if_exists=True,
            pruner=self._pruner(),
        )
        self._begin_interrupted_anew()

    def _pruner(self) -> Any:
        if not self.plan.pruning:
            return self._optuna.pruners.NopPruner()
        return self._optuna.pruners.MedianPruner(n_startup_trials=self.plan.startup_trials)

    def _begin_interrupted_anew(self) -> None:
        """Give up trials that nobody works on any more, and put them in the queue again."""
        states = self._optuna.trial.TrialState
        for frozen in self._study.get_trials(states=(states.RUNNING,)):
            known = {_NUMBER: frozen.user_attrs[_NUMBER], "reported": frozen.intermediate_values}
            self._study.enqueue_trial(frozen.params, user_attrs=known)
            self._study.tell(frozen.number, state=states.FAIL)

    @property
    def begun(self) -> int:
        """How many trials were ever begun."""
        return max((trial.user_attrs.get(_NUMBER, 0) for trial in self._study.get_trials()), default=0)

    def next(self) -> Attempt:
        """The trial that was interrupted, or a new one."""
        number = self.begun + 1
        seed = np.random.SeedSequence((self.plan.seed, number)).generate_state(1)[0]
        self._study.sampler = self._optuna.samplers.TPESampler(
            seed=int(seed), n_startup_trials=self.plan.startup_trials
        )
        trial = self._study.ask()
        # At once, so that even a trial that is interrupted now is known by its number.
        trial.set_user_attr(_NUMBER, trial.user_attrs.get(_NUMBER, number))
        chosen = {key: given.suggested(trial, key) for key, given in self.plan.search.items()}
        earlier = {int(epoch): f1 for epoch, f1 in trial.user_attrs.get("reported", {}).items()}
        for epoch, f1 in earlier.items():
            trial.report(f1, epoch)
        return Attempt(trial.user_attrs[_NUMBER], chosen, trial, earlier)

    def finished(self, attempt: Attempt, f1: float) -> None:
        """A trial came to its end."""
        self._study.tell(attempt.trial, f1)

    def stopped(self, attempt: Attempt) -> None:
        """A trial was pruned."""
        self._study.tell(attempt.trial, state=self._optuna.trial.TrialState.PRUNED)

    def refused(self, attempt: Attempt) -> None:
        """The settings of a trial cannot be trained."""
        self._study.tell(attempt.trial, state=self._optuna.trial.TrialState.FAIL)


def import_optuna() -> Any:
    """The package `optuna`, which is silent."""
    try:
        import optuna
    except ImportError:
        raise MissingExtraError("tune", "optuna", "tune") from None
    # It would tell of every study and trial on stderr.
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna


def _cut_torn_line(path: Path) -> None:
    """Cut off what a process that died had begun to write; nothing could be read behind it."""
    if path.exists():
        whole, newline, torn = path.read_bytes().rpartition(b"\n")
        if torn:
            os.truncate(path, len(whole + newline))
