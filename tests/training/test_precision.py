"""Training in 16 bits: Transformers compute in them, and nothing that a loss is made of does."""

from __future__ import annotations

from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import torch

import making
from batching import as_taken
from spanwright import artifact
from spanwright.cli.progress import TrainingView
from spanwright.errors import SettingsError
from spanwright.parts.beside.crf import LinearChain
from spanwright.parts.precision import check_precision, lowered
from spanwright.parts.spans.scorers import bi_encoder
from spanwright.parts.spans.scorers import contrast as contrasts
from spanwright.settings import load_settings
from spanwright.training.loop import train
from spanwright.training.objective import weights_at
from spanwright.training.runtime import seed_draws, shared_threads
from spanwright.training.scoring import finish, score_dev
from spanwright.training.setup import Setup, set_up
from watching import Recorder

TRAIN = making.documents(12)
DEV = making.documents(4, prefix="dev")
DEEP = ("windows.pieces=64", "windows.overlap=6", "candidates.width_limit=2", "scorer.hidden=[8]")
RECIPES = {
    "plain": ("plain", making.SMALL),
    "crf": ("bundling", (*making.SMALL, "auxiliaries.tagger.kind=crf")),
    "binder": ("binder", (*making.SMALL, "candidates.width_limit=2")),
    "dspert": ("dspert", DEEP),
    "shallow": ("dspert/shallow-max", DEEP),
    "shallow-attention": ("dspert/shallow-multiplicative", DEEP),
    "initial-attention": ("dspert/initial-additive", DEEP),
    "joint-ib": ("joint-ib", making.SMALL_JOINT_IB),
    "sigmoid": ("plain", (*making.SMALL, "scorer={kind='sigmoid'}", "candidates.pruning.size=8")),
    "cvae": ("plain", (*making.SMALL, "auxiliaries.cvae.hidden=16", "auxiliaries.cvae.latent=6")),
}


def ready(recipe: str, encoder: str, *changes: str) -> Setup:
    return set_up(load_settings(recipe, [f"encoder.name={encoder}", *changes]), TRAIN, DEV, [])


def losses(setup: Setup) -> dict[str, torch.Tensor]:
    """The terms of one batch, always with the same dropout."""
    network, settings = setup.model.network.train(), setup.model.settings
    batch = as_taken(setup.batch(range(6), (1, 0, 0)))
    seed_draws((1, 0, 0))
    return network.losses(batch, weights_at(settings.objective, network.terms, settings.shares, progress=0.9))


@pytest.mark.parametrize(("recipe", "changes"), RECIPES.values(), ids=RECIPES)
def test_losses_are_near_those_of_32_bits_and_have_32_bits_themselves(
    tiny_encoder: str, recipe: str, changes: tuple[str, ...]
) -> None:
    setup = ready(recipe, tiny_encoder, *changes)
    exact = losses(setup)
    with lowered(setup.model.network, "bf16"):
        near = losses(setup)
    assert near.keys() == exact.keys() == setup.model.network.terms
    assert {loss.dtype for loss in near.values()} == {torch.float32}
    for name, loss in near.items():
        torch.testing.assert_close(loss, exact[name], rtol=0.05, atol=1e-3, msg=name)
    torch.autograd.backward(sum(near.values(), start=torch.zeros(())))
    gradients = [p.grad for p in setup.model.network.parameters() if p.grad is not None]
    assert gradients and all(g.dtype == torch.float32 and g.isfinite().all() for g in gradients)


def test_states_of_words_come_from_16_bits(tiny_encoder: str) -> None:
    setup = ready("plain", tiny_encoder, *making.SMALL)
    encoder, batch = setup.model.network.eval().encoder, as_taken(setup.batch(range(6), (1, 0, 0)))
    exact = encoder(batch).start
    with lowered(setup.model.network, "bf16"):
        near = encoder(batch).start
    assert near.dtype == torch.float32
    assert 0 < (near - exact).abs().max() < 0.01


def test_after_the_block_everything_has_32_bits_again(tiny_encoder: str) -> None:
    setup = ready("plain", tiny_encoder, *making.SMALL)
    before = losses(setup)
    with lowered(setup.model.network, "bf16"):
        losses(setup)
    assert losses(setup)["spans"] == before["spans"]


def test_an_error_inside_a_transformer_leaves_nothing_switched_on(tiny_encoder: str) -> None:
    setup = ready("plain", tiny_encoder, *making.SMALL)
    with pytest.raises(AttributeError), lowered(setup.model.network, "bf16"):
        setup.model.network.encoder(None)
    assert not torch.is_autocast_enabled("cpu")
    assert not setup.model.network.encoder._forward_pre_hooks


def spied(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str) -> list[tuple[torch.dtype, bool]]:
    """Of every call: the type of its first tensor, and whether it was to compute in 16 bits."""
    seen: list[tuple[torch.dtype, bool]] = []
    whole: Callable[..., Any] = getattr(owner, name)

    def spy(*values: Any) -> Any:
        tensor = next(value for value in values if isinstance(value, torch.Tensor))
        seen.append((tensor.dtype, torch.is_autocast_enabled("cpu")))
        return whole(*values)

    monkeypatch.setattr(owner, name, spy)
    return seen


