"""A conditional variational auto-encoder of spans, as in CVAE-NER (Oi and Miwa 2025, section 3).

It learns from several corpora at once how their labels are related. Each label of each corpus, with a label
of its own for spans without an entity, has a row c in a table of conditions, which begins as

    [one-hot: the label itself; one-hot: the shared label that it means]

so that labels of one meaning begin near to each other, and then learns. A span vector h is rebuilt from a
small latent vector and the condition of its gold label:

    e = ReLU(Linear([h; c])),  mu = W_mu e + b_mu,  log sigma^2 = W_sigma e + b_sigma
    z = mu + sigma * noise,  h' = ReLU(Linear(ReLU(Linear([z; c]))))

Two loss terms, whose usual weights stand in the settings; the paper gives both 0.0001:

- the squared error of h', the mean over spans and dimensions;
- the divergence of the posterior from N(0, I), summed over dimensions, the mean over spans.

The last ReLU cannot give negative numbers, so it fits vectors that come out of a ReLU, as the paper's do. And
unless it is detached, h is pulled towards h' as well as h' towards h, which shrinking both would please.

It needs gold labels, so it answers nothing: a model finds entities without it.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from spanwright.parts.batch import Batch
from spanwright.parts.beside.writer.auto_encoders import divergence, sample
from spanwright.parts.layers import FactoredLinear
from spanwright.parts.part import Part, Role
from spanwright.parts.spans.classes import Classes
from spanwright.settings.auxiliaries import CONDITIONAL, DIVERGENCE, ConditionKind, CvaeSettings


class Conditions(nn.Embedding, Part):
    """(class rows, width): the table of conditions."""

    role: ClassVar[Role | None] = "condition"


class Cvae(Part):
    """Rebuilds span vectors from latent vectors, given the class rows of spans.

    A class row is a label of one corpus, or its label for spans without an entity.
    """

    role: ClassVar[Role | None] = "auxiliary"

    def __init__(
        self, settings: CvaeSettings, *, vector_size: int, shared: Sequence[int | None], shared_size: int
    ) -> None:
        """`shared` is the shared label of each class row, below `shared_size`; None where it has none."""
        super().__init__()
        self.detach_target = settings.detach_target
        self.negatives = settings.negatives
        table = condition_table(settings.condition, shared, shared_size)
        self.condition = Conditions(*table.shape)
        self.condition.weight = nn.Parameter(table, requires_grad=settings.trainable)
        width, hidden, latent = table.shape[1], settings.hidden, settings.latent
        self.encode = FactoredLinear((vector_size, width), hidden)
        self.mean = nn.Linear(hidden, latent)
        self.log_variance = nn.Linear(hidden, latent)
        self.decode = FactoredLinear((latent, width), latent)
        self.output = nn.Linear(latent, vector_size)

    @property
    def terms(self) -> Set[str]:
        """Names of the loss terms."""
        return {CONDITIONAL, CONDITIONAL + DIVERGENCE}

    def losses(self, vectors: Tensor, rows: Tensor, noise: Tensor | None = None) -> dict[str, Tensor]:
        """The loss terms by name; 0 where there are no spans.

        `vectors` is (spans, vector size), `rows` (spans,) their class rows. `noise` (spans, latent) is drawn
        from N(0, I) while training unless given, and 0 else.
        """
        mean, log_variance = self.posterior(vectors, rows)
        if noise is None and self.training:
            noise = torch.randn_like(mean)
        latent = mean if noise is None else sample(mean, log_variance, noise)
        target = vectors.detach() if self.detach_target else vectors
        error = functional.mse_loss(self.rebuild(latent, rows), target, reduction="sum")
        count = max(1, len(rows))
        return {
            CONDITIONAL: error / (count * vectors.shape[1]),
            CONDITIONAL + DIVERGENCE: divergence(mean, log_variance).sum() / count,
        }

    def posterior(self, vectors: Tensor, rows: Tensor) -> tuple[Tensor, Tensor]:
        """(spans, latent) twice: means and logarithms of variances, from (spans, vector size)."""
        inner = functional.relu(self._joined(self.encode, vectors, rows))
        return self.mean(inner), self.log_variance(inner)

    def rebuild(self, latent: Tensor, rows: Tensor) -> Tensor:
        """(spans, vector size): span vectors as latent vectors (spans, latent) describe them."""
        inner = functional.relu(self._joined(self.decode, latent, rows))
        return functional.relu(self.output(inner))

    def _joined(self, layer: FactoredLinear, values: Tensor, rows: Tensor) -> Tensor:
        """(spans, output size): the layer on [values; conditions], each condition projected once."""
        own, projected = layer((values, self.condition.weight))
        joined: Tensor = own + projected.index_select(0, rows)
        return joined

    def chosen(self, is_negative: Tensor, window: Tensor) -> Tensor:
        """Positions, ascending, of the spans that enter: all with an entity, and negatives of each window.

        `is_negative` (spans,) says which have no entity; `window` (spans,) is where they stand.
        """
        if self.negatives == "all":
            return torch.arange(len(window), device=window.device)
        positions = is_negative.nonzero().squeeze(1)
        # Drawn on the processor wherever the model is, as checkpoints keep the state of that generator.
        positions = positions[torch.randperm(len(positions)).to(window.device)]
        # A stable sort leaves the negatives of each window in their drawn order: the first ones stay.
        windows, order = window[positions].sort(stable=True)
        rank = torch.arange(len(windows), device=window.device) - torch.searchsorted(windows, windows)
        enters = ~is_negative
        enters[positions[order[rank < self.negatives]]] = True
        return enters.nonzero().squeeze(1)


class Conditioned(Part):
    """The auto-encoder beside a span head: it reads the span vectors of a batch with their gold classes."""

    def __init__(self, cvae: Cvae, sizes: Sequence[int]) -> None:
        """`sizes` counts the types of each corpus."""
        super().__init__()
        self.cvae = cvae
        self.classes = Classes(sizes)

    @property
    def terms(self) -> Set[str]:
        """Names of the loss terms."""
        return self.cvae.terms

    def losses(self, vectors: Tensor, batch: Batch) -> dict[str, Tensor]:
        """The loss terms by name, from the vectors (spans, vector size) of all candidates."""
        rows = self.classes.targets(batch)
        if self.cvae.negatives == "all":
            return self.cvae.losses(vectors, rows)
        chosen = self.cvae.chosen(self.classes.type_of[rows] < 0, batch.spans.window)
        return self.cvae.losses(vectors[chosen], rows[chosen])


def shared_rows(sizes: Sequence[int], shared: Sequence[str]) -> tuple[list[int | None], int]:
    """The shared label of each class row, and the number of shared labels.

    `shared` is the shared type of each type, an empty name for none. The first shared label is that of spans
    without an entity, which all corpora have.
    """
    numbers = {name: number for number, name in enumerate(sorted(set(shared) - {""}), 1)}
    rows: list[int | None] = []
    given = iter(shared)
    for size in sizes:
        rows += [0, *(numbers.get(next(given)) for _ in range(size))]
    return rows, len(numbers) + 1


def condition_table(kind: ConditionKind, shared: Sequence[int | None], shared_size: int) -> Tensor:
    """(class rows, width): what the conditions of class rows with these shared labels begin as."""
    own = torch.eye(len(shared))
    # No column has the number -1, so that a row without a shared label is zero.
    labels = torch.tensor([-1 if label is None else label for label in shared])
    meant = (labels[:, None] == torch.arange(shared_size)).to(own.dtype)
    both = torch.cat([own, meant], dim=1)
    match kind:
        case "both":
            return both
        case "own":
            return own
        case "shared":
            return meant
        case "random":
            return torch.randn_like(both)
