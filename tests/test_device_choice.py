"""Which device is chosen, on machines that are pretended."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

import making
import tiny
from spanwright import artifact
from spanwright.devices import chosen_device, gpu_count, shown_device, tagging_load
from spanwright.errors import InputError
from spanwright.predicting.jobs.running import Job
from spanwright.predicting.jobs.shards import Reading
from spanwright.predicting.tagger import Tagger, load
from spanwright.predicting.tagging_options import TaggingOptions, dealt, usual_processes


@pytest.fixture
def two_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: f"card {str(device)[-1]}")


@pytest.fixture
def apple(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model") / "model"
    artifact.save(tiny.model(), folder)
    return folder


def test_auto_is_the_processor_where_there_is_no_gpu() -> None:
    assert chosen_device("auto") == torch.device("cpu")
    assert shown_device(chosen_device()) == "cpu"
    assert gpu_count() == 0


@pytest.mark.usefixtures("two_gpus")
def test_auto_takes_a_gpu_and_says_which() -> None:
    assert chosen_device("auto") == chosen_device("cuda") == torch.device("cuda", 0)
    assert shown_device(chosen_device("cuda:1")) == "cuda:1 (card 1)"
    assert chosen_device("cpu") == torch.device("cpu")


@pytest.mark.usefixtures("apple")
def test_auto_takes_the_gpu_of_an_apple_machine() -> None:
    assert chosen_device("auto") == chosen_device("mps") == torch.device("mps")


@pytest.mark.usefixtures("two_gpus")
def test_several_processes_take_gpus_in_turns_unless_one_is_named(saved: Path) -> None:
    options = TaggingOptions(model=str(saved))
    assert [str(chosen_device("auto", number=number)) for number in range(3)] == [
        "cuda:0",
        "cuda:1",
        "cuda:0",
    ]
    assert dealt(options, 1).device == "cuda:1"
    named = TaggingOptions(model=str(saved), device="cuda:0")
    assert dealt(named, 1).device == "cuda:0"
    assert (usual_processes(options), usual_processes(named)) == (2, 1)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ("gpu", "device 'gpu': expected auto, cpu, cuda, cuda:N or mps"),
        ("cuda:x", "device 'cuda:x': expected auto"),
        ("cpu:0", "device 'cpu:0': expected auto"),
        ("cuda", r"device 'cuda': torch .* is built without CUDA; expected auto or cpu"),
        ("mps", "device 'mps': torch sees no GPU of Apple here"),
    ],
)
def test_a_device_that_is_not_there_is_refused(
    asked: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.version, "cuda", None)
    with pytest.raises(InputError, match=message):
        chosen_device(asked)


@pytest.mark.usefixtures("two_gpus")
def test_a_gpu_beyond_the_last_is_refused() -> None:
    with pytest.raises(InputError, match="device 'cuda:2': expected cuda:0 to cuda:1, auto or cpu"):
        chosen_device("cuda:2")


def test_a_gpu_tags_more_at_once_than_a_processor() -> None:
    processor, gpu = (tagging_load(torch.device(name)) for name in ("cpu", "cuda"))
    assert gpu.pieces > processor.pieces and gpu.characters > processor.characters


def test_a_model_tags_in_16_bits_for_good(saved: Path) -> None:
    documents = making.documents(3)
    exact, lowered = (load(saved, device="cpu", precision=each) for each in ("float32", "bf16"))
    near, far = (
        [entity.confidence for document in tagger.tag(documents) for entity in document.entities]
        for tagger in (exact, lowered)
    )
    assert near != far
    assert far == [entity.confidence for document in lowered.tag(documents) for entity in document.entities]


def test_a_job_may_go_on_with_another_device_but_not_in_another_precision(saved: Path) -> None:
    def identity(**options: str) -> dict[str, object]:
        tagging = TaggingOptions(model=str(saved), **options)  # type: ignore[arg-type]
        return Job(inputs=(), reading=Reading(), tagging=tagging).identity()

    assert identity() == identity(device="cpu")
    assert identity() != identity(precision="bf16")


def test_a_tagger_knows_its_device(saved: Path) -> None:
    assert load(saved).device.type == "cpu"
    assert Tagger(tiny.model()).device.type == "cpu"
