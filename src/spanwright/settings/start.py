"""Settings of where a training starts."""

from __future__ import annotations

from spanwright.strict import Strict


class StartSettings(Strict):
    """The model that a training starts from, in place of a pretrained encoder and random weights."""

    model: str
    """A model folder, or the name of an installed model."""
    keep_types: bool = False
    """Whether types of that model which the training documents do not annotate are answered as before: what
    it thinks of them in the training texts is learnt."""
    digest: str | None = None
    """Of the files of that model, which a training writes down."""
