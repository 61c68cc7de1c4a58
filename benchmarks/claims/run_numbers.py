"""Numbers of finished runs that no score tells, for the claims of a plan: one line for each run.

    python benchmarks/claims/run_numbers.py benchmarks/claims/dspert.toml docs/results/claims/dspert \\
        --spans 1000

They go to `numbers.jsonl` in the folder of the comparison, where claims about `number/NAME` find them. The
folders of the runs must still be there. Runs of recipes that have no such number are passed over.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
from posteriors import posteriors_of, silhouette_of

from spanwright import artifact
from spanwright.analysis import inspect_spans, rewritten, score_written
from spanwright.analysis.corpora import inspect_corpora
from spanwright.artifact import TrainedModel
from spanwright.comparing import Plan, Run, SilentComparison, load_plan
from spanwright.comparing.claims import NUMBERS_FILE
from spanwright.comparing.runs import plan_runs
from spanwright.formats.io.whole_files import write_whole
from spanwright.text import Document

Numbers = dict[str, float]


def main() -> None:
    """Look at every finished run of the plan."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("plan", type=Path)
    parser.add_argument("results", type=Path, help="folder of the comparison, with its runs")
    parser.add_argument("--spans", type=int, help="vectors of so many entities and other spans of test")
    parser.add_argument("--writing", action="store_true", help="BLEU-2 of what is written of dev entities")
    parser.add_argument("--posteriors", action="store_true", help="clusters of the auto-encoders' posteriors")
    parser.add_argument("--corpora", action="store_true", help="how near entities of several corpora are")
    parser.add_argument("--scores", action="store_true", help="F1 on every corpus of several")
    arguments = parser.parse_args()
    lines = []
    for run in finished_runs(load_plan(arguments.plan), arguments.results):
        numbers = numbers_of(run, arguments)
        print(f"{run}: {len(numbers)} numbers", flush=True)
        corpus, recipe, seed = run.key
        lines.append({"corpus": corpus, "recipe": recipe, "seed": seed, "numbers": numbers})
    write_whole(arguments.results / NUMBERS_FILE, "".join(f"{json.dumps(line)}\n" for line in lines))


def finished_runs(plan: Plan, results: Path) -> Iterator[Run]:
    """Those whose folder is there."""
    return (run for run in plan_runs(plan, results, SilentComparison()) if run.finished)


def numbers_of(run: Run, arguments: argparse.Namespace) -> Numbers:
    """All that is asked for and that the model has."""
    numbers: Numbers = {}
    if arguments.scores:
        numbers |= other_scores(json.loads((run.folder / "scores.json").read_text(encoding="utf-8")))
    model = artifact.load(run.folder / "model")
    if arguments.spans:
        numbers |= span_numbers(model, run.corpus.test, arguments.spans)
    if arguments.writing and model.network.writer is not None:
        written = rewritten(model, run.corpus.dev)
        numbers |= flattened({"writing": score_written(written, model.vocabulary).to_dict()})
    if arguments.posteriors and model.network.writer is not None:
        numbers["posteriors.silhouette"] = silhouette_of(*posteriors_of(model, run.corpus.dev))
    if arguments.corpora and len(model.labels.corpora) > 1:
        numbers |= nearness(model, run.corpus.test)
    return numbers


def span_numbers(model: TrainedModel, documents: Sequence[Document], spans: int) -> Numbers:
    """Cosines, lengths, templates and clusters of span vectors."""
    inspection = inspect_spans(model, documents, spans=spans)
    sample = inspection.sample
    entities = sample.vectors[sample.is_entity]
    return flattened(inspection.to_dict()) | {
        "norm of entities": float(np.linalg.norm(entities, axis=1).mean())
    }


def nearness(model: TrainedModel, documents: Sequence[Document]) -> Numbers:
    """Cosines of entities of one shared type across corpora, beside those of different types."""
    inspection = inspect_corpora(model, documents)
    found = flattened(inspection.to_dict())
    same, different = (found.get(f"entities.cosines.{name}") for name in ("same", "different_across"))
    apart = {"nearness of entities": same - different} if same is not None and different is not None else {}
    return found | apart


def other_scores(scores: Mapping[str, Any]) -> Numbers:
    """F1 on the test documents of every corpus, and the mean of those that are no target."""
    found = {name: each["micro"]["f1"] for name, each in scores.items() if name.startswith("test ")}
    others = [f1 for name, f1 in found.items() if name != "test BioRED"]
    return found | ({"mean F1 of the other corpora": fmean(others)} if others else {})


def flattened(values: Mapping[str, Any], place: str = "") -> Numbers:
    """All numbers in tables of tables, by their keys with dots between them."""
    found: Numbers = {}
    for key, value in values.items():
        name = f"{place}.{key}" if place else key
        if isinstance(value, Mapping):
            found |= flattened(value, name)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            found[name] = float(value)
    return found


if __name__ == "__main__":
    main()
