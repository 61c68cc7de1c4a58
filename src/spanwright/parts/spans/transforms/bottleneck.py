"""The supervised variational information bottleneck of Joint-IB (Nguyen et al., 2023, section 3.2).

A span vector becomes a normal distribution, whose mean and standard deviations an MLP reads from it. Scores
are learnt on vectors drawn from the distribution, so that what the noise drowns is lost to them; and the
divergence of the distribution from a prior, which is a loss term of its own, is the price of what a vector
says about its span. Outside training the mean stands for the span. The design is that of Mahabadi et al.
(2021): standard deviations, not variances, come out of softplus, and the prior learns, too.
"""

from __future__ import annotations

import math
from collections.abc import Set
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from spanwright.parts.batch import Spans
from spanwright.parts.layers import hidden_layers
from spanwright.parts.spans.representations.vectors import SpanVectors, Transform
from spanwright.settings.transforms import COMPRESSION, BottleneckSettings

_SMALLEST = 1e-8
"""Standard deviations below it count as this large in a divergence, which would be infinite without."""

_FIRST_DEVIATION = -3.0
"""What softplus makes the first standard deviations from: about 0.05."""


class Bottleneck(Transform):
    """Distributions of spans: their means and, in training, vectors drawn from them and their divergences."""

    prior_mean: Tensor
    prior_deviation: Tensor

    def __init__(self, settings: BottleneckSettings, *, vector_size: int) -> None:
        super().__init__()
        self.settings = settings
        self.size = settings.size
        sizes = (vector_size, *settings.hidden)
        self.layers = nn.Sequential(*hidden_layers(sizes))
        self.mean = nn.Linear(sizes[-1], settings.size)
        self.deviation = nn.Linear(sizes[-1], settings.size)
        # Spans begin nearly certain: noise as large as the means would hide from the scorer what to learn.
        nn.init.constant_(self.deviation.bias, _FIRST_DEVIATION)
        if settings.prior == "learned":
            # It starts as the standard one. The released code starts at random, where some deviations are so
            # small that the divergence outweighs all else.
            self.prior_mean = nn.Parameter(torch.zeros(settings.size))
            # Passes through softplus as the deviations of spans do.
            self.prior_deviation = nn.Parameter(torch.full((settings.size,), math.log(math.e - 1)))

    @property
    def terms(self) -> Set[str]:
        """Names of the loss terms."""
        return {COMPRESSION}

    def forward(self, vectors: SpanVectors, spans: Spans) -> SpanVectors:
        """The means of spans, (spans, size), and of anchors; in training with samples and divergences."""
        inner = self.layers(vectors.spans)
        mean, null = self.mean(inner), self.mean(self.layers(vectors.null))
        if not self.training:
            return SpanVectors(mean, null, None, None)
        deviation = functional.softplus(self.deviation(inner))
        samples = self.settings.samples
        return SpanVectors(
            spans=mean,
            null=null,
            first=None,
            last=None,
            samples=draw(mean, deviation, standard_noise(samples, mean)) if samples else None,
            divergence=divergence(mean, deviation, *self.prior()),
        )

    def prior(self) -> tuple[Tensor, Tensor]:
        """(size,) twice: the mean and the standard deviations that distributions are compared with."""
        if self.settings.prior == "learned":
            return self.prior_mean, functional.softplus(self.prior_deviation)
        bias = self.mean.bias
        return torch.zeros_like(bias), torch.ones_like(bias)


def standard_noise(samples: int, like: Tensor) -> Tensor:
    """(samples, *shape of like): numbers of the standard normal distribution."""
    return torch.randn(samples, *like.shape, dtype=like.dtype, device=like.device)


def draw(mean: Tensor, deviation: Tensor, noise: Tensor) -> Tensor:
    """(samples, spans, size): vectors of distributions, (spans, size) each, from standard noise."""
    return torch.addcmul(mean, deviation, noise)


def divergence(mean: Tensor, deviation: Tensor, prior_mean: Tensor, prior_deviation: Tensor) -> Tensor:
    """(spans,): the Kullback-Leibler divergence of normal distributions from a prior.

    Means and standard deviations are (spans, size), those of the prior (size,).
    """
    prior_deviation = prior_deviation.clamp(min=_SMALLEST)
    found: Tensor = _Divergence.apply(mean, deviation, prior_mean, prior_deviation)  # type: ignore[no-untyped-call]
    return found


class _Divergence(torch.autograd.Function):
    """`sum over dimensions of (r^2 + ((m - m_p) / s_p)^2 - 1) / 2 - log r`, where `r = s / s_p`.

    Only what came in waits for the gradient; by the stock operations, it would be several tensors as large.
    """

    @staticmethod
    def forward(
        context: Any, mean: Tensor, deviation: Tensor, prior_mean: Tensor, prior_deviation: Tensor
    ) -> Tensor:
        context.save_for_backward(mean, deviation, prior_mean, prior_deviation)
        ratio = deviation.clamp(min=_SMALLEST).div_(prior_deviation)
        found = (mean - prior_mean).div_(prior_deviation).square_().addcmul_(ratio, ratio).sub_(1).div_(2)
        return found.sub_(ratio.log_()).sum(dim=1)

    @staticmethod
    def backward(context: Any, *gradients: Any) -> tuple[Tensor, ...]:
        mean, deviation, prior_mean, prior_deviation = context.saved_tensors
        (gradient,) = gradients
        # The limit passes gradients on: a standard deviation below it can still learn to grow.
        deviation = deviation.clamp(min=_SMALLEST)
        distance, variance = mean - prior_mean, prior_deviation.square()
        of_deviation = (deviation / variance).sub_(deviation.reciprocal()).mul_(gradient[:, None])
        spread = gradient @ deviation.square_().addcmul_(distance, distance)
        of_mean = distance.div_(variance).mul_(gradient[:, None])
        of_prior_deviation = gradient.sum() / prior_deviation - spread / (variance * prior_deviation)
        return of_mean, of_deviation, -of_mean.sum(dim=0), of_prior_deviation
