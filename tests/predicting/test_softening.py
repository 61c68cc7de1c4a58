"""Soft targets of teachers: each candidate span and type with the mean of the networks' own probabilities."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

import making
import tiny
from batching import as_taken
from spanwright.artifact import TrainedModel
from spanwright.errors import InputError
from spanwright.evaluation import Calibration
from spanwright.formats.files import read, write
from spanwright.labels import LabelSpace
from spanwright.parts.spans.scorers.softmax import Softmax
from spanwright.predicting.softening import Teachers
from spanwright.predicting.tagger import Tagger
from spanwright.text import Document, Entity

DOCUMENTS = [
    *making.documents(3),
    Document("empty", " "),
    Document("given", "lot cell", words=((0, 8),), metadata={"kept": 1}),
]
PRUNED = {"candidates": {"width_limit": 4, "pruning": {"keep": 0.5, "size": 4}}}

Found = dict[tuple[int, int, str], float]


def found(document: Document) -> Found:
    made = {(entity.start, entity.end, entity.type): entity.confidence for entity in document.entities}
    assert len(made) == len(document.entities)
    return {key: confidence for key, confidence in made.items() if confidence is not None}


@torch.inference_mode()
def naive(model: TrainedModel, document: Document) -> Found:
    """The probability of every candidate and type, by the definition of softmax."""
    tagger, head, types = Tagger(model), model.network.spans, model.labels.types
    assert head is not None and isinstance(head.scorer, Softmax)
    (prepared,) = tagger.prepare([document])
    probabilities: Found = {}
    for batch in map(as_taken, tagger.batches([prepared])):
        logits = head(model.network.encoder(batch), batch)
        for row, span in enumerate(zip(batch.spans.window, batch.spans.first, batch.spans.last, strict=True)):
            first, last = (int(place + batch.word_offset[span[0]]) for place in span[1:])
            start, end = int(prepared.words[first, 0]), int(prepared.words[last, 1])
            shares = (logits[row].exp() / logits[row].exp().sum()).tolist()
            probabilities |= {
                (start, end, name): share for name, share in zip(types, shares[1:], strict=True)
            }
    return probabilities


def test_a_teacher_gives_every_candidate_its_probability_from_the_lowest_upwards() -> None:
    model = tiny.model()
    for document, soft in zip(DOCUMENTS, Teachers([model], lowest=0.05).soften(DOCUMENTS), strict=True):
        expected = {key: share for key, share in naive(model, document).items() if share >= 0.05}
        assert found(soft) == pytest.approx(expected, abs=2e-6)
        assert soft.with_entities(document.entities) == document


def test_several_teachers_count_equally_and_what_one_has_not_counts_as_nothing() -> None:
    models = [
        tiny.model(),
        tiny.model(("Gene", "Cell"), seed=1, candidates={"width_limit": 2}),
        tiny.model(seed=2, family="byte-level", windows={"pieces": 24, "overlap": 6, "context": "sentence"}),
    ]
    for document, soft in zip(DOCUMENTS, Teachers(models).soften(DOCUMENTS), strict=True):
        each = [naive(model, document) for model in models]
        keys = {key for probabilities in each for key in probabilities}
        mean = {key: sum(one.get(key, 0.0) for one in each) / 3 for key in keys}
        expected = {key: share for key, share in mean.items() if share >= 0.01}
        assert found(soft) == pytest.approx(expected, abs=1e-4)


def test_probabilities_are_neither_calibrated_nor_compared_with_thresholds_nor_decoded() -> None:
    model = tiny.model(decoding="flat")
    changed = replace(model, calibration=Calibration(temperature=3.0), thresholds={"Cell": 0.9, "Gene": 0.9})
    plain, same = (list(Teachers([each]).soften(DOCUMENTS)) for each in (tiny.model(), changed))
    assert same == plain
    assert any(
        left.start < right.end and right.start < left.end
        for document in plain
        for left in document.entities
        for right in document.entities
        if left.key != right.key
    )


def test_a_teacher_that_prunes_gives_probabilities_to_what_is_left() -> None:
    model = tiny.model(**PRUNED)
    tagged = Tagger(model).tag(DOCUMENTS[0])
    (soft,) = Teachers([model]).soften(DOCUMENTS[:1])
    everything = naive(model, DOCUMENTS[0])
    assert 0 < len(found(soft)) < sum(share >= 0.01 for share in everything.values())
    assert found(soft) == pytest.approx({key: everything[key] for key in found(soft)}, abs=2e-6)
    assert found(tagged).items() <= found(soft).items()


def test_a_tagger_teaches_its_answers_with_their_confidences() -> None:
    model = tiny.model(seed=1, scorer={"kind": "none"}, auxiliaries={"tagger": {}}, output="tags")
    document = Document("all", " ".join(each.text for each in DOCUMENTS))
    (soft,) = Teachers([model]).soften([document])
    assert found(soft) == found(Tagger(model).tag(document))
    limit = sorted(found(soft).values())[-2]
    (sure,) = Teachers([model], lowest=limit).soften([document])
    assert found(sure) == {key: share for key, share in found(soft).items() if share >= limit}


def test_documents_come_as_a_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    tiny.set_load(monkeypatch, characters=10)
    taken: list[str] = []

    def source() -> object:
        for document in DOCUMENTS:
            taken.append(document.id)
            yield document

    first = next(iter(Teachers([tiny.model()]).soften(source())))
    assert first.id == DOCUMENTS[0].id
    assert taken == [DOCUMENTS[0].id]


def test_soft_targets_survive_a_file_of_json_lines(tmp_path: object) -> None:
    soft = list(Teachers([tiny.model()]).soften(DOCUMENTS))
    write(soft, f"{tmp_path}/soft.jsonl")
    assert read(f"{tmp_path}/soft.jsonl").documents == soft


def test_entities_that_a_document_has_are_replaced() -> None:
    bare = [document.with_entities(()) for document in DOCUMENTS]
    marked = [DOCUMENTS[0].with_entities((Entity(0, 1, "Other"),)), *DOCUMENTS[1:]]
    teachers = Teachers([tiny.model()])
    assert list(teachers.soften(marked)) == list(teachers.soften(bare))


def test_teachers_of_other_types_are_refused() -> None:
    with pytest.raises(InputError, match=r"teacher 2 .* lacks Gene, and also has Drug, Virus; teachers"):
        Teachers([tiny.model(("Cell", "Gene")), tiny.model(("Cell", "Virus", "Drug"))])


def test_a_teacher_with_the_types_of_several_corpora_is_refused() -> None:
    labels = LabelSpace(("Cell", "Gene"), corpora=("A", "B"), corpus=(0, 1))
    with pytest.raises(InputError, match=r"teacher 1 has the types of each of its corpora A, B apart"):
        Teachers([replace(tiny.model(), labels=labels)])


@pytest.mark.parametrize("lowest", [0.0, -1.0, 1.5])
def test_a_lowest_probability_that_is_none_is_refused(lowest: float) -> None:
    with pytest.raises(InputError, match=r"expected above 0, up to 1"):
        Teachers([tiny.model()], lowest=lowest)


def test_there_must_be_a_teacher() -> None:
    with pytest.raises(InputError, match=r"there is no teacher"):
        Teachers([])
