"""A training that diverges is an error with its reasons, and spoils nothing that was saved before."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from launching import Job, run_together
from torch import Tensor, nn

import making
from spanwright import artifact
from spanwright.errors import DivergenceError
from spanwright.settings import load_settings
from spanwright.training import step
from spanwright.training.divergence import check_step, check_weights, read_at_once
from spanwright.training.journal import read_journal
from spanwright.training.loop import train
from watching import Recorder

TRAIN = making.documents(40)
DEV = making.documents(10, prefix="dev")
RATES = {"encoder": 1e6, "head": 1e-5}
EXCESSIVE = "optimiser.learning_rates={encoder=1e6, head=1e6}"


def weights(folder: Path) -> dict[str, Tensor]:
    return artifact.load(folder / "model").network.state_dict()


def broken_total(from_call: int, spoil: Callable[[Tensor], Tensor]) -> Callable[..., Tensor]:
    """The sum of the loss terms, which something spoils from a call on; there is one call per step."""
    calls, total = iter(range(1, 1000)), step.total

    def spoilt(*arguments: object) -> Tensor:
        found = total(*arguments)
        return spoil(found) if next(calls) >= from_call else found

    return spoilt


def test_excessive_rates_end_with_step_terms_rates_and_what_to_try(tiny_encoder: str, tmp_path: Path) -> None:
    with pytest.raises(DivergenceError) as caught:
        train(making.settings(tiny_encoder, EXCESSIVE), train=TRAIN, dev=DEV, out=tmp_path / "run")
    message = str(caught.value)
    assert message.startswith("the training diverged at step ")
    assert int(message.split("step ")[1].split(":")[0]) <= 4
    assert "(spans " in message and "the norm of the gradient " in message
    assert "learning rates are encoder 1e+06, head 1e+06" in message
    assert message.endswith("--set 'optimiser.learning_rates={encoder=0.0001, head=0.0001}'")
    assert not (tmp_path / "run" / "model").exists()


def test_the_settings_that_an_error_suggests_can_be_copied() -> None:
    with pytest.raises(DivergenceError) as caught:
        check_step(7, loss=math.nan, terms={}, norm=1.0, rates=RATES)
    copied = str(caught.value).split("--set '")[1].removesuffix("'")
    rates = load_settings("plain", [copied]).optimiser.learning_rates
    assert rates == {"encoder": pytest.approx(1e-4), "head": pytest.approx(1e-6)}


def test_what_was_saved_before_is_unharmed_and_can_be_resumed(
    tiny_encoder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = making.settings(tiny_encoder)
    train(settings, train=TRAIN, dev=DEV, out=tmp_path / "whole")
    recorder = Recorder()
    with monkeypatch.context() as patched:
        patched.setattr(step, "total", broken_total(26, lambda loss: loss * math.nan))
        with pytest.raises(DivergenceError, match=r"at step 26: the loss is nan \(spans [\d.]+\)"):
            train(settings, train=TRAIN, dev=DEV, out=tmp_path / "cut", watcher=recorder)
    best = max(epoch for epoch, is_best in enumerate(recorder.best) if is_best)
    for name, tensor in weights(tmp_path / "cut").items():
        assert torch.equal(tensor, recorder.weights[best][name])
    train(settings, train=TRAIN, dev=DEV, out=tmp_path / "cut", resume=True)
    whole, resumed = weights(tmp_path / "whole"), weights(tmp_path / "cut")
    assert all(torch.equal(whole[name], resumed[name]) for name in whole)
    assert read_journal(tmp_path / "cut") == read_journal(tmp_path / "whole")


def test_a_gradient_that_is_not_finite_stops_a_training_whose_loss_is(
    tiny_encoder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The root of 0 adds nothing, and has an infinite slope.
    monkeypatch.setattr(step, "total", broken_total(3, lambda loss: loss + (loss * 0).sqrt()))
    recorder = Recorder()
    with pytest.raises(
        DivergenceError, match=r"at step 3: the loss is [\d.]+ \(.*\) and the norm of the gradient nan"
    ):
        train(making.settings(tiny_encoder), train=TRAIN, dev=DEV, out=tmp_path / "run", watcher=recorder)
    assert len(recorder.losses) == 2


def test_weights_without_bounds_are_an_error_where_losses_stay_finite(
    tiny_encoder: str, tmp_path: Path
) -> None:
    """The bi-encoder compares directions, which large vectors have as well."""
    small = [f"encoder.name={tiny_encoder}", *making.SMALL, "training.epochs=2", "candidates.width_limit=2"]
    settings = load_settings("binder", [*small, "optimiser.learning_rates={encoder=1e-3, head=1e6}"])
    recorder = Recorder()
    with pytest.raises(DivergenceError, match=r"by step 10: the dev F1 is 0, and the weights 'spans\.\S+' h"):
        train(settings, train=TRAIN, dev=DEV, out=tmp_path / "run", watcher=recorder)
    assert all(map(math.isfinite, recorder.losses))
    assert not (tmp_path / "run" / "model").exists()


@pytest.mark.parametrize(
    ("weight", "f1", "refused"), [(1e5, 0.0, True), (1e5, 0.4, False), (9e3, 0.0, False)]
)
def test_large_weights_are_refused_only_where_nothing_is_found(
    weight: float, f1: float, refused: bool
) -> None:
    network = nn.Linear(2, 2)
    nn.init.constant_(network.weight, -weight)
    if not refused:
        check_weights(5, network, f1=f1, rates=RATES)
        return
    with pytest.raises(
        DivergenceError, match=r"the weights 'weight' have grown to 100000\. .*encoder 1e\+06"
    ):
        check_weights(5, network, f1=f1, rates=RATES)


def test_losses_of_parts_are_summed_term_by_term_and_read_with_the_norm() -> None:
    rows = [torch.tensor([1.0, 2.0, 3.0]), torch.tensor([10.0, 20.0, 30.0])]
    assert read_at_once(rows, torch.tensor(5.0), size=3) == ([11.0, 22.0, 33.0], 5.0)
    assert read_at_once([], torch.tensor(5.0), size=3) == ([0, 0, 0], 5.0)


def test_all_processes_stop_at_the_step_that_diverged(tiny_encoder: str, tmp_path: Path) -> None:
    settings = making.settings(tiny_encoder, EXCESSIVE, "training.accumulate=2")
    told = run_together(Job(settings, TRAIN, DEV, tmp_path / "run"), 2)
    errors = [each.failure.strip().splitlines()[-1] for each in told]
    assert errors[0] == errors[1]
    assert "DivergenceError: the training diverged at step " in errors[0]
    assert json.loads((tmp_path / "run" / "settings.json").read_text())["processes"] == 2
    assert not (tmp_path / "run" / "model").exists()
