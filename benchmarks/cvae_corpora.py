"""Make the corpora of the CVAE-NER experiment: parts of seven corpora, with and without leaked documents.

    python benchmarks/cvae_corpora.py --corpora ../shared/corpora --out compared/cvae-corpora

72 of the 100 test documents of BioRED stand in the training files of the other corpora. `leaked.toml` has
them all in training, as the published experiments had; `clean.toml` has other documents of the same corpora
in their place, so that the two differ in nothing but which documents they train on.
"""

from __future__ import annotations

import argparse
import tomllib
from pathlib import Path

from spanwright.corpora.overlap import drop_shared
from spanwright.formats.files import read, write
from spanwright.text import Document

TARGET = "BioRED"
OTHERS = ("BC5CDR", "NCBIdisease", "NLMGene", "GNormPlus", "tmVar3", "Linnaeus")
FILES = tomllib.loads((Path(__file__).parent / "aioner.toml").read_text(encoding="utf-8"))
"""The files of a corpus for training and for the test."""
_TRAIN, _TEST = 30, 20
_ARTICLES = {"Linnaeus": (2, 2)}
"""Linnaeus has whole articles, each as long as ten abstracts and more."""


def main() -> None:
    """Write the documents and the two corpora files."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--corpora", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    aioner = arguments.corpora / "aioner" / "pubtator"
    learnt = read(aioner / f"{TARGET}_TrainDev.PubTator").documents
    test = read(aioner / f"{TARGET}_Test.PubTator").documents
    # The file has the documents of train first, then those of dev.
    target = {"train": learnt[:100], "dev": learnt[-30:], "test": test}
    tables = {"clean": [_head(), _table(arguments.out, "", TARGET, target)]}
    tables["leaked"] = list(tables["clean"])
    for name in OTHERS:
        train_file, test_file = FILES[name]
        most, most_evaluated = _ARTICLES.get(name, (_TRAIN, _TEST))
        evaluated = read(aioner / f"{test_file}.PubTator").documents[:most_evaluated]
        documents = read(aioner / f"{train_file}.PubTator").documents
        free, _ = drop_shared(documents, [*target["dev"], *target["test"], *evaluated])
        _, leaked = drop_shared(documents, target["test"])
        print(
            f"{name}: {len(documents)} training documents, {len(leaked)} of them in the test file of {TARGET}"
        )
        for variant, chosen in (("clean", free[:most]), ("leaked", [*leaked, *free][:most])):
            splits = {"train": chosen, "test": evaluated}
            tables[variant].append(_table(arguments.out, variant, name, splits))
    for variant, texts in tables.items():
        (arguments.out / f"{variant}.toml").write_text("\n".join(texts), encoding="utf-8")


def _head() -> str:
    return f'target = "{TARGET}"\nmap = "cvae-ner"\n'


def _table(out: Path, variant: str, name: str, splits: dict[str, list[Document]]) -> str:
    lines = [f"[corpora.{name}]"]
    for split, documents in splits.items():
        path = out / f"{name}-{variant or 'both'}-{split}.jsonl"
        write(documents, path)
        lines.append(f'{split} = "{path}"')
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
