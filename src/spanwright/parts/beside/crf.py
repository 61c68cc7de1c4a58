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

NO_TAG = -1
"""Fills paths beyond a window's words."""


class LinearChain(nn.Module):
    """Scores, normalises and decodes paths of tags."""

    def __init__(self, tags: int) -> None:
        super().__init__()
        self.start = nn.Parameter(torch.empty(tags).uniform_(-0.1, 0.1))
        self.end = nn.Parameter(torch.empty(tags).uniform_(-0.1, 0.1))
        self.transitions = nn.Parameter(torch.empty(tags, tags).uniform_(-0.1, 0.1))
        """(tags, tags): from the tag of the row to that of the column."""

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

    def marginals(self, emissions: Tensor, mask: Tensor) -> Tensor:
        """(windows, words, tags): probability of each tag at each word over all paths; 0 at padding."""
        emissions = _without_padding(emissions, mask)
        # Forward and backward sums add up to the log partition at every word: softmax divides by it.
        both = self._forward_sums(emissions) + self._backward_sums(emissions, mask)
        return both.softmax(2).masked_fill(~mask[:, :, None], 0)

    def viterbi(
        self,
        emissions: Tensor,
        mask: Tensor,
        allowed_start: Tensor | None = None,
        allowed: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]:
        """The best path of each window (windows, words), filled with `NO_TAG`, and its score (windows,).

        A path begins with a tag of `allowed_start` (tags,) and moves as `allowed` (tags, tags) says; without
        them every path is legal.
        """
        start, transitions = _barred(self.start, allowed_start), _barred(self.transitions, allowed)
        return best_paths(emissions, mask, start, transitions, self.end)

    def _forward_sums(self, emissions: Tensor) -> Tensor:
        """(windows, words, tags): log-summed scores of all ways to come to a tag at a word."""
        sums = [self.start + emissions[:, 0]]
        # No mask in here: whoever reads a sum picks one at a real word, and those depend on real words only.
        for step in _potentials(emissions, self.transitions).unbind(1):
            sums.append((sums[-1].unsqueeze(2) + step).logsumexp(1))
        return torch.stack(sums, dim=1)

    def _backward_sums(self, emissions: Tensor, mask: Tensor) -> Tensor:
        """(windows, words, tags): log-summed scores of all ways to go on from a tag at a word."""
        sums = [self.end.expand(len(emissions), -1)]
        for step, inside in reversed(_steps(emissions, self.transitions, mask)):
            finished = (step + sums[-1].unsqueeze(1)).logsumexp(2)
            sums.append(torch.where(inside, finished, sums[-1]))
        return torch.stack(sums[::-1], dim=1)


def best_paths(
    emissions: Tensor, mask: Tensor, start: Tensor, transitions: Tensor, end: Tensor
) -> tuple[Tensor, Tensor]:
    """Viterbi's algorithm: paths (windows, words), filled with `NO_TAG`, and their scores (windows,)."""
    emissions = _without_padding(emissions, mask)
    best = start + emissions[:, 0]
    stay = torch.arange(len(start), device=mask.device)
    origins = []
    for step, inside in _steps(emissions, transitions, mask):
        reached, origin = (best.unsqueeze(2) + step).max(1)
        # Beyond its last word a window stays where it is, so that all windows end in the last column.
        best = torch.where(inside, reached, best)
        origins.append(torch.where(inside, origin, stay))
    scores, tag = (best + end).max(1, keepdim=True)
    path = [tag]
    for origin in reversed(origins):
        path.append(origin.gather(1, path[-1]))
    return torch.cat(path[::-1], dim=1).masked_fill(~mask, NO_TAG), scores.squeeze(1)


def _potentials(emissions: Tensor, transitions: Tensor) -> Tensor:
    """(windows, words - 1, tags, tags): score of a move to the next word, with the emission there."""
    return transitions + emissions[:, 1:, None, :]


def _steps(emissions: Tensor, transitions: Tensor, mask: Tensor) -> list[tuple[Tensor, Tensor]]:
    """Per move to a next word: potentials (windows, tags, tags) and whether the word is real (windows, 1)."""
    potentials = _potentials(emissions, transitions).unbind(1)
    return list(zip(potentials, mask[:, 1:, None].unbind(1), strict=True))


def _without_padding(emissions: Tensor, mask: Tensor) -> Tensor:
    """Emissions with zeros at padding: whatever stood there, even NaN, could otherwise reach gradients."""
    return emissions.masked_fill(~mask[:, :, None], 0)


def _at_last_word(values: Tensor, mask: Tensor) -> Tensor:
    """(windows, ...): of values (windows, words, ...) those at the last real word."""
    windows = torch.arange(len(mask), device=mask.device)
    return values[windows, (mask.sum(1) - 1).clamp(min=0)]


def _barred(scores: Tensor, allowed: Tensor | None) -> Tensor:
    """Scores with minus infinity where not allowed."""
    return scores if allowed is None else scores.masked_fill(~allowed, -torch.inf)
