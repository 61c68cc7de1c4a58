"""How often the suggested label map is the published one: the types of nine corpora as types of BioRED.

    python benchmarks/label_map.py CORPORA --tuning --json benchmarks/results/label-map-biored.json

The right answers are Table 7 of CVAE-NER, shipped as the label map `cvae-ner`. Each type of a corpus is one
decision, for a type of BioRED or for none. Every type gets one answer and has one right answer, so precision,
recall and F1 over all decisions are the same number; precision, recall and F1 over the types that are mapped,
or should be, stand beside it. A type of the map that does not occur in the files is no decision.

What was tuned, and on what. The kinds of evidence were designed after looking at how BioRED marks the names
of the nine corpora, so BioRED is not unseen. The votes and the threshold were chosen on the ordered pairs of
the nine corpora among themselves (`--tuning`), where BioRED does not occur; right is there a type with the
same BioRED type by Table 7, and for a type without one also another without one. They are round numbers from
a grid of 972 settings, all of which get 237 to 243 of the 248 decisions right. Two ideas came from other
pairs: the evidence of single words, because CoNLL04's Peop and CoNLL-2003's PER were missed, and the measure
against what B's own names get, because JNLPBA's cell types were missed in GENIA where they have no documents
in common. So those pairs are no longer unseen either. One more kind of evidence, whether A marks the names of
B's type at all, was left out: it would have set the one wrong answer on BioRED right, and the same type on
two tuning pairs, but it would also refuse a type that is narrower than B's.

The pairs named `held out` were not used for the votes. Types whose right answer is a matter of taste (is
CoNLL04's Other, which holds dates and sums of money, MISC?) are shown and not counted.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from itertools import permutations
from pathlib import Path
from typing import Any

from machine import command, machine
from spanwright.corpora.label_map import load_map
from spanwright.corpora.suggest_map import Evidence, Suggestion, decide, gather_evidence
from spanwright.formats.files import read
from spanwright.text import Document

TABLE_7 = load_map("cvae-ner")

FILES = {
    "BioRED": "aioner/pubtator/BioRED_TrainDev.PubTator",
    "BC5CDR": "aioner/pubtator/BC5CDR_TrainDev.PubTator",
    "BioID": "aioner/pubtator/BioID_Train_revision.PubTator",
    "GNormPlus": "aioner/pubtator/GNormPlus_Train.PubTator",
    "Linnaeus": "aioner/pubtator/Linnaeus_Train.PubTator",
    "NCBIdisease": "aioner/pubtator/NCBIdisease_TrainDev.PubTator",
    # The collection has only the test part of NLM-Chem.
    "NLMChem": "aioner/pubtator/NLMchem_Test.PubTator",
    "NLMGene": "aioner/pubtator/NLMgene_Train.PubTator",
    "SPECIES800": "aioner/pubtator/SPECIES_Train.PubTator",
    "tmVar3": "aioner/pubtator/tmVar3_Train.PubTator",
    "BioRED release": "biored/pubtator/Train.PubTator",
    "JNLPBA": "jnlpba/bio/train.tsv",
    "JNLPBA test": "jnlpba/bio/test.tsv",
    "GENIA": "genia/jsonl/train.jsonl",
    # Shares no document with the test part of JNLPBA.
    "GENIA rest": "genia/jsonl/test.jsonl",
    "CoNLL04": "conll04/conll04_train.json",
    "CoNLL-2003": "conll2003/eng.train",
    "WNUT 2017": "wnut17/wnut17train.conll",
    "BC5CDR tags": "bc5cdr/iob/train.tsv",
    "NCBIdisease tags": "ncbi_disease/iob/train.tsv",
}
NINE = [name for name in TABLE_7.corpora if name != "BioRED"]
RELEASE_NAMES = {
    "Disease": "DiseaseOrPhenotypicFeature",
    "Chemical": "ChemicalEntity",
    "Gene": "GeneOrGeneProduct",
    "Variant": "SequenceVariant",
    "Species": "OrganismTaxon",
    "CellLine": "CellLine",
}

Answers = Mapping[str, set[str | None]]
"""The right answers for each type of A; a type that is missing is not counted."""

_GENIA = {
    "PRGE": "protein",
    "CLTP": "cell_type",
    "CLLN": "cell_line",
    "DNA": "DNA",
    "RNA": "RNA",
}
_CONLL = {"Loc": "LOC", "Org": "ORG", "Peop": "PER"}


def _one(answers: Mapping[str, str | None]) -> Answers:
    return {type_: {answer} for type_, answer in answers.items()}


def _turned(answers: Mapping[str, str]) -> Answers:
    return _one({answer: type_ for type_, answer in answers.items()})


HELD_OUT: dict[tuple[str, str], Answers] = {
    ("JNLPBA", "GENIA"): _one(_GENIA),
    ("GENIA", "JNLPBA"): _turned(_GENIA),
    ("JNLPBA test", "GENIA rest"): _one(_GENIA),
    ("CoNLL04", "CoNLL-2003"): _one(_CONLL),
    ("CoNLL-2003", "CoNLL04"): _turned(_CONLL),
    ("WNUT 2017", "CoNLL-2003"): _one(
        {"location": "LOC", "person": "PER", "corporation": "ORG", "group": "ORG"}
    ),
    ("BC5CDR tags", "NCBIdisease tags"): _one({"Disease": "Disease", "Chemical": None}),
    ("NCBIdisease tags", "BC5CDR tags"): _one({"Disease": "Disease"}),
}

WITHOUT: dict[str, Callable[[Evidence], Evidence]] = {
    "type names": lambda evidence: replace(evidence, similarities={}),
    "shared documents": lambda evidence: replace(evidence, places={}),
    "names": lambda evidence: replace(evidence, texts=replace(evidence.texts, names={})),
    "words of names": lambda evidence: replace(evidence, texts=replace(evidence.texts, words={})),
    "all but type names": lambda evidence: replace(
        evidence, places={}, texts=replace(evidence.texts, names={}, words={})
    ),
}


@dataclass
class Score:
    """Counts over decisions."""

    decisions: int = 0
    right: int = 0
    suggested: int = 0
    """Decisions for a type."""
    wanted: int = 0
    """Decisions that should be for a type."""
    right_types: int = 0
    wrong: list[dict[str, Any]] = field(default_factory=list)

    def add(self, pair: tuple[str, str], found: Suggestion, answers: set[str | None]) -> None:
        """Count one decision."""
        is_right = found.target in answers
        self.decisions += 1
        self.right += is_right
        self.suggested += found.target is not None
        self.wanted += None not in answers
        self.right_types += is_right and found.target is not None
        if not is_right:
            legal = sorted(answer or "none" for answer in answers)
            self.wrong.append({"a": pair[0], "b": pair[1], "right": legal, **asdict(found)})

    def to_dict(self) -> dict[str, Any]:
        """The counts with the ratios made of them."""
        precision = self.right_types / self.suggested if self.suggested else 0.0
        recall = self.right_types / self.wanted if self.wanted else 0.0
        f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
        return {
            "f1_of_all_decisions": self.right / self.decisions,
            "mapped_types": {"precision": precision, "recall": recall, "f1": f1},
            **asdict(self),
        }


def main() -> None:
    """Score the suggestions and print a line for each set of pairs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("corpora", type=Path, help="folder with the corpora")
    parser.add_argument("--tuning", action="store_true", help="also the pairs used for tuning (minutes)")
    parser.add_argument("--json", type=Path, help="write the result here")
    arguments = parser.parse_args()
    header = {"command": command(), "machine": machine()}
    documents = cache(lambda name: read(arguments.corpora / FILES[name]).documents)
    started = time.perf_counter()
    result: dict[str, Any] = {**header, "biored": biored(documents)}
    result["biored_release_names"] = scored(
        "BioRED with the type names of its release",
        {(name, "BioRED release"): expected_release(name) for name in NINE},
        documents,
    )
    result["held_out"] = scored("held out", HELD_OUT, documents)
    if arguments.tuning:
        pairs = {(a, b): expected_among(a, b, documents(b)) for a, b in permutations(NINE, 2)}
        result["tuning"] = scored("tuning", pairs, documents)
    result["seconds"] = round(time.perf_counter() - started, 1)
    if arguments.json:
        arguments.json.write_text(json.dumps(result, indent=2) + "\n")


