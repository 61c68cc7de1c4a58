"""Run as a script: tag so many of the shortest words, with an entity in every third; print as JSON.

python dense_document.py 524288
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import torch

from spanwright.parts.spans.predictions import Predictions
from spanwright.predicting.tagger import Tagger

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import tiny


def main() -> None:
    """Tag, and print."""
    words = int(sys.argv[1])
    text = " ".join(["a"] * words)
    model = tiny.model(windows={"pieces": 128, "overlap": 8})
    tagger = Tagger(model)
    tagger.tag("one cell 2 cell")
    predict = model.network.predict

    def every_third(batch: Any) -> Predictions:
        predict(batch)  # for its memory
        spans = batch.spans
        word = spans.first + batch.word_offset[spans.window]
        chosen = torch.as_tensor((word % 3 == (words - 1) % 3) & (spans.widths == 1)).nonzero().squeeze(1)
        columns = (torch.as_tensor(column)[chosen] for column in (spans.window, spans.first, spans.last))
        sure = torch.ones(len(chosen))
        return Predictions(*columns, type=torch.zeros_like(chosen), confidence=sure, rank=sure)

    model.network.predict = every_third
    idle = _memory("VmRSS")
    found = tagger.tag(text)
    told = {
        "growth_megabytes": (_memory("VmHWM") - idle) / 1024,
        "starts": [found.entities[0].start, found.entities[-1].start],
        "entities": len(found.entities),
        "exact": all(text[entity.start : entity.end] == "a" for entity in found.entities),
        "last_end": found.entities[-1].end,
        "characters": len(text),
    }
    print(json.dumps(told))  # noqa: T201


def _memory(key: str) -> int:
    """Kilobytes of a line of /proc/self/status."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{key}:"))


if __name__ == "__main__":
    main()
