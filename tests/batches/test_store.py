"""Prepared documents in a file come back as they were prepared."""

from __future__ import annotations

import numpy as np

import making
import tiny
from spanwright.batches.pieces import PieceEncoder
from spanwright.batches.prepare import WindowPlan, prepare
from spanwright.batches.store import PreparedStore
from spanwright.text import Document

PLAN = WindowPlan(context="document", pieces=32, overlap=4, width_limit=4)


def test_prepared_documents_come_back_in_any_order() -> None:
    documents = [Document("empty", ""), *making.documents(4), Document("long", "a" * 500)]
    encoder = PieceEncoder(tiny.tokenizer())
    made = [prepare(document, encoder, PLAN, corpus=number) for number, document in enumerate(documents)]
    store = PreparedStore(documents)
    for prepared in made:
        store.append(prepared)
    assert len(store) == len(made)
    for position in (3, 0, 5, 1, 4, 2):
        found, given = store[position], made[position]
        assert (found.document, found.shortened, found.corpus) == (given.document, given.shortened, position)
        for name in ("words", "piece_ids", "piece_starts"):
            np.testing.assert_array_equal(getattr(found, name), getattr(given, name))
    assert [each.corpus for each in store[1:3]] == [1, 2]
