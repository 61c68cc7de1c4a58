"""Products with weights in 8-bit integers: near those of floats, and never beyond what sums can hold."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto, helper

from predicting.graph_runs import model_of, run
from spanwright.predicting.onnx.integers import approximate_activations, quantise_products, scales_of_columns

ROWS, COLUMNS = 48, 32


@pytest.fixture
def weights() -> np.ndarray:
    """Columns of very different size, and one of zeros."""
    generator = np.random.default_rng(1)
    made = generator.normal(size=(ROWS, COLUMNS)) * np.exp(generator.normal(size=COLUMNS))
    made[:, 5] = 0
    return made.astype(np.float32)


@pytest.fixture
def inputs() -> np.ndarray:
    return np.random.default_rng(2).normal(size=(3, 7, ROWS)).astype(np.float32)


def graph(nodes: list[onnx.NodeProto], weights: np.ndarray, *, dimensions: int = 3) -> onnx.ModelProto:
    names = ["a", "b"][: dimensions - 1]
    return model_of(nodes, [*names, ROWS], {"weights": weights, "bias": np.arange(COLUMNS, dtype=np.float32)})


def rounded_product(inputs: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The same in floats: activations rounded to 256 steps from their smallest to their largest number."""
    low, high = min(inputs.min(), 0), max(inputs.max(), 0)
    step = (high - low) / 255
    zero = np.rint(-low / step)
    steps = np.clip(np.rint(inputs / step) + zero, 0, 255) - zero
    scales = scales_of_columns(weights)
    return step * scales * (steps @ np.rint(weights / scales))


def test_a_product_is_that_of_rounded_numbers(weights: np.ndarray, inputs: np.ndarray) -> None:
    model = graph([helper.make_node("MatMul", ["inputs", "weights"], ["outputs"])], weights)
    quantise_products(model)
    found = run(model, inputs)
    np.testing.assert_allclose(found, rounded_product(inputs, weights), rtol=1e-4, atol=1e-4)
    assert 0 < np.abs(found - inputs @ weights).max() < 0.02 * np.abs(inputs @ weights).max()


def test_a_product_with_transposed_weights_and_a_bias_is_the_same(
    weights: np.ndarray, inputs: np.ndarray
) -> None:
    node = helper.make_node("Gemm", ["inputs", "weights", "bias"], ["outputs"], transB=1)
    model = graph([node], np.ascontiguousarray(weights.T), dimensions=2)
    quantise_products(model)
    wanted = rounded_product(inputs[0], weights) + np.arange(COLUMNS)
    np.testing.assert_allclose(run(model, inputs[0]), wanted, rtol=1e-4, atol=1e-4)


def test_two_products_of_one_tensor_round_it_once(weights: np.ndarray, inputs: np.ndarray) -> None:
    nodes = [
        helper.make_node("MatMul", ["inputs", "weights"], ["one"]),
        helper.make_node("MatMul", ["inputs", "weights"], ["other"]),
        helper.make_node("Add", ["one", "other"], ["outputs"]),
    ]
    model = graph(nodes, weights)
    quantise_products(model)
    kinds = [node.op_type for node in model.graph.node]
    assert kinds.count("DynamicQuantizeLinear") == 1 and kinds.count("MatMulInteger") == 2
    stored = [tensor.name for tensor in model.graph.initializer]
    assert len(stored) == len(set(stored))
    np.testing.assert_allclose(run(model, inputs), 2 * rounded_product(inputs, weights), rtol=1e-4, atol=1e-4)


def test_a_product_of_two_activations_stays_as_it_is(weights: np.ndarray) -> None:
    nodes = [
        helper.make_node("Relu", ["weights"], ["more"]),
        helper.make_node("MatMul", ["inputs", "more"], ["outputs"]),
    ]
    model = graph(nodes, weights)
    quantise_products(model)
    assert [node.op_type for node in model.graph.node] == ["Relu", "MatMul"]


def test_an_activation_function_is_approximated_to_a_thousandth() -> None:
    made = helper.make_graph(
        [helper.make_node("Gelu", ["inputs"], ["outputs"])],
        "graph",
        [helper.make_tensor_value_info("inputs", TensorProto.FLOAT, ["a"])],
        [helper.make_tensor_value_info("outputs", TensorProto.FLOAT, ["a"])],
    )
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
    inputs = np.linspace(-8, 8, 4001, dtype=np.float32)
    exact = run(model, inputs)
    approximate_activations(model)
    assert 1e-5 < np.abs(run(model, inputs) - exact).max() < 1e-3


def test_weights_become_a_quarter_of_their_size() -> None:
    large = np.random.default_rng(3).normal(size=(ROWS, 4000)).astype(np.float32)
    node = helper.make_node("MatMul", ["inputs", "weights"], ["outputs"])
    model = graph([node], large)
    before = model.ByteSize()
    quantise_products(model)
    assert model.ByteSize() < 0.3 * before


@given(st.integers(1, 9), st.integers(0, 2**32 - 1), st.sampled_from([1e-30, 1.0, 1e6]))
def test_two_neighbours_of_a_column_never_exceed_what_sixteen_bits_hold(
    rows: int, seed: int, size: float
) -> None:
    weights = (size * np.random.default_rng(seed).standard_cauchy(size=(rows, 3))).astype(np.float32)
    integers = np.rint(weights / scales_of_columns(weights)).astype(np.int64)
    assert np.abs(integers).max() <= 127
    sums = 255 * (integers[1:] + integers[:-1])
    assert sums.size == 0 or (sums.min() >= -(2**15) and sums.max() < 2**15)
