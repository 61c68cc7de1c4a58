"""Several corpora in one training: what parts learn of them, how a model is chosen and how it answers."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

import making
import several
import tiny
from batching import as_taken
from spanwright import artifact
from spanwright.batches.order import training_order
from spanwright.batches.pieces import PieceEncoder
from spanwright.batches.prepare import window_lengths
from spanwright.errors import InputError, SettingsError
from spanwright.evaluation import Scores
from spanwright.evaluation.scores import Counts
from spanwright.labels import LabelSpace
from spanwright.parts.batch import Batch, window_of_word
from spanwright.parts.beside.conditional import shared_rows
from spanwright.parts.build import build
from spanwright.parts.encoder.backbone import longest_input
from spanwright.parts.model import SpanModel
from spanwright.predicting.tagger import Tagger, load
from spanwright.settings import Settings
from spanwright.text import Document
from spanwright.training import scoring, step
from spanwright.training.data import Split
from spanwright.training.journal import read_journal
from spanwright.training.loop import RunResult, train
from spanwright.training.objective import total, weights_at
from spanwright.training.setup import Setup, set_up
from spanwright.training.thresholds import set_tuned_thresholds
from watching import Recorder, StoppedError

TRAIN = several.split("train", Alpha=14, Beta=9, Gamma=10)
DEV = several.split("dev", Alpha=3, Beta=2, Gamma=2)
TEST = several.split("test", Alpha=1, Gamma=2)
CONDITION = "spans.conditioned.cvae.condition.weight"
OFTEN = ("training.epochs=5", "training.checkpoint_steps=7")


@pytest.fixture(scope="module")
def label_map(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The setting of a label map in which the lines of Gamma have no counterpart."""
    path = tmp_path_factory.mktemp("map") / "map.toml"
    path.write_text(several.MAP)
    return f"corpora.map={path}"


def run(settings: Settings, out: Path, *, watcher: Recorder | None = None, **values: Any) -> RunResult:
    data: dict[str, Any] = {"train": TRAIN, "dev": DEV, **values}
    return train(settings, out=out, watcher=watcher or Recorder(), **data)


@pytest.fixture(scope="module")
def finished(
    tiny_encoder: str, label_map: str, tmp_path_factory: pytest.TempPathFactory
) -> tuple[RunResult, Recorder]:
    """A run of the recipe, of which one training document of Beta stands in the dev documents of Alpha."""
    recorder, folder = Recorder(), tmp_path_factory.mktemp("several") / "run"
    settings = several.settings("cvae", tiny_encoder, label_map, *OFTEN)
    return run(settings, folder, watcher=recorder, train=leaking(), test=TEST), recorder


def leaking() -> list[Document]:
    return [*TRAIN, replace(DEV[0], id="leaked", corpus="Beta", entities=())]


@pytest.fixture(scope="module")
def setup(tiny_encoder: str, label_map: str) -> Setup:
    return set_up(several.settings("cvae", tiny_encoder, label_map), TRAIN, DEV, [])


def of_corpus(setup: Setup, corpus: int, count: int = 4) -> list[int]:
    """The positions of some training windows of a corpus."""
    windows = enumerate(setup.train.windows)
    return [n for n, window in windows if setup.train.documents[window.document].corpus == corpus][:count]


def gradients(network: SpanModel) -> dict[str, Tensor]:
    return {name: p.grad for name, p in network.named_parameters() if p.grad is not None}


def learn(setup: Setup, batch: Batch, weights: dict[str, float] | None = None) -> Tensor:
    """The loss of a batch in training, whose gradients are left in the network."""
    network = setup.model.network.train()
    network.zero_grad(set_to_none=True)
    torch.manual_seed(5)
    chosen = weights or weights_at(setup.model.settings.objective, network.terms, progress=0.5)
    loss = total(network.losses(batch, chosen), chosen)
    torch.autograd.backward(loss)
    return loss.detach()


# Types.


def test_each_corpus_has_types_of_its_own_and_the_map_says_what_they_share(setup: Setup) -> None:
    labels = setup.model.labels
    assert labels.corpora == ("Alpha", "Beta", "Gamma")
    assert labels.keys == [("Cell", 0), ("Gene", 0), ("Protein", 1), ("Gene", 2), ("Line", 2)]
    assert labels.shared == ("Cell", "Gene", "Gene", "Gene", "")
    assert setup.model.network.spans.scorer.layers[-1].out_features == 3 + 5


