"""Linking: accuracy on gold mentions, end to end after a tagger, what short forms give, and speed.

    python benchmarks/linking.py accuracy ../shared/corpora --json benchmarks/results/linking-accuracy.json
    python benchmarks/linking.py accuracy ../shared/corpora --encoder minilm \\
        --json benchmarks/results/linking-accuracy-encoder.json
    python benchmarks/linking.py end-to-end ../shared/corpora \\
        --json benchmarks/results/linking-end-to-end.json
    python benchmarks/linking.py short-forms ../shared/corpora \\
        --json benchmarks/results/linking-short-forms.json
    python benchmarks/linking.py speed ../shared/corpora --json benchmarks/results/linking-speed.json
    python benchmarks/linking.py vectors ../shared/corpora --json benchmarks/results/linking-vectors.json
    python benchmarks/linking.py vectors ../shared/corpora --names 1 \\
        --json benchmarks/results/linking-vectors-real-names.json

`accuracy` links the gold mentions of a split to a lexicon and the names of the training split: NCBI
disease, BC5CDR and BioRED diseases to MEDIC; BioRED chemicals and cell lines to the identifiers of other
corpora (BC5CDR, BioID) without any document of BioRED's test split, since no lexicon here has theirs. A
mention is right if it has exactly the concepts of gold; `any` counts one of them, as BioSyn's script does,
whose paper also adds the names of the development split to the dictionary (rows `and names of dev`). Every
mention with a concept counts. `dictionary lookup` is the plain one: the same name without regard to case.
`end-to-end` tags the texts of NCBI disease with a model (`biomed` unless named) and links what it finds: F1
of the concepts of documents. `short-forms` has F1 of entities with and without `tag --short-forms`.
`speed` measures the processor time of tagging and linking in turns, with MEDIC alone and filled up with
synthetic names. `vectors` builds a linker with vectors of the names of four ontologies, and of changed ones
up to `--names` (1 for no changed ones), and measures what the index finds of the nearest names of mentions.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from machine import command, machine
from spanwright.evaluation import evaluate
from spanwright.evaluation.concepts import ConceptScores, score_concepts
from spanwright.evaluation.matching import pair_documents
from spanwright.formats.files import read
from spanwright.lexicons import Lexicon, Term, read_lexicon
from spanwright.lexicons.lexicon import lookup_key
from spanwright.linking.building import EncoderOptions, build_linker, calibrated
from spanwright.linking.concepts import NamedConcepts
from spanwright.linking.linker import Linker, Stages
from spanwright.linking.names import normal_key, unordered
from spanwright.linking.neighbours import Neighbours
from spanwright.linking.vectors import NameVectors
from spanwright.predicting.short_forms import with_short_forms
from spanwright.predicting.tagger import Tagger, load
from spanwright.text import Document

NCBI = "ncbi_disease/pubtator/NCBI{}set_corpus.txt"
CDR = "bc5cdr/pubtator/CDR_{}Set.PubTator.txt"
BIORED = "biored/pubtator/{}.PubTator"
BIOID = "aioner/pubtator/BioID_Train_revision.PubTator"


@dataclass(frozen=True, slots=True)
class Linked:
    """A corpus to link: its splits, the type of its entities, and where names are from besides training."""

    files: Mapping[str, str]
    """Of train, dev and test."""
    type: str | None = None
    named: Sequence[tuple[str, str]] = ()
    """Files and types of corpora whose identifiers are a lexicon; without any, the lexicon is MEDIC."""


def files_of(pattern: str, *names: str) -> dict[str, str]:
    return dict(zip(("train", "dev", "test"), map(pattern.format, names), strict=True))


NCBI_FILES = files_of(NCBI, "train", "develop", "test")
CDR_FILES = files_of(CDR, "Training", "Development", "Test")
BIORED_FILES = files_of(BIORED, "Train", "Dev", "Test")
CORPORA = {
    "NCBI disease": Linked(NCBI_FILES),
    "BC5CDR diseases": Linked(CDR_FILES, "Disease"),
    "BioRED diseases": Linked(BIORED_FILES, "DiseaseOrPhenotypicFeature"),
    "BioRED chemicals": Linked(
        BIORED_FILES,
        "ChemicalEntity",
        [(CDR.format("Training"), "Chemical"), (CDR.format("Development"), "Chemical")],
    ),
    "BioRED cell lines": Linked(BIORED_FILES, "CellLine", [(BIOID, "CellLine")]),
}
STAGES = {
    "known names": Stages(abbreviations=False, composites=False, similar=False),
    "and abbreviations": Stages(composites=False, similar=False),
    "and composites": Stages(similar=False),
    "and similar names": Stages(),
}
ROUNDS = 3
"""Turns of tagging and linking."""
MOST_NAMES = 1_000_000
NAMES_WITH_VECTORS = 101_000
"""Just more than are all compared, so that an index is built."""


def main() -> None:
    """Measure and print."""
    measures: dict[str, Callable[[argparse.Namespace], dict[str, Any]]] = {
        "accuracy": accuracy,
        "end-to-end": end_to_end,
        "short-forms": short_forms,
        "speed": speed,
        "vectors": vectors,
    }
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("what", choices=tuple(measures))
    parser.add_argument("corpora", type=Path, help="folder with ncbi_disease/ and ontologies/")
    parser.add_argument("--only", choices=tuple(CORPORA), help="one corpus, for accuracy")
    parser.add_argument("--split", choices=("dev", "test"), default="test")
    parser.add_argument("--encoder", help="add the stage of vectors, with this encoder")
    parser.add_argument("--encoder-steps", type=int, default=EncoderOptions().steps)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--model", default="biomed", help="a model that finds diseases: a folder or a name")
    parser.add_argument("--names", type=int, help="how many, for speed and vectors")
    parser.add_argument("--json", type=Path, help="write the result here")
    arguments = parser.parse_args()
    header = {"command": command(), "machine": machine(), "seed": arguments.seed}
    result = header | measures[arguments.what](arguments)
    if arguments.json:
        arguments.json.write_text(json.dumps(result, indent=2) + "\n")


def accuracy(arguments: argparse.Namespace) -> dict[str, Any]:
    """Accuracy on gold mentions, by corpus and stage."""
    found: dict[str, Any] = {}
    for name, corpus in CORPORA.items():
        if arguments.only in (None, name):
            splits = {
                split: documents_of(arguments.corpora / file, corpus.type)
                for split, file in corpus.files.items()
            }
            print(name)
            found[name] = accuracy_of(lexicon_of(corpus, arguments.corpora), splits, arguments)
    return {"split": arguments.split, "accuracy": found}


def lexicon_of(corpus: Linked, corpora: Path) -> Lexicon:
    """MEDIC, or the identifiers of corpora without the documents that are scored."""
    if not corpus.named:
        return medic(corpora)
    scored = {document.id for document in read(corpora / corpus.files["test"]).documents}
    names: dict[str, dict[str, None]] = {}
    for file, type_ in corpus.named:
        for document in documents_of(corpora / file, type_):
            for entity in document.entities if document.id not in scored else ():
                if len(entity.concepts) == 1:
                    names.setdefault(entity.concepts[0], {}).setdefault(document.mention(entity))
    return Lexicon(Term(own[0], None, id, tuple(own[1:])) for id, own in map(_listed, names.items()))


def _listed(item: tuple[str, dict[str, None]]) -> tuple[str, list[str]]:
    return item[0], list(item[1])


def accuracy_of(
    lexicon: Lexicon, splits: dict[str, list[Document]], arguments: argparse.Namespace
) -> dict[str, Any]:
    """Rows of one corpus."""
    scored, train = splits[arguments.split], splits["train"]
    rows = {"dictionary lookup": dictionary_scores(build_linker(lexicon, documents=train), scored, train)}
    for name, stages in STAGES.items():
        rows[name] = scores_of(build_linker(lexicon, documents=train, stages=stages), scored, train)
    if arguments.split == "test":
        more = [*train, *splits["dev"]]
        rows["and names of dev"] = scores_of(build_linker(lexicon, documents=more), scored, more)
        linker = build_linker(lexicon, documents=train)
        rows["and similar names"]["calibration_error"] = calibration_error(linker, scored)
        fitted = calibrated(linker, splits["dev"])
        rows["and similar names"]["calibration_error_fitted_to_dev"] = calibration_error(fitted, scored)
    if encoder := encoder_of(arguments):
        linker, seconds = timed(build_linker, lexicon, documents=train, encoder=encoder)
        rows["and vectors"] = scores_of(linker, scored, train) | {"building_processor_seconds": seconds}
        if arguments.split == "test":
            more = [*train, *splits["dev"]]
            linker = build_linker(lexicon, documents=more, encoder=encoder)
            rows["and vectors, and names of dev"] = scores_of(linker, scored, more)
    for name, row in rows.items():
        shares = row["on_gold_mentions"]
        print(f"{name:30} {shares['mentions']:5} {shares['accuracy']:.4f} any {shares['accuracy_any']:.4f}")
    return rows


def calibration_error(linker: Linker, documents: Sequence[Document]) -> float:
    """How far confidences are from the share of right answers: the mean over ten bins by their mentions."""
    judged = [
        (link.confidence, linker.same.all(link.concepts) == linker.same.all(entity.concepts))
        for document, links in linker.links(documents)
        for entity, link in zip(document.entities, links, strict=True)
        if entity.concepts
    ]
    bins: dict[int, list[tuple[float, bool]]] = {}
    for confidence, right in judged:
        bins.setdefault(min(9, int(10 * confidence)), []).append((confidence, right))
    return sum(abs(sum(c for c, _ in own) - sum(r for _, r in own)) for own in bins.values()) / len(judged)


def dictionary_scores(
    linker: Linker, documents: Sequence[Document], train: Sequence[Document]
) -> dict[str, Any]:
    """The scores of the plain lookup of names, without regard to case."""
    (index,) = linker.indexes.values()
    answers = dict(best_answers(index.named))
    linked = [
        document.with_entities(
            tuple(
                replace(entity, concepts=answers.get(lookup_key(document.mention(entity)), ()))
                for entity in document.entities
            )
        )
        for document in documents
    ]
    return told(scored(documents, linked, linker, train))


def best_answers(named: NamedConcepts) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each name with the concept that it counts most for, the best last."""
    for row in np.argsort(named.weight, kind="stable").tolist():
        yield lookup_key(named.names[row]), named.answers[int(named.concept[row])]


