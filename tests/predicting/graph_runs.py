"""Graphs of tests: how they become models, and what these compute."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper


def model_of(
    nodes: Sequence[onnx.NodeProto],
    shape: Sequence[str | int],
    weights: Mapping[str, np.ndarray],
) -> onnx.ModelProto:
    """A model of nodes that read `inputs` of a shape; the last makes what comes out, with as many axes."""
    sizes = [f"size_{axis}" for axis in range(len(shape))]
    made = helper.make_graph(
        list(nodes),
        "graph",
        [helper.make_tensor_value_info("inputs", TensorProto.FLOAT, list(shape))],
        [helper.make_tensor_value_info(nodes[-1].output[0], TensorProto.FLOAT, sizes)],
        [numpy_helper.from_array(values, name) for name, values in weights.items()],
    )
    return helper.make_model(made, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


def run(model: onnx.ModelProto, inputs: np.ndarray) -> np.ndarray:
    """What comes out of a model."""
    onnx.checker.check_model(model)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    found: np.ndarray = session.run(None, {"inputs": inputs})[0]
    return found
