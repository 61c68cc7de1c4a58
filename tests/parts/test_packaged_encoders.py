"""The real packages: converted encoders have the states of the files that they come from.

Packages are looked for in the folder SPANWRIGHT_PACKAGES (default `../shared/packages`), then where they are
installed; tests are skipped where they are absent.
"""

from __future__ import annotations

import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModel, AutoTokenizer

from places import shared_folder
from spanwright.errors import MissingPackageError
from spanwright.parts.encoder.backbone import load_pretrained
from spanwright.parts.encoder.pretrained import _find, prepare_encoder

pytestmark = pytest.mark.slow

SENTENCES = [
    "Familial breast cancer is linked to mutations of BRCA1.",
    "Short.",
    "Deficiency of the β-chain (type 2a), naïve or not, was seen in 7 of 12.",
]


def sources(name: str) -> tuple[Path | None, list[Path]]:
    """Where packages may be, and the files of an encoder in them."""
    given = shared_folder("SPANWRIGHT_PACKAGES", "packages")
    source = given if given.is_dir() else None
    try:
        return source, _find(name, source)
    except MissingPackageError as error:
        pytest.skip(f"{error}, or set SPANWRIGHT_PACKAGES")


def runnable(name: str, files: list[Path], folder: Path) -> Path:
    """The ONNX file that weights come from."""
    if name == "gte-small":
        return files[0]
    with tarfile.open(files[0]) as archive:
        archive.extractall(folder, filter="data")
    return folder / "e5-small.onnx"


def graph_states(session: Any, inputs: Any) -> np.ndarray:
    wanted = {item.name for item in session.get_inputs()}
    found: np.ndarray = session.run(["last_hidden_state"], {k: v for k, v in inputs.items() if k in wanted})[
        0
    ]
    return found


@pytest.mark.parametrize("name", ["gte-small", "e5-small"])
def test_a_converted_encoder_has_the_states_of_the_onnx_file(name: str, tmp_path: Path) -> None:
    runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    source, files = sources(name)
    prepare_encoder(name, tmp_path / "made", source)
    backbone, _ = load_pretrained(str(tmp_path / "made"))
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "made")
    session = runtime.InferenceSession(runnable(name, files, tmp_path), providers=["CPUExecutionProvider"])
    for sentence in SENTENCES:
        inputs = tokenizer(sentence, return_tensors="np")
        with torch.no_grad():
            found = backbone.eval()(input_ids=torch.from_numpy(inputs["input_ids"])).last_hidden_state
        np.testing.assert_allclose(found.numpy(), graph_states(session, inputs), rtol=0, atol=1e-4)


def test_the_vocabulary_of_e5_small_fits_its_weights(tmp_path: Path) -> None:
    """The package has no vocabulary: that BERT's is right shows in pieces of similar meaning."""
    source, _ = sources("e5-small")
    prepare_encoder("e5-small", tmp_path / "made", source)
    backbone, pieces = load_pretrained(str(tmp_path / "made"))
    table = torch.nn.functional.normalize(backbone.get_parameter("embeddings.word_embeddings.weight"), dim=-1)
    nearest = (table @ table[pieces.tokenizer.token_to_id("monday")]).topk(6).indices.tolist()
    assert {pieces.tokenizer.id_to_token(piece) for piece in nearest} <= {
        f"{day}day" for day in ("mon", "tues", "wednes", "thurs", "fri", "satur", "sun")
    }


def test_mpnet_base_brings_related_sentences_together(tmp_path: Path) -> None:
    source, _ = sources("mpnet-base")
    prepare_encoder("mpnet-base", tmp_path / "made", source)
    model = AutoModel.from_pretrained(tmp_path / "made").eval()
    assert model.config.hidden_size == 768
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "made")
    sentences = ["A tumour of the breast.", "Cancer in the mammary gland.", "The train to Paris is late."]
    with torch.no_grad():
        means = [model(**tokenizer(s, return_tensors="pt")).last_hidden_state.mean(dim=1) for s in sentences]
    near, far = (torch.cosine_similarity(means[0], means[other]).item() for other in (1, 2))
    assert near > 0.5 > 0.2 > far
