"""Time of a recipe divided by the time of the bare encoder on the same batches.

    python benchmarks/speed.py plain --corpus train.tsv --json result.json

Both sides run in one process, in turns, and the medians are compared. Training is a whole step, from windows
to updated weights; tagging is the whole call, from text to entities. The bare encoder is the one of the
transformers library, untouched, with fused AdamW, and gets its piece tensors for nothing.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModel

from joining import joined
from machine import command, machine
from spanwright import sample
from spanwright.batches.order import training_order
from spanwright.batches.prepare import prepare, window_lengths
from spanwright.formats.files import read
from spanwright.parts.batch import Batch, to_tensors
from spanwright.parts.encoder import pretrained
from spanwright.predicting.tagger import Tagger
from spanwright.settings import load_settings
from spanwright.settings.encoder import EncoderSettings
from spanwright.text import Document
from spanwright.training.objective import total, weights_at
from spanwright.training.optimiser import limit_gradients, make_optimiser
from spanwright.training.setup import Setup, set_up


def main() -> None:
    """Measure and print both ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("recipe")
    parser.add_argument("--corpus", type=Path, default=sample.files()["train"], help="annotated documents")
    parser.add_argument("--documents", type=int, default=400, help="first documents of the corpus to use")
    parser.add_argument("--join", type=int, default=1, help="make one document of so many neighbouring ones")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--set", dest="changes", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--json", type=Path, help="write the result here")
    arguments = parser.parse_args()
    torch.set_flush_denormal(True)
    documents = joined(read(arguments.corpus).documents[: arguments.documents], arguments.join)
    # Dev only has to exist; its text differs so that no training document is removed as a duplicate.
    setup = set_up(
        load_settings(arguments.recipe, arguments.changes), documents, [Document("dev", "dev")], []
    )
    result = {
        "command": command(),
        "machine": machine(),
        "settings": setup.model.settings.model_dump(mode="json"),
        "documents": len(documents),
        **training_figures(setup, arguments.repeats),
        **tagging_figures(setup, documents, arguments.repeats),
    }
    print(json.dumps({key: value for key, value in result.items() if key != "settings"}, indent=2))
    if arguments.json:
        arguments.json.write_text(json.dumps(result, indent=2) + "\n")


def training_figures(setup: Setup, repeats: int) -> dict[str, Any]:
    """Training steps of the recipe against those of its encoder alone."""
    network, split, pieces = setup.model.network.train(), setup.train, setup.model.pieces
    settings = setup.model.settings
    lengths = window_lengths(split.windows, split.documents, pieces.special_count)
    order = training_order(
        lengths,
        seed=1,
        epoch=0,
        windows=settings.training.batch_windows,
        pieces=settings.training.batch_pieces,
    )[:24]
    weights = weights_at(settings.objective, network.terms, settings.shares, progress=0.5)
    draws = [(1, 0, number) for number in range(len(order))]
    device = network.device
    batches = [
        to_tensors(setup.batch(positions, draw), device) for positions, draw in zip(order, draws, strict=True)
    ]
    optimiser = make_optimiser(network.roles(), settings.optimiser)
    encoder = stock_encoder(settings.encoder).train()
    rates = {"encoder": settings.optimiser.learning_rates["encoder"]}
    encoder_only = make_optimiser(
        {"encoder": list(encoder.named_parameters())},
        settings.optimiser.model_copy(update={"learning_rates": rates}),
    )

    def recipe() -> None:
        for positions, draw in zip(order, draws, strict=True):
            batch = to_tensors(setup.batch(positions, draw), device)
            _step(total(network.losses(batch, weights), weights), network, optimiser)

    def bare() -> None:
        for batch in batches:
            _step(_states(encoder, batch).square().mean(), encoder, encoder_only)

    words = sum(int(batch.word_counts.sum()) for batch in batches)
    return _compare("training", recipe, bare, words, repeats)


def tagging_figures(setup: Setup, documents: list[Document], repeats: int) -> dict[str, Any]:
    """Tagging from text to entities against the encoder's forward passes on the same batches."""
    model = setup.model
    model.network.eval()
    tagger = Tagger(model)
    prepared = [prepare(document, model.pieces, model.plan) for document in documents]
    batches = [to_tensors(batch, model.network.device) for batch in tagger.batches(prepared)]
    encoder = stock_encoder(model.settings.encoder).eval()

    @torch.inference_mode()
    def bare() -> None:
        for batch in batches:
            _states(encoder, batch)

    words = sum(int(batch.word_counts.sum()) for batch in batches)
    return _compare("tagging", lambda: list(tagger.tag(documents)), bare, words, repeats)


def stock_encoder(settings: EncoderSettings) -> Any:
    """The encoder of settings as the transformers library makes it."""
    dropout = {} if settings.dropout is None else {"hidden_dropout_prob": settings.dropout}
    source = pretrained.folder(settings.name)
    encoder = AutoModel.from_pretrained(source, dtype=torch.float32, trust_remote_code=False, **dropout)
    # Its pooler would be idle here, and an idle weight has no gradient.
    encoder.pooler = None
    return encoder


def _states(encoder: Any, batch: Batch) -> torch.Tensor:
    output = encoder(input_ids=batch.piece_ids, attention_mask=batch.piece_mask.long())
    states: torch.Tensor = output.last_hidden_state
    return states


def _step(loss: torch.Tensor, module: torch.nn.Module, optimiser: torch.optim.Optimizer) -> None:
    torch.autograd.backward(loss)
    limit_gradients(optimiser, "normalise")
    optimiser.step()
    optimiser.zero_grad(set_to_none=True)


def _compare(
    name: str, recipe: Callable[[], object], bare: Callable[[], object], words: int, repeats: int
) -> dict[str, Any]:
    """Run both in turns; the ratio of medians, its spread over the turns, and words per second."""
    recipe(), bare()
    times = [(_seconds(recipe), _seconds(bare)) for _ in range(repeats)]
    ratios = [ours / theirs for ours, theirs in times]
    ours, theirs = (statistics.median(column) for column in zip(*times, strict=True))
    return {
        f"{name}_ratio": round(ours / theirs, 3),
        f"{name}_ratio_spread": [round(min(ratios), 3), round(max(ratios), 3)],
        f"{name}_words_per_second": round(words / ours),
        f"{name}_bare_encoder_words_per_second": round(words / theirs),
    }


def _seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
