"""Loading Hugging Face backbones. Never runs code from a model folder, never asks a question."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import nn

from spanwright.batches.pieces import PieceEncoder
from spanwright.errors import InputError, ModelError, SettingsError
from spanwright.parts.encoder import pretrained
from spanwright.parts.encoder.adapters import adapt, loading_options, require
from spanwright.parts.encoder.bert import Bert, BertConfig, bert_of
from spanwright.parts.encoder.kinds import HALVED, check_backbone, check_config
from spanwright.settings.encoder import LoraSettings, Quantised

_POSITIONS_BEHIND_PADDING = frozenset(
    ("roberta", "xlm-roberta", "camembert", "mpnet", "data2vec-text", "xmod")
)
_DROPOUT = ("hidden_dropout_prob", "dropout_rate", "dropout")
"""What configurations call the dropout of states."""
_NOT_OF_AN_ENCODER = (
    *("model_type", "num_labels", "id2label", "label2id", "auto_map", "attn_implementation"),
    *("_attn_implementation", "experts_implementation", "backbone", "backbone_config"),
    *("use_timm_backbone", "use_pretrained_backbone"),
)
"""Keys of configurations that are of no use here, or name what transformers would fetch or run."""
_MOST_LAYERS = 256
_MOST_POSITIONS = 1 << 17
_LARGEST_NUMBER = 1 << 24
_ATTENTION_DROPOUT = ("attention_probs_dropout_prob", "attention_dropout")
"""What configurations call the dropout of attention."""


def load_pretrained(
    name: str,
    dropout: float | None = None,
    *,
    attention_dropout: float | None = None,
    lora: LoraSettings | None = None,
    quantised: Quantised | None = None,
    checkpointing: bool = False,
) -> tuple[nn.Module, PieceEncoder]:
    """A pretrained backbone and its tokenizer, by short name, folder or Hugging Face model id."""
    require(lora, quantised)
    pretrained.check_known(name)
    transformers = _transformers()
    source = pretrained.folder(name)
    # What is not here is looked for in the Hub, if it can be reached, and else in the cache alone.
    is_local = Path(source).is_dir() or not pretrained.hub_answers()
    try:
        config = transformers.AutoConfig.from_pretrained(
            source, trust_remote_code=False, local_files_only=is_local
        )
        check_config(config, name)
        _set_dropout(config, "dropout", dropout, _DROPOUT)
        _set_dropout(config, "attention_dropout", attention_dropout, _ATTENTION_DROPOUT)
        model, loading = _class(config).from_pretrained(
            source,
            config=config,
            dtype=torch.float32,
            trust_remote_code=False,
            local_files_only=is_local,
            output_loading_info=True,
            **loading_options(quantised),
        )
        pieces = _load_pieces(source, transformers, is_local=is_local)
    except (OSError, ValueError, ImportError) as error:
        reason = str(error).strip().splitlines()[0]
        raise pretrained.unknown_encoder(name, reason) from None
    _check_complete(loading["missing_keys"], name)
    backbone = _adapted(_encoder(model), name, lora, checkpointing)
    check_pieces(backbone, pieces, f"encoder {name!r}")
    return backbone, pieces


def trained_further(
    backbone: nn.Module,
    name: str,
    dropout: float | None = None,
    *,
    attention_dropout: float | None = None,
    lora: LoraSettings | None = None,
    checkpointing: bool = False,
) -> nn.Module:
    """A copy of the backbone of a trained model that learns on, with the options of `load_pretrained`."""
    require(lora, None)
    config: Any = _transformers_config(plain_config(backbone.config))
    _set_dropout(config, "dropout", dropout, _DROPOUT)
    _set_dropout(config, "attention_dropout", attention_dropout, _ATTENTION_DROPOUT)
    return _adapted(_with_weights(config, backbone), name, lora, checkpointing)


def as_of_transformers(backbone: nn.Module) -> nn.Module:
    """A backbone as transformers makes it, with the same weights."""
    if not isinstance(backbone, Bert):
        return backbone
    return _with_weights(_transformers_config(plain_config(backbone.config)), backbone).eval()


def _with_weights(config: Any, backbone: nn.Module) -> nn.Module:
    """A network of transformers with a copy of the weights of another."""
    made = _encoder(_class(config).from_config(config, trust_remote_code=False, dtype=torch.float32))
    made.load_state_dict(backbone.state_dict())
    return made


def _adapted(backbone: nn.Module, name: str, lora: LoraSettings | None, checkpointing: bool) -> nn.Module:
    """The backbone as it learns."""
    if lora is not None:
        adapt(backbone, lora)
    # After adapters, which also see to it that quantised weights can be computed with and still learn.
    check_backbone(backbone, name)
    if checkpointing:
        _checkpoint_gradients(backbone)
    return backbone


def plain_config(config: Any) -> dict[str, Any]:
    """A backbone's configuration without paths of this machine and without anything that names code."""
    if isinstance(config, BertConfig):
        return config.model_dump(mode="json")
    values: dict[str, Any] = json.loads(config.to_json_string(use_diff=False))
    for key in ("_name_or_path", "auto_map", "architectures", "transformers_version", "quantization_config"):
        values.pop(key, None)
    return values


