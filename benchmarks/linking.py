"""Linking: accuracy on gold mentions by stage, and speed.

    python benchmarks/linking.py accuracy ../shared/corpora --json benchmarks/results/linking-accuracy.json
    python benchmarks/linking.py accuracy ../shared/corpora --encoder minilm \\
        --json benchmarks/results/linking-accuracy-encoder.json
    python benchmarks/linking.py end-to-end ../shared/corpora --model RUN/model
    python benchmarks/linking.py speed ../shared/corpora --model RUN/model --names 1000000 \\
        --json benchmarks/results/linking-speed.json

`accuracy` links the gold mentions of a split to MEDIC and the names of the training split: NCBI disease (also
with the names of the development split), BC5CDR and BioRED diseases. A mention is right if it has exactly the
concepts of gold; `any` counts one of them, as BioSyn's script does. Every mention with a concept counts.
`end-to-end` tags the test texts of NCBI disease with a model and links what it finds: F1 of the concepts of
documents. `speed` times tagging without and with linking, and a lexicon of synthetic names.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from machine import command, machine
from spanwright.evaluation.concepts import ConceptScores, score_concepts
from spanwright.evaluation.matching import pair_documents
from spanwright.formats.files import read
from spanwright.lexicons import Lexicon, Term, read_lexicon
from spanwright.linking.building import EncoderOptions, build_linker
from spanwright.linking.linker import Linker, Stages
from spanwright.predicting.tagger import load
from spanwright.text import Document

NCBI = "ncbi_disease/pubtator/NCBI{}set_corpus.txt"
CORPORA = {
    "NCBI disease": (NCBI.format("train"), NCBI.format("develop"), NCBI.format("test"), None),
    "BC5CDR diseases": (
        "bc5cdr/pubtator/CDR_TrainingSet.PubTator.txt",
        "bc5cdr/pubtator/CDR_DevelopmentSet.PubTator.txt",
        "bc5cdr/pubtator/CDR_TestSet.PubTator.txt",
        "Disease",
    ),
    "BioRED diseases": (
        "biored/pubtator/Train.PubTator",
        "biored/pubtator/Dev.PubTator",
        "biored/pubtator/Test.PubTator",
        "DiseaseOrPhenotypicFeature",
    ),
}
"""Files of the training, development and test split, and the type to link."""
STAGES = {
    "known names": Stages(abbreviations=False, composites=False, similar=False),
    "and abbreviations": Stages(composites=False, similar=False),
    "and composites": Stages(similar=False),
    "and similar names": Stages(),
}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("what", choices=("accuracy", "end-to-end", "speed"))
    parser.add_argument("corpora", type=Path, help="folder with ncbi_disease/ and ontologies/")
    parser.add_argument("--only", choices=tuple(CORPORA), help="one corpus, for accuracy")
    parser.add_argument("--split", choices=("dev", "test"), default="test")
    parser.add_argument("--encoder", help="add the stage of vectors, with this encoder")
    parser.add_argument("--encoder-steps", type=int, default=EncoderOptions().steps)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--model", type=Path, help="a model directory that finds diseases")
    parser.add_argument("--names", type=int, default=1_000_000, help="synthetic names, for speed")
    parser.add_argument("--json", type=Path, help="write the result here")
    arguments = parser.parse_args()
    header = {"command": command(), "machine": machine(), "seed": arguments.seed}
    measures: dict[str, Callable[[argparse.Namespace], dict[str, Any]]] = {
        "accuracy": accuracy,
        "end-to-end": end_to_end,
        "speed": speed,
    }
    result = header | measures[arguments.what](arguments)
    if arguments.json:
        arguments.json.write_text(json.dumps(result, indent=2) + "\n")


def accuracy(arguments: argparse.Namespace) -> dict[str, Any]:
    """Accuracy on gold mentions, by corpus and stage."""
    lexicon = medic(arguments.corpora)
    found: dict[str, Any] = {}
    for corpus, (train, dev, test, type_) in CORPORA.items():
        if arguments.only in (None, corpus):
            splits = {
                name: documents_of(arguments.corpora / file, type_)
                for name, file in (("train", train), ("dev", dev), ("test", test))
            }
            found[corpus] = accuracy_of(lexicon, splits, arguments)
    return {"split": arguments.split, "accuracy": found}


def accuracy_of(
    lexicon: Lexicon, splits: dict[str, list[Document]], arguments: argparse.Namespace
) -> dict[str, Any]:
    """Rows of one corpus."""
    scored, train = splits[arguments.split], splits["train"]
    rows: dict[str, Any] = {}
    for name, stages in STAGES.items():
        linker = build_linker(lexicon, documents=train, stages=stages)
        rows[name] = scores_of(linker, scored, train)
    if arguments.split == "test":
        more = [*train, *splits["dev"]]
        rows["and names of dev"] = scores_of(build_linker(lexicon, documents=more), scored, more)
    if arguments.encoder:
        options = EncoderOptions(name=arguments.encoder, steps=arguments.encoder_steps, seed=arguments.seed)
        began = time.perf_counter()
        linker = build_linker(lexicon, documents=train, encoder=options)
        rows["and vectors"] = scores_of(linker, scored, train) | {
            "build_seconds": time.perf_counter() - began
        }
    for name, row in rows.items():
        shares = row["on_gold_mentions"]
        print(f"{name:20} {shares['mentions']:5} {shares['accuracy']:.4f} any {shares['accuracy_any']:.4f}")
    return rows


def scores_of(linker: Linker, documents: Sequence[Document], train: Sequence[Document]) -> dict[str, Any]:
    """The scores of links of gold mentions."""
    linked = list(linker.link(documents, candidates=True))
    found = scored(documents, linked, linker, train).to_dict()
    del found["mistakes"]
    return found


def scored(
    gold: Sequence[Document], predicted: Sequence[Document], linker: Linker, train: Sequence[Document]
) -> ConceptScores:
    """The scores of predicted concepts, ids of one term being the same."""
    pairs = pair_documents(gold, predicted).pairs
    return score_concepts(pairs, same=linker.same.first, training=train)


def end_to_end(arguments: argparse.Namespace) -> dict[str, Any]:
    """Scores of tagged and linked test texts of NCBI disease."""
    train, _, test, _ = CORPORA["NCBI disease"]
    training, gold = (documents_of(arguments.corpora / file, None) for file in (train, test))
    linker = build_linker(medic(arguments.corpora), documents=training, encoder=encoder_of(arguments))
    tagged = list(load(arguments.model).tag([document.tagged(()) for document in gold]))
    found = scored(gold, list(linker.link(tagged)), linker, training).to_dict()
    del found["mistakes"]
    print(json.dumps(found["concepts_of_documents"]))
    return {"model": arguments.model.name, "scores": found}


def encoder_of(arguments: argparse.Namespace) -> EncoderOptions | None:
    if not arguments.encoder:
        return None
    return EncoderOptions(name=arguments.encoder, steps=arguments.encoder_steps, seed=arguments.seed)


def speed(arguments: argparse.Namespace) -> dict[str, Any]:
    """Times of building, of tagging, and of linking what was tagged."""
    documents = documents_of(arguments.corpora / CORPORA["NCBI disease"][2], None)
    tagged, tagging = documents, None
    if arguments.model:
        tagger = load(arguments.model)
        tagger.tag("The first text takes longer than all others.")
        tagged, tagging = timed(lambda: list(tagger.tag([each.tagged(()) for each in documents])))
    lexicons = {
        "MEDIC": medic(arguments.corpora),
        "100000 names": synthetic(100_000, arguments.seed),
        f"{arguments.names} names": synthetic(arguments.names, arguments.seed),
    }
    rows = {name: speed_of(lexicon, tagged, tagging, arguments) for name, lexicon in lexicons.items()}
    return {"documents": len(documents), "tagging_seconds": tagging, "speed": rows}


def speed_of(
    lexicon: Lexicon, tagged: Sequence[Document], tagging: float | None, arguments: argparse.Namespace
) -> dict[str, Any]:
    """One lexicon: seconds to build and to link, and the share of the time of tagging."""
    linker, building = timed(lambda: ready(build_linker(lexicon, encoder=encoder_of(arguments))))
    _, linking = timed(lambda: list(linker.link(tagged)))
    row = {
        "concepts": len(lexicon),
        "names": sum(len(index.named) for index in linker.indexes.values()),
        "building_seconds": building,
        "linking_seconds": linking,
        "entities": sum(len(document.entities) for document in tagged),
        "share_of_tagging": None if tagging is None else linking / tagging,
        "most_memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    print(json.dumps(row))
    return row


def ready(linker: Linker) -> Linker:
    """The linker with everything built that is built when it is first needed."""
    list(linker.link([Document("1", "zzyzx", ()).with_entities(())]))
    for index in linker.indexes.values():
        index.exact("zzyzx")
        index.similar(["zzyzx"], 1)
    return linker


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    began = time.perf_counter()
    return work(), time.perf_counter() - began


def synthetic(names: int, seed: int) -> Lexicon:
    """Concepts of five names each, made of words of syllables, a few of which are in every tenth name."""
    generator = random.Random(seed)
    syllables = [a + b for a in "bcdfglmnprstv" for b in ("a", "e", "i", "o", "u", "er", "os", "in")]
    words = ["".join(generator.choices(syllables, k=generator.randint(2, 4))) for _ in range(50_000)]
    heads = ["syndrome", "disease", "deficiency", "cancer", "type 1", "type 2", "neoplasms", "disorder"]
    terms = []
    for concept in range(names // 5):
        made = [
            " ".join((*generator.choices(words, k=generator.randint(1, 3)), generator.choice(heads)))
            for _ in range(5)
        ]
        terms.append(Term(made[0], None, f"S{concept}", tuple(made[1:])))
    return Lexicon(terms)


def medic(corpora: Path) -> Lexicon:
    return read_lexicon(corpora / "ontologies" / "medic_06Jul2012.txt", number_prefix="OMIM:")


def documents_of(path: Path, type_: str | None) -> list[Document]:
    """The distinct documents of a file, with the entities of a type or of all, as diseases."""
    distinct = {document.text: document for document in read(path).documents}
    return [
        document.tagged(
            tuple(replace(e, type="Disease") for e in document.entities if type_ in (None, e.type))
        )
        for document in distinct.values()
    ]


if __name__ == "__main__":
    main()
