"""Run as a script: tag a million characters in one call; print what it took and what was scored, as JSON.

Every fourth word is a number that occurs once. As the tiny tokenizer spells words out, the pieces that the
network sees tell which words a span really holds, whatever the offsets claim.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import torch
from torch import Tensor

from spanwright.parts.batch import Batch, Spans
from spanwright.parts.spans.predictions import Predictions
from spanwright.predicting.tagger import Tagger

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import tiny

CHARACTERS = 1_000_000


def main() -> None:
    """Tag, and print."""
    words = _words()
    text = " ".join(words)
    ends = _ends(words)
    model = tiny.model(windows={"pieces": 128, "overlap": 8})
    scored: list[int] = []
    wrong: list[str] = []
    sampled: set[tuple[int, int]] = set()
    predict = model.network.predict

    def watched(batch: Batch) -> Predictions:
        predictions = predict(batch)
        spans = batch.spans
        offset = batch.word_offset[spans.window]
        scored.extend(((spans.first + offset) * model.plan.width_limit + spans.widths - 1).tolist())
        pieces = batch.piece_ids.flatten()
        columns = (predictions.first, predictions.last, batch.word_offset[predictions.window])
        for start, end, shift in torch.stack(columns, dim=1)[::200].tolist():
            seen = pieces[batch.first_piece[start] : batch.last_piece[end] + 1]
            first, last = start + shift, end + shift
            tokens = (model.pieces.tokenizer.id_to_token(piece) for piece in seen.tolist())
            if "".join(token.removeprefix("##") for token in tokens) != "".join(words[first : last + 1]):
                wrong.append(f"{first}-{last}")
            sampled.add((ends[first] - len(words[first]), ends[last]))
        last_word = (spans.last + offset == len(words) - 1) & (spans.widths == 1)
        return _with(predictions, spans, last_word.nonzero().squeeze(1))

    tagger = Tagger(model)
    tagger.tag("one cell 2 cell")
    idle = _memory("VmRSS")
    model.network.predict = watched
    found = tagger.tag(text)
    growth = _memory("VmHWM") - idle
    limit = model.plan.width_limit
    told = {
        "characters": len(text),
        "growth_megabytes": growth / 1024,
        "entities": len(found.entities),
        "last_end": max(entity.end for entity in found.entities),
        "scored": len(scored),
        "distinct": len(set(scored)),
        "candidates": sum(len(words) - width + 1 for width in range(1, limit + 1)),
        "sampled": len(sampled),
        "wrong_words": len(wrong),
        "lost_entities": len(sampled - {(entity.start, entity.end) for entity in found.entities}),
    }
    print(json.dumps(told))  # noqa: T201


def _with(predictions: Predictions, spans: Spans, more: Tensor) -> Predictions:
    """Predictions and some spans besides: whatever the network thinks of it, the last word is an entity."""
    sure = torch.ones(len(more))
    return Predictions(
        window=torch.cat([predictions.window, spans.window[more]]),
        first=torch.cat([predictions.first, spans.first[more]]),
        last=torch.cat([predictions.last, spans.last[more]]),
        type=torch.cat([predictions.type, torch.zeros_like(more)]),
        confidence=torch.cat([predictions.confidence, sure]),
        rank=torch.cat([predictions.rank, sure]),
    )


def _words() -> list[str]:
    words: list[str] = []
    length = -1
    while length < CHARACTERS:
        words.append("cell" if len(words) % 4 else str(len(words)))
        length += len(words[-1]) + 1
    return words


def _ends(words: list[str]) -> list[int]:
    ends: list[int] = []
    end = -1
    for word in words:
        end += len(word) + 1
        ends.append(end)
    return ends


def _memory(key: str) -> int:
    """Kilobytes of a line of /proc/self/status."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{key}:"))


if __name__ == "__main__":
    main()
