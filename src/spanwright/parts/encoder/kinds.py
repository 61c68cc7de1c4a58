"""Which kinds of backbones can be used: those that read a text on both sides of a word, and can learn."""

from __future__ import annotations

from typing import Any

import torch

from spanwright.errors import InputError
from spanwright.parts.finite import not_finite

HALVED = ("t5", "mt5", "umt5")
"""Kinds of encoder-decoders that are used without their decoder."""
KINDS = (
    "albert",
    "bert",
    "camembert",
    "deberta",
    "deberta-v2",
    "distilbert",
    "electra",
    "ernie",
    "modernbert",
    "mpnet",
    "roberta",
    "xlm-roberta",
    *HALVED,
)
"""Kinds that tests train."""


def check_config(config: Any, name: str) -> None:
    """Refuse what is no encoder, or cannot learn, before its weights are fetched."""
    # Said before it is tried: the weights of such a model may not even fit into memory.
    if any(made_for.endswith("ForCausalLM") for made_for in config.architectures or ()):
        raise _one_sided(config, name)
    if config.is_encoder_decoder and config.model_type not in HALVED:
        raise InputError(
            f"encoder {name!r} is of kind {config.model_type!r}, whose states are those of its decoder; "
            f"of models with a decoder, expected one of kind {', '.join(HALVED)}"
        )
    if getattr(config, "quantization_config", None) is not None:
        raise InputError(
            f"encoder {name!r} is stored with quantised weights; give the model that it was made from, and "
            f"encoder.quantised with encoder.lora to quantise it while loading"
        )


def check_backbone(backbone: Any, name: str) -> None:
    """Refuse a backbone that reads in one direction, or has weights that are not finite."""
    if found := not_finite(dict(backbone.named_parameters())):
        raise InputError(f"encoder {name!r}: the weights {found!r} are not finite, so nothing can be learnt")
    check_direction(backbone, name)


def check_direction(backbone: Any, name: str) -> None:
    """Refuse a backbone that reads in one direction, whatever its weights are."""
    if not _sees_both_sides(backbone):
        raise _one_sided(backbone.config, name)


def _sees_both_sides(backbone: Any) -> bool:
    """Whether the state of a piece depends on a later one; in a decoder it does not.

    Tried rather than asked of the configuration: kinds say it in many ways, or not at all.
    """
    device, padding = next(backbone.parameters()).device, getattr(backbone.config, "pad_token_id", None)
    first, second, third = [piece for piece in range(4) if piece != padding][:3]
    training = backbone.training
    backbone.eval()
    # One after the other: in one batch, rounding could differ from row to row.
    with torch.no_grad():
        states = [
            backbone(input_ids=pieces, attention_mask=torch.ones_like(pieces)).last_hidden_state[0, 0]
            for pieces in torch.tensor([[[first, second]], [[first, third]]], device=device)
        ]
    backbone.train(training)
    return not torch.equal(*states)


def _one_sided(config: Any, name: str) -> InputError:
    return InputError(
        f"encoder {name!r} is of kind {config.model_type!r} and reads from left to right, so the state of a "
        f"word says nothing of what follows it; expected an encoder that sees both sides, of kind "
        f"{', '.join(KINDS)} or the like"
    )
