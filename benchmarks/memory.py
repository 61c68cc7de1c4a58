"""Peak memory of training a recipe on full windows, with generated text and entities.

python benchmarks/memory.py binder --pieces 512 --types 10 --windows 8 --json result.json
"""

from __future__ import annotations

import argparse
import json
import random
import resource
from pathlib import Path

import torch

from machine import command, machine
from spanwright.parts.batch import to_tensors
from spanwright.settings import load_settings
from spanwright.text import Document, Entity, words
from spanwright.training.objective import total, weights_at
from spanwright.training.optimiser import make_optimiser
from spanwright.training.setup import set_up


def main() -> None:
    """Train a few steps and print the peak."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("recipe")
    parser.add_argument("--pieces", type=int, default=512)
    parser.add_argument("--types", type=int, default=10)
    parser.add_argument("--windows", type=int, default=8)
    parser.add_argument("--width-limit", type=int, default=30)
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--set", dest="changes", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--json", type=Path, help="write the result here")
    arguments = parser.parse_args()
    changes = [
        f"windows.pieces={arguments.pieces}",
        f"candidates.width_limit={arguments.width_limit}",
        *arguments.changes,
    ]
    documents = [made_up(number, arguments.types) for number in range(arguments.windows)]
    setup = set_up(load_settings(arguments.recipe, changes), documents, [Document("dev", "dev")], [])
    network, settings = setup.model.network.train(), setup.model.settings
    optimiser = make_optimiser(network.roles(), settings.optimiser)
    weights = weights_at(settings.objective, network.terms, settings.shares, progress=0.5)
    before = peak()
    for step in range(arguments.steps):
        chosen = range(step * arguments.windows, (step + 1) * arguments.windows)
        batch = to_tensors(setup.batch(chosen, (1, 0, step)), network.device)
        torch.autograd.backward(total(network.losses(batch, weights), weights))
        optimiser.step()
        optimiser.zero_grad(set_to_none=True)
    result = {
        "command": command(),
        "machine": machine(),
        "pieces": list(batch.piece_ids.shape),
        "spans": len(batch.spans),
        "megabytes_before_training": before,
        "peak_megabytes": peak(),
    }
    print(json.dumps(result, indent=2))
    if arguments.json:
        arguments.json.write_text(json.dumps(result, indent=2) + "\n")


def made_up(number: int, types: int) -> Document:
    """A document of 2,500 short words, every tenth of which is an entity of some type."""
    generator = random.Random(number)
    text = " ".join("".join(generator.choices("aeioubdfgkln", k=3)) for _ in range(2500))
    document = Document(f"made-{number}", text)
    entities = [
        Entity(start, end, f"Type {generator.randrange(types)}") for start, end in words(document)[::10]
    ]
    return document.with_entities(tuple(entities))


def peak() -> int:
    """Largest resident memory of this process so far, in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


if __name__ == "__main__":
    main()
