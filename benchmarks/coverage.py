"""Shares of the entities of NCBI disease that have synonyms, by lexicon.

    python benchmarks/coverage.py ../shared/corpora --json benchmarks/results/coverage-ncbi.json

The lexicons are MEDIC, the Disease Ontology, the concept ids of the training file (mentions with the same ids
are synonyms) and the three together. A document that a file repeats counts once, as in the published counts.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from machine import command, machine
from spanwright.formats.files import read
from spanwright.lexicons import Coverage, Lexicon, lexicon_from_documents, merge, read_lexicon
from spanwright.text import Document

SPLITS = {"train": "train", "dev": "develop", "test": "test"}


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("corpora", type=Path, help="folder with ncbi_disease/ and ontologies/")
    parser.add_argument("--json", type=Path, help="write the result here")
    arguments = parser.parse_args()
    header = {"command": command(), "machine": machine()}
    splits = {name: documents_of(arguments.corpora, infix) for name, infix in SPLITS.items()}
    lexicons = read_all(arguments.corpora / "ontologies", splits["train"])
    coverages = {
        split: {name: lexicon.coverage(documents) for name, lexicon in lexicons.items()}
        for split, documents in splits.items()
    }
    print_table(coverages)
    result = header | {
        "documents": {split: len(documents) for split, documents in splits.items()},
        "lexicons": {
            name: {
                "terms": len(lexicon),
                "names": sum(len(term.names) for term in lexicon.terms()),
            }
            for name, lexicon in lexicons.items()
        },
        "coverage": {
            split: {name: coverage.to_dict() for name, coverage in by_lexicon.items()}
            for split, by_lexicon in coverages.items()
        },
    }
    if arguments.json:
        arguments.json.write_text(json.dumps(result, indent=2) + "\n")


def documents_of(corpora: Path, infix: str) -> list[Document]:
    """The distinct documents of a split."""
    documents = read(corpora / "ncbi_disease" / "pubtator" / f"NCBI{infix}set_corpus.txt").documents
    return list({document.text: document for document in documents}.values())


def read_all(ontologies: Path, train: list[Document]) -> dict[str, Lexicon]:
    """The lexicons by name."""
    lexicons = {
        "MEDIC": read_lexicon(ontologies / "medic_06Jul2012.txt", number_prefix="OMIM:"),
        "Disease Ontology": read_lexicon(ontologies / "doid.obo"),
        "training concepts": lexicon_from_documents(train),
    }
    return lexicons | {"all together": merge(*lexicons.values())}


def print_table(coverages: dict[str, dict[str, Coverage]]) -> None:
    """A row per split and lexicon; the median is of the mentions that have synonyms."""
    row = "{:6} {:18} {:>8} {:>13} {:>6} {:>8} {:>13} {:>6} {:>6}"
    print(
        row.format(
            "split", "lexicon", "mentions", "with synonyms", "%", "distinct", "with synonyms", "%", "median"
        )
    )
    for split, by_lexicon in coverages.items():
        for name, coverage in by_lexicon.items():
            covered = coverage.overall
            counts = (covered.mentions, covered.mentions_covered, f"{100 * covered.share:.2f}")
            distinct = (covered.distinct, covered.distinct_covered, f"{100 * covered.distinct_share:.2f}")
            print(row.format(split, name, *counts, *distinct, f"{covered.median_synonyms or 0:g}"))


if __name__ == "__main__":
    main()
