"""Posteriors of entities in the auto-encoders of models, by t-SNE: the first row of Joint-IB's figure 2.

    python benchmarks/claims/posteriors.py A/model B/model --gold dev.jsonl --out posteriors.png

A panel for each model, with the silhouette of types among the posteriors themselves.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from matplotlib.figure import Figure
from sklearn.metrics import silhouette_score

from spanwright import artifact
from spanwright.analysis.projections import neighbour_layout
from spanwright.arrays import Floats32
from spanwright.artifact import TrainedModel
from spanwright.batches.prepare import gold_words
from spanwright.batches.writer import spans_of_golds
from spanwright.errors import InputError
from spanwright.formats.files import read
from spanwright.parts.batch import to_tensors
from spanwright.predicting.tagger import Tagger
from spanwright.text import Document

MOST = 1000
"""Entities that are looked at."""


def main() -> None:
    """Draw the posteriors of each model."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("models", type=Path, nargs="+")
    parser.add_argument("--gold", type=Path, nargs="+", required=True)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    documents = read(*arguments.gold).documents
    figure = Figure(figsize=(5 * len(arguments.models), 5), layout="constrained")
    for path, axes in zip(
        arguments.models, figure.subplots(1, len(arguments.models), squeeze=False)[0], strict=True
    ):
        vectors, types = posteriors_of(artifact.load(path), documents)
        layout = neighbour_layout(vectors, 0)
        for name in sorted(set(types)):
            own = np.array([each == name for each in types])
            axes.scatter(*layout[own].T, s=8, label=name)
        recipe = path.resolve().parent.parent.name
        axes.set_title(f"{recipe}, silhouette {silhouette_of(vectors, types):.2f}", parse_math=False)
        axes.set_xticks([])
        axes.set_yticks([])
        axes.legend(fontsize=8)
    figure.savefig(arguments.out, dpi=120, metadata={"Software": None})


@torch.inference_mode()
def posteriors_of(model: TrainedModel, documents: Sequence[Document]) -> tuple[Floats32, list[str]]:
    """Means of the posteriors of up to `MOST` gold spans, and their types."""
    network, writer = model.network, model.network.writer
    if writer is None:
        raise InputError("the model has no auto-encoders: train it with auxiliaries.span_vae.keep=true")
    prepared = Tagger(model).prepare(documents)
    golds = [gold_words(item, model.labels).rows for item in prepared]
    vectors: list[Floats32] = []
    types: list[str] = []
    for batch in Tagger(model).batches(prepared, golds):
        if not len(batch.golds.span):
            continue
        spans, places = spans_of_golds(batch)
        states = network.encoder(to_tensors(batch, network.device))
        evidence = network.evidence(states, to_tensors(spans, network.device))
        vectors.append(writer.posterior(evidence).numpy())
        for document, first, last in places.tolist():
            rows = golds[document]
            found = rows[(rows[:, 0] == first) & (rows[:, 1] == last)][0]
            types.append(model.labels.types[int(found[2])])
    return np.concatenate(vectors)[:MOST], types[:MOST]


def silhouette_of(vectors: Floats32, types: Sequence[str]) -> float:
    """How much nearer posteriors are to those of their own type than to those of the next one."""
    return float(silhouette_score(vectors, np.array(types)))


if __name__ == "__main__":
    main()
