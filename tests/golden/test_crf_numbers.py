"""The linear chain reproduces the golden numbers of the word tagger's CRF."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from golden.golden_arrays import Arrays, assert_near, load_arrays
from spanwright.decoding.tags import best_paths
from spanwright.parts.beside.crf import LinearChain


@pytest.fixture(scope="module")
def arrays(golden: Path) -> Arrays:
    return load_arrays(golden / "crf.npz")


@pytest.fixture(scope="module")
def chain(arrays: Arrays) -> LinearChain:
    made = LinearChain(arrays["emissions"].shape[2])
    with torch.no_grad():
        made.start.copy_(arrays["start_transitions"])
        made.end.copy_(arrays["end_transitions"])
        made.transitions.copy_(arrays["transitions"])
    return made


def test_scores_partition_and_likelihood(arrays: Arrays, chain: LinearChain) -> None:
    emissions, tags, mask = arrays["emissions"], arrays["tags"], arrays["mask"]
    assert_near(chain.score(emissions, tags, mask), arrays["sequence_score"])
    assert_near(chain.log_partition(emissions, mask), arrays["log_partition"])
    assert_near(chain.log_likelihood(emissions, tags, mask), arrays["log_likelihood"])


def test_mean_losses_per_sentence_and_per_token(arrays: Arrays, chain: LinearChain) -> None:
    likelihood = chain.log_likelihood(arrays["emissions"], arrays["tags"], arrays["mask"])
    assert_near(-likelihood.mean(), arrays["mean_nll_per_sentence"])
    assert_near(-likelihood.sum() / arrays["lengths"].sum(), arrays["mean_nll_per_token"])


def test_best_paths_and_their_scores(arrays: Arrays, chain: LinearChain) -> None:
    paths, scores = best_paths(arrays["emissions"].numpy(), arrays["mask"].numpy(), chain.weights)
    assert torch.equal(torch.from_numpy(paths), arrays["viterbi_path"])
    assert_near(torch.from_numpy(scores), arrays["viterbi_score"])


def test_gradients_of_the_mean_loss_per_sentence(arrays: Arrays, chain: LinearChain) -> None:
    emissions = arrays["emissions"].clone().requires_grad_()
    loss = -chain.log_likelihood(emissions, arrays["tags"], arrays["mask"]).mean()
    leaves = {
        "emissions": emissions,
        "transitions": chain.transitions,
        "start": chain.start,
        "end": chain.end,
    }
    gradients = torch.autograd.grad(loss, list(leaves.values()))
    for name, gradient in zip(leaves, gradients, strict=True):
        assert_near(gradient, arrays[f"grad_mean_nll_{name}"])