def from_config(config: dict[str, Any]) -> nn.Module:
    """A backbone with fresh weights, from the dictionary of its configuration, to be used as it is.

    Whether it reads in both directions is left to `check_direction`, for when its weights are there.
    """
    _check_numbers(_of_an_encoder(config))
    if own := bert_of(config):
        return own
    settings = _transformers_config(config)
    return _encoder(_class(settings).from_config(settings, trust_remote_code=False, dtype=torch.float32))


def _transformers_config(config: dict[str, Any]) -> Any:
    """A configuration as an object of transformers."""
    transformers = _transformers()
    kind = config.get("model_type")
    if not isinstance(kind, str) or kind not in transformers.CONFIG_MAPPING:
        raise ModelError(f"encoder of kind {kind!r} is unknown to transformers {transformers.__version__}")
    return transformers.AutoConfig.for_model(kind, **_of_an_encoder(config))


def _of_an_encoder(config: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in config.items() if key not in _NOT_OF_AN_ENCODER}


def _check_numbers(config: dict[str, Any]) -> None:
    """Refuse numbers that a configuration may make lists of, or whose layers could share few weights."""
    for key, value in config.items():
        if isinstance(value, dict):
            _check_numbers(value)
        most = _MOST_LAYERS if "layer" in key else _MOST_POSITIONS if "position" in key else _LARGEST_NUMBER
        if isinstance(value, int) and abs(value) > most:
            raise ModelError(f"the encoder's {key!r} is {value!r:.20}; expected at most {most}")


def check_pieces(backbone: nn.Module, pieces: PieceEncoder, where: str) -> None:
    """Refuse a tokenizer with pieces that have no embedding."""
    rows = len(backbone.get_input_embeddings().weight)  # type: ignore[operator]
    highest = max((*pieces.tokenizer.get_vocab().values(), *pieces.prefix, *pieces.suffix))
    if highest >= rows:
        raise InputError(
            f"{where}: there is a piece with the number {highest}, but embeddings for {rows} pieces only: "
            f"it is the tokenizer of another model"
        )


def hidden_size(backbone: nn.Module) -> int:
    """Size of a backbone's states."""
    config: Any = backbone.config
    return int(config.hidden_size)


def longest_input(config: Any) -> int:
    """The most pieces that a backbone takes at once; a very large number where it sets no limit."""
    positions = getattr(config, "max_position_embeddings", None)
    if not positions:
        return 1 << 30
    # RoBERTa and its relatives count positions from after the padding id, so these are lost.
    lost = config.pad_token_id + 1 if config.model_type in _POSITIONS_BEHIND_PADDING else 0
    return int(positions) - lost


def _transformers() -> Any:
    import transformers

    logging.getLogger("transformers").setLevel(logging.ERROR)
    transformers.utils.logging.disable_progress_bar()
    return transformers


def _class(config: Any) -> Any:
    """The automatic class of transformers that makes a model without a decoder."""
    transformers = _transformers()
    return transformers.AutoModelForTextEncoding if config.model_type in HALVED else transformers.AutoModel


def _encoder(model: Any) -> nn.Module:
    """What reads text in a model.

    Half an encoder-decoder has its embeddings twice, once outside of what is returned. And span models read
    states: a pooler would only cost time and hold weights that never learn.
    """
    encoder: nn.Module = model.encoder if model.config.model_type in HALVED else model
    if getattr(encoder, "pooler", None) is not None:
        encoder.register_module("pooler", None)
    return encoder


def _check_complete(missing: Iterable[str], name: str) -> None:
    """Refuse weights that would leave a part of the encoder as it was drawn at random, but for its pooler."""
    needed = sorted(key for key in missing if not key.startswith("pooler."))
    if needed:
        raise InputError(
            f"encoder {name!r} has no weights for {needed[0]!r} ({len(needed)} missing in all); expected "
            f"all weights of its kind, under the names that transformers gives them"
        )


def _set_dropout(config: Any, setting: str, value: float | None, names: Sequence[str]) -> None:
    """Give a configuration the value of a setting, by the name that it has for it."""
    if value is None:
        return
    known = [name for name in names if hasattr(config, name)]
    if not known:
        raise SettingsError(
            f"encoder.{setting} is {value}, but an encoder of kind {config.model_type!r} has no such number; "
            f"leave it out"
        )
    setattr(config, known[0], value)


def _checkpoint_gradients(backbone: Any) -> None:
    if not backbone.supports_gradient_checkpointing:
        raise SettingsError(
            f"encoder.checkpointing is true, but an encoder of kind {backbone.config.model_type!r} cannot "
            f"compute its states again; expected false"
        )
    backbone.gradient_checkpointing_enable({"use_reentrant": False})


def _load_pieces(source: str, transformers: Any, *, is_local: bool) -> PieceEncoder:
    file = Path(source) / "tokenizer.json"
    if file.is_file():
        return PieceEncoder.from_file(file)
    tokenizer = transformers.AutoTokenizer.from_pretrained(
        source, trust_remote_code=False, local_files_only=is_local
    )
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None:
        raise InputError(
            f"encoder {source!r} has a tokenizer of the slow kind, {type(tokenizer).__name__}; expected "
            f"those that can be written as a tokenizer.json"
        )
    return PieceEncoder(backend)
