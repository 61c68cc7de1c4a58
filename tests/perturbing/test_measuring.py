"""What a tagger loses where texts are perturbed, measured from Python."""

from __future__ import annotations

import making
from spanwright.perturbing import NEED_TRAINING, PERTURBATIONS
from spanwright.perturbing.measuring import measure
from spanwright.text import Document

GOLD = making.documents(6, prefix="test")


def test_a_tagger_that_knows_one_spelling_loses_what_is_spelt_otherwise() -> None:
    gold = [document for document in GOLD if document.entities]

    def find_lower_case(documents: list[Document]) -> list[Document]:
        return [
            document.with_entities(tuple(e for e in document.entities if document.mention(e).islower()))
            for document in documents
        ]

    untouched, lower, upper = measure(find_lower_case, gold, ["lower-case", "upper-case"])
    assert (untouched.counts.f1, lower.lost, upper.lost) == (1.0, 0.0, 1.0)


def names_measured(training: list[Document]) -> list[str]:
    return [row.name for row in measure(lambda documents: documents, GOLD, training=training)]


def test_without_names_all_is_measured_that_the_training_documents_allow() -> None:
    assert names_measured(making.documents(20)) == ["untouched", *PERTURBATIONS]
    without = [name for name in PERTURBATIONS if name not in NEED_TRAINING]
    assert names_measured([]) == ["untouched", *without]
