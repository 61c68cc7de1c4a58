"""Tables of vectors in ONNX graphs, such as embeddings, as 8-bit integers with a scale for each row.

Most weights of a small encoder are its embeddings. A row is scaled by its own largest number, so that rare
large vectors cost the others no precision.
"""

from __future__ import annotations

from typing import Any

import numpy as np

_SMALLEST_TABLE = 100_000
"""Numbers of a table that is worth it."""
_LARGEST_INTEGER = 127


def quantise_tables(model: Any) -> None:
    """Change the large tables that nodes of a model look vectors up in."""
    graph = model.graph
    tables = {tensor.name: tensor for tensor in graph.initializer if _is_large(tensor)}
    readers: dict[str, list[Any]] = {name: [] for name in tables}
    for node in graph.node:
        for name in set(node.input) & tables.keys():
            readers[name].append(node)
    for name, table in tables.items():
        if all(_looks_up(node, name) for node in readers[name]):
            _replace(graph, table, readers[name])


def _is_large(tensor: Any) -> bool:
    return (
        len(tensor.dims) == 2
        and tensor.data_type == tensor.FLOAT
        and tensor.dims[0] * tensor.dims[1] >= _SMALLEST_TABLE
    )


def _looks_up(node: Any, table: str) -> bool:
    """Whether a node takes whole rows of a table."""
    axis = next((entry.i for entry in node.attribute if entry.name == "axis"), 0)
    return node.op_type == "Gather" and node.input[0] == table and axis == 0


def _replace(graph: Any, table: Any, readers: list[Any]) -> None:
    from onnx import TensorProto, helper, numpy_helper

    values = numpy_helper.to_array(table)
    scales = np.abs(values).max(axis=1, keepdims=True) / _LARGEST_INTEGER
    integers = np.rint(values / np.maximum(scales, np.finfo(np.float32).tiny)).astype(np.int8)
    name = table.name
    graph.initializer.remove(table)
    for part, stored in (("integers", integers), ("scales", scales)):
        graph.initializer.append(numpy_helper.from_array(stored, f"{name}.{part}"))
    for node in readers:
        index, output = node.input[1], node.output[0]
        integer, number, scale = (f"{output}.{part}" for part in ("integer", "number", "scale"))
        looked_up = [
            helper.make_node("Gather", [f"{name}.integers", index], [integer]),
            helper.make_node("Cast", [integer], [number], to=TensorProto.FLOAT),
            helper.make_node("Gather", [f"{name}.scales", index], [scale]),
            helper.make_node("Mul", [number, scale], [output]),
        ]
        position = list(graph.node).index(node)
        graph.node.remove(node)
        for offset, added in enumerate(looked_up):
            graph.node.insert(position + offset, added)
