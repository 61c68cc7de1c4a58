"""Make the corpora of the claims that are no files as released.

    python benchmarks/claims/corpora.py --corpora ../shared/corpora --out compared/claims-corpora

- SciERC with flat entities, as in Bundling Learning: of two that overlap the longer one stays.
- BC5CDR labelled by AutoNER's dictionary, as in BINDER, for training and dev.
- BioRED with parts of nine other corpora, as in CVAE-NER. 72 of the 100 test documents of BioRED stand in the
  training files of the others. `leaked` has them in training; `clean` has other documents of the same corpora
  in their place, so that the two differ in nothing but which documents they train on.
"""

from __future__ import annotations

import argparse
import tomllib
from pathlib import Path

from spanwright.corpora.overlap import drop_shared
from spanwright.distant import Matcher
from spanwright.formats.files import read, write
from spanwright.lexicons import merge, read_lexicon
from spanwright.text import Document, Entity

FILES = tomllib.loads((Path(__file__).parents[1] / "aioner.toml").read_text(encoding="utf-8"))
"""The files of a corpus for training and for the test. NLM-Chem has one file alone."""
SIZES = {"clean": (80, 25), "leaked": (80, 25), "small": (40, 6)}
"""Training documents of BioRED and of each other corpus: 25 are enough for all leaked ones, 24 of tmVar3."""
LENGTHS = {"Linnaeus": 0.05, "BioID": 2.0, "NLMChem": 3.0}
"""How many documents of a corpus count as one: whole articles are long, captions and passages short."""
_DEV, _TEST = 30, 20


def main() -> None:
    """Write all of them."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--corpora", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    write_flat(arguments.corpora / "scierc", arguments.out)
    write_distant(arguments.corpora, arguments.out)
    write_several(arguments.corpora / "aioner" / "pubtator", arguments.out)


def write_flat(folder: Path, out: Path) -> None:
    """SciERC without overlaps."""
    for split in ("train", "dev", "test"):
        documents = read(folder / f"{split}.json").documents
        kept = [document.with_entities(flat(document.entities)) for document in documents]
        entities, left = (sum(len(each.entities) for each in side) for side in (documents, kept))
        print(f"SciERC, {split}: {left:,} of {entities:,} entities do not lie in another one, nor cross it")
        write(kept, out / f"scierc-{split}.jsonl")


def flat(entities: tuple[Entity, ...]) -> tuple[Entity, ...]:
    """Entities of which none overlaps another: the longest first, and of equals the one that begins first."""
    kept: list[Entity] = []
    for entity in sorted(entities, key=lambda each: (each.start - each.end, each.start)):
        if all(entity.end <= other.start or other.end <= entity.start for other in kept):
            kept.append(entity)
    return tuple(sorted(kept, key=lambda each: each.start))


def write_distant(corpora: Path, out: Path) -> None:
    """BC5CDR with the labels of a dictionary; the test file stays as it is."""
    lexicons = [
        read_lexicon(corpora / "autoner_bc5cdr" / name) for name in ("dict_core.txt", "dict_full.txt")
    ]
    matcher = Matcher(merge(*lexicons))
    for split, name in (("train", "Training"), ("dev", "Development")):
        documents = read(corpora / "bc5cdr" / "pubtator" / f"CDR_{name}Set.PubTator.txt").documents
        write([matcher.label(document) for document in documents], out / f"distant-{split}.jsonl")


def write_several(aioner: Path, out: Path) -> None:
    """The documents that `corpora/clean.toml`, `leaked.toml` and `small.toml` beside this file name."""
    learnt = read(aioner / "BioRED_TrainDev.PubTator").documents
    test = read(aioner / "BioRED_Test.PubTator").documents
    # The file has the documents of train first, then those of dev.
    dev = learnt[-_DEV:]
    write(dev, out / "BioRED-dev.jsonl")
    write(test, out / "BioRED-test.jsonl")
    for variant, (target, _) in SIZES.items():
        write(learnt[:target], out / f"BioRED-{variant}-train.jsonl")
    for name, (documents, evaluated) in others(aioner).items():
        free, _ = drop_shared(documents, [*dev, *test, *evaluated])
        _, leaked = drop_shared(documents, test)
        print(
            f"{name}: {len(leaked)} of {len(documents):,} training documents are in the test file of BioRED"
        )
        write(evaluated, out / f"{name}-test.jsonl")
        for variant, (_, size) in SIZES.items():
            most = max(1, round(size * LENGTHS.get(name, 1.0)))
            chosen = [*leaked, *free] if variant == "leaked" else free
            write(chosen[:most], out / f"{name}-{variant}-train.jsonl")


def others(aioner: Path) -> dict[str, tuple[list[Document], list[Document]]]:
    """Training documents of each other corpus, and some to evaluate on."""
    found = {
        name: tuple(read(aioner / f"{file}.PubTator").documents for file in files)
        for name, files in FILES.items()
        if name != "BioRED"
    }
    passages = read(aioner / "NLMchem_Test.PubTator").documents
    # Many passages have one article's id: the last ones, to be evaluated on, are of other articles.
    border = len(passages) * 4 // 5
    apart = {passage.id.partition("#")[0] for passage in passages[:border]}
    found["NLMChem"] = (
        passages[:border],
        [passage for passage in passages[border:] if passage.id.partition("#")[0] not in apart],
    )
    return {
        name: (train, test[: max(1, round(_TEST * LENGTHS.get(name, 1.0)))])
        for name, (train, test) in found.items()
    }


if __name__ == "__main__":
    main()
