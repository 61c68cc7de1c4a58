"""Make the sentences of few-sentences.toml: GENIA, JNLPBA and BC2GM, where genes are called as in biomed.

    python benchmarks/biomed/few_sentences.py --corpora ../shared/corpora --out compared/biomed-few

1,000 training sentences in an order drawn once, 300 of dev, and the test file but for the sentences that
stand in a training text of biomed, which are left out and counted.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from spanwright.formats.files import read, write
from spanwright.text import Document
from spanwright.text.sentences import split_sentences

FILES = {
    "GENIA": ("genia/jsonl/train.jsonl", "genia/jsonl/dev.jsonl", "genia/jsonl/test.jsonl"),
    "JNLPBA": ("jnlpba/bio/train.tsv", "jnlpba/bio/valid.tsv", "jnlpba/bio/test.tsv"),
    "BC2GM": ("bc2gm/iob/train.tsv", "bc2gm/iob/devel.tsv", "bc2gm/iob/test.tsv"),
}
TYPES = {"protein": "Gene", "PRGE": "Gene", "GENE": "Gene", "cell_line": "CellLine", "CLLN": "CellLine"}
"""What biomed calls types; others are new to it."""
SIZES = {"train": 1000, "dev": 300}
SHORTEST = 40
"""Characters of a sentence that can be told from others."""


def main() -> None:
    """Write the sentences of all corpora."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpora", type=Path, required=True)
    parser.add_argument("--splits", type=Path, default=Path("compared/biomed-corpora"))
    parser.add_argument("--out", type=Path, default=Path("compared/biomed-few"))
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    seen = seen_sentences(arguments.splits)
    for corpus, files in FILES.items():
        for split, file in zip(("train", "dev", "test"), files, strict=True):
            found = list(sentences(read(arguments.corpora / file).documents))
            if split == "test":
                kept = [each for each in found if plain(each.text) not in seen]
            else:
                random.Random(corpus).shuffle(found)
                kept = [each for each in found if each.text.strip()][: SIZES[split]]
            write(kept, arguments.out / f"{corpus}-{split}.jsonl")
            print(f"{corpus} {split}: {len(kept):,} of {len(found):,} sentences")


def seen_sentences(splits: Path) -> set[str]:
    """The sentences of all training texts of biomed, without blanks and case."""
    files = sorted(splits.glob("*-train.jsonl"))
    texts = (document.text for file in files for document in read(file).documents)
    return {
        sentence
        for text in texts
        for start, end in split_sentences(text)
        if len(sentence := plain(text[start:end])) >= SHORTEST
    }


def plain(text: str) -> str:
    """A text as others may have tokenised it."""
    return "".join(text.casefold().split())


def sentences(documents: Iterable[Document]) -> Iterator[Document]:
    """Each sentence as a document of its own, with the entities that lie in it."""
    for document in documents:
        ranges = document.sentences or split_sentences(document.text)
        for number, (start, end) in enumerate(ranges, start=1):
            entities = tuple(
                replace(
                    entity,
                    start=entity.start - start,
                    end=entity.end - start,
                    type=TYPES.get(entity.type, entity.type),
                )
                for entity in document.entities
                if start <= entity.start and entity.end <= end and not entity.fragments
            )
            yield Document(f"{document.id}#{number}", document.text[start:end], entities)


if __name__ == "__main__":
    main()
