"""Global thresholds tuned on dev: the number per type above which spans give the best F1."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import torch
from torch import Tensor

from spanwright.artifact import TrainedModel
from spanwright.batches.batch import Batch
from spanwright.parts.spans.scorers.bi_encoder import BiEncoder, Comparisons
from spanwright.parts.spans.scorers.sigmoid import Sigmoid
from spanwright.predicting.tagger import Tagger
from spanwright.text import Document
from spanwright.training.data import prepare_split

_BINS = 8192
"""Scores are counted in bins, so that memory does not grow with the dev split."""
_LOGIT_LIMIT = 18.0
"""Where the probability of a logit, in single precision, is 1: no span exceeds it."""


def tune_thresholds(model: TrainedModel, dev: Iterable[Document]) -> None:
    """Set the thresholds of a scorer that asks for tuned ones; other models are left alone."""
    scorer = model.network.spans.scorer if model.network.spans is not None else None
    if isinstance(scorer, BiEncoder) and scorer.settings.threshold == "tuned":
        comparison = scorer.comparisons["spans"]
        assert comparison.tuned is not None
        limit = float(comparison.log_scale.detach().exp())
        comparison.tuned.copy_(_best(model, dev, limit))
    elif isinstance(scorer, Sigmoid) and scorer.tuned is not None:
        # Counted as logits: most probabilities crowd near 0, where bins of probabilities could not part them.
        scorer.tuned.copy_(_best(model, dev, _LOGIT_LIMIT).sigmoid())


def _best(model: TrainedModel, dev: Iterable[Document], limit: float) -> Tensor:
    """(types,): the best thresholds of scores from `-limit` to `limit`."""
    model.network.eval()
    documents, labels = list(dev), model.labels
    golds, others = _histograms(model, documents, limit)
    best = best_thresholds(golds, others, limit)
    seen = {labels.corpus_id(document.corpus) for document in documents}
    untold = torch.tensor([bool(labels.corpus) and corpus not in seen for _, corpus in labels.keys])
    # A corpus without dev documents says nothing of its types: they get what the others have on average.
    found = golds.sum(1) > 0
    return torch.where(untold, best[found].mean(), best) if bool(untold.any() and found.any()) else best


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
    behind_first = torch.arange(golds.shape[1]) > first[:, None]
    ended = behind_first & ~best
    run_end = torch.where(ended.any(1), ended.long().argmax(1), golds.shape[1])
    middle = ((first + run_end - 1) // 2).double()
    edges = -limit + 2 * limit * middle / golds.shape[1]
    return torch.where(golds.sum(1) > 0, edges, torch.full_like(edges, limit)).float()


@torch.inference_mode()
def _histograms(model: TrainedModel, dev: Sequence[Document], limit: float) -> tuple[Tensor, Tensor]:
    """(types, bins) twice: scores of golds and of all other pairs of span and type."""
    split = prepare_split(dev, model.pieces, model.plan, model.labels)
    golds = torch.zeros(len(model.labels), _BINS, dtype=torch.float64)
    everything = torch.zeros_like(golds)
    for batch in Tagger(model).batches(split.documents, split.golds):
        bins = ((_scores(model, batch) + limit) * (_BINS / (2 * limit))).long().clamp(0, _BINS - 1)
        gold_bins = bins[batch.golds.span, batch.golds.type]
        golds.index_put_((batch.golds.type, gold_bins), torch.ones(()).double(), accumulate=True)
        own = _own_types(model, batch)
        for type_, column in enumerate(bins.unbind(1)):
            # Spans of other corpora are no answers for a type, neither right nor wrong.
            judged = column if own is None else column[own[:, type_]]
            everything[type_] += torch.bincount(judged, minlength=_BINS)
    return golds, everything - golds


def _own_types(model: TrainedModel, batch: Batch) -> Tensor | None:
    """(spans, types): True at the types of each candidate's corpus; None where all have the same types."""
    scorer = model.network.spans.scorer if model.network.spans is not None else None
    assert isinstance(scorer, BiEncoder | Sigmoid)
    own = scorer.own.of_windows(batch.to(model.network.device))
    return None if own is None else own.cpu()[batch.spans.window]


def _scores(model: TrainedModel, batch: Batch) -> Tensor:
    """(spans, types): how similar the candidates of a batch are to the types, or their logits."""
    network = model.network
    assert network.spans is not None
    batch = batch.to(network.device)
    scores: Comparisons | Tensor = network.spans(network.encoder(batch), batch)
    return (scores.spans.similarity if isinstance(scores, Comparisons) else scores).cpu()