def test_gold_types_are_those_of_the_corpus_of_a_document(setup: Setup) -> None:
    own = {0: {0, 1}, 1: {2}, 2: {3, 4}}
    for corpus, types in own.items():
        batch = as_taken(setup.batch(of_corpus(setup, corpus, 20), (1, 0, 0)))
        assert batch.corpus.unique().tolist() == [corpus]
        assert set(batch.golds.type.tolist()) == set(batch.mentions.type.tolist()) == types


# The auto-encoder.


def test_class_rows_with_the_same_shared_type_share_a_label() -> None:
    assert shared_rows((2, 1, 2), ("Cell", "Gene", "Gene", "Gene", "")) == ([0, 1, 2, 0, 2, 0, 2, None], 3)
    assert shared_rows((1, 0), ("",)) == ([0, None, 0], 1)


def test_conditions_begin_as_a_label_itself_and_the_shared_one(finished: tuple[RunResult, Recorder]) -> None:
    table = finished[1].fresh[CONDITION]
    shared = [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 0, 0), (0, 0, 1), (1, 0, 0), (0, 0, 1), (0, 0, 0)]
    assert torch.equal(table, torch.cat([torch.eye(8), torch.tensor(shared).float()], dim=1))


def test_conditions_learn_at_half_the_rate_of_the_head(setup: Setup) -> None:
    rates = setup.model.settings.optimiser.learning_rates
    assert rates["condition"] == pytest.approx(0.5 * 1e-3)
    assert [name for name, _ in setup.model.network.roles()["condition"]] == [CONDITION]


def test_all_conditions_have_learnt_at_the_end(finished: tuple[RunResult, Recorder]) -> None:
    fresh, last = finished[1].fresh[CONDITION], finished[1].weights[-1][CONDITION]
    assert (fresh != last).any(dim=1).all()


def test_fixed_conditions_stay_as_they_begin(tiny_encoder: str, label_map: str, tmp_path: Path) -> None:
    recorder = Recorder()
    settings = several.settings("cvae/fixed", tiny_encoder, label_map, "training.epochs=1")
    run(settings, tmp_path / "run", watcher=recorder)
    last = recorder.weights[-1]
    assert torch.equal(recorder.fresh[CONDITION], last[CONDITION])
    others = [name for name in last if name.startswith("spans.conditioned") and name != CONDITION]
    assert others and all(not torch.equal(recorder.fresh[name], last[name]) for name in others)


@pytest.mark.parametrize("corpus", [0, 1, 2])
def test_a_batch_teaches_the_classes_conditions_and_the_token_of_its_corpus_alone(
    setup: Setup, corpus: int
) -> None:
    learn(setup, as_taken(setup.batch(of_corpus(setup, corpus, 20), (1, 0, 0))))
    found = gradients(setup.model.network)
    own = [(0, 1, 2), (3, 4), (5, 6, 7)][corpus]
    for name in (CONDITION, "spans.scorer.layers.0.weight", "spans.scorer.layers.0.bias"):
        rows = found[name].reshape(8, -1).any(dim=1).nonzero().squeeze(1).tolist()
        assert rows == list(own), name
    assert found["encoder.corpora.vectors"].any(dim=1).nonzero().squeeze(1).tolist() == [corpus]


def test_an_auto_encoder_without_weight_is_as_good_as_none(
    tiny_encoder: str, label_map: str, setup: Setup
) -> None:
    """In loss and gradients to the last bit, with dropout: it does not even draw a number."""
    multi = set_up(several.settings("cvae/multi", tiny_encoder, label_map), TRAIN, DEV, [])
    off = ("objective.weights.conditional=0", "objective.weights.conditional-divergence=0")
    idle = set_up(several.settings("cvae", tiny_encoder, label_map, *off), TRAIN, DEV, [])
    for with_cvae in (idle, setup):
        weights = multi.model.network.state_dict()
        missing, unexpected = with_cvae.model.network.load_state_dict(weights, strict=False)
        assert not unexpected and all(name.startswith("spans.conditioned") for name in missing)
    batch = as_taken(multi.batch(of_corpus(multi, 0), (1, 0, 0)))
    losses, randomness = zip(
        *((learn(made, batch), torch.get_rng_state()) for made in (multi, idle, setup)), strict=True
    )
    expected, found, other = (gradients(made.model.network) for made in (multi, idle, setup))
    assert losses[0] == losses[1] != losses[2]
    assert torch.equal(randomness[0], randomness[1]) and not torch.equal(randomness[0], randomness[2])
    assert expected.keys() == found.keys() < other.keys()
    assert all(torch.equal(expected[name], found[name]) for name in expected)
    changed = [name for name in expected if not torch.equal(expected[name], other[name])]
    assert any(name.startswith("spans.representation") for name in changed)


