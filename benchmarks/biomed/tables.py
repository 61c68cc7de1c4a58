"""Put the tables of docs/biomed.md into it, from what was measured; what is not there yet is left blank.

python benchmarks/biomed/tables.py
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from spanwright.comparing import RunOutcome
from spanwright.comparing.outcomes import read_outcomes
from spanwright.errors import counted

PAGE = Path("docs/biomed.md")
RESULTS = Path("docs/results/biomed")
MODEL = Path("models/biomed/results.json")
NOTHING = "Not measured yet."


def main() -> None:
    """Write the page anew."""
    text = PAGE.read_text(encoding="utf-8")
    tables = {
        "tests": tests(read_json(MODEL), outcomes("alone")),
        "left-out": left_out(read_json(RESULTS / "left-out.json")),
        "few-sentences": few_sentences(outcomes("few-sentences")),
        "forgetting": forgetting([*outcomes("chemicals"), *outcomes("forgetting")]),
    }
    for name, table in tables.items():
        text = with_table(text, name, table)
    PAGE.write_text(text, encoding="utf-8")


def with_table(text: str, name: str, table: str) -> str:
    """The page with a table between the marks of that name."""
    pattern = re.compile(rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)", re.DOTALL)
    changed, count = pattern.subn(lambda found: f"{found[1]}\n{table}\n\n{found[2]}", text)
    if count != 1:
        raise SystemExit(f"{PAGE}: expected the marks of {name!r} once; found {count}")
    return changed


def tests(model: dict[str, Any], alone: Sequence[RunOutcome]) -> str:
    """Test F1 of the model beside that of the same recipe on the corpus alone."""
    if not model:
        return NOTHING
    single = {each.corpus: each.measure("f1") for each in alone}
    rows = [
        (name, f"{told['documents']:,}", with_interval(told), percent(single.get(name)))
        for name, told in model["tests"].items()
    ]
    speed, size = model["speed"], model["bytes"]
    more = (
        f"{speed['words_per_second']:,.0f} words per second from text to entities on "
        f"{counted(speed['threads'], 'thread')} of {speed['machine']}; {size / 1e6:.1f} MB."
    )
    return table(("test split", "documents", "biomed", "the corpus alone"), rows) + f"\n\n{more}"


def left_out(found: dict[str, Any]) -> str:
    """F1 on corpora that were not trained on."""
    rows = [(name, f"{told['documents']:,}", with_interval(told)) for name, told in found.items()]
    return table(("corpus", "documents", "F1"), rows) if rows else NOTHING


def few_sentences(found: Sequence[RunOutcome]) -> str:
    """Mean F1 by corpus and number of sentences, from biomed and from the encoder."""
    rows = []
    for corpus in dict.fromkeys(each.corpus for each in found):
        raw, started = (
            [each.measure("f1") for each in found if each.corpus == corpus and is_started(each) is started]
            for started in (False, True)
        )
        gain = f"{100 * (fmean(started) - fmean(raw)):+.1f}" if raw and started else ""
        name, _, size = corpus.rpartition("-")
        rows.append((name, f"{int(size):,}", mean_percent(raw), mean_percent(started), gain))
    columns = ("corpus", "sentences", "raw encoder", "from biomed", "gain")
    return table(columns, rows) if rows else NOTHING


def is_started(outcome: RunOutcome) -> bool:
    return outcome.recipe.endswith("from-biomed.toml")


def forgetting(found: Sequence[RunOutcome]) -> str:
    """Mean F1 of both types before and after."""
    told = {
        ("diseases", "plain"): "diseases alone",
        ("BC5CDR", "plain"): "chemicals alone",
        ("diseases", "benchmarks/biomed/diseases.toml"): "then diseases",
        ("diseases", "benchmarks/biomed/diseases-kept.toml"): "then diseases with `--keep-types`",
        ("joint", "plain"): "both at once",
    }
    rows = []
    for key, name in told.items():
        own = [each for each in found if (each.corpus, each.recipe) == key]
        rows.append((name, *(mean_percent(f1_of(own, type_)) for type_ in ("Chemical", "Disease"))))
    return table(("trained on", "Chemical", "Disease"), rows) if found else NOTHING


def f1_of(outcomes: Iterable[RunOutcome], type_: str) -> list[float]:
    return [each.types[type_].f1 for each in outcomes if type_ in each.types]


def outcomes(name: str) -> list[RunOutcome]:
    """The finished runs of a plan."""
    folder = RESULTS / name
    return list(read_outcomes(folder).values()) if folder.is_dir() else []


def read_json(path: Path) -> dict[str, Any]:
    values: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return values


def with_interval(told: dict[str, Any]) -> str:
    low, high = told["interval"]
    return f"{percent(told['f1'])} ({percent(low)} to {percent(high)})"


def mean_percent(values: Sequence[float]) -> str:
    return percent(fmean(values)) if values else ""


def percent(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.1f}"


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of Markdown, whose first column is of names."""
    lines = [columns, ("---", *("---:" for _ in columns[1:])), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


if __name__ == "__main__":
    main()
