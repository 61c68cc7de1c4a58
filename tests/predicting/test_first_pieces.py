"""First pieces apart: a graph computes the same, but what is large in them costs others no precision."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import helper

from predicting.graph_runs import model_of, run
from spanwright.predicting.onnx.first_pieces import take_first_pieces_apart
from spanwright.predicting.onnx.integers import quantise_products

SIZE, WIDE = 16, 64


def graph(*, joined: bool = False) -> onnx.ModelProto:
    """A feed-forward network with biases, and the sum with its inputs; if joined, they join inside of it."""
    generator = np.random.default_rng(4)
    nodes = [
        helper.make_node("MatMul", ["inputs", "widen"], ["wide"]),
        helper.make_node("Add", ["wide", "wide.bias"], ["biased"]),
        helper.make_node("Add", ["biased", "wide"], ["active"])
        if joined
        else helper.make_node("Relu", ["biased"], ["active"]),
        helper.make_node("MatMul", ["active", "narrow"], ["narrowed"]),
        helper.make_node("Add", ["narrowed", "narrow.bias"], ["made"]),
        helper.make_node("Add", ["made", "inputs"], ["outputs"]),
    ]
    shapes = {"widen": (SIZE, WIDE), "wide.bias": WIDE, "narrow": (WIDE, SIZE), "narrow.bias": SIZE}
    weights = {name: generator.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
    return model_of(nodes, ["windows", "pieces", SIZE], weights)


@pytest.fixture
def inputs() -> np.ndarray:
    """The first piece of each window is fifty times as large as the others."""
    made = np.random.default_rng(5).normal(size=(4, 9, SIZE)).astype(np.float32)
    made[:, 0] *= 50
    return made


@pytest.mark.parametrize("pieces", [1, 2, 9])
def test_the_graph_computes_the_same(inputs: np.ndarray, pieces: int) -> None:
    before, changed = graph(), graph()
    assert take_first_pieces_apart(changed, {"inputs": inputs}) == 1
    inputs = inputs[:, :pieces]
    np.testing.assert_allclose(run(changed, inputs), run(before, inputs), rtol=1e-5, atol=1e-5)


def test_other_pieces_are_rounded_far_less_than_without(inputs: np.ndarray) -> None:
    exact, together, apart = run(graph(), inputs), graph(), graph()
    take_first_pieces_apart(apart, {"inputs": inputs})
    wrong = []
    for model in (together, apart):
        quantise_products(model)
        wrong.append(np.abs(run(model, inputs) - exact)[:, 1:].mean())
    assert wrong[1] < 0.1 * wrong[0]


def test_a_network_whose_first_pieces_are_like_the_others_stays_as_it_is(inputs: np.ndarray) -> None:
    model = graph()
    before = model.SerializeToString()
    inputs[:, 0] /= 50
    assert take_first_pieces_apart(model, {"inputs": inputs}) == 0
    assert model.SerializeToString() == before


def test_a_network_that_something_joins_inside_stays_as_it_is(inputs: np.ndarray) -> None:
    model = graph(joined=True)
    before = model.SerializeToString()
    assert take_first_pieces_apart(model, {"inputs": inputs}) == 0
    assert model.SerializeToString() == before