@pytest.mark.parametrize("condition", ["both", "shared", "random"])
def test_conditions_of_shared_types_need_a_map(tiny_encoder: str, condition: str) -> None:
    settings = several.settings("cvae", tiny_encoder, f"auxiliaries.cvae.condition={condition}")
    with pytest.raises(SettingsError, match=rf"condition is '{condition}', which needs the shared type"):
        set_up(settings, TRAIN, DEV, [])


def test_conditions_of_each_label_for_itself_need_no_map(tiny_encoder: str) -> None:
    made = set_up(several.settings("cvae/unshared", tiny_encoder), TRAIN, DEV, [])
    table = made.model.network.state_dict()[CONDITION]
    assert torch.equal(table, torch.eye(8))


def test_a_saved_model_has_no_auto_encoder(finished: tuple[RunResult, Recorder]) -> None:
    loaded = artifact.load(finished[0].folder / "model")
    assert loaded.settings.auxiliaries.cvae is None
    weights = loaded.network.state_dict()
    assert weights.keys() == {n for n in finished[1].fresh if not n.startswith("spans.conditioned")}


def test_a_model_that_keeps_its_auto_encoder_answers_the_same(
    tiny_encoder: str, label_map: str, tmp_path: Path
) -> None:
    changes = ("auxiliaries.cvae.keep=true", "training.epochs=3")
    result = run(several.settings("cvae", tiny_encoder, label_map, *changes), tmp_path / "run")
    loaded = artifact.load(result.folder / "model")
    assert torch.equal(loaded.network.state_dict()[CONDITION], result.model.network.state_dict()[CONDITION])
    kept = loaded.settings.auxiliaries.cvae
    assert kept is not None
    auxiliaries = loaded.settings.auxiliaries.model_copy(
        update={"cvae": kept.model_copy(update={"keep": False})}
    )
    bare = replace(loaded, settings=loaded.settings.model_copy(update={"auxiliaries": auxiliaries})).for_use()
    assert CONDITION not in bare.network.state_dict()
    found = list(Tagger(loaded).tag(DEV))
    assert list(Tagger(bare).tag(DEV)) == found
    assert any(document.entities for document in found)


# The token of the corpus.


@pytest.fixture(scope="module")
def unnamed(tiny_encoder: str, label_map: str) -> Setup:
    settings = several.settings("cvae/multi", tiny_encoder, label_map, "corpora.token=false")
    return set_up(settings, TRAIN, DEV, [])


def states(setup: Setup, batch: Batch) -> Tensor:
    with torch.inference_mode():
        found: Tensor = setup.model.network.eval().encoder(batch).start
    return found


def test_the_token_of_a_corpus_changes_the_states_of_all_words(setup: Setup) -> None:
    batch = as_taken(setup.batch(range(4), (1, 0, 0)))
    own, other = (states(setup, replace(batch, corpus=torch.full((4,), n))) for n in (0, 1))
    assert (own != other).any(dim=1).all()
    mixed = states(setup, replace(batch, corpus=torch.tensor([0, 1, 1, 0])))
    first = window_of_word(batch)
    torch.testing.assert_close(mixed[first == 0], own[first == 0])
    torch.testing.assert_close(mixed[first == 1], other[first == 1])


def test_without_a_token_an_encoder_does_not_know_the_corpus(unnamed: Setup) -> None:
    batch = as_taken(unnamed.batch(range(4), (1, 0, 0)))
    own, other = (states(unnamed, replace(batch, corpus=torch.full((4,), n))) for n in (0, 1))
    assert torch.equal(own, other)
    assert not any("corpora" in name for name in unnamed.model.network.state_dict())


