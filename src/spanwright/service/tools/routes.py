"""The paths at which annotation tools ask, put into the application."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spanwright.service.answers import Service
from spanwright.service.tools.doccano import Doccano, DoccanoLabel
from spanwright.service.tools.inception import Inception, RecommendAnswer
from spanwright.service.tools.label_studio import (
    HealthAnswer,
    LabelStudio,
    PredictAnswer,
    SetupAnswer,
    VersionsAnswer,
    WebhookAnswer,
)
from spanwright.service.tools.suggesting import Naming

if TYPE_CHECKING:
    from fastapi import FastAPI

LARGE_BODIES = ("/label-studio/", "/inception/")
"""Beginnings of paths whose requests have many tasks, or whole documents with their type systems."""


def add_tools(app: FastAPI, service: Service, documented: dict[int | str, dict[str, Any]]) -> None:
    """Add the paths of all tools; `documented` are the answers that every path may give."""
    naming = Naming(service.models[0].tagger.model.labels.types, service.tool_types)
    studio, inception = LabelStudio(service, naming), Inception(service, naming)

    def add(path: str, answer: Any, model: Any = None, status: int = 200, method: str = "POST") -> None:
        app.add_api_route(
            path, answer, methods=[method], response_model=model, status_code=status, responses=documented
        )

    add("/label-studio/health", studio.health, HealthAnswer, method="GET")
    add("/label-studio/versions", studio.versions, VersionsAnswer, method="GET")
    add("/label-studio/setup", studio.setup, SetupAnswer)
    add("/label-studio/predict", studio.predict, PredictAnswer)
    add("/label-studio/webhook", studio.webhook, WebhookAnswer, 201)
    add("/inception/predict", inception.predict, RecommendAnswer)
    add("/inception/train", inception.train, None, 204)
    add("/doccano", Doccano(service, naming).suggest, list[DoccanoLabel])
