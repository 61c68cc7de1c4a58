"""Promise 36: whatever a network does on a GPU, no tensor of another device is among its own.

And the processor waits for the GPU as often for many windows as for few: `docs/devices.md` tells how often.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorDeviceMismatchError

import making
import tiny
from pretended_gpu import GPU, GpuTensor, PretendedGpu, pretended_gpu
from spanwright import artifact
from spanwright.analysis import inspect_spans
from spanwright.parts.batch import to_tensors
from spanwright.predicting.softening import Teachers
from spanwright.predicting.tagger import Tagger
from spanwright.recipes import recipe_names
from spanwright.settings import Settings, load_settings
from spanwright.text import Document
from spanwright.training import processes
from spanwright.training.loop import RunResult, train
from spanwright.training.objective import weights_at
from spanwright.training.setup import set_up

CHANGES = ("windows.pieces=64", "windows.overlap=6", "candidates.width_limit=4", "training.epochs=1")
VARIANTS = {
    "binder/prototypes": ("scorer.types=prototypes", "scorer.threshold=tuned"),
    "bundling/crf": ("auxiliaries.tagger.kind=crf", "output=tags"),
    "plain/bilstm": ("transforms=[{kind='bilstm', hidden=8}]",),
    "plain/sigmoid": ("scorer={kind='sigmoid'}", "candidates.pruning.size=8"),
    "joint-ib": making.SMALL_JOINT_IB,
}
"""What is changed of recipes, so that every part comes to run on the GPU."""
NAMES = sorted({*recipe_names(), *VARIANTS})
MOST_WAITS = 50
"""For a batch, at most. Nearly all have one in both; the writer and paths of tags have most."""


@pytest.fixture(autouse=True)
def gpu_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "chosen_device", lambda *_, **__: GPU)


def chosen(name: str, encoder: str) -> tuple[Settings, list[Document], list[Document]]:
    """Settings of a recipe or variant, and what it is trained and scored on."""
    recipe = name.partition("/")[0]
    changes = [f"encoder.name={encoder}", *CHANGES, *VARIANTS.get(name, ())]
    settings = load_settings(recipe, changes)
    flat = settings.output == "tags"
    documents = making.with_concepts(making.documents(6, flat=flat))
    dev = making.documents(2, prefix="dev", flat=flat)
    if settings.corpora is None:
        return settings, documents, dev
    settings = load_settings(recipe, [*changes, "corpora.target=['first']", "corpora.map=auto"])
    documents = [*making.of_corpus(documents[:3], "first"), *making.of_corpus(documents[3:], "second")]
    return settings, documents, making.of_corpus(dev, "first")


def trained(name: str, encoder: str, out: Path) -> RunResult:
    settings, documents, dev = chosen(name, encoder)
    return train(settings, train=documents, dev=dev, out=out)


@pytest.mark.parametrize("name", NAMES)
def test_a_recipe_trains_scores_and_tags_on_a_gpu_alone(name: str, tiny_encoder: str, tmp_path: Path) -> None:
    texts = making.documents(2, prefix="text")
    with pretended_gpu():
        result = trained(name, tiny_encoder, tmp_path / "run")
        assert all(isinstance(each, GpuTensor) for each in result.model.network.parameters())
        tagged = list(result.tag(texts))
    assert [each.entities for each in tagged] == [
        each.entities for each in Tagger(artifact.load(tmp_path / "run" / "model")).tag(texts)
    ]


def waits(gpu: PretendedGpu) -> Counter[str]:
    """What the processor has waited for since this was last asked."""
    found, gpu.waits = gpu.waits, Counter()
    return found


@pytest.mark.parametrize("name", NAMES)
def test_the_processor_waits_no_more_often_for_many_windows(name: str, tiny_encoder: str) -> None:
    settings, documents, dev = chosen(name, tiny_encoder)
    setup = set_up(settings, documents, dev, [])
    model, told = setup.model, {"learning": [], "tagging": []}
    terms = weights_at(model.settings.objective, model.network.terms, model.settings.shares, progress=0.9)
    with pretended_gpu() as gpu:
        network = tiny.eager(model.network).to(GPU)
        for size in (2, 6):
            batch = to_tensors(setup.batch(range(size), (1, 0, 0)), GPU)
            waits(gpu)
            losses = network.train().losses(batch, terms)
            torch.autograd.backward(sum(losses.values(), start=torch.zeros((), device=GPU)))
            told["learning"].append(waits(gpu))
            with torch.inference_mode():
                network.eval().predict(batch)
            told["tagging"].append(waits(gpu))
    for few, many in told.values():
        assert few == many and many.total() <= MOST_WAITS


def test_new_types_soft_targets_and_analysis_are_on_the_gpu(tiny_encoder: str, tmp_path: Path) -> None:
    documents = making.documents(2, prefix="text")
    with pretended_gpu():
        result = trained("binder", tiny_encoder, tmp_path / "run")
        list(result.with_types({"Drug": "names of drugs"}).tag(documents))
        list(Teachers([result.model]).soften(documents))
        inspect_spans(result.model, documents, spans=10)


def test_a_tensor_that_stayed_on_the_processor_is_found(tiny_encoder: str) -> None:
    settings, documents, dev = chosen("plain", tiny_encoder)
    setup = set_up(settings, documents, dev, [])
    batch = setup.batch(range(2), (1, 0, 0))
    with pretended_gpu():
        network = setup.model.network.to(GPU).eval()
        assert network.spans is not None
        network.spans.scorer.classes.type_of = network.spans.scorer.classes.type_of.cpu()
        with pytest.raises(FakeTensorDeviceMismatchError):
            network.predict(to_tensors(batch, GPU))
