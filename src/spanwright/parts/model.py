"""`SpanModel`: encoder, representation and scorer in a row."""

from __future__ import annotations

from torch import Tensor, nn

from spanwright.batches.batch import Batch
from spanwright.parts.encoder import Encoder
from spanwright.parts.predictions import Predictions
from spanwright.parts.representations.endpoints import Endpoints
from spanwright.parts.scorers.softmax import Softmax


class SpanModel(nn.Module):
    """Scores the candidate spans of a batch."""

    def __init__(self, *, encoder: Encoder, representation: Endpoints, scorer: Softmax) -> None:
        super().__init__()
        self.encoder = encoder
        self.representation = representation
        self.scorer = scorer

    @property
    def terms(self) -> set[str]:
        """Names of the loss terms."""
        return {"spans"}

    def forward(self, batch: Batch) -> Tensor:
        """Scores of the candidate spans, in the form of the scorer."""
        scores: Tensor = self.scorer(self.representation(self.encoder(batch), batch.spans))
        return scores

    def losses(self, batch: Batch) -> dict[str, Tensor]:
        """The terms of the training objective by name."""
        return {"spans": self.scorer.loss(self(batch), batch.golds, len(batch.word_counts))}

    def predict(self, batch: Batch) -> Predictions:
        """The candidate spans taken for entities."""
        return self.scorer.predict(self(batch))

    def roles(self) -> dict[str, list[tuple[str, nn.Parameter]]]:
        """Parameters by role; each role has its own learning rate."""
        groups: dict[str, list[tuple[str, nn.Parameter]]] = {"encoder": [], "head": []}
        for name, parameter in self.named_parameters():
            groups["encoder" if name.startswith("encoder.") else "head"].append((name, parameter))
        return groups
