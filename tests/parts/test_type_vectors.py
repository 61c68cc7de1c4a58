"""Whence the bi-encoder has its types: descriptions, prototypes or nothing, in models with a tiny encoder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import making
import tiny
from batching import as_taken
from spanwright import artifact
from spanwright.artifact import TrainedModel
from spanwright.batches.pieces import PieceEncoder
from spanwright.errors import SettingsError
from spanwright.labels import LabelSpace
from spanwright.parts.batch import Batch
from spanwright.parts.build import build
from spanwright.parts.spans.scorers.bi_encoder import BiEncoder
from spanwright.parts.spans.scorers.type_vectors import PrototypeTypes, prototypes
from spanwright.predicting.tagger import Tagger
from spanwright.text import Document
from spanwright.training.data import prepare_split
from spanwright.training.label_space import draw_prototypes

DOCUMENTS = making.documents(6)
REPRESENTATION = {"kind": "composed", "size": 16, "width_size": 4, "activation": "none"}
TEXTS = LabelSpace(("Cell", "Gene"), descriptions=("names of cells", "names of genes, not of proteins"))
SHOWN = replace(LabelSpace.of(DOCUMENTS), prototypes=draw_prototypes(DOCUMENTS, TEXTS, seed=0))
"""More prototypes of each type than inference uses."""


def model(labels: LabelSpace = TEXTS, **changes: Any) -> TrainedModel:
    """An untrained model whose weights are so large that types and spans differ much."""
    settings = tiny.settings(scorer={"kind": "bi-encoder", **changes}, representation=REPRESENTATION)
    tokenizer = tiny.tokenizer()
    pieces = PieceEncoder(tokenizer)
    network = build(settings, tiny.backbone(tokenizer.get_vocab_size()), labels=labels, pieces=pieces)
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for name, tensor in network.state_dict().items():
            if tensor.dim() > 1 or name.endswith(("thresholds", "tuned")):
                tensor.normal_(std=0.1, generator=generator)
    return TrainedModel(network.eval(), pieces, labels, settings)


def bi_encoder_of(trained: TrainedModel) -> BiEncoder:
    part = trained.network.spans.scorer
    assert isinstance(part, BiEncoder)
    return part


def tagged(trained: TrainedModel) -> list[Document]:
    return list(Tagger(trained).tag(DOCUMENTS))


def answers(documents: list[Document], *types: str) -> list[list[tuple[int, int, str]]]:
    return [
        [entity.key for entity in document.entities if not types or entity.type in types]
        for document in documents
    ]


def calls(module: nn.Module) -> list[int]:
    """A list that grows by the number of texts whenever a backbone reads some."""
    seen: list[int] = []
    module.register_forward_hook(
        lambda _, __, output: seen.append(len(output.last_hidden_state)), with_kwargs=False
    )
    return seen


def some_batch(trained: TrainedModel) -> Batch:
    split = prepare_split(DOCUMENTS, trained.pieces, trained.plan, trained.labels)
    return as_taken(next(Tagger(trained).batches(split.documents, split.golds)))


def test_type_vectors_are_computed_once_at_inference_and_anew_after_training() -> None:
    trained = model()
    reads = calls(bi_encoder_of(trained).source.reader.backbone)
    tagger = Tagger(trained)
    for document in DOCUMENTS:
        tagger.tag(document)
    assert reads == [2]
    trained.network.train()
    trained.network.eval()
    tagger.tag(DOCUMENTS[0])
    tagger.tag(DOCUMENTS[1])
    assert reads == [2, 2]


def test_type_vectors_are_computed_for_every_batch_in_training() -> None:
    trained = model()
    reads = calls(bi_encoder_of(trained).source.reader.backbone)
    trained.network.train()
    for _ in range(3):
        trained.network.losses(some_batch(trained), {"spans"})
    assert reads == [2, 2, 2]


def test_a_trained_type_encoder_changes_the_answers() -> None:
    trained = model()
    before = answers(tagged(trained))
    trained.network.train()
    with torch.no_grad():
        for parameter in bi_encoder_of(trained).source.parameters():
            parameter.mul_(-1.5)
    trained.network.eval()
    assert answers(tagged(trained)) != before


def test_types_still_learn_after_texts_were_tagged() -> None:
    trained = model()
    tagged(trained)
    trained.network.losses(some_batch(trained), {"spans"})["spans"].backward()
    assert all(p.grad is not None for p in bi_encoder_of(trained).type_projections["spans"].parameters())


def test_every_part_learns_from_the_losses() -> None:
    trained = model()
    losses = trained.network.losses(some_batch(trained), {"spans", "starts", "ends"})
    sum(losses.values()).backward()
    assert [name for name, p in trained.network.named_parameters() if p.grad is None] == []


def test_the_type_encoder_learns_at_the_rate_of_an_encoder() -> None:
    roles = {role: {name for name, _ in named} for role, named in model().network.roles().items()}
    assert any(name.startswith("spans.scorer.source.reader.backbone.") for name in roles["encoder"])
    assert roles["head"] == {name for name in roles["head"] if name.startswith("spans.")}
    assert not any("backbone" in name for name in roles["head"])


def test_two_encoders_begin_with_the_same_weights_and_learn_on_their_own() -> None:
    tokenizer = tiny.tokenizer()
    settings = tiny.settings(scorer={"kind": "bi-encoder"})
    backbone = tiny.backbone(tokenizer.get_vocab_size())
    network = build(settings, backbone, labels=TEXTS, pieces=PieceEncoder(tokenizer))
    texts, types = network.encoder.backbone, network.spans.scorer.source.reader.backbone
    for one, other in zip(texts.parameters(), types.parameters(), strict=True):
        assert torch.equal(one, other) and one is not other


def test_a_shared_encoder_is_saved_once_and_reads_the_types() -> None:
    trained = model(share_encoder=True)
    names = trained.network.state_dict().keys()
    assert not any("source" in name for name in names)
    assert len(names) == len(model(types="atomic").network.state_dict()) - 1
    reads = calls(trained.network.encoder.backbone)
    Tagger(trained).tag(DOCUMENTS[0])
    assert reads == [1, 2]


def test_a_description_longer_than_the_encoder_can_read_is_cut() -> None:
    long = replace(TEXTS, descriptions=("cell " * 500, "gene"))
    assert tagged(model(long)) == tagged(model(replace(long, descriptions=("cell " * 400, "gene"))))


# --- New types.


def test_new_types_leave_the_answers_for_old_ones_and_the_tagger_as_they_were() -> None:
    tagger = Tagger(model())
    before = [tagger.tag(document) for document in DOCUMENTS]
    wider = tagger.with_types({"Drug": "names of drugs and of chemicals that are given as drugs"})
    after = [wider.tag(document) for document in DOCUMENTS]
    assert answers(after, "Cell", "Gene") == answers(before)
    for old, new in zip(before, after, strict=True):
        sure = [entity.confidence for entity in new.entities if entity.type != "Drug"]
        assert sure == pytest.approx([entity.confidence for entity in old.entities], abs=1e-5)
    assert sum(map(len, answers(after, "Drug"))) > 5
    assert [tagger.tag(document) for document in DOCUMENTS] == before
    assert tagger.model.labels == TEXTS


@pytest.mark.parametrize("threshold", ["dynamic", "learned", "tuned"])
def test_the_answers_for_a_new_type_depend_on_its_description(threshold: str) -> None:
    tagger = Tagger(model(threshold=threshold))
    found = [
        answers([tagger.with_types({"Drug": text}).tag(document) for document in DOCUMENTS], "Drug")
        for text in ("names of drugs", "xq 17", "names of drugs")
    ]
    assert found[0] == found[2] != found[1]


def test_a_known_type_can_be_described_anew() -> None:
    tagger = Tagger(model())
    other = tagger.with_types({"Gene": "xq 17"})
    assert other.model.labels.types == ("Cell", "Gene")
    before, after = ([tagger_.tag(document) for document in DOCUMENTS] for tagger_ in (tagger, other))
    assert answers(after, "Cell") == answers(before, "Cell")
    assert answers(after, "Gene") != answers(before, "Gene")


@pytest.mark.parametrize("share_encoder", [False, True], ids=["two encoders", "one encoder"])
def test_new_types_bring_no_new_weights(share_encoder: bool) -> None:
    trained = model(share_encoder=share_encoder)
    wider = trained.with_types({"Drug": "names of drugs"})
    old, new = trained.network.state_dict(), wider.network.state_dict()
    assert {name: tensor.data_ptr() for name, tensor in new.items()} == {
        name: tensor.data_ptr() for name, tensor in old.items()
    }


@pytest.mark.parametrize(
    "made",
    [tiny.model, lambda: model(types="atomic"), lambda: model(SHOWN, types="prototypes")],
    ids=["softmax", "atomic", "prototypes"],
)
def test_a_model_that_reads_no_descriptions_refuses_new_types(made: Callable[[], TrainedModel]) -> None:
    with pytest.raises(SettingsError, match=r"cannot meet new types: only a bi-encoder that reads desc"):
        Tagger(made()).with_types({"Drug": "names of drugs"})


# --- Prototypes.


def prototype_source() -> PrototypeTypes:
    source = bi_encoder_of(model(SHOWN, types="prototypes")).source
    assert isinstance(source, PrototypeTypes)
    return source


@torch.no_grad()
def prototype_states(source: PrototypeTypes) -> list[list[Tensor]]:
    """The state of each instance of each type, read alone: that of the marker before the mention."""
    pieces = PieceEncoder(tiny.tokenizer())
    unknown = pieces.tokenizer.token_to_id("[UNK]")  # the tiny tokenizer has no better marker
    states: list[list[Tensor]] = []
    for own in SHOWN.prototypes:
        states.append([])
        for before, mention_, after in own:
            head = [*pieces.prefix, *pieces.encode_text(before)]
            tail = [*pieces.encode_text(mention_), unknown, *pieces.encode_text(after), *pieces.suffix]
            output = source.reader.backbone(input_ids=torch.tensor([[*head, unknown, *tail]]))
            states[-1].append(output.last_hidden_state[0, len(head)])
    return states


@torch.no_grad()
def test_prototypes_at_inference_are_the_mean_of_the_first_three() -> None:
    source = prototype_source()
    expected = torch.stack([torch.stack(own[:3]).mean(0) for own in prototype_states(source)])
    torch.testing.assert_close(source(), expected, rtol=1e-4, atol=1e-5)
    assert torch.equal(source(), source())


@torch.no_grad()
def test_prototypes_in_training_are_drawn_anew_from_all_of_their_type() -> None:
    source = prototype_source()
    states = [torch.stack(own) for own in prototype_states(source)]
    source.training = True  # without the dropout of its backbone
    drawn: list[set[int]] = [set(), set()]
    torch.manual_seed(0)
    for _ in range(200):
        for type_, state in enumerate(source()):
            distances = (states[type_] - state).abs().amax(1)
            assert distances.min() < 1e-4
            drawn[type_].add(int(distances.argmin()))
    assert drawn == [set(range(len(own))) for own in SHOWN.prototypes]


def test_a_prototype_longer_than_the_encoder_can_read_is_cut_far_from_its_mention() -> None:
    before, mention_, after = "ab " * 40, "bcase", " ab" * 40
    pieces, backbone = PieceEncoder(tiny.tokenizer()), prototype_source().reader.backbone
    found = prototypes([(before, mention_, after)], pieces, backbone)
    row, position = found.ids[0].tolist(), int(found.position[0])
    assert len(row) == 128 < len(pieces.encode_text(before + mention_ + after))
    start, end = pieces.markers
    inside = pieces.encode_text(mention_)
    assert row[position : position + len(inside) + 2] == [start, *inside, end]
    left = row[len(pieces.prefix) : position]
    assert left == pieces.encode_text(before)[-len(left) :] and len(left) > 40
    # A model of such prototypes works.
    long = (before, mention_, after)
    tagged(model(replace(SHOWN, prototypes=((long,), (long,))), types="prototypes"))


# --- Saved and loaded.


@pytest.mark.parametrize(
    ("labels", "changes"),
    [
        (TEXTS, {"types": "guidelines"}),
        (TEXTS, {"types": "keywords"}),
        (SHOWN, {"types": "prototypes"}),
        (LabelSpace(("Cell", "Gene")), {"types": "atomic"}),
        (TEXTS, {"threshold": "learned"}),
        (TEXTS, {"threshold": "tuned"}),
        (TEXTS, {"share_encoder": True}),
        (TEXTS, {"share_projections": True}),
        (TEXTS, {"joint": True}),
        (TEXTS, {"positions": False}),
    ],
    ids=lambda value: ", ".join(map(str, value.values())) if isinstance(value, dict) else "",
)
def test_a_model_that_was_saved_and_loaded_gives_the_same_answers(
    tmp_path: Path, labels: LabelSpace, changes: dict[str, Any]
) -> None:
    trained = model(labels, **changes)
    artifact.save(trained, tmp_path / "model")
    loaded = artifact.load(tmp_path / "model")
    expected = tagged(trained)
    assert tagged(loaded) == expected
    assert sum(map(len, answers(expected))) > 5


@pytest.mark.parametrize("threshold", ["dynamic", "learned", "tuned"])
def test_a_model_with_new_types_can_be_saved_and_loaded(tmp_path: Path, threshold: str) -> None:
    wider = model(threshold=threshold).with_types({"Drug": "names of drugs"})
    artifact.save(wider, tmp_path / "model")
    assert tagged(artifact.load(tmp_path / "model")) == tagged(wider)
