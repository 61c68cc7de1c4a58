"""Adapters: what a frozen backbone learns (LoRA), and backbones whose frozen weights are quantised.

A linear map `W` of the backbone stays as it is, and `alpha / rank * B A`, of low rank, learns beside it. What
is asked of peft and bitsandbytes stays in this file; a saved model needs neither of them.
"""

from __future__ import annotations

import copy
import logging
from importlib.util import find_spec
from typing import Any, Literal

import torch
from torch import Tensor, nn

from spanwright.errors import MissingExtraError, SettingsError
from spanwright.settings.encoder import LoraSettings, Quantised

_ADAPTER = "default"
"""The name under which peft knows our only adapter."""
_PACKING = "support_avx512bf16_for_cpu"


def require(lora: LoraSettings | None, quantised: Quantised | None) -> None:
    """Refuse adapters and quantised weights where the packages for them are missing."""
    needed = {"peft": lora, "bitsandbytes": quantised, "accelerate": quantised}
    for package, setting in needed.items():
        if setting is not None and find_spec(package) is None:
            feature = "encoder.lora" if setting is lora else "encoder.quantised"
            raise MissingExtraError(feature, package, "lora")


def loading_options(quantised: Quantised | None) -> dict[str, Any]:
    """What transformers needs to know to load quantised weights."""
    if quantised is None:
        return {}
    from transformers import BitsAndBytesConfig

    # It warns, at every product with 8-bit weights, that numbers are rounded.
    logging.getLogger("bitsandbytes").setLevel(logging.ERROR)
    if quantised == "8bit":
        chosen = BitsAndBytesConfig(load_in_8bit=True)
    else:
        chosen = BitsAndBytesConfig(
            load_in_4bit=True,
            bnb_4bit_quant_type="nf4",
            bnb_4bit_use_double_quant=True,
            bnb_4bit_compute_dtype=torch.float32,
        )
    # Without a map, weights would go to a GPU where there is one, away from the rest of the model.
    return {"quantization_config": chosen, "device_map": {"": "cpu"}}


def adapt(backbone: nn.Module, settings: LoraSettings) -> None:
    """Freeze a backbone and put adapters beside its linear maps."""
    from peft import LoraConfig, inject_adapter_in_model

    config = LoraConfig(
        r=settings.rank,
        lora_alpha=settings.alpha,
        lora_dropout=settings.dropout,
        target_modules=_targets(backbone, settings.targets),
        bias="none",
    )
    inject_adapter_in_model(config, backbone, adapter_name=_ADAPTER)
    for module in backbone.modules():
        # On some CPUs bitsandbytes packs 4-bit weights again when it infers, and they train no longer.
        if hasattr(module, _PACKING):
            setattr(module, _PACKING, False)


def _targets(backbone: nn.Module, chosen: tuple[str, ...] | Literal["auto"]) -> list[str]:
    """Full names of the linear maps that are meant."""
    linear = [name for name, module in backbone.named_modules() if isinstance(module, nn.Linear)]
    if chosen == "auto":
        return linear
    for target in chosen:
        if not any(_is_named(name, target) for name in linear):
            allowed = sorted({name.rpartition(".")[2] for name in linear})
            raise SettingsError(
                f"encoder.lora.targets names {target!r}, but the encoder has no linear map of that name; "
                f"expected {', '.join(allowed)}, or 'auto' for all"
            )
    return [name for name in linear if any(_is_named(name, target) for target in chosen)]


def _is_named(name: str, target: str) -> bool:
    return f".{name}".endswith(f".{target}")


def merged(network: nn.Module) -> nn.Module:
    """A copy with plain linear maps, which answers as the network does; itself if it has plain ones only.

    Quantised weights become 32-bit numbers that say the same.
    """
    if not any(_is_special(module) for module in network.modules()):
        return network
    plain = copy.deepcopy(network)
    with torch.no_grad():
        _make_plain(plain)
    return plain


def _make_plain(module: nn.Module) -> None:
    for name, child in module.named_children():
        if _is_special(child):
            module.register_module(name, _plain(child))
        else:
            _make_plain(child)


def _is_special(module: nn.Module) -> bool:
    return _is_adapted(module) or (isinstance(module, nn.Linear) and not module.weight.is_floating_point())


def _is_adapted(module: nn.Module) -> bool:
    return hasattr(module, "lora_A")


def _plain(module: Any) -> nn.Linear:
    """One linear map that does what a quantised one, an adapted one or both do."""
    from peft.utils.integrations import dequantize_module_weight

    base = module.base_layer if _is_adapted(module) else module
    weight: Tensor = dequantize_module_weight(base).detach()
    if _is_adapted(module):
        weight = weight + module.get_delta_weight(_ADAPTER)
    # Without weights of its own: drawing them would change the random numbers of a run.
    linear = nn.Linear(base.in_features, base.out_features, bias=base.bias is not None, device="meta")
    linear.weight = nn.Parameter(weight)
    if base.bias is not None:
        linear.bias = base.bias
    return linear
