"""How long Label Studio waits for suggestions: an abstract at a time, and a thousand tasks at once.

    python benchmarks/suggestions.py biomed --corpus test.pubtator --json benchmarks/results/suggestions.json

The labelling interface has the types of the model. Clients run on the same machine and take their part of it.
Seconds are what a client waits, which grows with the load of the machine; core seconds are what the service
computes, which hardly does.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import re
import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import httpx

from machine import command, machine
from service_clients import quantiles
from service_load import service
from spanwright.formats.files import read


def main() -> None:
    """Ask and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--requests", type=int, default=200)
    parser.add_argument("--tasks", type=int, default=1000)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--json", type=Path, help="write the result here")
    arguments = parser.parse_args()
    where = machine()
    texts = [document.text for document in read(arguments.corpus).documents]
    with (
        service(arguments.model, ["--threads", str(arguments.threads)]) as port,
        httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=600) as client,
    ):
        config = label_config(client)
        ask(client, texts[:20], config)
        started = core_seconds(client)
        alone = [ask(client, [text], config) for text in around(texts, arguments.requests)]
        between = core_seconds(client)
        together = ask(client, around(texts, arguments.tasks), config)
        ended = core_seconds(client)
    result = {
        "command": command(),
        "machine": where,
        "load_at_end": round(os.getloadavg()[0], 2),
        "nice": os.nice(0),
        "threads": arguments.threads,
        "abstracts": len(alone),
        "abstract_seconds": quantiles(alone) | {"mean": round(statistics.mean(alone), 4)},
        "abstract_core_seconds": round((between - started) / len(alone), 4),
        "tasks": arguments.tasks,
        "tasks_seconds": round(together, 2),
        "tasks_core_seconds": round(ended - between, 2),
    }
    print(json.dumps(result, indent=2))
    if arguments.json:
        arguments.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


def around(texts: Sequence[str], count: int) -> list[str]:
    """So many texts; where there are fewer, from the first on again."""
    return list(itertools.islice(itertools.cycle(texts), count))


def core_seconds(client: httpx.Client) -> float:
    """What the service has computed so far."""
    found = re.search(r"^process_cpu_seconds_total (\S+)$", client.get("/metrics").text, re.MULTILINE)
    assert found is not None
    return float(found[1])


def label_config(client: httpx.Client) -> str:
    """A labelling interface with the types of the model."""
    types = client.get("/model").json()["models"][0]["types"]
    labels = "".join(f"<Label value={quoteattr(type_)}/>" for type_ in types)
    tags = f'<Labels name="label" toName="text">{labels}</Labels><Text name="text" value="$text"/>'
    return f"<View>{tags}</View>"


def ask(client: httpx.Client, texts: Sequence[str], config: str) -> float:
    """Seconds for the predictions of some texts."""
    body: dict[str, Any] = {"tasks": [{"data": {"text": text}} for text in texts], "label_config": config}
    started = time.perf_counter()
    answer = client.post("/label-studio/predict", json=body)
    seconds = time.perf_counter() - started
    assert len(answer.raise_for_status().json()["results"]) == len(texts)
    return seconds


if __name__ == "__main__":
    main()
