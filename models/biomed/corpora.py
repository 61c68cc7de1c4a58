"""Make the files that `corpora.toml` beside this one names: ten corpora, clean of every test document.

    python models/biomed/corpora.py --corpora ../shared/corpora --out compared/biomed-corpora

- Types are those of the shipped map `cvae-ner`: six, in all corpora.
- No document that stands in the test split of any of the ten corpora is trained on or chosen by, whether
  as the same article, the same text or nearly the same text. `training-ids.json` lists what is left.
- One article of ten, of those a corpus has for training, becomes its dev split.
- Of NLM-Chem only the test file can be had: of its 50 articles, 11 are kept for the test.
- Whole articles of Linnaeus are cut into passages, and of passages and captions without an entity only every
  third is trained on. They would be two thirds of all words, and teach little that the others do not. Dev and
  test splits have all of theirs.
"""

from __future__ import annotations

import argparse
import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from spanwright.corpora.label_map import LabelMap, load_map
from spanwright.corpora.overlap import drop_shared
from spanwright.corpora.splitting import split_documents
from spanwright.formats.files import read, write
from spanwright.text import Document
from spanwright.text.sentences import split_sentences

FILES = tomllib.loads((Path(__file__).parents[2] / "benchmarks" / "aioner.toml").read_text(encoding="utf-8"))
"""The files of a corpus for training and for the test. NLM-Chem has one file alone."""
NLM_CHEM_TEST = {
    *("19148276", "21291557", "23173949", "24451144", "25970440", "26082470"),
    *("26868515", "28096460", "28738894", "28989655", "29967763"),
}
"""The articles of NLM-Chem's file that are kept for the test, by name: the model that is shipped has seen all
others, so they must not depend on how corpora are split."""
PASSAGE_WORDS = 200
"""About how long a passage of an article is: as an abstract."""
EVERY = 3
"""Of passages and captions without an entity, one of so many is trained on."""


def main() -> None:
    """Write the splits of all corpora, and say what was left out."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--corpora", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    splits = read_splits(arguments.corpora / "aioner" / "pubtator", load_map("cvae-ner"))
    tests = [document for _, test in splits.values() for document in test]
    ids = {}
    for name, (documents, test) in splits.items():
        free, leaked = drop_shared(documents, tests)
        train, dev = split_documents(by_article(name, free), (9, 1))
        train = thinned(name, train)
        ids[name] = sorted({document.id for document in train})
        for split, chosen in (("train", train), ("dev", dev), ("test", test)):
            write(chosen, arguments.out / f"{name}-{split}.jsonl")
        words = sum(len(document.text.split()) for document in train)
        print(
            f"{name}: {len(train):,} training texts of {words:,} words; {len(dev):,} dev; "
            f"{len(test):,} test; {len(leaked):,} left out that stand in a test split"
        )
    (arguments.out / "training-ids.json").write_text(json.dumps(ids, indent=1) + "\n", encoding="utf-8")


def read_splits(folder: Path, types: LabelMap) -> dict[str, tuple[list[Document], list[Document]]]:
    """For each corpus its documents for training and for the test, with the types of the map."""

    def mapped(file: str, corpus: str) -> list[Document]:
        found = read(folder / f"{file}.PubTator").documents
        return [types.apply(document, corpus) for document in found]

    splits = {name: (mapped(train, name), mapped(test, name)) for name, (train, test) in FILES.items()}
    documents = mapped("NLMchem_Test", "NLMChem")
    splits["NLMChem"] = (
        [each for each in documents if article("NLMChem", each.id) not in NLM_CHEM_TEST],
        [each for each in documents if article("NLMChem", each.id) in NLM_CHEM_TEST],
    )
    return splits


def leaked_ids(training: Mapping[str, Sequence[str]], tests: Mapping[str, Sequence[Document]]) -> list[str]:
    """The ids of training documents whose article stands in a test split, of whichever corpus."""
    held_out = {article(name, document.id) for name, documents in tests.items() for document in documents}
    return [
        f"{id} of {name}" for name, ids in training.items() for id in ids if article(name, id) in held_out
    ]


def article(corpus: str, id: str) -> str:
    """The article that a document, passage or caption is from: ids of articles are those of PubMed."""
    # The first seven digits of a caption's id are its article in PubMed Central.
    return f"PMC{id[:7]}" if corpus == "BioID" else id.partition("#")[0]


def by_article(name: str, documents: Sequence[Document]) -> Sequence[Document]:
    """The documents, with ids by which the captions of an article go together."""
    if name != "BioID":
        return documents
    # The first seven digits of a caption's id are its article.
    return [replace(each, metadata={**each.metadata, "doc_id": each.id[:7]}) for each in documents]


def thinned(name: str, documents: Sequence[Document]) -> list[Document]:
    """What is trained on: of articles their passages, and few of the passages without an entity."""
    if name == "Linnaeus":
        documents = [passage for document in documents for passage in passages(document)]
    if name not in ("Linnaeus", "BioID", "NLMChem"):
        return list(documents)
    return [each for number, each in enumerate(documents) if each.entities or number % EVERY == 0]


def passages(document: Document) -> list[Document]:
    """A text cut between sentences, where no entity is, into passages of about `PASSAGE_WORDS` words."""
    cuts, words = [0], 0
    for start, end in split_sentences(document.text):
        inside = any(entity.start < start < entity.end for entity in document.entities)
        if words >= PASSAGE_WORDS and not inside:
            cuts.append(start)
            words = 0
        words += len(document.text[start:end].split())
    return [
        passage(document, start, end, number)
        for number, (start, end) in enumerate(zip(cuts, [*cuts[1:], len(document.text)], strict=True), 1)
    ]


def passage(document: Document, start: int, end: int, number: int) -> Document:
    """The text of a document between two offsets, with its entities."""
    entities = tuple(
        replace(
            entity,
            start=entity.start - start,
            end=entity.end - start,
            fragments=tuple((first - start, last - start) for first, last in entity.fragments),
        )
        for entity in document.entities
        if start <= entity.start and entity.end <= end
    )
    return Document(f"{document.id}#{number}", document.text[start:end], entities)


if __name__ == "__main__":
    main()
