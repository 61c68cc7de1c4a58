"""The one place where parts meet."""

from __future__ import annotations

from torch import nn

from spanwright.errors import SettingsError
from spanwright.parts.encoder import Encoder
from spanwright.parts.model import SpanModel
from spanwright.parts.representations.endpoints import Endpoints
from spanwright.parts.scorers.softmax import Softmax
from spanwright.settings import Settings


def build(settings: Settings, backbone: nn.Module, *, types: int) -> SpanModel:
    """Wire the parts that resolved settings name around a backbone."""
    width_limit = resolved_width_limit(settings)
    encoder = Encoder(backbone, settings.encoder.pooling)
    representation = Endpoints(settings.representation, state_width=encoder.width, width_limit=width_limit)
    scorer = Softmax(settings.scorer, vector_size=representation.size, types=types)
    return SpanModel(encoder=encoder, representation=representation, scorer=scorer)


def resolved_width_limit(settings: Settings) -> int:
    """The width limit of settings whose `auto` values have been decided."""
    limit = settings.candidates.width_limit
    if limit == "auto":
        raise SettingsError("candidates.width_limit is still 'auto'; give a number of words to build a model")
    return limit
