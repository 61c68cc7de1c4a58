"""Two variational auto-encoders of gold spans, as in Joint-IB (Nguyen, Miwa and Ananiadou 2023, 3.1).

One writes the words of a span again, the other those of its synonyms. For a span vector s each has a
posterior

    mu = W_mu s + b_mu,  log sigma^2 = W_sigma s + b_sigma,  z = mu + sigma * noise

(the paper writes sigma^2 = W s + b; its logarithm keeps it positive) and a decoder that writes words from z
(`word_decoder.py`). The paper shares mu, so that a span and its synonyms come to lie close to each other.

Two loss terms each, both means over rewrites, whose usual weights stand in the settings:

- the negative log likelihood of the words with their end, summed over the words of a rewrite;
- the divergence of the posterior from N(0, I), summed over dimensions.

They learn beside the span scores, with gradients that reach the encoder, and answer nothing: a model finds
entities without them.
"""

from __future__ import annotations

from collections.abc import Set
from typing import ClassVar

from torch import Tensor, nn

from spanwright.errors import InputError
from spanwright.parts.batch import Rewrites
from spanwright.parts.beside.writer.word_decoder import WordDecoder, WordTable
from spanwright.parts.part import Part, Role
from spanwright.settings.auxiliaries import DIVERGENCE, SYNONYMS, SpanVaeSettings


class SpanVae(Part):
    """Auto-encoders of spans and, where settings name synonyms, of their synonyms.

    Their parts stand in lists, spans first; a list with one entry serves both.
    """

    role: ClassVar[Role | None] = "auxiliary"

    def __init__(
        self,
        settings: SpanVaeSettings,
        *,
        vector_size: int,
        vocabulary: int,
        word_vectors: Tensor | None = None,
    ) -> None:
        """`word_vectors` (vocabulary, word size) are first embeddings; rows of NaN start at random."""
        super().__init__()
        self.latent = settings.latent
        self.word_dropout = settings.word_dropout
        self.names = settings.names
        word_size, hidden, latent = settings.word_size, settings.hidden, settings.latent
        self.table = WordTable(
            words=vocabulary, word_size=word_size, hidden=hidden, output=settings.output, vectors=word_vectors
        )
        self.means = self._heads(vector_size, shared=settings.sharing != "none")
        self.log_variances = self._heads(vector_size, shared=settings.sharing == "all")
        self.decoders = nn.ModuleList(
            WordDecoder(word_size=word_size, latent=latent, hidden=hidden) for _ in self.names
        )

    def _heads(self, vector_size: int, *, shared: bool) -> nn.ModuleList:
        """Projections of span vectors to one number per latent dimension."""
        return nn.ModuleList(
            nn.Linear(vector_size, self.latent) for _ in range(1 if shared else len(self.names))
        )

    @property
    def terms(self) -> Set[str]:
        """Names of the loss terms."""
        return {*self.names, *(name + DIVERGENCE for name in self.names)}

    def losses(self, vectors: Tensor, rewrites: Rewrites, noise: Tensor | None = None) -> dict[str, Tensor]:
        """The loss terms by name; 0 where there is nothing to rewrite.

        `vectors` (spans, vector size) are those of `rewrites.spans`. `noise` (rewrites, latent) is drawn from
        N(0, I) while training unless given, and 0 else.
        """
        if noise is None:
            size = (len(rewrites.source), self.latent)
            noise = vectors.new_empty(size).normal_() if self.training else vectors.new_zeros(size)
        dropout = self.word_dropout if self.training else 0.0
        means = [head(vectors) for head in self.means]
        log_variances = [head(vectors) for head in self.log_variances]
        losses: dict[str, Tensor] = {}
        for number, name in enumerate(self.names):
            chosen = rewrites.synonym == (name == SYNONYMS)
            source, count = rewrites.source[chosen], max(1, int(chosen.sum()))
            mean, log_variance = (either[number % len(either)][source] for either in (means, log_variances))
            latent, words = sample(mean, log_variance, noise[chosen]), rewrites.words[chosen]
            surprise = self._decoder(number).surprise(latent, words, self.table, dropout=dropout)
            losses[name] = surprise.sum() / count
            losses[name + DIVERGENCE] = divergence(mean, log_variance).sum() / count
        return losses

    def posterior(self, vectors: Tensor, *, synonym: bool = False) -> Tensor:
        """(spans, latent): the means of the posteriors of spans, or of their synonyms."""
        number = self._number(synonym)
        mean: Tensor = self.means[number % len(self.means)](vectors)
        return mean

    def rewrite(self, vectors: Tensor, *, synonym: bool, longest: int) -> Tensor:
        """(spans, longest): the words that spans, or their synonyms, most likely have, as in `Rewrites`.

        Written word by word from the mean of the posterior, so the same every time.
        """
        decoder = self._decoder(self._number(synonym))
        return decoder.write(self.posterior(vectors, synonym=synonym), longest, self.table)

    def _decoder(self, number: int) -> WordDecoder:
        decoder = self.decoders[number]
        assert isinstance(decoder, WordDecoder)
        return decoder

    def _number(self, synonym: bool) -> int:
        """The position of an auto-encoder in the lists."""
        if synonym and SYNONYMS not in self.names:
            raise InputError(
                "these auto-encoders never learnt synonyms; expected synonym=False, or to train with "
                "sources of synonyms in the settings"
            )
        return int(synonym)


def sample(mean: Tensor, log_variance: Tensor, noise: Tensor) -> Tensor:
    """(rows, latent): draws from Gaussians, given standard normal noise; all of that shape (equation 3)."""
    return mean + (0.5 * log_variance).exp() * noise


def divergence(mean: Tensor, log_variance: Tensor) -> Tensor:
    """(rows,): Kullback-Leibler divergence of Gaussians (rows, latent) from N(0, I)."""
    return 0.5 * (log_variance.exp() + mean.square() - 1 - log_variance).sum(1)
