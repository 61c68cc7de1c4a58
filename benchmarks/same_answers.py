"""Whether graphs answer as torch does: entities and confidences on real documents, for one model or several.

    python benchmarks/same_answers.py runs/plain/model runs/joint-ib/model --documents test.tsv \
        --most 1000 --json result.json

Each model is exported to a temporary folder and tags the documents with each runtime. Told are the entities
that only one of torch and a runtime finds, the largest difference of a confidence of those that both find
and, where documents are annotated, F1 and processor time.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from machine import command, machine
from spanwright.evaluation import evaluate
from spanwright.formats.files import read
from spanwright.predicting.onnx.export import export
from spanwright.predicting.onnx.files import RUNTIMES
from spanwright.predicting.tagger import load
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
    result: dict[str, Any] = {"command": command(), "machine": machine(), "documents": len(documents)}
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
            tagger = load(exported, runtime)
            tagger.tag("The first text takes longer.")
            began = time.process_time()
            tagged = list(tagger.tag(documents))
            rows[runtime] = {
                "processor_seconds": round(time.process_time() - began, 2),
                "f1": round(100 * evaluate(documents, tagged).micro.f1, 2),
            }
            found[runtime] = spans(tagged)
            rows[runtime] |= difference(found["torch"], found[runtime])
    return {"recipe": tagger.model.settings.name, "runtimes": rows}


def spans(documents: Sequence[Document]) -> Spans:
    """Confidences by document, offsets and type."""
    return {
        (document.id, entity.start, entity.end, entity.type): entity.confidence or 0.0
        for document in documents
        for entity in document.entities
    }


def difference(ours: Spans, theirs: Spans) -> dict[str, float]:
    """How two answers differ."""
    both = ours.keys() & theirs.keys()
    return {
        "entities": len(theirs),
        "only_torch": len(ours.keys() - both),
        "only_runtime": len(theirs.keys() - both),
        "largest_difference": round(max((abs(ours[key] - theirs[key]) for key in both), default=0.0), 7),
    }


if __name__ == "__main__":
    main()
