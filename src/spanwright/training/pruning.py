"""How many golds a candidate pruner keeps, measured on annotated documents."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import torch

from spanwright.artifact import TrainedModel
from spanwright.parts.batch import to_tensors
from spanwright.predicting.tagger import Tagger
from spanwright.training.data import Split


@dataclass(frozen=True, slots=True)
class PruningReport:
    """What is left of the candidates of a split."""

    candidates: int
    kept: int
    golds: int
    """Gold labels among the candidates."""
    golds_kept: int

    @property
    def recall(self) -> float:
        """The share of the golds that is kept: no model behind the pruner has a higher recall."""
        return self.golds_kept / self.golds if self.golds else 1.0

    @property
    def kept_share(self) -> float:
        """The share of the candidates that is kept."""
        return self.kept / self.candidates if self.candidates else 1.0

    def to_dict(self) -> dict[str, Any]:
        """The counts and shares, for JSON."""
        return asdict(self) | {"kept_share": self.kept_share, "recall": self.recall}


@torch.inference_mode()
def pruning_report(model: TrainedModel, split: Split) -> PruningReport | None:
    """What the pruner of a model keeps of a split; None for a model without one."""
    network = model.network.eval()
    if network.spans is None or network.spans.pruner is None:
        return None
    pruner = network.spans.pruner
    counts = torch.zeros(4, dtype=torch.long)
    for made in Tagger(model).batches(split.documents, split.golds):
        batch = to_tensors(made, network.device)
        kept = pruner.kept(pruner(network.encoder(batch), batch.spans), batch)
        found = (len(kept), int(kept.sum()), len(batch.golds.span), int(kept[batch.golds.span].sum()))
        counts += torch.tensor(found)
    return PruningReport(*counts.tolist())
