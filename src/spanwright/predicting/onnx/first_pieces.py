"""Feed-forward networks in ONNX graphs that take the first piece of each window apart from the others.

In the lower blocks of encoders like BERT, some activations of the first special piece are several times as
large as all others. With one scale for a tensor, all pieces would pay for it in precision; apart, each has
its own. Where that brings nothing, as in higher blocks, networks stay whole: apart they take a bit longer.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

_BORDERS = {"pieces.start": 0, "pieces.second": 1, "pieces.end": 2**31 - 1, "pieces.axis": 1}
_PARTS = {"first": ("pieces.start", "pieces.second"), "others": ("pieces.second", "pieces.end")}


_WORTH_IT = 2.0
"""How many times as wide the range of a tensor must be with the first pieces as without them."""


def take_first_pieces_apart(model: Any, inputs: Mapping[str, npt.NDArray[Any]]) -> int:
    """Change feed-forward networks of a graph of (windows, pieces, size) tensors, and count those changed.

    `inputs` of the graph, by name, show where it is worth it.
    """
    from onnx import numpy_helper

    graph = model.graph
    networks = _feed_forward_networks(graph)
    if networks:
        wider = _times_as_wide(
            model, [name for network in networks for name in _products_read(network)], inputs
        )
        networks = [
            each for each in networks if max(wider[name] for name in _products_read(each)) >= _WORTH_IT
        ]
    for network in networks:
        _split(graph, network)
    if networks:
        for name, value in _BORDERS.items():
            graph.initializer.append(numpy_helper.from_array(np.array([value], np.int64), name))
    return len(networks)


def _products_read(network: list[Any]) -> list[str]:
    """The tensors that the products of a network read."""
    return [node.input[0] for node in network if node.op_type == "MatMul"]


def _times_as_wide(model: Any, names: list[str], inputs: Mapping[str, npt.NDArray[Any]]) -> dict[str, float]:
    """How many times as wide the range of each tensor is with the first pieces as without them."""
    import onnxruntime
    from onnx import TensorProto, helper

    shown = copy.deepcopy(model)
    shown.graph.output.extend(helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in names)
    session = onnxruntime.InferenceSession(shown.SerializeToString(), providers=["CPUExecutionProvider"])
    found = session.run(names, dict(inputs))
    return {name: _range(tensor) / _range(tensor[:, 1:]) for name, tensor in zip(names, found, strict=True)}


def _range(tensor: npt.NDArray[np.float32]) -> float:
    """How much the integers of a tensor have to cover, which always includes zero."""
    smallest = np.finfo(np.float32).tiny
    return float(tensor.max(initial=0) - tensor.min(initial=0) + smallest)


def _feed_forward_networks(graph: Any) -> list[list[Any]]:
    """The nodes of each network: from a product that widens to one that narrows again, and its bias."""
    sizes = {tensor.name: tuple(tensor.dims) for tensor in graph.initializer}
    readers: dict[str, list[Any]] = {}
    for node in graph.node:
        for name in node.input:
            readers.setdefault(name, []).append(node)
    found = []
    for node in graph.node:
        if _product(node, sizes) == "widens":
            network = _followed(node, readers, sizes)
            if any(_product(each, sizes) == "narrows" for each in network):
                found.append(network)
    return found


def _product(node: Any, sizes: dict[str, tuple[int, ...]]) -> str:
    """Whether a node is a product with weights that widens or narrows; empty if neither."""
    shape = sizes.get(node.input[1], ()) if node.op_type == "MatMul" else ()
    if len(shape) != 2 or shape[0] == shape[1]:
        return ""
    return "widens" if shape[0] < shape[1] else "narrows"


def _followed(first: Any, readers: dict[str, list[Any]], sizes: dict[str, tuple[int, ...]]) -> list[Any]:
    """A node and those behind it, as long as there is one way only and nothing but weights joins it."""
    network = [first]
    narrow = False
    while len(following := readers.get(network[-1].output[0], [])) == 1:
        node, known = following[0], {*sizes, network[-1].output[0]}
        if not set(node.input) <= known or (narrow and node.op_type != "Add"):
            break
        network.append(node)
        if narrow:
            break
        narrow = _product(node, sizes) == "narrows"
    return network


def _split(graph: Any, network: list[Any]) -> None:
    from onnx import helper

    source, output = network[0].input[0], network[-1].output[0]
    nodes, ends = [], []
    for part, (start, end) in _PARTS.items():
        renamed = {source: f"{network[0].output[0]}.{part}.source"}
        nodes.append(helper.make_node("Slice", [source, start, end, "pieces.axis"], [renamed[source]]))
        for node in network:
            twin = copy.deepcopy(node)
            renamed[node.output[0]] = f"{node.output[0]}.{part}"
            twin.name = renamed[node.output[0]]
            twin.input[:] = [renamed.get(name, name) for name in node.input]
            twin.output[:] = [renamed[node.output[0]]]
            nodes.append(twin)
        ends.append(renamed[output])
    nodes.append(helper.make_node("Concat", ends, [output], axis=1))
    position = list(graph.node).index(network[-1])
    for offset, node in enumerate(nodes, start=1):
        graph.node.insert(position + offset, node)
    for node in network:
        graph.node.remove(node)
