"""How trials went: what is written of them, and which is the best."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from spanwright.formats.io.whole_files import write_whole
from spanwright.settings import Settings
from spanwright.toml_text import document_text, value_text

State = Literal["finished", "stopped", "refused"]


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
