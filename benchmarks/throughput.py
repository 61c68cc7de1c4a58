"""Words per second of a recipe: one epoch of the real training loop, and tagging from text to entities.

python benchmarks/throughput.py plain --train train.tsv --test test.tsv --documents 1800
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path

from spanwright.formats.files import read
from spanwright.predicting.tagger import Tagger
from spanwright.settings import load_settings
from spanwright.text import words
from spanwright.training.loop import train


def main() -> None:
    """Train for one epoch, tag the test file, print both speeds as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("recipe")
    parser.add_argument("--train", type=Path, required=True)
    parser.add_argument("--test", type=Path, required=True)
    parser.add_argument("--documents", type=int, help="only the first training documents")
    arguments = parser.parse_args()
    documents = read(arguments.train).documents[: arguments.documents]
    test = read(arguments.test).documents
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        settings = load_settings(arguments.recipe, ["training.epochs=1"])
        model = train(settings, train=documents, dev=test[:50], out=run).model
        training = json.loads((run / "timings.jsonl").read_text().splitlines()[0])["words_per_second"]
    tagger = Tagger(model)
    list(tagger.tag(test[:32]))
    started = time.perf_counter()
    list(tagger.tag(test))
    seconds = time.perf_counter() - started
    tagging = sum(len(words(document)) for document in test) / seconds
    print(json.dumps({"training": round(training, 1), "tagging": round(tagging, 1)}))


if __name__ == "__main__":
    main()