def scores_of(linker: Linker, documents: Sequence[Document], train: Sequence[Document]) -> dict[str, Any]:
    """The scores of links of gold mentions."""
    return told(scored(documents, list(linker.link(documents, candidates=True)), linker, train))


def scored(
    gold: Sequence[Document], predicted: Sequence[Document], linker: Linker, train: Sequence[Document]
) -> ConceptScores:
    """The scores of predicted concepts, ids of one term being the same."""
    pairs = pair_documents(gold, predicted).pairs
    return score_concepts(pairs, same=linker.same.first, training=train)


def told(scores: ConceptScores) -> dict[str, Any]:
    """Scores for JSON without the mistakes, which are texts of the corpora."""
    found = scores.to_dict()
    del found["mistakes"]
    return found


def end_to_end(arguments: argparse.Namespace) -> dict[str, Any]:
    """Scores of tagged and linked texts of NCBI disease, also without doubtful links."""
    training, dev, gold = (
        documents_of(arguments.corpora / NCBI_FILES[split], None)
        for split in ("train", "dev", arguments.split)
    )
    linker = build_linker(medic(arguments.corpora), documents=training, encoder=encoder_of(arguments))
    tagger = tagger_of(arguments.model, "NCBIdisease")
    tagged = list(tagger.tag([document.tagged(()) for document in gold]))
    rows = {"all links": end_to_end_scores(linker, gold, tagged, training)}
    tagged_dev = list(tagger.tag([document.tagged(()) for document in dev]))
    sure = linker_with_best_limit(calibrated(linker, dev), dev, tagged_dev)
    name = f"links with a confidence of {sure.minimum_confidence} or more, the best on dev"
    rows[name] = end_to_end_scores(sure, gold, tagged, training)
    for name, row in rows.items():
        print(name, row["entities"]["f1"], json.dumps(row["concepts"]["concepts_of_documents"]))
    return {"split": arguments.split, "model": model_name(arguments.model), "rows": rows}


