"""Heads in place: attention computes the very same, and moves less."""

from __future__ import annotations

import copy
from collections.abc import Sequence

import numpy as np
import onnx
import pytest
from onnx import helper

from predicting.graph_runs import model_of, run
from spanwright.predicting.onnx.heads import leave_heads_in_place
from spanwright.predicting.onnx.integers import quantise_products

HEADS, SIZE = 4, 8
WIDTH = HEADS * SIZE


def attention(
    *,
    sources: Sequence[str] = ("inputs", "inputs", "inputs"),
    key_order: Sequence[int] = (0, 2, 3, 1),
    bias: bool = True,
    more: Sequence[onnx.NodeProto] = (),
) -> onnx.ModelProto:
    """An attention over inputs in 8-bit integers, as exporters lay it out."""
    generator = np.random.default_rng(1)
    nodes = [helper.make_node("Relu", ["inputs"], ["others"])]
    weights = {
        "shape": np.array([0, 0, HEADS, SIZE], np.int64),
        "flat": np.array([0, 0, WIDTH], np.int64),
        "scale": np.array(SIZE**-0.5, np.float32),
    }
    orders = {"queries": (0, 2, 1, 3), "keys": tuple(key_order), "values": (0, 2, 1, 3)}
    for (name, order), source in zip(orders.items(), sources, strict=True):
        weights[f"{name}.weights"] = generator.normal(size=(WIDTH, WIDTH)).astype(np.float32)
        weights[f"{name}.bias"] = generator.normal(size=WIDTH).astype(np.float32)
        product = helper.make_node("MatMul", [source, f"{name}.weights"], [f"{name}.product"])
        sums = helper.make_node("Add", [f"{name}.product", f"{name}.bias"], [f"{name}.sums"])
        made = f"{name}.sums" if bias else f"{name}.product"
        nodes += [product, *([sums] if bias else [])]
        nodes += [helper.make_node("Reshape", [made, "shape"], [f"{name}.heads"])]
        nodes += [helper.make_node("Transpose", [f"{name}.heads"], [name], perm=order)]
    nodes += [
        helper.make_node("MatMul", ["queries", "keys"], ["products"]),
        helper.make_node("Mul", ["products", "scale"], ["scores"]),
        *more,
        helper.make_node("Softmax", ["scores"], ["shares"], axis=-1),
        helper.make_node("MatMul", ["shares", "values"], ["found"]),
        helper.make_node("Transpose", ["found"], ["moved"], perm=[0, 2, 1, 3]),
        helper.make_node("Reshape", ["moved", "flat"], ["outputs"]),
    ]
    model = model_of(nodes, ["windows", "pieces", WIDTH], weights)
    quantise_products(model)
    return model


def given(windows: int, pieces: int) -> np.ndarray:
    return np.random.default_rng(2).normal(size=(windows, pieces, WIDTH)).astype(np.float32)


def operators(model: onnx.ModelProto) -> list[str]:
    return [node.op_type for node in model.graph.node]


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(("windows", "pieces"), [(1, 1), (1, 6), (3, 1), (3, 7), (7, 3), (4, 4)])
def test_attention_computes_the_same(windows: int, pieces: int, bias: bool) -> None:
    before = attention(bias=bias)
    changed = copy.deepcopy(before)
    assert leave_heads_in_place(changed) == 1
    inputs = given(windows, pieces)
    np.testing.assert_allclose(run(changed, inputs), run(before, inputs), rtol=1e-6, atol=1e-6)


def test_only_the_inputs_and_what_comes_out_are_moved() -> None:
    model = attention()
    leave_heads_in_place(model)
    orders = [list(node.attribute[0].ints) for node in model.graph.node if node.op_type == "Transpose"]
    assert orders == [[1, 0, 2], [0, 2, 1, 3]]
    assert operators(model).count("FusedMatMul") == 2


@pytest.mark.parametrize(
    "model",
    [
        attention(sources=("inputs", "others", "others")),
        attention(key_order=(0, 2, 1, 3)),
        attention(more=[helper.make_node("Identity", ["products"], ["seen"])]),
        attention(more=[helper.make_node("Identity", ["queries.heads"], ["seen"])]),
        attention(more=[helper.make_node("Identity", ["keys"], ["seen"])]),
    ],
    ids=[
        "keys of others",
        "keys in another order",
        "scores read twice",
        "queries read twice",
        "keys read twice",
    ],
)
def test_attention_of_another_form_stays_as_it_is(model: onnx.ModelProto) -> None:
    before = model.SerializeToString()
    assert leave_heads_in_place(model) == 0
    assert model.SerializeToString() == before


def test_what_comes_out_of_the_graph_is_not_turned() -> None:
    model = attention()
    model.graph.output.append(helper.make_tensor_value_info("values.heads", onnx.TensorProto.FLOAT, None))
    assert leave_heads_in_place(model) == 0


def test_inputs_with_windows_and_pieces_in_one_axis_are_not_turned() -> None:
    model = attention()
    sizes = model.graph.input[0].type.tensor_type.shape.dim
    del sizes[0]
    assert leave_heads_in_place(model) == 0


def test_a_graph_without_attention_stays_as_it_is() -> None:
    model = model_of([helper.make_node("Softmax", ["inputs"], ["outputs"])], ["windows", WIDTH], {})
    assert leave_heads_in_place(model) == 0
