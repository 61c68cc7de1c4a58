"""The weights of an encoder from its ONNX file, under the names that torch gave them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from spanwright.errors import InputError, MissingExtraError

Array = npt.NDArray[np.generic]


def read_weights(file: Path) -> dict[str, Array]:
    """All weights but a pooler's; the matrices of linear maps have shape (outputs, inputs), as in torch.

    Exporters keep the names of weights that they leave as they are. The matrix of a linear map is transposed
    and loses its name on the way: it gets the name of the bias that is added to its product.
    """
    onnx = _imported_onnx()
    graph = _loaded(file, onnx).graph
    constants = {tensor.name: tensor for tensor in graph.initializer}
    named = [name for name in constants if _is_weight(name)]
    weights = {name: onnx.numpy_helper.to_array(constants[name]) for name in named}
    for matrix, bias in _linear_maps(graph.node, named):
        if matrix in constants:
            array = onnx.numpy_helper.to_array(constants[matrix])
            weights[bias.removesuffix("bias") + "weight"] = np.ascontiguousarray(array.T)
    return weights


def _linear_maps(nodes: Sequence[Any], named: Collection[str]) -> Iterator[tuple[str, str]]:
    """What each product is multiplied with, and the bias that is added to it."""
    factors = {node.output[0]: node.input[1] for node in nodes if node.op_type == "MatMul"}
    biases = {name for name in named if name.endswith(".bias")}
    for node in nodes:
        if node.op_type == "Add":
            for product, bias in (tuple(node.input), tuple(reversed(node.input))):
                if product in factors and bias in biases:
                    yield factors[product], bias


def _is_weight(name: str) -> bool:
    return name.endswith((".weight", ".bias")) and not name.startswith("pooler.")


def _loaded(file: Path, onnx: Any) -> Any:
    try:
        return onnx.load(str(file))
    except OSError:
        raise
    except Exception as error:  # a stranger's file can be wrong in any way
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise InputError(f"{file}: cannot be read as an ONNX file: {reason}") from None


def _imported_onnx() -> Any:
    try:
        import_module("onnx.numpy_helper")
        return import_module("onnx")
    except ImportError:
        raise MissingExtraError("an encoder that comes as an ONNX file", "onnx", "export") from None
