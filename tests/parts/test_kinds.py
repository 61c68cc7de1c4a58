"""Which backbones are taken, and that they learn."""

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
from spanwright.parts.encoder.kinds import HALVED, KINDS, check_direction

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


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_drops_while_training_and_has_gradients_that_are_finite(kind: str) -> None:
    backbone = from_config(tiny.backbone_config(kind, dropout=0.5).to_dict()).train()
    given = pieces(padded=True)
    first, second = (backbone(**given).last_hidden_state[given["attention_mask"].bool()] for _ in range(2))
    assert not torch.equal(first, second)
    weight = backbone.get_input_embeddings().weight
    (gradient,) = torch.autograd.grad(first.sin().sum(), weight)
    assert first.isfinite().all() and gradient.isfinite().all()


@pytest.mark.parametrize("kind", DECODERS)
def test_a_decoder_is_refused_with_the_reason_and_what_is_expected(kind: str) -> None:
    with pytest.raises(InputError) as caught:
        check_direction(from_config(tiny.backbone_config(kind).to_dict()), kind)
    message = str(caught.value)
    assert f"of kind '{kind}' and reads from left to right" in message
    assert "expected an encoder that sees both sides, of kind albert, bert, " in message


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