def end_to_end_scores(
    linker: Linker, gold: Sequence[Document], tagged: Sequence[Document], training: Sequence[Document]
) -> dict[str, Any]:
    concepts = told(scored(gold, list(linker.link(tagged)), linker, training))
    return {"entities": evaluate(gold, tagged).micro.to_dict(), "concepts": concepts}


def linker_with_best_limit(linker: Linker, gold: Sequence[Document], tagged: Sequence[Document]) -> Linker:
    """The linker with the least confidence that gives documents the best F1 of concepts."""

    def f1(limit: float) -> float:
        linker.minimum_confidence = limit
        return scored(gold, list(linker.link(tagged)), linker, ()).documents.f1

    linker.minimum_confidence = max((0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8), key=f1)
    return linker


def short_forms(arguments: argparse.Namespace) -> dict[str, Any]:
    """F1 of the entities that a model finds in NCBI disease and BC5CDR, without and with short forms."""
    found: dict[str, Any] = {}
    golds = {
        "NCBIdisease": documents_of(arguments.corpora / NCBI_FILES[arguments.split], None),
        "BC5CDR": distinct_documents(arguments.corpora / CDR_FILES[arguments.split]),
    }
    for corpus, gold in golds.items():
        tagged = list(tagger_of(arguments.model, corpus).tag([each.tagged(()) for each in gold]))
        rows = {"as tagged": tagged, "short forms": list(map(with_short_forms, tagged))}
        found[corpus] = {name: evaluate(gold, each).micro.to_dict() for name, each in rows.items()}
        print(corpus, {name: row["f1"] for name, row in found[corpus].items()})
    return {"split": arguments.split, "model": model_name(arguments.model), "rows": found}


