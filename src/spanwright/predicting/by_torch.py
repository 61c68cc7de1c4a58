"""Loading a model for torch: all of its network, or all but an encoder that is a graph.

Exports of older versions hold the encoder alone as a graph: what stands after it is computed by torch.
"""

from __future__ import annotations

from pathlib import Path

import torch

from spanwright import artifact
from spanwright.artifact import TrainedModel
from spanwright.devices import Precision, chosen_device
from spanwright.parts.precision import check_precision, lower
from spanwright.predicting.onnx.encoder_graph import use_encoder_graph
from spanwright.predicting.onnx.files import Runtime


def load_by_torch(
    folder: Path, runtime: Runtime, *, device: str, precision: Precision, threads: int | None
) -> TrainedModel:
    """A model whose network torch runs; `runtime` says what runs its encoder."""
    if threads is not None:
        torch.set_num_threads(threads)
    if runtime != "torch":
        loaded = artifact.load(folder)
        use_encoder_graph(loaded.network, folder, runtime)
        return loaded
    place = chosen_device(device)
    check_precision(precision, place)
    loaded = artifact.load(folder, place)
    lower(loaded.network, precision)
    return loaded
