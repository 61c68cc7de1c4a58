"""Made-up predictions with every kind of mistake, hostile documents, and a page of them, for tests."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from spanwright.reporting import Content, Origin, Source, System, gather, render_page, select_passages
from spanwright.text import Document, Entity
from spanwright.text.words import words

ORIGIN = Origin(
    datetime(2026, 1, 2, 3, 4),
    [Source("gold", "folder/gold.jsonl", "12 bytes", "0123456789abcdef")],
    {"spanwright": "0.0"},
)
SCRIPT = "<script>window.hacked=1</script>"


def damaged(documents: Sequence[Document], *, seed: int, share: float = 0.3) -> list[Document]:
    """Predictions: the gold entities with confidences, some of them lost, moved or renamed, and some new."""
    generator = random.Random(seed)
    return [document.with_entities(tuple(_predicted(document, generator, share))) for document in documents]


def _predicted(document: Document, generator: random.Random, share: float) -> list[Entity]:
    found = []
    for entity in document.entities:
        if generator.random() >= share:
            found.append(replace(entity, confidence=round(generator.uniform(0.4, 1), 3)))
            continue
        wrong = replace(entity, confidence=round(generator.uniform(0, 0.8), 3))
        match generator.randrange(4):
            case 0:
                found.append(replace(wrong, type="Gene" if entity.type == "Cell" else "Cell"))
            case 1:
                found.append(replace(wrong, end=entity.start + max(1, (entity.end - entity.start) // 2)))
            case 2:
                found.append(replace(wrong, end=entity.start + 1, type="Other"))
    if generator.random() < share:
        start, end = generator.choice(words(document))
        found.append(Entity(start, end, generator.choice(("Gene", "Cell")), confidence=0.5))
    return found


def hostile() -> tuple[list[Document], list[Document]]:
    """Gold and predicted documents with markup, quotes, astral and direction-turning characters."""
    image = "<img src=x onerror=window.hacked=2>"
    text = f"Gene {SCRIPT} 'a' \"b\" & {image} </script> 🧬 p53 𝔘𝔫𝔦 \u202egnp\u202c end"
    gold = [
        _entity(text, SCRIPT, SCRIPT),
        _entity(text, "p53", 'T"><b>\u202e'),
        _entity(text, "𝔘𝔫𝔦", "Gene"),
    ]
    predicted = [_entity(text, SCRIPT, "Gene"), _entity(text, "🧬 p53", "Gene"), _entity(text, "𝔘𝔫𝔦", "Gene")]
    id = "</script><script>window.hacked=3</script><!--"
    return [Document(id, text, tuple(gold))], [Document(id, text, tuple(predicted))]


def _entity(text: str, mention: str, type: str) -> Entity:
    start = text.index(mention)
    return Entity(start, start + len(mention), type)


def content_of(gold: Sequence[Document], *predictions: Sequence[Document]) -> Content:
    """The content of systems called first, second and so on."""
    names = ("first", "second", "third")
    systems = [
        System(name=name, documents=documents) for name, documents in zip(names, predictions, strict=False)
    ]
    return gather(gold, systems)


def page_of(content: Content) -> str:
    """The whole page."""
    return render_page(content, ORIGIN, select_passages(content))


def data_of(page: str) -> dict[str, Any]:
    """What the script of a page reads."""
    begin = page.index('id="data">') + len('id="data">')
    found: dict[str, Any] = json.loads(page[begin : page.index("</script>", begin)])
    return found
