"""Tables of vectors in graphs: as integers they give nearly the same vectors in a quarter of the size."""

from __future__ import annotations

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

from spanwright.predicting.onnx.embedding_tables import quantise_tables

ROWS, SIZE = 1700, 64


@pytest.fixture
def table() -> np.ndarray:
    """Rows of very different size, and one of zeros."""
    generator = np.random.default_rng(0)
    rows = generator.normal(size=(ROWS, SIZE)) * np.exp(generator.normal(size=(ROWS, 1)))
    rows[3] = 0
    return rows.astype(np.float32)


def graph(table: np.ndarray, *nodes: onnx.NodeProto) -> onnx.ModelProto:
    made = helper.make_graph(
        [*nodes, helper.make_node("Gather", ["table", "ids"], ["vectors"], axis=0)],
        "graph",
        [helper.make_tensor_value_info("ids", TensorProto.INT64, ["a", "b"])],
        [helper.make_tensor_value_info("vectors", TensorProto.FLOAT, ["a", "b", SIZE])],
        [numpy_helper.from_array(table, "table")],
    )
    return helper.make_model(made, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


def vectors(model: onnx.ModelProto, ids: np.ndarray) -> np.ndarray:
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    found: np.ndarray = session.run(None, {"ids": ids})[0]
    return found


def test_each_vector_is_off_by_half_a_step_of_its_own_scale_at_most(table: np.ndarray) -> None:
    model = graph(table)
    quantise_tables(model)
    onnx.checker.check_model(model)
    ids = np.arange(ROWS).reshape(-1, 2)
    wrong = np.abs(vectors(model, ids).reshape(ROWS, SIZE) - table).max(axis=1)
    assert wrong.max() > 0
    assert (wrong <= np.abs(table).max(axis=1) / 127 * 0.501).all()


def test_a_table_becomes_a_quarter_of_its_size(table: np.ndarray) -> None:
    model = graph(table)
    before = model.ByteSize()
    quantise_tables(model)
    assert model.ByteSize() < 0.28 * before


def test_a_small_table_stays_as_it_is(table: np.ndarray) -> None:
    model = graph(table[:100])
    before = model.SerializeToString()
    quantise_tables(model)
    assert model.SerializeToString() == before


def test_a_table_that_is_also_read_otherwise_stays_as_it_is(table: np.ndarray) -> None:
    model = graph(table, helper.make_node("Relu", ["table"], ["other"]))
    before = model.SerializeToString()
    quantise_tables(model)
    assert model.SerializeToString() == before