def test_the_token_stands_after_the_text_and_nothing_else_changes(setup: Setup, unnamed: Setup) -> None:
    """[CLS] text [SEP] becomes [CLS] text [SEP] token [SEP], also in a window that is padded."""
    named, plain = (as_taken(made.batch(range(6), (1, 0, 0))) for made in (setup, unnamed))
    encoder = setup.model.network.encoder
    embed = encoder.backbone.get_input_embeddings()
    assert encoder.corpora is not None
    with torch.inference_mode():
        found = encoder.corpora(embed(named.piece_ids), named)
        before, after = embed(plain.piece_ids), embed(torch.tensor(setup.model.pieces.suffix[-1]))
    lengths = plain.piece_mask.sum(1).tolist()
    assert len(set(lengths)) > 1
    for row, length in enumerate(lengths):
        assert int(named.piece_mask[row].sum()) == length + 2
        assert torch.equal(found[row, :length], before[row, :length])
        assert torch.equal(found[row, length], encoder.corpora.vectors[named.corpus[row]])
        assert torch.equal(found[row, length + 1], after)


def test_tokens_begin_as_far_apart_as_the_vectors_of_pieces(finished: tuple[RunResult, Recorder]) -> None:
    weights = finished[1].fresh
    pieces = weights["encoder.backbone.embeddings.word_embeddings.weight"].std()
    assert 0.5 * pieces < weights["encoder.corpora.vectors"].std() < 2 * pieces


def test_with_the_token_windows_still_fit_the_longest_input(tiny_encoder: str, label_map: str) -> None:
    longest = replace(TRAIN[0], id="long", text=" ".join(d.text for d in TRAIN), entities=())
    settings = several.settings("cvae/multi", tiny_encoder, label_map, "windows.pieces=4096")
    made = set_up(settings, [*TRAIN, longest], DEV, [])
    limit = longest_input(made.model.network.encoder.config)
    sizes = window_lengths(made.train.windows, made.train.documents, made.model.pieces.special_count)
    assert limit - 12 < sizes.max() <= limit == made.model.plan.pieces
    widest = as_taken(made.batch([int(sizes.argmax())], (1, 0, 0)))
    assert widest.piece_ids.shape[1] == sizes.max()
    assert bool(states(made, widest).isfinite().all())


# Batches.


