"""Training on distant labels of BC5CDR: the trained model beside the dictionary that labelled its data.

    python benchmarks/distant_training.py ../shared/corpora --documents 300 --epochs 3 --json result.json

Gold entities of training and dev documents are thrown away. The dictionaries are AutoNER's; the test split is
scored with its gold entities, once as labelled by the dictionary and once as tagged by the model.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any, get_args

from machine import command, machine
from spanwright.distant import Matcher
from spanwright.distant.names import Case
from spanwright.evaluation import Scores, evaluate
from spanwright.formats.files import read
from spanwright.lexicons import merge, read_lexicon
from spanwright.settings import load_settings
from spanwright.text import Document
from spanwright.training.loop import train

FILES = {
    "train": "CDR_TrainingSet.PubTator.txt",
    "dev": "CDR_DevelopmentSet.PubTator.txt",
    "test": "CDR_TestSet.PubTator.txt",
}


def main() -> None:
    """Label, train and print both scores."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("corpora", type=Path, help="folder with bc5cdr/ and autoner_bc5cdr/")
    parser.add_argument("--recipe", default="binder/distant")
    parser.add_argument("--documents", type=int, help="only the first training documents")
    parser.add_argument("--dev-documents", type=int, help="only the first dev documents")
    parser.add_argument("--dev", choices=["distant", "gold"], default="distant", help="labels that choose")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--case", choices=get_args(Case), default="smart", help="how names are matched")
    parser.add_argument("--set", dest="changes", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--json", type=Path, help="write the result here")
    arguments = parser.parse_args()
    gold = {
        name: read(arguments.corpora / "bc5cdr" / "pubtator" / file).documents for name, file in FILES.items()
    }
    gold["train"], gold["dev"] = gold["train"][: arguments.documents], gold["dev"][: arguments.dev_documents]
    matcher = autoner_matcher(arguments.corpora / "autoner_bc5cdr", arguments.case)
    distant = {name: labelled(documents, matcher) for name, documents in gold.items()}
    trained = trained_scores(arguments, gold, distant)
    result = {
        "command": command(),
        "machine": machine(),
        "documents": {name: len(documents) for name, documents in gold.items()},
        "labels": {name: figures(evaluate(gold[name], distant[name])) for name in gold},
        **trained,
    }
    print(json.dumps({"labels": result["labels"], "model": result["model"]}, indent=2))
    if arguments.json:
        arguments.json.write_text(json.dumps(result, indent=2) + "\n")


def autoner_matcher(folder: Path, case: Case) -> Matcher:
    """AutoNER's typed dictionary, with the full one as phrases of unknown type."""
    lexicons = [read_lexicon(folder / name) for name in ("dict_core.txt", "dict_full.txt")]
    return Matcher(merge(*lexicons), case=case)


def labelled(documents: Iterable[Document], matcher: Matcher) -> list[Document]:
    """The documents with what the dictionary finds in place of their entities."""
    return [matcher.label(document) for document in documents]


def trained_scores(
    arguments: argparse.Namespace, gold: dict[str, list[Document]], distant: dict[str, list[Document]]
) -> dict[str, Any]:
    """Train on distant labels; scores of the best model on the test split."""
    changes = [f"training.epochs={arguments.epochs}", "labels.descriptions=bc5cdr", *arguments.changes]
    dev = gold["dev"] if arguments.dev == "gold" else distant["dev"]
    with tempfile.TemporaryDirectory() as folder:
        run = train(
            load_settings(arguments.recipe, changes),
            train=distant["train"],
            dev=dev,
            test=gold["test"],
            out=Path(folder) / "run",
        )
    return {
        "model": {"test": figures(run.scores["test"]), f"dev ({arguments.dev})": figures(run.scores["dev"])},
        "settings": run.model.settings.model_dump(mode="json"),
    }


def figures(scores: Scores) -> dict[str, Any]:
    """Precision, recall and F1 of all types together and of each."""
    every = {"all": scores.micro, **scores.per_type}
    return {
        name: {"precision": counts.precision, "recall": counts.recall, "f1": counts.f1}
        for name, counts in every.items()
    }


if __name__ == "__main__":
    main()