def tagger_of(model: str, corpus: str) -> Tagger:
    """A model, answering with the types of a corpus where it knows several."""
    tagger = load(model)
    return tagger.answering(corpus=corpus) if tagger.model.labels.corpora else tagger


def model_name(model: str) -> str:
    """What tells a model: its name, or the last folders of its path."""
    return "/".join(Path(model).resolve().parts[-4:]) if Path(model).exists() else model


def encoder_of(arguments: argparse.Namespace) -> EncoderOptions | None:
    if not arguments.encoder:
        return None
    return EncoderOptions(name=arguments.encoder, steps=arguments.encoder_steps, seed=arguments.seed)


def speed(arguments: argparse.Namespace) -> dict[str, Any]:
    """Processor time of building, and of tagging and of linking what was tagged, in turns."""
    documents = [each.tagged(()) for each in documents_of(arguments.corpora / NCBI_FILES["test"], None)]
    tagger = tagger_of(arguments.model, "NCBIdisease")
    tagger.tag("The first text takes longer than all others.")
    diseases = medic(arguments.corpora)
    rows = {}
    for wanted in (0, 100_000, arguments.names or MOST_NAMES):
        name = f"MEDIC and synthetic names, {wanted:,} in all" if wanted else "MEDIC"
        lexicon = padded(diseases, wanted, arguments.seed)
        rows[name] = speed_of(lexicon, tagger, documents, arguments)
    return {"documents": len(documents), "model": model_name(arguments.model), "speed": rows}


def speed_of(
    lexicon: Lexicon, tagger: Tagger, documents: Sequence[Document], arguments: argparse.Namespace
) -> dict[str, Any]:
    """One lexicon: seconds to build and to link, and the share of the time of tagging."""
    before = memory()
    linker, building = timed(built, lexicon, encoder_of(arguments))
    times: list[tuple[float, float]] = []
    for _ in range(ROUNDS):
        tagged, tagging = timed(list, tagger.tag(documents))
        linked, linking = timed(list, linker.link(tagged))
        times.append((tagging, linking))
    row = {
        "concepts": len(lexicon),
        "names": sum(len(index.named) for index in linker.indexes.values()),
        "building_processor_seconds": building,
        "memory_grown_mb": memory() - before,
        "entities": sum(len(document.entities) for document in linked),
        "tagging_processor_seconds": statistics.median(tagging for tagging, _ in times),
        "linking_processor_seconds": statistics.median(linking for _, linking in times),
        "share_of_tagging": statistics.median(linking / tagging for tagging, linking in times),
        "share_of_tagging_in_turns": [linking / tagging for tagging, linking in times],
    }
    print(json.dumps(row))
    return row


def vectors(arguments: argparse.Namespace) -> dict[str, Any]:
    """A linker with vectors of real names and of changed ones: building it, and what its index finds."""
    lexicon = changed_names(
        ontologies(arguments.corpora), arguments.names or NAMES_WITH_VECTORS, arguments.seed
    )
    encoder = EncoderOptions(
        name=arguments.encoder or "minilm", steps=arguments.encoder_steps, seed=arguments.seed
    )
    before, began = memory(), time.monotonic()
    moments = [time.process_time()]
    linker = build_linker(lexicon, encoder=encoder, tell=lambda *_: moments.append(time.process_time()))
    moments.append(time.process_time())
    (index,) = linker.indexes.values()
    assert index.vectors is not None
    row = {
        "names": len(index.named),
        "distinct_names": len(index.vectors.vectors),
        "steps": encoder.steps,
        "building_seconds": time.monotonic() - began,
        "building_processor_seconds": moments[-1] - moments[0],
        "of_which_reading": moments[1] - moments[0],
        "of_which_training": moments[-2] - moments[1],
        "of_which_index": moments[-1] - moments[-2],
        "memory_grown_mb": memory() - before,
    } | searched(index.vectors, mentions_of_dev(arguments.corpora))
    print(json.dumps(row))
    return row


