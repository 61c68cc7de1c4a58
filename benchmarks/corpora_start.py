"""How long a training on several corpora takes to start, and how much memory it holds then.

    python benchmarks/corpora_start.py --corpora ../shared/corpora --out benchmarks/results/corpora-start.json

Each number of corpora is a process of its own: read all training files, select, map types, load the encoder,
prepare windows. The corpora are those of the AIONER collection, which has only the test file of NLM-Chem.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from typing import Any

from machine import command, machine

AIONER = tomllib.loads((Path(__file__).parent / "aioner.toml").read_text(encoding="utf-8"))
FILES = {**{name: train for name, (train, _) in AIONER.items()}, "NLMChem": "NLMchem_Test"}
COUNTS = (1, 3, 10)


def main() -> None:
    """Start trainings on more and more corpora, each in its own process."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--corpora", type=Path, required=True)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--start", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--map", default="cvae-ner")
    arguments = parser.parse_args()
    if arguments.start:
        print(json.dumps(_start(arguments.corpora / "aioner" / "pubtator", arguments.start, arguments.map)))
        return
    found = [_in_process(arguments.corpora, count, arguments.map) for count in COUNTS]
    result = {"command": command(), "machine": machine(), "map": arguments.map, "starts": found}
    text = json.dumps(result, indent=2) + "\n"
    print(text)
    if arguments.out:
        arguments.out.write_text(text, encoding="utf-8")


def _in_process(corpora: Path, count: int, label_map: str) -> dict[str, Any]:
    call = [sys.executable, __file__, "--corpora", str(corpora), "--start", str(count), "--map", label_map]
    answer = subprocess.run(call, check=True, capture_output=True, text=True, env=dict(os.environ))
    found: dict[str, Any] = json.loads(answer.stdout.splitlines()[-1])
    return found


def _start(folder: Path, count: int, label_map: str) -> dict[str, Any]:
    from spanwright.corpora.stored import StoredDocuments
    from spanwright.settings import load_settings
    from spanwright.training.corpora_file import SPLITS, CorporaFile, read_splits
    from spanwright.training.setup import set_up

    started = time.perf_counter()
    corpora: dict[str, Any] = {
        name: {"train": folder / f"{file}.PubTator"} for name, file in list(FILES.items())[:count]
    }
    corpora["BioRED"]["dev"] = folder / "BioRED_Test.PubTator"
    file = CorporaFile.model_validate({"target": "BioRED", "map": label_map, "corpora": corpora})
    stored = {split: StoredDocuments() for split in SPLITS}
    for reading in read_splits(file):
        stored[reading.split].extend(reading.documents)
    setup = set_up(load_settings("cvae", file.changes), stored["train"], stored["dev"], stored["test"])
    return {
        "corpora": count,
        "documents": len(stored["train"]),
        "windows": len(setup.train.windows),
        "removed": setup.removed,
        "seconds": round(time.perf_counter() - started, 1),
        "peak_megabytes": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
    }


if __name__ == "__main__":
    main()
