"""An LSTM that writes words from a latent vector, as in Joint-IB (Nguyen, Miwa and Ananiadou 2023, 3.1.2).

With z the latent vector, w_0 the start and w_1, w_2, ... the words to write:

    h_0 = W z + b,  c_0 = 0,  h_t, c_t = LSTM([embedding(w_(t-1)); z], h_(t-1), c_(t-1))

and the output layer gives the probability of w_t from h_t. Several decoders share one `WordTable`: what words
look like to a decoder, and the output layer. It is handed in, so that its weights exist once.

Rows of words are as in `Rewrites`: numbers of words, then `END`, then `PAD`.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from spanwright.batches.writer import END, PAD, START, UNKNOWN
from spanwright.errors import SettingsError
from spanwright.settings.auxiliaries import OutputKind

_FRACTION = 15
_SHRINKAGE = 4.0
_SPREAD = 0.1


class WordTable(nn.Module):
    """Embeddings and the output layer of a vocabulary."""

    def __init__(
        self, *, words: int, word_size: int, hidden: int, output: OutputKind, vectors: Tensor | None = None
    ) -> None:
        """`vectors` (words, word size) are first embeddings; rows of NaN start at random."""
        super().__init__()
        self.embedding = nn.Embedding(words, word_size)
        make = _Softmax if output == "softmax" else _AdaptiveSoftmax
        self.output: _Softmax | _AdaptiveSoftmax = make(hidden, words)
        with torch.no_grad():
            nn.init.normal_(self.embedding.weight, std=_SPREAD)
            if vectors is not None:
                _check_shape(vectors, words, word_size)
                known = ~vectors.isnan().any(1)
                self.embedding.weight[known] = vectors[known]

    def embed(self, numbers: Tensor) -> Tensor:
        """(..., word size): the embeddings of numbers (...)."""
        embeddings: Tensor = self.embedding(numbers)
        return embeddings

    def surprise(self, states: Tensor, numbers: Tensor) -> Tensor:
        """(symbols,): negative log probability of each of the numbers after states (symbols, hidden)."""
        return self.output.surprise(states, numbers)

    def likeliest(self, states: Tensor) -> Tensor:
        """(rows,): the likeliest word or `END` after states (rows, hidden)."""
        scores = self.output.scores(states)
        scores[:, [PAD, START, UNKNOWN]] = -torch.inf
        return scores.argmax(1)


class _Softmax(nn.Module):
    """A score for every word, normalised over all."""

    def __init__(self, hidden: int, words: int) -> None:
        super().__init__()
        self.projection = nn.Linear(hidden, words)

    def surprise(self, states: Tensor, numbers: Tensor) -> Tensor:
        return functional.cross_entropy(self.projection(states), numbers, reduction="none")

    def scores(self, states: Tensor) -> Tensor:
        scores: Tensor = self.projection(states)
        return scores


class _AdaptiveSoftmax(nn.Module):
    """Frequent words as in a softmax; rarer ones in two clusters, whose inside costs only when one occurs."""

    def __init__(self, hidden: int, words: int) -> None:
        super().__init__()
        if words < _FRACTION:
            raise SettingsError(
                f'adaptive output over {words} words; expected {_FRACTION} or more, or output = "softmax"'
            )
        cutoffs = [words // _FRACTION, 3 * words // _FRACTION]
        self.clusters = nn.AdaptiveLogSoftmaxWithLoss(hidden, words, cutoffs, div_value=_SHRINKAGE)

    def surprise(self, states: Tensor, numbers: Tensor) -> Tensor:
        likelihood: Tensor = self.clusters(states, numbers).output
        return -likelihood

    def scores(self, states: Tensor) -> Tensor:
        scores: Tensor = self.clusters.log_prob(states)
        return scores


class WordDecoder(nn.Module):
    """One LSTM layer, whose weights are those of `[embedding; latent]` as its input.

    The latent vector is the same at every step, so its product with the weights is taken once for a row.
    """

    def __init__(self, *, word_size: int, latent: int, hidden: int) -> None:
        super().__init__()
        self.sizes = (word_size, latent)
        self.start = nn.Linear(latent, hidden)
        self.cell = nn.LSTMCell(word_size + latent, hidden)

    def surprise(self, latent: Tensor, words: Tensor, table: WordTable, *, dropout: float = 0.0) -> Tensor:
        """(rows,): negative log likelihood of words (rows, longest), each read after it was to be written.

        `latent` is (rows, latent). Words that are read become unknown with the probability `dropout`.
        """
        order = (words != PAD).sum(1).argsort(descending=True, stable=True)
        # Step by step instead of row by row, so that rows which still write are always the first ones.
        targets = words[order].t()
        real = targets != PAD
        read = forgetful(shifted(words), dropout)[order].t()
        states = self(latent[order], table.embed(read[real]), real.sum(1).tolist())
        surprise = table.surprise(states, targets[real])
        return surprise.new_zeros(len(words)).index_add(0, order.expand_as(targets)[real], surprise)

    def forward(self, latent: Tensor, embeddings: Tensor, running: list[int]) -> Tensor:
        """(symbols, hidden): the states after the embeddings (symbols, word size).

        Symbols stand step by step; in each step they are those of the first `running` rows.
        """
        from_word, constant, hidden, cell = self._begin(latent)
        states = [hidden[:0]]
        for inputs in functional.linear(embeddings, from_word).split_with_sizes(running):
            rows = len(inputs)
            hidden, cell = self._step(inputs + constant[:rows], hidden[:rows], cell[:rows])
            states.append(hidden)
        return torch.cat(states)

    @torch.no_grad()
    def write(self, latent: Tensor, longest: int, table: WordTable) -> Tensor:
        """(rows, longest): the likeliest next word at each step up to `END`, then `PAD`.

        A row that would go on has no `END`.
        """
        from_word, constant, hidden, cell = self._begin(latent)
        word = torch.full((len(latent),), START, device=latent.device)
        written = torch.full((len(latent), longest), PAD, device=latent.device)
        ended = torch.zeros_like(word, dtype=torch.bool)
        for step in range(longest):
            inputs = functional.linear(table.embed(word), from_word) + constant
            hidden, cell = self._step(inputs, hidden, cell)
            word = table.likeliest(hidden).masked_fill(ended, PAD)
            written[:, step] = word
            ended |= word == END
            if bool(ended.all()):
                break
        return written

    def _begin(self, latent: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """The weights of embeddings at the gates (4 hidden, word size), what the gates of a row get at every
        step (rows, 4 hidden), and the first hidden and cell states (rows, hidden)."""
        from_word, from_latent = self.cell.weight_ih.split_with_sizes(self.sizes, 1)
        constant = functional.linear(latent, from_latent, self.cell.bias_ih + self.cell.bias_hh)
        hidden: Tensor = self.start(latent)
        return from_word, constant, hidden, torch.zeros_like(hidden)

    def _step(self, inputs: Tensor, hidden: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
        """The next hidden and cell states (rows, hidden), from inputs of the gates (rows, 4 hidden)."""
        gates = torch.addmm(inputs, hidden, self.cell.weight_hh.t())
        enter, forget, content, leave = gates.chunk(4, 1)
        cell = forget.sigmoid() * cell + enter.sigmoid() * content.tanh()
        return leave.sigmoid() * cell.tanh(), cell


def shifted(words: Tensor) -> Tensor:
    """(rows, longest): what is read when words (rows, longest) are to be written: the start, then words."""
    return functional.pad(words, (1, 0), value=START)[:, : words.shape[1]]


def forgetful(words: Tensor, probability: float) -> Tensor:
    """Words of any shape, all but `START` replaced by `UNKNOWN` with a probability."""
    if probability == 0:
        return words
    forgotten = torch.rand(words.shape, device=words.device) < probability
    return words.masked_fill(forgotten & (words != START), UNKNOWN)


def _check_shape(vectors: Tensor, words: int, word_size: int) -> None:
    if vectors.shape != (words, word_size):
        raise SettingsError(
            f"word vectors of shape {tuple(vectors.shape)}; expected ({words}, {word_size}), words times "
            f"word_size; vectors of another size need word_size = {vectors.shape[-1]}"
        )
