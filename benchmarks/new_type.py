"""A type that a model was never trained on, asked for by its description.

    python benchmarks/new_type.py ../shared/corpora --documents 500 --epochs 3 --json result.json

A bi-encoder is trained on the chemicals and diseases of BC5CDR, and then asked for genes in BioRED's test
documents. Beside the score stands that of the types it knows, under BioRED's names, on the same documents.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from distant_training import FILES, figures
from machine import command, machine
from spanwright.descriptions import read_descriptions
from spanwright.evaluation import evaluate
from spanwright.formats.files import read
from spanwright.predicting.tagger import Tagger
from spanwright.settings import load_settings
from spanwright.text import Document
from spanwright.training.loop import train

GENE = "GeneOrGeneProduct"
KNOWN = {"ChemicalEntity": "Chemical", "DiseaseOrPhenotypicFeature": "Disease"}


def main() -> None:
    """Train, ask and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("corpora", type=Path, help="folder with bc5cdr/ and biored/")
    parser.add_argument("--documents", type=int, help="only the first training documents")
    parser.add_argument("--dev-documents", type=int, help="only the first dev documents")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--set", dest="changes", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--json", type=Path, help="write the result here")
    arguments = parser.parse_args()
    cdr = {
        name: read(arguments.corpora / "bc5cdr" / "pubtator" / file).documents for name, file in FILES.items()
    }
    text = read_descriptions("biored")[GENE].guideline
    biored = [
        renamed(document)
        for document in read(arguments.corpora / "biored" / "pubtator" / "Test.PubTator").documents
    ]
    changes = [f"training.epochs={arguments.epochs}", "labels.descriptions=bc5cdr", *arguments.changes]
    with tempfile.TemporaryDirectory() as folder:
        run = train(
            load_settings("binder", changes),
            train=cdr["train"][: arguments.documents],
            dev=cdr["dev"][: arguments.dev_documents],
            test=cdr["test"],
            out=Path(folder) / "run",
        )
    tagged = list(Tagger(run.model).with_types({GENE: text}).tag(biored))
    result: dict[str, Any] = {
        "command": command(),
        "machine": machine(),
        "description": text,
        "bc5cdr_test": figures(run.scores["test"]),
        "biored_test": figures(evaluate(biored, tagged)),
        "biored_entities": {"gold": counted(biored), "predicted": counted(tagged)},
        "settings": run.model.settings.model_dump(mode="json"),
    }
    print(json.dumps({key: value for key, value in result.items() if key != "settings"}, indent=2))
    if arguments.json:
        arguments.json.write_text(json.dumps(result, indent=2) + "\n")


def renamed(document: Document) -> Document:
    """The document with its genes, and with its chemicals and diseases under the names of BC5CDR."""
    kept = (entity for entity in document.entities if entity.type == GENE or entity.type in KNOWN)
    return document.with_entities(
        tuple(replace(entity, type=KNOWN.get(entity.type, entity.type)) for entity in kept)
    )


def counted(documents: list[Document]) -> dict[str, int]:
    """Entities of each type."""
    types = sorted({entity.type for document in documents for entity in document.entities})
    return {
        name: sum(entity.type == name for document in documents for entity in document.entities)
        for name in types
    }


if __name__ == "__main__":
    main()
