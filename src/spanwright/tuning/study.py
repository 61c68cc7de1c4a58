"""The study: which trials there are, how they went, and which is the best.

Optuna remembers them in one file, so that a search can be interrupted. A trial that was interrupted is asked
for again, with the same settings and the same folder. The random numbers of a trial depend on the seed and on
how many came before it. So an interrupted search has the same trials as one that was not.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from spanwright.errors import MissingExtraError
from spanwright.formats.io.whole_files import write_whole
from spanwright.settings import Settings
from spanwright.toml_text import document_text, value_text
from spanwright.tuning.plan import TuningPlan

if TYPE_CHECKING:
    import optuna

_NUMBER = "number"
"""A user attribute: which trial of the search it is, from 1, however often it was begun."""
State = Literal["finished", "stopped", "refused"]


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
        """Report the F1 after an epoch; whether the trial should stop, since most others were better."""
        if epoch not in self.reported:
            self.trial.report(f1, epoch)
            self.reported[epoch] = f1
        return self.trial.should_prune()


class Study:
    """Asks optuna for trials and reports how they went."""

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
        self._restart_interrupted()

    def _pruner(self) -> Any:
        if not self.plan.pruning:
            return self._optuna.pruners.NopPruner()
        return self._optuna.pruners.MedianPruner(n_startup_trials=self.plan.startup_trials)

    def _restart_interrupted(self) -> None:
        """Give up trials that nobody works on any more, and put them in the queue again."""
        states = self._optuna.trial.TrialState
        for frozen in self._study.get_trials(states=(states.RUNNING,)):
            # One without a number had not begun yet: the next trial gets its number.
            if _NUMBER in frozen.user_attrs:
                known = {_NUMBER: frozen.user_attrs[_NUMBER], "reported": frozen.intermediate_values}
                # What was chosen in part is chosen again, by the same draws.
                is_whole = frozen.params.keys() == self.plan.search.keys()
                self._study.enqueue_trial(frozen.params if is_whole else {}, user_attrs=known)
            self._study.tell(frozen.number, state=states.FAIL)

    @property
    def begun(self) -> int:
        """How many trials were ever begun."""
        return max((trial.user_attrs.get(_NUMBER, 0) for trial in self._study.get_trials()), default=0)

    def next(self) -> Attempt:
        """The trial that was interrupted, or a new one."""
        queued = self._study.get_trials(states=(self._optuna.trial.TrialState.WAITING,))
        number = queued[0].user_attrs[_NUMBER] if queued else self.begun + 1
        seed = np.random.SeedSequence((self.plan.seed, number)).generate_state(1)[0]
        self._study.sampler = self._optuna.samplers.TPESampler(
            seed=int(seed), n_startup_trials=self.plan.startup_trials
        )
        trial = self._study.ask()
        # At once, so that even a trial that is interrupted now is known by its number.
        trial.set_user_attr(_NUMBER, number)
        chosen = {key: given.suggested(trial, key) for key, given in self.plan.search.items()}
        earlier = {int(epoch): f1 for epoch, f1 in trial.user_attrs.get("reported", {}).items()}
        for epoch, f1 in earlier.items():
            trial.report(f1, epoch)
        return Attempt(number, chosen, trial, earlier)

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
    # It would print every study and trial on stderr.
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna


def _cut_torn_line(path: Path) -> None:
    """Cut off what a process that died had begun to write; nothing could be read after it."""
    if path.exists():
        whole, newline, torn = path.read_bytes().rpartition(b"\n")
        if torn:
            os.truncate(path, len(whole + newline))


@dataclass(frozen=True, slots=True)
class TrialOutcome:
    """How a trial went."""

    number: int
    state: State
    """`stopped`: it was pruned; `refused`: its settings cannot be trained together, or diverged."""
    f1: float | None
    """Dev F1 of its model; of a trial that was stopped, the best it had come to."""
    epochs: int
    """How many were trained."""
    seconds: float
    """Of the last attempt, where a trial was interrupted."""
    settings: dict[str, Any]
    """What was chosen for it."""
    reason: str = ""
    """Why it was refused."""


@dataclass(frozen=True, slots=True)
class Tuned:
    """A search that is done."""

    folder: Path
    outcomes: list[TrialOutcome]
    best: TrialOutcome

    @property
    def model(self) -> Path:
        """The model of the best trial."""
        return trial_folder(self.folder, self.best.number) / "model"


def trial_folder(folder: Path, number: int) -> Path:
    """The run folder of a trial."""
    return folder / "trials" / f"{number:03d}"


def best_of(outcomes: Sequence[TrialOutcome]) -> TrialOutcome | None:
    """The finished trial with the best F1; of equals the first."""
    done = [outcome for outcome in outcomes if outcome.state == "finished" and outcome.f1 is not None]
    return max(done, key=lambda outcome: outcome.f1 or 0.0, default=None)


def read_outcomes(folder: Path) -> list[TrialOutcome]:
    """The outcomes of a search so far."""
    path = folder / "trials.jsonl"
    if not path.exists():
        return []
    with path.open(encoding="utf-8") as lines:
        return [TrialOutcome(**json.loads(line)) for line in lines]


def write_outcomes(folder: Path, outcomes: Sequence[TrialOutcome]) -> None:
    """Write `trials.jsonl`, a line per trial."""
    lines = "".join(json.dumps(asdict(outcome), ensure_ascii=False) + "\n" for outcome in outcomes)
    write_whole(folder / "trials.jsonl", lines)


def write_recipe(folder: Path, settings: Settings, best: TrialOutcome) -> None:
    """Write `best.toml`: the settings of the best trial as a recipe, complete in itself."""
    head = f"# Trial {best.number}, with a dev F1 of {100 * (best.f1 or 0):.2f}. What was searched for:\n"
    chosen = "".join(f"#   {key} = {value_text(value)}\n" for key, value in best.settings.items())
    values = settings.model_dump(mode="json", exclude_none=True)
    write_whole(folder / "best.toml", f"{head}{chosen}\n{document_text(values)}")
