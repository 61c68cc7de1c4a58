"""What models write from spans: against a writer that copies, and against writing spans one by one."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest
import torch
from torch import Tensor

import tiny
from analysis.writing_models import DOCUMENTS, VOCABULARY, writing_model
from batching import as_taken
from spanwright.analysis import WrittenSpan, left_out, rewritten, score_written, writes_synonyms
from spanwright.artifact import TrainedModel
from spanwright.batches.collate import collate
from spanwright.batches.prepare import prepare, windows_of
from spanwright.batches.writer import END, LONGEST, PAD, GoldSpan, Vocabulary, Words
from spanwright.errors import InputError
from spanwright.lexicons import Lexicon, Term
from spanwright.lexicons.synonyms import Synonyms
from spanwright.parts.batch import Batch, Spans
from spanwright.text import Document, Entity

FLU = Document("1", "Spanish flu and ague", (Entity(0, 11, "Gene"), Entity(16, 20, "Cell")))


class Copier:
    """In the place of a network: writes the words that stand in the documents."""

    names = ("reconstruction", "synonyms")
    device = torch.device("cpu")

    def __init__(self, model: TrainedModel, documents: list[Document]) -> None:
        self.vocabulary = model.vocabulary
        self.documents = [prepare(document, model.pieces, model.plan) for document in documents]
        self.config = model.network.encoder.config

    @property
    def writer(self) -> Copier:
        return self

    @property
    def encoder(self) -> Any:
        return _Encoder(config=self.config)

    def evidence(self, batch: Batch, spans: Spans) -> Tensor:
        rows = [
            self._numbers(batch, *span) for span in zip(spans.window, spans.first, spans.last, strict=True)
        ]
        return torch.tensor([[*row, END, *[PAD] * (LONGEST - len(row))] for row in rows])

    def _numbers(self, batch: Batch, window: Tensor, first: Tensor, last: Tensor) -> list[int]:
        offset = int(batch.word_offset[window])
        prepared = self.documents[int(batch.document[window])]
        ranges = prepared.words[int(first) + offset : int(last) + offset + 1].tolist()
        return self.vocabulary.numbers(prepared.document.text[start:end] for start, end in ranges)

    def rewrite(self, vectors: Tensor, *, synonym: bool, longest: int) -> Tensor:
        assert longest == LONGEST
        return vectors


class _Encoder(SimpleNamespace):
    def __call__(self, batch: Batch) -> Batch:
        return batch


def copying(documents: list[Document], vocabulary: Vocabulary = VOCABULARY) -> TrainedModel:
    model = replace(tiny.model(), vocabulary=vocabulary)
    return replace(model, network=cast(Any, Copier(model, documents)))


def test_every_candidate_is_written_from_its_own_words_in_order() -> None:
    found = rewritten(copying(DOCUMENTS), DOCUMENTS)
    expected = [
        (document.id, start, end)
        for document in DOCUMENTS
        for start, end in sorted({(entity.start, entity.end) for entity in document.entities})
    ]
    assert [(each.document, each.start, each.end) for each in found] == expected
    assert len(found) > 20
    for each in found:
        assert each.reconstruction == tuple(each.text.split()) == each.span.words


def test_the_copy_of_all_words_has_a_bleu_of_1() -> None:
    found = rewritten(copying(DOCUMENTS), DOCUMENTS)
    scores = score_written(found, VOCABULARY)
    assert scores.reconstruction.bleu == 1
    assert (scores.reconstruction.empty, scores.reconstruction.words_unknown) == (0, 0)
    assert scores.spans == len(found)
    assert scores.one_word == sum(" " not in each.text for each in found)
    assert scores.reconstruction.words == sum(len(each.text.split()) for each in found)


def test_a_span_with_two_types_is_written_once() -> None:
    document = Document("1", "an ague", (Entity(3, 7, "Gene"), Entity(3, 7, "Cell")))
    [found] = rewritten(copying([document]), [document])
    assert (found.text, found.types) == ("ague", ("Cell", "Gene"))


def test_entities_that_are_no_candidates_are_left_out_and_counted() -> None:
    wide = Entity(0, 19, "Gene")  # five words, of which the model takes four at most
    cutting = Entity(4, 6, "Gene")
    apart = Entity(0, 7, "Gene", fragments=((0, 3), (4, 7)))
    unknown = Entity(8, 11, "Virus")
    twice = (Entity(12, 15, "Gene"), Entity(12, 15, "Cell"))
    document = Document("1", "one two six ten and", (wide, cutting, apart, unknown, *twice))
    found = rewritten(copying([document]), [document])
    assert [each.text for each in found] == ["ten"]
    assert left_out([document], found) == 4


def test_documents_without_entities_have_nothing_to_write() -> None:
    empty = [Document("1", ""), Document("2", "nothing here")]
    assert rewritten(writing_model(), empty) == []
    with pytest.raises(InputError, match="no entity to write; expected documents with entities"):
        score_written([], VOCABULARY)


def written(words: str, reconstruction: str, synonym: str | None, *synonyms: str) -> WrittenSpan:
    span = GoldSpan(0, 0, 0, _split(words), tuple(map(_split, synonyms)))
    own = None if synonym is None else _split(synonym)
    return WrittenSpan("1", 0, 1, words, ("Gene",), span, _split(reconstruction), own)


def _split(text: str) -> Words:
    return tuple(text.split())


def test_synonyms_are_compared_with_synonyms_or_else_with_the_own_words() -> None:
    vocabulary = Vocabulary(("swamp", "fever", "ague"))
    spans = [
        written("ague", "", "swamp fever", "swamp fever", "the shivers"),
        written("swamp fever", "swamp ague", "swamp fever"),
    ]
    scores = score_written(spans, vocabulary)
    assert scores.synonyms is not None
    assert (scores.with_synonyms, scores.synonyms.bleu, scores.synonyms.empty) == (1, 1, 0)
    # Of both references of the first span, and of the own words of the second.
    assert (scores.synonyms.words, scores.synonyms.words_unknown) == (6, 2)
    assert (scores.reconstruction.bleu, scores.reconstruction.empty) == (0, 1)
    assert scores.to_dict()["synonyms"]["unknown_share"] == pytest.approx(1 / 3)


@pytest.mark.parametrize(("synonym", "synonyms"), [(None, ("fever",)), ("ague", ())])
def test_synonyms_are_not_scored_without_any(synonym: str | None, synonyms: tuple[str, ...]) -> None:
    scores = score_written([written("ague", "ague", synonym, *synonyms)], VOCABULARY)
    assert scores.synonyms is None
    assert scores.to_dict()["synonyms"] is None


def test_references_are_the_synonyms_of_the_sources() -> None:
    lexicon = Lexicon([Term("ague", None, "D1", ("Swamp Fever",))])
    vocabulary = Vocabulary(("swamp", "Spanish", "flu"))
    found = rewritten(copying([FLU], vocabulary), [FLU], Synonyms(lexicons=[lexicon]))
    assert [each.span.synonym_references for each in found] == [(("Spanish", "flu"),), (("swamp", "Fever"),)]


def test_a_model_writes_the_same_words_whatever_stands_beside_a_span() -> None:
    model = writing_model()
    together = rewritten(model, DOCUMENTS)
    alone = [each for document in DOCUMENTS for each in rewritten(model, [document])]
    assert [_texts(each) for each in together] == [_texts(each) for each in alone]
    assert len({each.reconstruction for each in together}) > 3
    assert len({each.synonym for each in together}) > 3
    assert all(len(each.reconstruction) <= LONGEST for each in together)
    assert any(each.synonym != each.reconstruction for each in together)


def _texts(each: WrittenSpan) -> tuple[object, ...]:
    return each.document, each.start, each.end, each.types, each.reconstruction, each.synonym


@torch.inference_mode()
def test_the_words_are_those_of_the_decoders_for_each_span_alone() -> None:
    model = writing_model(transforms=[{"kind": "bottleneck", "size": 6}], scorer={"kind": "sigmoid"})
    [first, *_] = rewritten(model, DOCUMENTS[:1])
    network, writer = model.network, model.network.writer
    assert writer is not None
    prepared = prepare(DOCUMENTS[0], model.pieces, model.plan)
    windows = list(windows_of(prepared, 0, model.plan, model.pieces.special_count))
    batch = as_taken(collate(windows[:1], [prepared], model.pieces, width_limit=4))
    span = Spans(*(torch.tensor([number]) for number in (0, first.span.first, first.span.last)))
    evidence = network.evidence(network.encoder(batch), span)
    for synonym, own in ((False, first.reconstruction), (True, first.synonym)):
        [numbers] = writer.rewrite(evidence, synonym=synonym, longest=LONGEST).tolist()
        assert tuple(VOCABULARY.words(numbers)) == own


def test_a_model_that_learnt_no_synonyms_writes_none() -> None:
    model = writing_model(synonyms=())
    assert not writes_synonyms(model)
    assert {each.synonym for each in rewritten(model, DOCUMENTS[:2])} == {None}


def test_a_model_without_auto_encoders_is_refused_with_the_setting() -> None:
    with pytest.raises(InputError, match=r"no auto-encoders.*--set auxiliaries\.span_vae\.keep=true"):
        rewritten(tiny.model(), DOCUMENTS)