@pytest.mark.parametrize(
    ("recipe", "changes", "owner", "name"),
    [
        (*RECIPES["crf"], LinearChain, "log_partition"),
        (*RECIPES["binder"], bi_encoder, "contrast"),
        (*RECIPES["binder"], contrasts, "_rivals"),
        (*RECIPES["binder"], bi_encoder.Comparison, "_similarity"),
        (*RECIPES["plain"], torch.nn.functional, "cross_entropy"),
    ],
    ids=["crf", "contrast", "rivals", "similarity", "softmax"],
)
def test_sums_of_exponentials_are_taken_in_32_bits(
    tiny_encoder: str,
    monkeypatch: pytest.MonkeyPatch,
    recipe: str,
    changes: tuple[str, ...],
    owner: Any,
    name: str,
) -> None:
    setup = ready(recipe, tiny_encoder, *changes)
    if owner is torch.nn.functional:
        # It takes its target and reduction by name.
        original = torch.nn.functional.cross_entropy
        seen: list[tuple[torch.dtype, bool]] = []

        def spy(logits: torch.Tensor, *values: Any, **named: Any) -> torch.Tensor:
            seen.append((logits.dtype, torch.is_autocast_enabled("cpu")))
            return original(logits, *values, **named)

        monkeypatch.setattr(torch.nn.functional, "cross_entropy", spy)
    else:
        seen = spied(monkeypatch, owner, name)
    with lowered(setup.model.network, "bf16"):
        losses(setup)
    assert set(seen) == {(torch.float32, False)}


@pytest.mark.parametrize("checkpointing", ["false", "true"])
def test_a_training_in_16_bits_learns_and_keeps_weights_of_32(
    tiny_encoder: str, tmp_path: Path, checkpointing: str
) -> None:
    changes = ("training.precision=bf16", "training.epochs=2", f"encoder.checkpointing={checkpointing}")
    recorder = Recorder()
    settings = making.settings(tiny_encoder, *changes)
    train(settings, train=making.documents(40), dev=DEV, out=tmp_path / "run", watcher=recorder)
    assert sum(recorder.losses[-3:]) < 0.5 * sum(recorder.losses[:3])
    weights = artifact.load(tmp_path / "run" / "model").network.state_dict().values()
    assert {tensor.dtype for tensor in weights if tensor.is_floating_point()} == {torch.float32}


def test_states_that_are_computed_anew_give_the_same_training(tiny_encoder: str, tmp_path: Path) -> None:
    """Gradient checkpointing draws the dropout of a block a second time: it must be the same."""
    recorders = {value: Recorder() for value in ("false", "true")}
    for value, recorder in recorders.items():
        settings = making.settings(tiny_encoder, "training.epochs=1", f"encoder.checkpointing={value}")
        train(settings, train=TRAIN, dev=DEV, out=tmp_path / value, watcher=recorder)
    assert recorders["true"].losses == pytest.approx(recorders["false"].losses, rel=1e-5)


def test_a_card_that_cannot_compute_in_16_bits_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda **_: False)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda _: "an old card")
    message = "the precision is 'bf16', but an old card cannot compute in it; expected 'float32'"
    with pytest.raises(SettingsError, match=message):
        check_precision("bf16", torch.device("cuda"))
    check_precision("bf16", torch.device("cpu"))
    check_precision("fp16", torch.device("cuda"))


@pytest.mark.parametrize("fast", [True, False])
def test_a_training_in_32_bits_tells_of_16_where_the_machine_gains_by_them(
    fast: bool, tiny_encoder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"avx512_bf16": fast})
    told = []
    for precision in ("float32", "bf16"):
        view = TrainingView()
        view.console.file = StringIO()
        settings = making.settings(tiny_encoder, "training.epochs=1", f"training.precision={precision}")
        with view:
            train(settings, train=TRAIN[:2], dev=DEV, out=tmp_path / precision, watcher=view)
        printed = view.console.file.getvalue()
        assert " in 1 epoch, of up to " in printed
        told.append("--set training.precision=bf16" in printed)
    assert told == [fast, False]


def test_an_unknown_precision_is_refused() -> None:
    with pytest.raises(SettingsError, match=r"'training\.precision' is 'fp8': expected 'float32' or 'bf1"):
        load_settings("plain", ["training.precision=fp8"])


def test_processes_share_the_threads_of_a_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr("os.cpu_count", lambda: 8)
    before = torch.get_num_threads()
    with shared_threads(4):
        assert torch.get_num_threads() == 2
    assert torch.get_num_threads() == before
    with shared_threads(1):
        assert torch.get_num_threads() == before


def test_threads_that_the_user_chose_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setattr("os.cpu_count", lambda: 8)
    before = torch.get_num_threads()
    with shared_threads(2):
        assert torch.get_num_threads() == before


def test_draws_depend_on_their_numbers_alone() -> None:
    seed_draws((1, 2, 3))
    first = torch.rand(3)
    torch.rand(5)
    seed_draws((1, 2, 3))
    assert torch.equal(torch.rand(3), first)
    seed_draws((1, 2, 4))
    assert not torch.equal(torch.rand(3), first)


@pytest.mark.parametrize("precision", ["bf16", "float32"])
def test_dev_is_scored_in_the_precision_of_the_steps_and_the_finished_model_in_32_bits(
    tiny_encoder: str, precision: str
) -> None:
    setup = ready("plain", tiny_encoder, *making.SMALL, f"training.precision={precision}")
    lowered_passes: list[bool] = []
    backbone = setup.model.network.encoder.backbone
    backbone.register_forward_hook(lambda *_: lowered_passes.append(torch.is_autocast_enabled("cpu")))
    score_dev(setup)
    assert set(lowered_passes) == {precision == "bf16"}
    lowered_passes.clear()
    finish(setup, setup.model)
    assert set(lowered_passes) == {False}
