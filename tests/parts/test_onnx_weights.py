from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from spanwright.errors import InputError
from spanwright.parts.encoder.conversions import read_weights

MATRIX = np.arange(6, dtype=np.float32).reshape(2, 3)
BIAS = np.ones(3, dtype=np.float32)


def write(file: Path, nodes: list[onnx.NodeProto], **weights: np.ndarray) -> Path:
    stored = [numpy_helper.from_array(values, name.replace("__", ".")) for name, values in weights.items()]
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in ("inputs", "outputs")]
    graph = helper.make_graph(nodes, "graph", ends[:1], ends[1:], stored)
    onnx.save_model(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)]), file)
    return file


@pytest.mark.parametrize("order", [["product", "layer.dense.bias"], ["layer.dense.bias", "product"]])
def test_a_matrix_gets_the_name_of_the_bias_beside_it_and_is_turned(order: list[str], tmp_path: Path) -> None:
    nodes = [
        helper.make_node("MatMul", ["inputs", "val_7"], ["product"]),
        helper.make_node("Add", order, ["outputs"]),
    ]
    found = read_weights(write(tmp_path / "model.onnx", nodes, val_7=MATRIX, layer__dense__bias=BIAS))
    assert found.keys() == {"layer.dense.weight", "layer.dense.bias"}
    assert np.array_equal(found["layer.dense.weight"], MATRIX.T)
    assert np.array_equal(found["layer.dense.bias"], BIAS)


def test_constants_that_are_no_weights_and_a_pooler_are_left_out(tmp_path: Path) -> None:
    nodes = [helper.make_node("Mul", ["inputs", "val_1"], ["outputs"])]
    file = write(tmp_path / "model.onnx", nodes, val_1=BIAS, norm__weight=BIAS, pooler__dense__weight=MATRIX)
    assert read_weights(file).keys() == {"norm.weight"}


def test_a_file_that_is_no_onnx_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "model.onnx"
    file.write_bytes(b"\xff" * 50)
    with pytest.raises(InputError, match=r"model\.onnx: cannot be read as an ONNX file"):
        read_weights(file)
