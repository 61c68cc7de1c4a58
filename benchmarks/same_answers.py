"""Whether graphs answer as torch does: entities and confidences on real documents, for one model or several.

    python benchmarks/same_answers.py runs/plain/model runs/joint-ib/model --documents test.tsv \
        --most 1000 --json result.json

Each model is exported to a temporary folder and tags the documents with each runtime. The result has the
entities that only one of torch and a runtime finds; the largest difference of a confidence of those that both
find, as the network has it and after calibration; and, where documents are annotated, F1 and CPU time.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from machine import command, machine
from spanwright.arrays import Floats
from spanwright.evaluation import evaluate
from spanwright.formats.files import read
from spanwright.model_files.tagging_model import TaggingModel
from spanwright.predicting.onnx.export import export
from spanwright.predicting.onnx.files import RUNTIMES
from spanwright.predicting.tagger import Tagger, load
from spanwright.text import Document

Spans = dict[tuple[str, int, int, str], float]


def main() -> None:
    """Export, tag, compare, print and keep the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("models", type=Path, nargs="+", help="trained model directories")
    parser.add_argument("--documents", type=Path, nargs="+", required=True, help="files of documents")
    parser.add_argument("--most", type=int, default=1000, help="how many documents, at most")
    parser.add_argument("--json", type=Path, help="write the result here")
    arguments = parser.parse_args()
    read_documents = (document for file in arguments.documents for document in read(file))
    documents = list(islice(read_documents, arguments.most))
    result: dict[str, Any] = {"command": command(), "machine": machine()}
    result["documents"] = len(documents)
    result["models"] = [compared(model, documents) for model in arguments.models]
    print(json.dumps(result, indent=2))
    if arguments.json:
        arguments.json.write_text(json.dumps(result, indent=2) + "\n")


def compared(model: Path, documents: Sequence[Document]) -> dict[str, Any]:
    """What each runtime finds with a model, beside torch."""
    with tempfile.TemporaryDirectory() as folder:
        exported = Path(folder) / "exported"
        export(model, exported)
        found: dict[str, Spans] = {}
        rows: dict[str, Any] = {}
        for runtime in RUNTIMES:
            calibrated = load(exported, runtime).model
            tagger = Tagger(replace(calibrated, calibration=None, scales={}))
            tagger.tag("The first text takes longer.")
            began = time.process_time()
            tagged = list(tagger.tag(documents))
            rows[runtime] = {
                "processor_seconds": round(time.process_time() - began, 2),
                "f1": round(100 * evaluate(documents, tagged).micro.f1, 2),
            }
            found[runtime] = spans(tagged)
            rows[runtime] |= difference(found["torch"], found[runtime], calibrated)
    return {"recipe": tagger.model.settings.name, "runtimes": rows}


def spans(documents: Sequence[Document]) -> Spans:
    """Confidences by document, offsets and type."""
    return {
        (document.id, entity.start, entity.end, entity.type): entity.confidence or 0.0
        for document in documents
        for entity in document.entities
    }


def difference(ours: Spans, theirs: Spans, model: TaggingModel[Any]) -> dict[str, float]:
    """How two answers differ."""
    both = sorted(ours.keys() & theirs.keys())
    pair = [np.array([found[key] for key in both]) for found in (ours, theirs)]
    return {
        "entities": len(theirs),
        "only_torch": len(ours) - len(both),
        "only_runtime": len(theirs) - len(both),
        "largest_difference": largest(*pair),
        "largest_difference_after_calibration": largest(*map(model.reported, pair)),
    }


def largest(one: Floats, other: Floats) -> float:
    """The largest difference of two rows of confidences."""
    return round(float(np.abs(one - other).max(initial=0.0)), 7)


if __name__ == "__main__":
    main()
