"""Which backbones are taken, and that ours do what those of transformers do."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
import torch
import transformers
from torch import Tensor, nn

import tiny
from spanwright import artifact
from spanwright.errors import InputError, ModelError
from spanwright.parts.encoder.backbone import from_config, load_pretrained
from spanwright.parts.encoder.kinds import HALVED, TESTED, check_direction
from spanwright.parts.layers.dropout import QuickDropout

OWN_ATTENTION = {"deberta", "deberta-v2", "mpnet"}
"""Kinds whose attention is not that of all others, and is not replaced."""
NEXT_TO_NOTHING = 1e-9
"""A dropout that takes the way of any other, and drops nothing."""
DECODERS = ["gpt2", "llama", "mistral", "gpt_neox", "opt", "qwen2", "bloom"]


def stock(config: transformers.PreTrainedConfig) -> nn.Module:
    """A backbone as transformers makes it."""
    torch.manual_seed(0)
    if config.model_type in HALVED:
        return transformers.AutoModelForTextEncoding.from_config(config).encoder
    return transformers.AutoModel.from_config(config)


def pieces(padded: bool) -> dict[str, Tensor]:
    """Two texts, longer than the local attention of ModernBERT."""
    ids = torch.randint(3, 30, (2, 11), generator=torch.Generator().manual_seed(1))
    mask = torch.ones_like(ids)
    if padded:
        mask[1, 7:] = 0
    return {"input_ids": ids, "attention_mask": mask}


def states_and_gradient(backbone: nn.Module, given: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
    """The states of all pieces that are no padding, and the gradients of the embeddings of pieces."""
    states = backbone(**given).last_hidden_state[given["attention_mask"].bool()]
    weight = backbone.get_input_embeddings().weight
    (gradient,) = torch.autograd.grad(states.sin().sum(), weight)
    return states.detach(), gradient


@pytest.mark.parametrize("padded", [False, True], ids=["unpadded", "padded"])
@pytest.mark.parametrize(
    ("training", "dropout"),
    [(False, 0.1), (True, 0.0), (True, NEXT_TO_NOTHING)],
    ids=["eval", "no-dropout", "our-dropout"],
)
@pytest.mark.parametrize("kind", TESTED)
def test_states_and_gradients_are_those_of_the_stock_backbone(
    kind: str, training: bool, dropout: float, padded: bool
) -> None:
    config = tiny.backbone_config(kind, dropout=dropout)
    expected = stock(config)
    found = from_config(config.to_dict())
    found.load_state_dict(expected.state_dict(), strict=False)
    given = pieces(padded)
    for mine, theirs in zip(
        states_and_gradient(found.train(training), given),
        states_and_gradient(expected.train(training), given),
        strict=True,
    ):
        torch.testing.assert_close(mine, theirs, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("kind", TESTED)
def test_a_tested_kind_has_our_dropout_and_drops_while_training(kind: str) -> None:
    backbone = from_config(tiny.backbone_config(kind, dropout=0.5).to_dict()).train()
    assert not any(type(module) is nn.Dropout for module in backbone.modules())
    assert (backbone.config._attn_implementation == "spanwright") == (kind not in OWN_ATTENTION)
    first, second = (backbone(**pieces(padded=True)).last_hidden_state for _ in range(2))
    assert first.isfinite().all() and not torch.equal(first, second)


def test_a_kind_that_is_not_tested_stays_as_transformers_makes_it() -> None:
    backbone = from_config(tiny.backbone_config("data2vec-text", dropout=0.5).to_dict())
    assert backbone.config._attn_implementation == "sdpa"
    assert not any(isinstance(module, QuickDropout) for module in backbone.modules())


@pytest.mark.parametrize("kind", DECODERS)
def test_a_decoder_is_refused_with_the_reason_and_what_is_expected(kind: str) -> None:
    with pytest.raises(InputError) as caught:
        check_direction(from_config(tiny.backbone_config(kind).to_dict()), kind)
    message = str(caught.value)
    assert f"of kind '{kind}' and reads from left to right" in message
    assert "expected is an encoder that sees both sides, of kind albert, bert, " in message


def test_an_encoder_that_is_told_to_be_a_decoder_is_refused() -> None:
    with pytest.raises(InputError, match="of kind 'bert' and reads from left to right"):
        check_direction(from_config(tiny.backbone_config("bert", is_decoder=True).to_dict()), "bert")


@pytest.mark.parametrize("kind", ["gpt2", "llama"])
def test_the_weights_of_a_decoder_are_refused_as_an_encoder(tmp_path: Path, kind: str) -> None:
    stock(tiny.backbone_config(kind)).save_pretrained(tmp_path)
    tiny.tokenizer().save(str(tmp_path / "tokenizer.json"))
    with pytest.raises(InputError, match=f"^encoder '{tmp_path}' is of kind '{kind}' and reads from left"):
        load_pretrained(str(tmp_path))


def test_a_causal_language_model_is_refused_before_its_weights_are_read(tmp_path: Path) -> None:
    tiny.backbone_config("llama", architectures=["LlamaForCausalLM"]).save_pretrained(tmp_path)
    with pytest.raises(InputError, match="is of kind 'llama' and reads from left to right"):
        load_pretrained(str(tmp_path))


def test_a_model_folder_with_a_decoder_in_it_is_refused(tmp_path: Path) -> None:
    artifact.save(tiny.model(), tmp_path / "model")
    path = tmp_path / "model" / "spanwright.json"
    description = json.loads(path.read_text())
    description["encoder_config"]["is_decoder"] = True
    path.write_text(json.dumps(description))
    artifact.seal(tmp_path / "model")
    with pytest.raises(
        ModelError, match=r"not a model that can be loaded: encoder 'bert' .* from left to rig"
    ):
        artifact.load(tmp_path / "model")


def test_an_encoder_whose_weights_are_not_finite_is_refused(tmp_path: Path) -> None:
    folder = tiny.encoder_folder(tmp_path)
    spoilt = transformers.AutoModel.from_pretrained(folder)
    spoilt.encoder.layer[1].output.dense.bias.data[0] = math.nan
    spoilt.save_pretrained(folder)
    with pytest.raises(InputError, match=r"the weights 'encoder\.layer\.1\.output\.dense\.bias' are not fin"):
        load_pretrained(str(folder))
