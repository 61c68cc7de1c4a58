"""Run as a script with a good model directory and others: load each and tag a text, and print, as lines of
JSON, what was found or why not, and the seconds and memory that loading took."""

from __future__ import annotations

import gc
import json
import sys
import time
from pathlib import Path

from spanwright.errors import SpanwrightError
from spanwright.parts.encoder.backbone import as_of_transformers
from spanwright.predicting.tagger import load

TEXT = "The bcase cell and gdfase were seen in a kl cell. Nothing else."


def main(good: str, *others: str) -> None:
    """Load all folders, after a good one has warmed everything up."""
    tagger = load(good)
    tagger.tag(TEXT)
    as_of_transformers(tagger.model.network.encoder.backbone)  # which other folders need
    gc.collect()
    gc.freeze()  # what is here to stay need not be looked at again, folder after folder
    for folder in others:
        sys.stdout.write(json.dumps(_told(folder)) + "\n")
        sys.stdout.flush()


def _told(folder: str) -> dict[str, object]:
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")  # the peak of memory is from here on
    before, started = _memory("VmRSS"), time.process_time()
    tagger, error = None, None
    try:
        tagger = load(folder)
    except BaseException as caught:
        error = caught
    seconds, growth = time.process_time() - started, _memory("VmHWM") - before
    answers: object = None
    if tagger is not None:
        try:
            answers = [[*entity.key, entity.confidence] for entity in tagger.tag(TEXT).entities]
        except BaseException as caught:
            error = caught
    return {
        "folder": folder,
        "seconds": seconds,
        "megabytes": growth / 1024,
        "answers": answers,
        "error": None if error is None else f"{type(error).__name__}: {error}",
        "ours": isinstance(error, SpanwrightError),
    }


def _memory(field: str) -> int:
    """Kilobytes, as the system counts them."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{field}:"))


if __name__ == "__main__":
    main(*sys.argv[1:])
