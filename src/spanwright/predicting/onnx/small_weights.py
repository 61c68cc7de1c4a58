"""Graphs whose weights are stored in 8 bits, and which compute in floats: those of web folders.

Graphs that also compute in 8 bits, as those of the runtime `onnx-int8` do, take half the time in a browser.
But they round each activation to one of 255 numbers, and the last digits of floats, which differ between a
browser and Python, decide to which; every block enlarges that, until borderline entities differ. Where only
weights are rounded, both find the same. See docs/web.md.
"""

from __future__ import annotations

from typing import Any

import numpy as np

_LEAST = 4096
"""Numbers of a weight that is worth 8 bits."""
_LEVELS = 127


def store_in_8_bits(graph: Any) -> None:
    """Store the large weights of an ONNX graph in 8 bits, each row of the last axis with a scale.

    onnxruntime makes floats of them when it loads the graph, and never again.
    """
    nodes, initializers = [], []
    for tensor in graph.initializer:
        if _is_large(tensor):
            made, stored = _rounded(tensor)
            nodes += made
            initializers += stored
        else:
            initializers.append(tensor)
    nodes += graph.node
    _replace(graph.node, nodes)
    _replace(graph.initializer, initializers)


def _is_large(tensor: Any) -> bool:
    return tensor.data_type == tensor.FLOAT and len(tensor.dims) > 1 and int(np.prod(tensor.dims)) >= _LEAST


def _rounded(tensor: Any) -> tuple[list[Any], list[Any]]:
    """The nodes that make a weight, and the two tensors that they make it from."""
    from onnx import helper, numpy_helper

    weight = numpy_helper.to_array(tensor)
    scale = np.abs(weight).max(axis=-1, keepdims=True) / np.float32(_LEVELS)
    scale[scale == 0] = 1
    whole, scales, floats = (f"{tensor.name}: {kind}" for kind in ("whole numbers", "scales", "floats"))
    stored = [
        numpy_helper.from_array(np.rint(weight / scale).astype(np.int8), whole),
        numpy_helper.from_array(scale, scales),
    ]
    made = [
        helper.make_node("Cast", [whole], [floats], to=tensor.FLOAT),
        helper.make_node("Mul", [floats, scales], [tensor.name]),
    ]
    return made, stored


def _replace(field: Any, entries: list[Any]) -> None:
    del field[:]
    field.extend(entries)
