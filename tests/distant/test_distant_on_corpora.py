"""The distant labels of BC5CDR are as good as a plain search over its dictionaries can make them."""

from __future__ import annotations

import inspect
from functools import cache
from pathlib import Path
from typing import get_args

import pytest

from spanwright.distant import Case, Matcher
from spanwright.evaluation import Scores, evaluate
from spanwright.formats.files import read
from spanwright.lexicons import merge, read_lexicon

TEXTS = ["iob/train.tsv", "pubtator/CDR_TrainingSet.PubTator.txt"]


@cache
def scores(corpora: Path, texts: str, case: Case) -> Scores:
    folder = corpora / "autoner_bc5cdr"
    lexicon = merge(read_lexicon(folder / "dict_core.txt"), read_lexicon(folder / "dict_full.txt"))
    matcher = Matcher(lexicon, case=case)
    gold = read(corpora / "bc5cdr" / texts).documents
    return evaluate(gold, [matcher.label(document) for document in gold])


@pytest.mark.parametrize("texts", TEXTS)
def test_exact_matching_reaches_the_published_order_of_precision_and_recall(
    corpora: Path, texts: str
) -> None:
    found = scores(corpora, texts, "exact").per_type
    assert found["Chemical"].precision >= 0.976
    assert found["Chemical"].recall >= 0.664
    assert found["Disease"].precision >= 0.901
    assert found["Disease"].recall >= 0.534


def test_tokenised_and_raw_text_give_the_same_labels(corpora: Path) -> None:
    tokenised, raw = (scores(corpora, texts, "exact") for texts in TEXTS)
    assert tokenised.per_type == raw.per_type


def test_the_default_has_the_best_f1_of_the_case_policies(corpora: Path) -> None:
    default = inspect.signature(Matcher).parameters["case"].default
    f1 = {case: scores(corpora, TEXTS[1], case).micro.f1 for case in get_args(Case)}
    assert max(f1, key=lambda case: f1[case]) == default
