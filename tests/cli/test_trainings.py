"""What an interrupted training says, and a search none of whose models finds anything."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
import typer
from rich.console import Console

from spanwright.cli.command import interruptible
from spanwright.cli.tables.training import trials_table
from spanwright.cli.trainings import kept_run


def interrupted(out: Path) -> int:
    with pytest.raises(typer.Exit) as caught, interruptible(lambda: kept_run(out)):
        raise KeyboardInterrupt
    return caught.value.exit_code


def test_an_interrupted_training_says_what_is_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert interrupted(tmp_path) == 130
    assert "there is no checkpoint yet" in capsys.readouterr().err
    (tmp_path / "checkpoints" / "1").mkdir(parents=True)
    interrupted(tmp_path)
    assert capsys.readouterr().err.endswith("go on with the same command and --resume\n")
    (tmp_path / "model").mkdir()
    interrupted(tmp_path)
    assert f"the best model so far is {tmp_path / 'model'}" in capsys.readouterr().err


@pytest.mark.parametrize(("f1", "is_best"), [(0.0, False), (0.5, True)])
def test_a_trial_that_finds_nothing_is_not_the_best(f1: float, is_best: bool) -> None:
    trial = SimpleNamespace(number=1, state="finished", f1=f1, epochs=1, settings={})
    console = Console(width=80)
    with console.capture() as captured:
        console.print(trials_table([trial], trial))
    assert ("best" in captured.get()) == is_best