def searched(known: NameVectors, mentions: Sequence[str]) -> dict[str, Any]:
    """How many of the nearest names of mentions an index finds, and how long it takes."""
    wanted = known.encoder.encode(mentions)
    found: dict[str, Any] = {"mentions": len(mentions)}
    for most in (1, 5, 32):
        nearest = Neighbours(known.vectors.astype(np.float32)).search(wanted, most)
        answers, seconds = timed(known.neighbours.search, wanted, most)
        shared = [len(set(a.tolist()) & set(b.tolist())) for a, b in zip(answers, nearest, strict=True)]
        found[f"recall_at_{most}"] = sum(shared) / (most * len(wanted))
        found["search_processor_milliseconds"] = 1000 * seconds / len(wanted)
    return found


def mentions_of_dev(corpora: Path) -> list[str]:
    """The distinct diseases of the development splits of NCBI disease and BC5CDR."""
    mentions: dict[str, None] = {}
    for corpus in (CORPORA["NCBI disease"], CORPORA["BC5CDR diseases"]):
        for document in documents_of(corpora / corpus.files["dev"], corpus.type):
            mentions.update(dict.fromkeys(document.mention(entity) for entity in document.entities))
    return list(mentions)


def ontologies(corpora: Path) -> Lexicon:
    """MEDIC, the Disease and the Cell Ontology, and what they import of ChEBI, as names of no type."""
    others = [
        read_lexicon(corpora / "ontologies" / name)
        for name in ("doid.obo", "cl-basic.obo", "chebi_import.obo")
    ]
    terms = [term for lexicon in (medic(corpora), *others) for term in lexicon.terms()]
    return Lexicon(replace(term, type=None) for term in terms)


def changed_names(lexicon: Lexicon, names: int, seed: int) -> Lexicon:
    """A lexicon with more synonyms, up to a number of names that differ in more than the order of words.

    They are names of their concepts with a letter left out, or with a word of another name before them.
    """
    generator = random.Random(seed)
    terms = [term for term in lexicon.terms() if term.ids]
    known = {unordered(normal_key(name)) for term in terms for name in term.names}
    words = sorted({word for key in known for word in key.split() if len(word) > 3})
    added: dict[int, list[str]] = {}
    while len(known) < names:
        at = generator.randrange(len(terms))
        name = generator.choice(terms[at].names)
        letter = generator.randrange(len(name))
        changed = generator.choice((name[:letter] + name[letter + 1 :], f"{generator.choice(words)} {name}"))
        key = unordered(normal_key(changed))
        if key and key not in known:
            known.add(key)
            added.setdefault(at, []).append(changed)
    return Lexicon(
        replace(term, synonyms=(*term.synonyms, *added.get(at, ()))) for at, term in enumerate(terms)
    )


def built(lexicon: Lexicon, encoder: EncoderOptions | None) -> Linker:
    """A linker with everything built that is built when it is first needed."""
    linker = build_linker(lexicon, encoder=encoder)
    for index in linker.indexes.values():
        index.exact("zzyzx")
        index.similar(["zzyzx"], 1)
    return linker


def timed(work: Callable[..., Any], *inputs: Any, **options: Any) -> tuple[Any, float]:
    """What work gives, and the processor time that it takes: others may use the machine, too."""
    began = time.process_time()
    return work(*inputs, **options), time.process_time() - began


def memory() -> float:
    """The most memory that this process has had, in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def padded(lexicon: Lexicon, names: int, seed: int) -> Lexicon:
    """A lexicon with synthetic concepts of five names each, up to a number of names.

    Names are made of words of syllables, and of a few words that are in every tenth name.
    """
    generator = random.Random(seed)
    syllables = [a + b for a in "bcdfglmnprstv" for b in ("a", "e", "i", "o", "u", "er", "os", "in")]
    words = ["".join(generator.choices(syllables, k=generator.randint(2, 4))) for _ in range(50_000)]
    heads = ["syndrome", "disease", "deficiency", "cancer", "type 1", "type 2", "neoplasms", "disorder"]
    terms = list(lexicon.terms())
    missing = names - sum(len(term.names) for term in terms)
    for concept in range(max(0, missing) // 5):
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
    return [
        document.tagged(
            tuple(replace(e, type="Disease") for e in document.entities if type_ in (None, e.type))
        )
        for document in distinct_documents(path)
    ]


def distinct_documents(path: Path) -> list[Document]:
    return list({document.text: document for document in read(path).documents}.values())


if __name__ == "__main__":
    main()
