from __future__ import annotations

from typing import Any

import pytest

from spanwright.reporting.content import Curves, read_curves


def epoch(number: int, f1: float, *, best: bool) -> dict[str, Any]:
    return {"event": "epoch", "epoch": number, "best": best, "dev": {"micro": {"f1": f1}}}


def step(number: int, loss: float) -> dict[str, Any]:
    return {"event": "step", "step": number, "epoch": 1, "loss": loss}


def test_losses_and_dev_scores_are_read_from_the_journal() -> None:
    journal = [
        {"event": "data", "removed": 0},
        step(20, 3.5),
        epoch(1, 0.25, best=True),
        step(40, 1.5),
        epoch(2, 0.5, best=True),
        epoch(3, 0.5, best=False),
    ]
    assert read_curves(journal) == Curves(
        loss=((20, 3.5), (40, 1.5)), dev_f1=((1, 0.25), (2, 0.5), (3, 0.5)), best_epoch=2
    )


def test_no_journal_gives_no_curves() -> None:
    assert read_curves([]) == Curves()


def test_losses_that_are_not_finite_are_left_out_and_told() -> None:
    curves = read_curves([step(1, 2.0), step(2, float("nan")), step(3, float("inf"))])
    assert curves.loss == ((1, 2.0),)
    assert curves.notes == ("losses that are not finite numbers, left out of the curve: 2",)


def test_many_losses_become_means_of_neighbours() -> None:
    curves = read_curves([step(number, float(number % 2)) for number in range(1000)])
    assert len(curves.loss) <= 400
    assert curves.loss[0] == (1.0, pytest.approx(1 / 3))
    assert curves.notes == ("losses in the journal: 1000; each point of the curve is a mean of neighbours",)