def test_gradients_of_a_group_of_corpora_are_those_of_one_large_mixed_batch(
    still_encoder: str, label_map: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[dict[str, Tensor]] = []

    def remember(*_: object) -> Tensor:
        found.append({name: grad.clone() for name, grad in gradients(recorder.setup.model.network).items()})
        return torch.tensor(1.0)

    monkeypatch.setattr(step, "limit_gradients", remember)
    recorder = Recorder()
    # A sum over windows adds up from batch to batch; a mean over spans need not.
    dry = ("representation.dropout=0", "scorer.dropout=0", "scorer.reduction=windows", "training.epochs=1")
    group = ("training.batch_windows=4", "training.accumulate=100")
    settings = several.settings("cvae/multi", still_encoder, label_map, *dry, *group)
    run(settings, tmp_path / "run", watcher=recorder, train=several.split("train", Alpha=5, Beta=2, Gamma=3))
    assert len(found) == len(recorder.losses) == 1
    setup = recorder.setup
    setup.model.network.load_state_dict(recorder.fresh)
    windows = len(setup.train.windows)
    assert sorted(portion.count for portion in setup.portions) == [2, 3, windows - 5]
    loss = learn(setup, as_taken(setup.batch(range(windows), (1, 0, 0))), {"spans": 1.0})
    assert recorder.losses[0] == pytest.approx(float(loss), rel=1e-5)
    expected = gradients(setup.model.network)
    assert expected.keys() == found[0].keys()
    for name, gradient in expected.items():
        torch.testing.assert_close(
            found[0][name], gradient, rtol=1e-3, atol=1e-5, msg=lambda m, n=name: f"{n}: {m}"
        )
    assert torch.cat([gradient.flatten() for gradient in expected.values()]).norm() > 1


@pytest.mark.parametrize(
    ("changes", "shares"),
    [
        ((), (14, 9, 10)),
        (("corpora.sampling=equal",), (11, 11, 11)),
        (("corpora.sampling=2",), (12.5, 10, 10.5)),
        (("corpora.weights={Beta=2, Alpha=0.5}",), (7, 18, 10)),
    ],
    ids=["proportional", "equal", "temperature", "weights"],
)
def test_an_epoch_trains_on_batches_of_single_corpora_as_often_as_asked(
    tiny_encoder: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    changes: tuple[str, ...],
    shares: tuple[float, ...],
) -> None:
    trained: list[tuple[set[int], int]] = []
    whole = SpanModel.losses

    def spy(self: SpanModel, batch: Batch, terms: Any) -> dict[str, Tensor]:
        trained.append((set(batch.corpus.tolist()), len(batch.corpus)))
        return whole(self, batch, terms)

    monkeypatch.setattr(SpanModel, "losses", spy)
    recorder = Recorder()
    settings = several.settings("cvae/multi", tiny_encoder, "training.epochs=1", *changes)
    run(settings, tmp_path / "run", watcher=recorder, dev=DEV[:1])
    counts: Counter[int] = Counter()
    for corpora, windows in trained:
        (corpus,) = corpora
        counts[corpus] += windows
    assert [counts[corpus] for corpus in range(3)] == pytest.approx(shares, abs=0.6)
    assert recorder.shares[-1] == pytest.approx(1)
    assert recorder.setup.epoch_windows == counts.total()


def test_every_training_window_comes_once_in_an_epoch(setup: Setup) -> None:
    windows, pieces = setup.train.windows, setup.model.pieces
    lengths = window_lengths(windows, setup.train.documents, pieces.special_count)
    order = training_order(lengths, setup.portions, seed=1, epoch=0, windows=4, pieces=4096)
    assert sorted(np.concatenate(order).tolist()) == list(range(len(windows)))


# Choosing a model.


def test_the_journal_has_the_dev_scores_of_each_corpus(finished: tuple[RunResult, Recorder]) -> None:
    epochs = [entry for entry in read_journal(finished[0].folder) if entry["event"] == "epoch"]
    assert len(epochs) == 5
    for entry in epochs:
        assert entry["corpora"].keys() == {"dev Beta", "dev Gamma"}
        golds = {(d.id, e.key) for d in DEV if d.corpus == "Alpha" for e in d.entities}
        assert entry["dev"]["micro"]["gold"] == len(golds)
    assert [entry["dev"]["micro"]["f1"] for entry in epochs] == finished[1].f1
    assert finished[0].scores.keys() == {"dev", "dev Beta", "dev Gamma", "test", "test Gamma"}
    assert json.loads((finished[0].folder / "scores.json").read_text()).keys() == finished[0].scores.keys()


def test_a_run_learns_all_corpora(finished: tuple[RunResult, Recorder]) -> None:
    for name in ("dev", "dev Beta", "dev Gamma"):
        assert finished[0].scores[name].micro.f1 > 0.6, name


FOUND: dict[str, list[tuple[int, int]]] = {
    "Alpha": [(1, 9), (5, 5), (5, 5), (4, 6)],
    "Beta": [(60, 40), (10, 90), (90, 10), (92, 8)],
    "Gamma": [(9, 1), (9, 1), (1, 9), (9, 1)],
}
"""True positives and false positives after each epoch. Together, Alpha and Beta are best after the last;
their mean is best after the third."""


@pytest.mark.parametrize(
    ("target", "best"),
    [
        ("['Alpha']", [True, True, False, False]),
        ("['Beta']", [True, False, True, True]),
        ("['Alpha', 'Beta']", [True, False, True, False]),
    ],
    ids=["one", "another", "the mean of two"],
)
def test_the_targets_choose_the_model(
    tiny_encoder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str, best: list[bool]
) -> None:
    seen: Counter[str] = Counter()

    def score(_: object, split: Split) -> Scores:
        names = sorted({str(document.corpus) for document in split.source})
        epoch = seen[" ".join(names)]
        seen[" ".join(names)] += 1
        counts = sum((Counts(*FOUND[name][epoch]) for name in names), start=Counts())
        return Scores(per_type={"Gene": counts}, documents=len(split.source))

    monkeypatch.setattr(scoring, "score_model", score)
    recorder = Recorder()
    settings = several.settings(
        "cvae/multi",
        tiny_encoder,
        f"corpora.target={target}",
        "training.epochs=4",
        "training.batch_windows=16",
    )
    run(settings, tmp_path / "run", watcher=recorder, train=several.split("train", Alpha=2, Beta=2, Gamma=1))
    assert recorder.best == best
    chosen = max(epoch for epoch, is_best in enumerate(best) if is_best)
    saved = artifact.load(tmp_path / "run" / "model").network.state_dict()
    assert all(torch.equal(tensor, recorder.weights[chosen][name]) for name, tensor in saved.items())


def test_leaked_documents_are_counted_by_corpus_in_the_journal(finished: tuple[RunResult, Recorder]) -> None:
    (data,) = (entry for entry in read_journal(finished[0].folder) if entry["event"] == "data")
    assert data["leaked"] == {"Alpha": 0, "Beta": 1, "Gamma": 0}
    assert data["removed"] == finished[1].setup.removed == 1
    assert data["train"]["documents"] == len(TRAIN)


def test_leaked_documents_that_are_kept_are_trained_on_and_not_called_removed(tiny_encoder: str) -> None:
    settings = several.settings("cvae/multi", tiny_encoder, "training.leaked=keep")
    made = set_up(settings, leaking(), DEV, [])
    assert made.reports["train"].documents == len(TRAIN) + 1
    assert made.removed == 0
    assert made.data.leaked == {"Alpha": 0, "Beta": 1, "Gamma": 0}


def test_corpora_have_the_scales_of_their_own_dev_documents(finished: tuple[RunResult, Recorder]) -> None:
    made = finished[0].model
    found = {document.corpus for document in Tagger(made).tag(DEV) if document.entities}
    assert set(made.scales) == found > {"Alpha"}
    for name, scale in made.scales.items():
        assert set(scale.thresholds) <= set(several.TYPES[str(name)])
    assert made.thresholds == {}


# Shared types.


@pytest.fixture(scope="module")
def shared(tiny_encoder: str, label_map: str, tmp_path_factory: pytest.TempPathFactory) -> RunResult:
    settings = several.settings("cvae/shared-label", tiny_encoder, label_map, "training.epochs=4")
    return run(settings, tmp_path_factory.mktemp("shared") / "run")


def test_with_shared_types_all_corpora_are_answered_with_them(shared: RunResult) -> None:
    assert shared.model.labels.types == ("Cell", "Gene")
    assert shared.model.labels.corpora == ("Alpha", "Beta", "Gamma")
    found = {(d.corpus, entity.type) for d in Tagger(shared.model).tag(DEV) for entity in d.entities}
    assert {type_ for _, type_ in found} <= {"Cell", "Gene"}
    assert {corpus for corpus, _ in found} == {"Alpha", "Beta", "Gamma"}


def test_entities_without_a_shared_type_count_as_missed(shared: RunResult) -> None:
    lines = shared.scores["dev Gamma"].per_type["Line"]
    golds = {(d.id, e.key) for d in DEV if d.corpus == "Gamma" for e in d.entities if e.type == "Line"}
    assert (lines.gold, lines.true_positives) == (len(golds), 0)
    assert len(golds) > 0


def test_a_model_with_shared_types_answers_as_shared_just_as_it_does_anyway(shared: RunResult) -> None:
    plain = Tagger(shared.model)
    assert list(plain.answering(shared_types=True).tag(DEV)) == list(plain.tag(DEV))


# Answers.


def answers(tagger: Tagger, documents: list[Document]) -> dict[str, set[str]]:
    """The types that are found in the documents of each corpus."""
    found: dict[str, set[str]] = {}
    for document in tagger.tag(documents):
        found.setdefault(str(document.corpus), set()).update(entity.type for entity in document.entities)
    return found


@pytest.fixture(scope="module")
def tagger(finished: tuple[RunResult, Recorder]) -> Tagger:
    return load(finished[0].folder / "model")


def bare(documents: list[Document]) -> list[Document]:
    """The documents without the name of their corpus."""
    return [replace(document, corpus=None) for document in documents]


def keys(documents: Iterator[Document]) -> list[list[Any]]:
    return [[entity.key for entity in document.entities] for document in documents]


def test_a_document_is_answered_with_the_types_of_its_own_corpus(tagger: Tagger) -> None:
    """All of them in one stream, and so in mixed batches."""
    mixed = [document for name in several.TYPES for document in several.documents(name, 8, prefix="more")][
        ::-1
    ]
    found = answers(tagger, mixed)
    assert found == {name: set(types) for name, types in several.TYPES.items()}


def test_unless_a_corpus_is_known_the_target_answers(tagger: Tagger) -> None:
    documents = bare(DEV)
    as_target = keys(tagger.tag([replace(document, corpus="Alpha") for document in documents]))
    assert keys(tagger.tag(documents)) == as_target
    assert keys(tagger.tag([replace(document, corpus="unheard of") for document in documents])) == as_target
    assert keys(tagger.tag([document.text for document in documents])) == as_target
    assert any(as_target)


@pytest.mark.parametrize("name", several.TYPES)
def test_a_named_corpus_answers_whatever_documents_say(tagger: Tagger, name: str) -> None:
    as_named = keys(tagger.tag([replace(document, corpus=name) for document in DEV]))
    answering = tagger.answering(corpus=name)
    assert keys(answering.tag(DEV)) == keys(answering.tag(bare(DEV))) == as_named
    assert {type_ for document in as_named for _, type_ in document} == set(several.TYPES[name])
    assert set(answering.types) == set(several.TYPES[name])


def test_answers_in_shared_types_leave_out_what_has_none(tagger: Tagger) -> None:
    names = {"Cell": "Cell", "Gene": "Gene", "Protein": "Gene"}
    expected = [
        [(pieces, names[type_]) for pieces, type_ in document if type_ in names]
        for document in keys(tagger.tag(DEV))
    ]
    assert keys(tagger.answering(shared_types=True).tag(DEV)) == expected
    as_gamma = tagger.answering(corpus="Gamma", shared_types=True)
    assert {type_ for document in keys(as_gamma.tag(DEV)) for _, type_ in document} == {"Gene"}


@pytest.mark.parametrize(("name", "meant"), [("Delta", ""), ("", ""), ("alpha", " (did you mean 'Alpha'?)")])
def test_an_unknown_corpus_is_refused(tagger: Tagger, name: str, meant: str) -> None:
    with pytest.raises(InputError) as caught:
        tagger.answering(corpus=name)
    assert str(caught.value) == f"the model knows no corpus {name!r}{meant}; expected: Alpha, Beta, Gamma"


def test_shared_types_of_a_model_without_a_map_are_refused(tiny_encoder: str) -> None:
    made = set_up(several.settings("cvae/multi", tiny_encoder), TRAIN, DEV, [])
    with pytest.raises(InputError, match="trained without a label map, so its corpora share no types"):
        Tagger(made.model, shared_types=True)


def test_a_loaded_model_answers_as_the_trained_one(
    finished: tuple[RunResult, Recorder], tagger: Tagger
) -> None:
    assert tagger.model.labels == finished[0].model.labels == finished[1].setup.model.labels
    for choice in ({}, {"corpus": "Gamma"}, {"shared_types": True}):
        before = list(Tagger(finished[0].model, **choice).tag(DEV))
        assert list(tagger.answering(**choice).tag(DEV)) == before
        assert any(document.entities for document in before)


# Resuming.


def test_an_interrupted_run_ends_like_one_that_was_not(
    tiny_encoder: str, label_map: str, finished: tuple[RunResult, Recorder], tmp_path: Path
) -> None:
    settings, data = (
        several.settings("cvae", tiny_encoder, label_map, *OFTEN),
        {"train": leaking(), "test": TEST},
    )
    with pytest.raises(StoppedError):
        run(settings, tmp_path / "cut", watcher=Recorder(stop_at_step=16), **data)
    recorder = Recorder()
    run(settings, tmp_path / "cut", watcher=recorder, resume=True, **data)
    assert recorder.losses == finished[1].losses[14:]
    assert read_journal(tmp_path / "cut") == read_journal(finished[0].folder)
    expected = finished[1].weights[-1]
    assert all(torch.equal(tensor, expected[name]) for name, tensor in recorder.weights[-1].items())
    for name in ("model.safetensors", "spanwright.json", "labels.json"):
        cut, whole = (folder / "model" / name for folder in (tmp_path / "cut", finished[0].folder))
        assert cut.read_bytes() == whole.read_bytes(), name


def test_a_run_on_documents_of_another_corpus_is_another_run(
    tiny_encoder: str, label_map: str, finished: tuple[RunResult, Recorder], tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(finished[0].folder, tmp_path / "run"))
    settings = several.settings("cvae", tiny_encoder, label_map, *OFTEN)
    moved = [
        replace(document, corpus="Alpha") if document.id == "leaked" else document for document in leaking()
    ]
    with pytest.raises(InputError, match=r"started with other corpora \(train\)"):
        run(settings, folder, resume=True, train=moved, test=TEST)


# What is refused.


@pytest.mark.parametrize(
    ("changes", "values", "message"),
    [
        ((), {"train": bare(TRAIN)}, "train document 'Alpha-Alpha train-0' does not say which corpus"),
        (("corpora.target=['Delta']",), {}, "corpora.target names 'Delta'; expected the training corpora"),
        ((), {"train": TRAIN[:14]}, "dev has documents of the corpus 'Beta', which is not trained on"),
        ((), {"dev": DEV[3:]}, "corpora.target names 'Alpha', but there is no dev document"),
        (("corpora.labels=shared",), {}, "corpora.labels is 'shared', but there is no label map"),
        (("corpora.map=cvae-ner",), {}, "the label map lacks the corpora Alpha, Beta, Gamma"),
    ],
    ids=["unnamed", "unknown target", "untrained dev", "target without dev", "no map", "another map"],
)
def test_what_does_not_fit_together_is_refused_before_anything_is_written(
    tiny_encoder: str, tmp_path: Path, changes: tuple[str, ...], values: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError) as caught:
        run(several.settings("cvae/multi", tiny_encoder, *changes), tmp_path / "run", **values)
    assert message in str(caught.value)
    assert not (tmp_path / "run").exists()


# What parts that need one corpus make of several.


def test_thresholds_are_tuned_for_the_types_of_every_corpus_with_dev_documents(
    tiny_encoder: str, tmp_path: Path
) -> None:
    changes = ("transforms=[]", "auxiliaries.span_vae=false", "objective={}", "scorer.threshold=tuned")
    settings = several.settings("joint-ib", tiny_encoder, *changes, "training.epochs=3")
    result = run(settings, tmp_path / "run")
    tuned = result.model.network.state_dict()["spans.scorer.tuned"]
    # Nothing lies above 1: that is the threshold of a type without golds.
    assert bool((tuned < 1).all())
    assert all(result.scores[name].micro.f1 > 0 for name in ("dev", "dev Beta", "dev Gamma"))


@pytest.mark.parametrize(
    ("recipe", "changes"),
    [
        (
            "joint-ib",
            ("transforms=[]", "auxiliaries.span_vae=false", "objective={}", "scorer.threshold=tuned"),
        ),
        (
            "binder",
            ("scorer.types=atomic", "scorer.threshold=tuned", "scorer.positions=false", "objective={}"),
        ),
    ],
    ids=["sigmoid", "bi-encoder"],
)
def test_the_thresholds_of_a_corpus_depend_on_its_own_documents_alone(
    tiny_encoder: str, recipe: str, changes: tuple[str, ...]
) -> None:
    """No span of another corpus could be taken for one of its types."""
    model = set_up(several.settings(recipe, tiny_encoder, *changes), TRAIN, DEV, []).model
    (name,) = (name for name in model.network.state_dict() if name.endswith("tuned"))
    alone = []
    for corpus in ("Alpha", "Beta", "Gamma"):
        set_tuned_thresholds(
            model, [making.split(model, [document for document in DEV if document.corpus == corpus])]
        )
        own = [
            place
            for place, (_, number) in enumerate(model.labels.keys)
            if model.labels.corpora[number] == corpus
        ]
        alone += model.network.state_dict()[name][own].tolist()
    set_tuned_thresholds(model, [making.split(model, DEV)])
    assert model.network.state_dict()[name].tolist() == pytest.approx(alone)


def test_new_types_are_refused_where_each_corpus_has_its_own(tiny_encoder: str) -> None:
    made = set_up(several.settings("binder", tiny_encoder), TRAIN, DEV, [])
    with pytest.raises(SettingsError, match="it has the types of each of its corpora apart"):
        Tagger(made.model).with_types({"Drug": "drugs", "Virus": "viruses"})


def test_descriptions_of_types_have_no_token_of_a_corpus(tiny_encoder: str) -> None:
    named, plain = (
        set_up(several.settings("binder", tiny_encoder, f"corpora.token={token}"), TRAIN, DEV, []).model
        for token in ("true", "false")
    )
    texts = [made.network.spans.scorer.source.texts.ids.tolist() for made in (named, plain)]
    assert texts[0] == texts[1]


def test_an_entity_of_two_types_that_share_one_is_answered_once() -> None:
    pieces = PieceEncoder(tiny.tokenizer())
    labels = LabelSpace(("FamilyName", "Gene"), corpora=("A",), corpus=(0, 0), shared=("Gene", "Gene"))
    settings = tiny.settings(scorer={"kind": "sigmoid"})
    backbone = tiny.backbone(pieces.tokenizer.get_vocab_size())
    network = build(settings, backbone, labels=labels, pieces=pieces)
    torch.nn.init.constant_(network.spans.scorer.layers[-1].bias, 50.0)
    tagger = Tagger(artifact.TrainedModel(network.eval(), pieces, labels, settings))
    both = tagger.tag("one two").entities
    assert len(both) == 6
    entities = tagger.answering(shared_types=True).tag("one two").entities
    assert sorted(entity.key for entity in entities) == sorted({(e.ranges, "Gene") for e in both})
