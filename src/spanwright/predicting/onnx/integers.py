"""Graphs in 8-bit integers: products with weights, and what need not be exact beside them.

Weights have a scale for each column; activations have one for each tensor, found when it comes, so that no
text is needed to set them. What onnxruntime cannot do in integers (attention, norms, activation functions)
stays in floats.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

_LARGEST_INTEGER = 127


def quantise_products(model: Any) -> None:
    """Change all products of a tensor with weights, `MatMul` or `Gemm`."""
    graph = model.graph
    weights = {
        tensor.name: tensor
        for tensor in graph.initializer
        if len(tensor.dims) == 2 and tensor.data_type == tensor.FLOAT
    }
    products = _Products(weights)
    nodes = [new for node in graph.node for new in products.changed(node)]
    del graph.node[:]
    graph.node.extend(nodes)
    still_read = {name for node in nodes for name in node.input}
    kept = [tensor for tensor in graph.initializer if tensor.name in still_read]
    del graph.initializer[:]
    graph.initializer.extend([*kept, *products.integers.values()])


def approximate_activations(model: Any) -> None:
    """Let all Gelu functions take the hyperbolic tangent instead of the error function, which costs more.

    They differ by less than 0.001, which is far below what rounding to 8 bits changes.
    """
    from onnx import helper

    for node in model.graph.node:
        if node.op_type == "Gelu":
            del node.attribute[:]
            node.attribute.append(helper.make_attribute("approximate", "tanh"))


def scales_of_columns(weights: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """(columns,): what an integer of each column of weights (rows, columns) stands for.

    Processors without VNNI add the products of two neighbours in 16 bits: with an activation of up to 255,
    two weights of one sign must not exceed 128 together. Seven bits for each would be safe, too, but coarser.
    """
    largest = np.abs(weights).max(axis=0)
    pairs = np.abs(weights[1:] + weights[:-1]).max(axis=0, initial=0)
    scales: npt.NDArray[np.float32] = np.maximum(largest, pairs) / np.float32(_LARGEST_INTEGER)
    return np.maximum(scales, np.finfo(np.float32).tiny)


class _Products:
    """Makes the nodes of products, and keeps what they share."""

    def __init__(self, weights: dict[str, Any]) -> None:
        self.weights = weights
        self.integers: dict[str, Any] = {}
        """Tensors by name: the integers and scales of weights."""
        self.inputs: set[str] = set()
        """Activations that are integers already, for another product."""

    def changed(self, node: Any) -> Iterator[Any]:
        """The nodes that take the place of a node; itself, if it is no product with weights."""
        if node.op_type not in ("MatMul", "Gemm") or node.input[1] not in self.weights:
            yield node
            return
        from onnx import TensorProto, helper

        source, output = node.input[0], node.output[0]
        factor = self._stored(node.input[1], transposed=_is_transposed(node))
        if source not in self.inputs:
            self.inputs.add(source)
            parts = [f"{source}.{part}" for part in ("integers", "scale", "zero")]
            yield helper.make_node("DynamicQuantizeLinear", [source], parts)
        bias = list(node.input[2:])
        found = f"{output}.product" if bias else output
        sums, numbers, scale = (f"{output}.{part}" for part in ("sums", "numbers", "scale"))
        inputs = [f"{source}.integers", f"{factor}.integers", f"{source}.zero"]
        yield helper.make_node("MatMulInteger", inputs, [sums])
        yield helper.make_node("Cast", [sums], [numbers], to=TensorProto.FLOAT)
        yield helper.make_node("Mul", [f"{source}.scale", f"{factor}.scales"], [scale])
        yield helper.make_node("Mul", [numbers, scale], [found])
        if bias:
            yield helper.make_node("Add", [found, *bias], [output])

    def _stored(self, name: str, *, transposed: bool) -> str:
        """The name under which weights are kept as integers, with their scales."""
        from onnx import numpy_helper

        key = f"{name}.transposed" if transposed else name
        if f"{key}.integers" not in self.integers:
            values = numpy_helper.to_array(self.weights[name])
            values = np.ascontiguousarray(values.T) if transposed else values
            scales = scales_of_columns(values)
            integers = np.rint(values / scales).astype(np.int8)
            for part, stored in (("integers", integers), ("scales", scales)):
                self.integers[f"{key}.{part}"] = numpy_helper.from_array(stored, f"{key}.{part}")
        return key


def _is_transposed(node: Any) -> bool:
    """Whether the weights of a product are transposed; the exporter of torch sets no other attribute."""
    return any(entry.name == "transB" and entry.i for entry in node.attribute)
