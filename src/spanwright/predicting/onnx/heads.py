"""Attention in graphs of 8-bit integers that reads queries, keys and values where they lie.

Products make them as (windows, pieces, heads, size), attention reads (windows, heads, pieces, size), and to
move all three there takes nearly as long as attention itself. But if pieces come first, (pieces, windows,
heads, size), a product of onnxruntime can do that on its way. So what the products read is turned instead:
once for all three, in rows that are much longer, and in 8-bit integers.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

_MOVED = [0, 2, 1, 3]
_MOVED_AND_TURNED = [0, 2, 3, 1]
_PIECES_FIRST = [1, 0, 2]
_DOMAIN = "com.microsoft"


@dataclass(frozen=True, slots=True)
class _Moved:
    """Queries, keys or values: the nodes from the product that makes them to where they are moved."""

    product: Any
    reshape: Any
    transpose: Any
    size: int
    """Numbers of a head."""


@dataclass(frozen=True, slots=True)
class _Attention:
    """One attention, with all nodes that change."""

    scores: Any
    """The product of queries and keys."""
    sums: Any
    """The product of weights and values."""
    moved: tuple[_Moved, _Moved, _Moved]


def leave_heads_in_place(model: Any) -> int:
    """Change every attention that has the usual form, in a graph of integers, and count them."""
    from onnx import helper, numpy_helper

    graph = model.graph
    search = _Search(model)
    found = [each for node in graph.node if (each := search.attention(node)) is not None]
    turned: dict[str, str] = {}
    for attention in found:
        for part in attention.moved:
            source = part.product.input[0]
            part.product.input[0] = turned.setdefault(source, f"{source}.pieces_first")
            part.reshape.input[1] = f"heads.of_{part.size}"
            del part.reshape.attribute[:]
            graph.node.remove(part.transpose)
        queries, keys, values = (part.reshape.output[0] for part in attention.moved)
        _fuse(attention.scores, [queries, keys], transBatchA=1, transBatchB=1, transB=1)
        _fuse(attention.sums, [attention.sums.input[0], values], transBatchB=1)
    for size in {part.size for attention in found for part in attention.moved}:
        # Zero: as many as before.
        shape = np.array([0, 0, -1, size], np.int64)
        graph.initializer.append(numpy_helper.from_array(shape, f"heads.of_{size}"))
    for position, node in reversed(list(enumerate(graph.node, start=1))):
        for name in turned.keys() & set(node.output):
            graph.node.insert(
                position, helper.make_node("Transpose", [name], [turned[name]], perm=_PIECES_FIRST)
            )
    if found and all(entry.domain != _DOMAIN for entry in model.opset_import):
        model.opset_import.append(helper.make_opsetid(_DOMAIN, 1))
    return len(found)


def _fuse(product: Any, inputs: list[str], **attributes: int) -> None:
    """Let a product read its inputs in another order."""
    from onnx import helper

    product.op_type, product.domain = "FusedMatMul", _DOMAIN
    product.input[:] = inputs
    product.attribute.extend(helper.make_attribute(name, value) for name, value in attributes.items())


class _Search:
    """Finds attentions among the nodes of a graph."""

    def __init__(self, model: Any) -> None:
        graph = model.graph
        self._axes = _numbers_of_axes(model)
        self._makers = {name: node for node in graph.node for name in node.output}
        self._weights = {tensor.name: tensor for tensor in graph.initializer}
        self._readers = Counter(name for node in graph.node for name in node.input)
        self._readers.update(entry.name for entry in graph.output)
        self._products_of = {node.input[0]: node for node in graph.node if node.op_type == "MatMul"}

    def attention(self, softmax: Any) -> _Attention | None:
        """The attention around a softmax; None if it has another form."""
        if softmax.op_type != "Softmax":
            return None
        scores = self._before(softmax, "Add", "Mul")
        sums = self._products_of.get(softmax.output[0])
        if scores is None or scores.op_type != "MatMul" or sums is None:
            return None
        queries = self._moved(scores.input[0], _MOVED)
        keys = self._moved(scores.input[1], _MOVED_AND_TURNED)
        values = self._moved(sums.input[1], _MOVED)
        if queries is None or keys is None or values is None:
            return None
        sources = {part.product.input[0] for part in (queries, keys, values)}
        # A source of two axes, windows and pieces in one, could not be turned.
        fits = len(sources) == 1 and self._axes.get(*sources) == len(_PIECES_FIRST)
        return _Attention(scores, sums, (queries, keys, values)) if fits else None

    def _moved(self, name: str, order: list[int]) -> _Moved | None:
        transpose = self._makers.get(name) if self._readers[name] == 1 else None
        if (
            transpose is None
            or transpose.op_type != "Transpose"
            or list(transpose.attribute[0].ints) != order
        ):
            return None
        reshape = self._before(transpose)
        if reshape is None or reshape.op_type != "Reshape":
            return None
        product = self._before(reshape, "Add", "Mul", "Cast")
        size = self._last_size(reshape.input[1])
        if product is None or product.op_type != "MatMulInteger" or size is None:
            return None
        return _Moved(product, reshape, transpose, size)

    def _before(self, node: Any, *passed: str) -> Any:
        """The node that makes what a node reads first, past some; None if others read it."""
        found = self._makers.get(node.input[0])
        while found is not None and self._readers[found.output[0]] == 1 and found.op_type in passed:
            found = self._makers.get(found.input[0])
        return found if found is not None and self._readers[found.output[0]] == 1 else None

    def _last_size(self, name: str) -> int | None:
        """The last of a list of sizes, if it is known."""
        from onnx import numpy_helper

        maker = self._makers.get(name)
        if maker is not None and maker.op_type == "Concat":
            name = maker.input[-1]
        known = self._weights.get(name)
        return int(numpy_helper.to_array(known)[-1]) if known is not None else None


def _numbers_of_axes(model: Any) -> dict[str, int]:
    """How many axes tensors have, as far as it follows from the inputs of a graph."""
    from onnx import shape_inference

    tensors = shape_inference.infer_shapes(model).graph.value_info
    kinds = ((entry.name, entry.type.tensor_type) for entry in tensors)
    return {name: len(kind.shape.dim) for name, kind in kinds if kind.HasField("shape")}
