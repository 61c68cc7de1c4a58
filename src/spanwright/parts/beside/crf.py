"""A linear-chain conditional random field over the tags of a window's words (Lafferty et al. 2001).

The score of a path of tags is a sum of log-potentials:

    start[y_1] + sum_t emissions[t, y_t] + sum_t transitions[y_(t-1), y_t] + end[y_n]

Windows are padded: emissions are (windows, words, tags), and the mask (windows, words) is True at the real
words, which come first; there is at least one column. What stands at padding never matters. Recursions walk
over words, all windows at once.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from spanwright.decoding.tags import Chain


class LinearChain(nn.Module):
    """Scores and normalises paths of tags; `decoding/tags.py` finds the best of them with its weights."""

    def __init__(self, tags: int) -> None:
        super().__init__()
        self.start = nn.Parameter(torch.empty(tags).uniform_(-0.1, 0.1))
        self.end = nn.Parameter(torch.empty(tags).uniform_(-0.1, 0.1))
        self.transitions = nn.Parameter(torch.empty(tags, tags).uniform_(-0.1, 0.1))
        """(tags, tags): from the tag of the row to that of the column."""

    @property
    def weights(self) -> Chain:
        """The weights as arrays."""
        columns = (self.start, self.end, self.transitions)
        return Chain(*(weight.detach().cpu().numpy() for weight in columns))

    def log_likelihood(self, emissions: Tensor, tags: Tensor, mask: Tensor) -> Tensor:
        """(windows,): log probability of the paths `tags` (windows, words); 0 for windows without words."""
        likelihood = self.score(emissions, tags, mask) - self.log_partition(emissions, mask)
        return likelihood.masked_fill(~mask[:, 0], 0)

    def score(self, emissions: Tensor, tags: Tensor, mask: Tensor) -> Tensor:
        """(windows,): the scores of the paths `tags` (windows, words)."""
        tags = tags.masked_fill(~mask, 0)
        emitted = emissions.gather(2, tags[:, :, None]).squeeze(2).masked_fill(~mask, 0).sum(1)
        moved = self.transitions[tags[:, :-1], tags[:, 1:]].masked_fill(~mask[:, 1:], 0).sum(1)
        return self.start[tags[:, 0]] + emitted + moved + self.end[_at_last_word(tags, mask)]

    def log_partition(self, emissions: Tensor, mask: Tensor) -> Tensor:
        """(windows,): log of the summed exponentiated scores of all paths, by the forward algorithm."""
        forward = self._forward_sums(_without_padding(emissions, mask))
        return (_at_last_word(forward, mask) + self.end).logsumexp(1)

    def _forward_sums(self, emissions: Tensor) -> Tensor:
        """(windows, words, tags): log-summed scores of all ways to come to a tag at a word."""
        sums = [self.start + emissions[:, 0]]
        # No mask in here: whoever reads a sum picks one at a real word, and those depend on real words only.
        for step in _potentials(emissions, self.transitions).unbind(1):
            sums.append((sums[-1].unsqueeze(2) + step).logsumexp(1))
        return torch.stack(sums, dim=1)


def _potentials(emissions: Tensor, transitions: Tensor) -> Tensor:
    """(windows, words - 1, tags, tags): score of a move to the next word, with the emission there."""
    return transitions + emissions[:, 1:, None, :]


def _without_padding(emissions: Tensor, mask: Tensor) -> Tensor:
    """Emissions with zeros at padding: whatever stood there, even NaN, could otherwise reach gradients."""
    return emissions.masked_fill(~mask[:, :, None], 0)


def _at_last_word(values: Tensor, mask: Tensor) -> Tensor:
    """(windows, ...): of values (windows, words, ...) those at the last real word."""
    windows = torch.arange(len(mask), device=mask.device)
    return values[windows, (mask.sum(1) - 1).clamp(min=0)]