Documents = Callable[[str], Sequence[Document]]


def biored(documents: Documents) -> dict[str, Any]:
    """The nine corpora against BioRED: all suggestions, and the score without each kind of evidence."""
    gathered = {name: gather_evidence(documents(name), documents("BioRED")) for name in NINE}
    score = Score()
    suggestions: dict[str, Any] = {}
    for name, evidence in gathered.items():
        found = decide(evidence)
        suggestions[name] = [asdict(suggestion) for suggestion in found]
        _count(score, (name, "BioRED"), found, _one(TABLE_7.corpora[name]))
    _show("BioRED", score)
    ablations = {}
    for kind, without in WITHOUT.items():
        less = Score()
        for name, evidence in gathered.items():
            _count(less, (name, "BioRED"), decide(without(evidence)), _one(TABLE_7.corpora[name]))
        _show(f"BioRED without {kind}", less, wrong=False)
        ablations[kind] = less.to_dict()["f1_of_all_decisions"]
    return {**score.to_dict(), "f1_without": ablations, "suggestions": suggestions}


def scored(title: str, pairs: Mapping[tuple[str, str], Answers], documents: Documents) -> dict[str, Any]:
    """The score over pairs of corpora."""
    score = Score()
    per_pair = {}
    for (a, b), answers in pairs.items():
        found = decide(gather_evidence(documents(a), documents(b)))
        before = (score.right, score.decisions)
        _count(score, (a, b), found, answers)
        right, decisions = score.right - before[0], score.decisions - before[1]
        per_pair[f"{a} -> {b}"] = {
            "right": right,
            "decisions": decisions,
            "suggested": {suggestion.type: suggestion.target for suggestion in found},
        }
    _show(title, score)
    return {**score.to_dict(), "pairs": per_pair}


