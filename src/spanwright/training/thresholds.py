"""Global thresholds tuned on dev: the number per type above which spans give the best F1."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain

import torch
from torch import Tensor

from spanwright.artifact import TrainedModel
from spanwright.batches.batch import Array, Batch
from spanwright.parts.batch import to_tensors
from spanwright.parts.spans.classes import OwnTypes
from spanwright.predicting.tagger import Tagger
from spanwright.training.data import Split

_BINS = 8192
"""Scores are counted in bins, so that memory does not grow with the dev split."""


def set_tuned_thresholds(model: TrainedModel, dev: Iterable[Split]) -> None:
    """Set the thresholds of a scorer that asks for tuned ones; other models are left alone."""
    if model.network.spans is None:
        return
    scorer = model.network.spans.scorer
    limit = scorer.limit_range
    if limit is not None:
        scorer.set_limits(_best(model, dev, limit))


def _best(model: TrainedModel, dev: Iterable[Split], limit: float) -> Tensor:
    """(types,): the best thresholds of scores from `-limit` to `limit`."""
    model.network.eval()
    splits, labels = list(dev), model.labels
    golds, others = _histograms(model, splits, limit)
    best = best_thresholds(golds, others, limit)
    seen = {labels.corpus_id(document.corpus) for split in splits for document in split.source}
    unseen = torch.tensor([bool(labels.corpus) and corpus not in seen for _, corpus in labels.keys])
    # A corpus without dev documents says nothing of its types: they get what the others have on average.
    found = golds.sum(1) > 0
    return torch.where(unseen, best[found].mean(), best) if bool(unseen.any() and found.any()) else best


def best_thresholds(golds: Tensor, others: Tensor, limit: float) -> Tensor:
    """(types,): lower edges of the bins from which on upwards a type's F1 is best.

    `golds` and `others` count, as (types, bins), the scores from `-limit` to `limit` of spans that are golds
    of a type and that are not. A type without golds gets `limit`: nothing lies above it.
    """
    found = golds.flip(1).cumsum(1).flip(1)
    predicted = found + others.flip(1).cumsum(1).flip(1)
    f1 = 2 * found / (predicted + golds.sum(1, keepdim=True)).clamp_min(1)
    # Of the first run of equally good bins, the middle one leaves most room on both sides.
    best = f1 == f1.amax(1, keepdim=True)
    first = best.long().argmax(1)
    after_first = torch.arange(golds.shape[1]) > first[:, None]
    ended = after_first & ~best
    run_end = torch.where(ended.any(1), ended.long().argmax(1), golds.shape[1])
    middle = ((first + run_end - 1) // 2).double()
    edges = -limit + 2 * limit * middle / golds.shape[1]
    return torch.where(golds.sum(1) > 0, edges, torch.full_like(edges, limit)).float()


@torch.inference_mode()
def _histograms(model: TrainedModel, splits: Sequence[Split], limit: float) -> tuple[Tensor, Tensor]:
    """(types, bins) twice: scores of golds and of all other pairs of span and type."""
    golds = torch.zeros(len(model.labels), _BINS, dtype=torch.float64)
    everything, own_types = torch.zeros_like(golds), OwnTypes(model.labels.sizes)
    tagger = Tagger(model)
    for made in chain.from_iterable(tagger.batches(split.documents, split.golds) for split in splits):
        scores, kept = _scores(model, made)
        bins = ((scores + limit) * (_BINS / (2 * limit))).long().clamp(0, _BINS - 1)
        # What a pruner leaves out is found by no threshold: it counts as lower than all others.
        bins[~kept] = 0
        batch = to_tensors(made, bins.device)
        gold_bins = bins[batch.golds.span, batch.golds.type]
        golds.index_put_((batch.golds.type, gold_bins), torch.ones(()).double(), accumulate=True)
        own = own_types.of_windows(batch)
        for type_, column in enumerate(bins.unbind(1)):
            # Spans of other corpora are no answers for a type, neither right nor wrong.
            judged = column if own is None else column[own[batch.spans.window, type_]]
            everything[type_] += torch.bincount(judged, minlength=_BINS)
    return golds, everything - golds


def _scores(model: TrainedModel, made: Batch[Array]) -> tuple[Tensor, Tensor]:
    """(spans, types): what the limits of types are compared with, of the candidates of a batch; and (spans,)
    which of them a pruner leaves."""
    spans, batch = model.network.spans, to_tensors(made, model.network.device)
    assert spans is not None
    states = model.network.encoder(batch)
    scores = spans.scorer.limited(spans(states, batch)).cpu()
    if spans.pruner is None:
        return scores, torch.ones(len(scores), dtype=torch.bool)
    return scores, spans.pruner.kept(spans.pruner(states, batch.spans), batch).cpu()
