"""Our own BERT, for models that are loaded, against that of transformers; and what loading costs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

import tiny
from spanwright.parts.encoder.backbone import as_of_transformers, from_config, plain_config
from spanwright.parts.encoder.bert import Bert, bert_of

MODEL = Path(__file__).parent.parent / "fixtures" / "model-format-3"


def pair(vocabulary: int = 30) -> tuple[Any, Bert]:
    stock = tiny.backbone(vocabulary, layers=3).eval()
    own = from_config(plain_config(stock.config))
    assert isinstance(own, Bert)
    own.load_state_dict(stock.state_dict())
    return stock, own.eval()


@pytest.mark.parametrize("lengths", [(7,), (7, 7), (7, 3, 1)], ids=["one", "without padding", "padded"])
def test_it_computes_what_that_of_transformers_computes(lengths: tuple[int, ...]) -> None:
    stock, own = pair()
    pieces = torch.randint(1, 30, (len(lengths), max(lengths)), generator=torch.Generator().manual_seed(1))
    mask = (torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]).long()
    with torch.inference_mode():
        expected = stock(input_ids=pieces, attention_mask=mask, output_hidden_states=True)
        found = own(input_ids=pieces, attention_mask=mask)
        vectors = own(inputs_embeds=own.get_input_embeddings()(pieces), attention_mask=mask)
    assert len(found.hidden_states) == len(expected.hidden_states)
    for ours, theirs in zip(found.hidden_states, expected.hidden_states, strict=True):
        torch.testing.assert_close(ours[mask.bool()], theirs[mask.bool()], rtol=0, atol=1e-6)
    torch.testing.assert_close(vectors.last_hidden_state, found.last_hidden_state, rtol=0, atol=0)


def test_gradients_and_dropout_are_there_in_training() -> None:
    _, own = pair()
    own.train()
    pieces = torch.ones(1, 5, dtype=torch.long)
    first, second = (own(input_ids=pieces, attention_mask=pieces).last_hidden_state for _ in range(2))
    assert not torch.equal(first, second)
    first.sum().backward()
    assert all(weight.grad is not None for weight in own.parameters())


@pytest.mark.parametrize(
    "change",
    [
        {"hidden_act": "relu"},
        {"is_decoder": True},
        {"chunk_size_feed_forward": 2},
        {"add_cross_attention": True},
        {"num_attention_heads": 5},
        {"model_type": "roberta"},
        {"hidden_size": "32"},
        {"position_embedding_type": "relative_key"},
    ],
    ids=str,
)
def test_what_is_no_plain_bert_is_left_to_transformers(change: dict[str, Any]) -> None:
    config = plain_config(tiny.backbone(30).config)
    assert bert_of(config) is not None
    assert bert_of({**config, **change}) is None


def test_its_configuration_is_kept_and_transformers_takes_weights_back() -> None:
    stock, own = pair()
    config = plain_config(stock.config)
    kept = plain_config(own.config)
    assert config.items() <= kept.items()
    assert json.loads(json.dumps(kept)) == kept
    again = as_of_transformers(own)
    assert type(again) is type(stock)
    assert all(torch.equal(weight, again.state_dict()[name]) for name, weight in own.state_dict().items())
    assert as_of_transformers(stock) is stock


def test_loading_a_model_takes_half_a_second_at_most_and_no_transformers() -> None:
    code = (
        "import sys, time, torch, spanwright\n"
        "begun = time.process_time()\n"
        f"spanwright.load({str(MODEL)!r}).tag('Mutations of BRCA1 cause breast cancer.')\n"
        "print(time.process_time() - begun, 'transformers' in sys.modules)\n"
    )
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True
    )
    seconds, slow_import = ran.stdout.split()
    assert slow_import == "False"
    # 0.3 s on the machine where it was 3 s before: room for a slower or busier one.
    assert float(seconds) < 1.5