def expected_release(name: str) -> Answers:
    """Table 7 in the type names of BioRED's own release."""
    return {
        type_: {RELEASE_NAMES[target] if target is not None else None}
        for type_, target in TABLE_7.corpora[name].items()
    }


def expected_among(a: str, b: str, documents: Sequence[Document]) -> Answers:
    """The types in B's documents with the same BioRED type by Table 7; none where there is no such type."""
    present = {entity.type for document in documents for entity in document.entities}
    answers: dict[str, set[str | None]] = {}
    for type_, target in TABLE_7.corpora[a].items():
        same: set[str | None] = {type_b for type_b in present if TABLE_7.corpora[b][type_b] == target}
        answers[type_] = same | ({None} if target is None or not same else set())
    return answers


def _count(score: Score, pair: tuple[str, str], found: Sequence[Suggestion], answers: Answers) -> None:
    for suggestion in found:
        if suggestion.type in answers:
            score.add(pair, suggestion, answers[suggestion.type])


def _show(title: str, score: Score, *, wrong: bool = True) -> None:
    mapped = score.to_dict()["mapped_types"]
    print(
        f"{title}: {score.right} of {score.decisions} decisions right, "
        f"F1 {score.right / score.decisions:.3f}; "
        f"mapped types P {mapped['precision']:.3f} R {mapped['recall']:.3f} F1 {mapped['f1']:.3f}",
        flush=True,
    )
    for entry in score.wrong if wrong else ():
        print(
            f"  {entry['a']} {entry['type']} -> {entry['b']} {entry['target'] or 'none'} "
            f"({entry['confidence']:.2f}); right: {' or '.join(entry['right'])}"
        )


if __name__ == "__main__":
    main()
