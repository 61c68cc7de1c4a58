"""What the user sees of a training: data before it, a bar during it, a table after it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.text import Text

from spanwright.cli.tables.scores import type_scores_table
from spanwright.cli.tables.training import split_types_table, splits_table
from spanwright.devices import shown_device
from spanwright.errors import counted
from spanwright.evaluation import Scores
from spanwright.parts.precision import gains_by_bf16
from spanwright.training.loop import RunResult
from spanwright.training.setup import Setup


class TrainingView:
    """Draws the events of a run on the terminal."""

    def __init__(self) -> None:
        # Types and paths may hold square brackets and colons, which are no markup and no emoji here.
        self.console = Console(stderr=True, markup=False, emoji=False)
        self._progress = Progress(
            TextColumn("epoch {task.fields[epoch]}"),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f}%  loss {task.fields[loss]:.3f}"),
            TextColumn("{task.fields[speed]:,.0f} words/s"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=self.console,
        )
        self._task = self._progress.add_task("train", total=1.0, epoch=1, loss=0.0, speed=0.0, visible=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        # Stopping a bar that was never shown would print an empty line.
        if self._progress.live.is_started:
            self._progress.stop()

    def prepared(self, setup: Setup) -> None:
        """Print data, model and what the candidates can reach."""
        self.console.print(splits_table(setup.reports))
        self.console.print(split_types_table(setup.reports))
        self._tell_start(setup)
        settings, network = setup.model.settings, setup.model.network
        parameters = sum(parameter.numel() for parameter in network.parameters())
        rates = ", ".join(f"{role} {rate:g}" for role, rate in settings.optimiser.learning_rates.items())
        self.console.print(
            f"{_removed(setup)}\n"
            f"recipe {settings.name}, encoder {settings.encoder.name}, {parameters / 1e6:.1f} M parameters\n"
            f"candidate spans up to {settings.candidates.width_limit} words; decoding {settings.decoding}\n"
            f"learning rates: {rates}\n"
            f"on {shown_device(network.device)}\n"
            f"{counted(setup.steps, 'step')} in {counted(settings.training.epochs, 'epoch')}, of up to "
            f"{settings.training.batch_pieces} pieces each",
            soft_wrap=True,
        )
        if settings.training.precision == "float32" and gains_by_bf16(network.device):
            self.console.print(
                "this machine trains up to twice as fast with --set training.precision=bf16", soft_wrap=True
            )
        self._progress.start()
        self._progress.update(self._task, visible=True)

    def _tell_start(self, setup: Setup) -> None:
        """Print what is taken from the model that the training starts from."""
        if setup.taken is None:
            return
        taken = setup.taken
        types = (f"{name} ({origin})" for name, origin in taken.types.items())
        fresh = (*(f"{part}, as {reason}" for part, reason in taken.fresh.items()), *taken.new_types)
        lines = {
            f"from {taken.model}": ", ".join(taken.parts),
            "types known there": ", ".join(types) or "none",
            "from scratch": "; ".join(fresh) or "nothing",
            "types kept without labels": ", ".join(setup.kept),
        }
        for name, value in lines.items():
            if value:
                self.console.print(f"{name}: {value}", soft_wrap=True, highlight=False)

    def warned(self, message: str) -> None:
        """Print a warning."""
        self.console.print(Text.assemble(("warning:", "yellow"), f" {message}"), soft_wrap=True)

    def progressed(self, *, epoch: int, share: float, loss: float, words_per_second: float) -> None:
        """Move the bar."""
        self._progress.update(self._task, completed=share, epoch=epoch, loss=loss, speed=words_per_second)

    def scored(self, *, epoch: float, scores: Mapping[str, Scores], best: bool) -> None:
        """Print the dev scores after an epoch, or a part of one."""
        for name, found in scores.items():
            counts = found.micro
            self.console.print(
                f"epoch {epoch:.4g}: {name} precision {100 * counts.precision:.1f}  "
                f"recall {100 * counts.recall:.1f}  F1 {100 * counts.f1:.1f}"
                f"{_remark(counts.predicted, best=best and name == 'dev')}",
                highlight=False,
            )

    def summary(self, result: RunResult) -> None:
        """Print the scores of the best model and where it is."""
        for split, report in result.model.facts.get("pruning", {}).items():
            self.console.print(
                f"{split}: pruning keeps {100 * report['kept_share']:.1f} % of the "
                f"candidates and {100 * report['recall']:.2f} % of the golds",
                highlight=False,
            )
        for split, scores in result.scores.items():
            table = type_scores_table(scores)
            table.title = f"{split}: {table.title}" if table.title else split
            Console().print(table)
        self.console.print(f"model: {result.folder / 'model'}", highlight=False, soft_wrap=True)


class DistillationView(TrainingView):
    """Draws the events of a distillation: what is softened, then the run of the student."""

    def __init__(self) -> None:
        super().__init__()
        self._softening = Progress(
            TextColumn("soft/{task.description}: {task.completed:,.0f} documents"),
            TextColumn("{task.fields[targets]:,} soft targets"),
            TimeElapsedColumn(),
            console=self.console,
        )
        self._files: dict[str, TaskID] = {}

    def __exit__(self, *error: object) -> None:
        self._end_softening()
        super().__exit__(*error)

    def softened(self, *, name: str, documents: int, targets: int) -> None:
        """Move the counts of a file."""
        if name not in self._files:
            self._softening.start()
            self._files[name] = self._softening.add_task(name, total=None, targets=0)
        self._softening.update(self._files[name], completed=documents, targets=targets)

    def prepared(self, setup: Setup) -> None:
        """Print data and model, as of any run."""
        self._end_softening()
        super().prepared(setup)

    def _end_softening(self) -> None:
        # Stopping a bar that was never shown would print an empty line.
        if self._softening.live.is_started:
            self._softening.stop()


def _remark(predicted: int, *, best: bool) -> str:
    """What there is to say of scores; a model that answers nothing is no good one, whatever came before."""
    if not predicted:
        return "  (finds nothing yet)"
    return "  (best so far)" if best else ""


def _removed(setup: Setup) -> str:
    """How many training documents stand in evaluation data, and of which corpora they are."""
    line = f"training documents removed because they stand in dev or test: {setup.removed}"
    kept = sum(setup.data.leaked.values()) - setup.removed
    line += f"; kept although they do: {kept}" if kept else ""
    by_corpus = ", ".join(f"{name} {count}" for name, count in setup.data.leaked.items())
    return f"{line} ({by_corpus})" if setup.data.corpora else line
