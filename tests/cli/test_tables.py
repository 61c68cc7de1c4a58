"""Every table of every command, at three widths of a terminal: no column is ever lost."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from importlib import import_module
from inspect import getmembers, isfunction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from rich.console import Console
from rich.text import Text

from spanwright.cli.tables import corpora, inspections, scores, tagging, training
from spanwright.cli.tables.table import Table
from spanwright.corpora.overlap import overlap
from spanwright.corpora.statistics import statistics
from spanwright.corpora.suggest_map import Suggestion
from spanwright.evaluation import compare_documents, strict_scores
from spanwright.evaluation.breakdowns import break_down
from spanwright.evaluation.concepts import score_concepts
from spanwright.evaluation.criteria import CRITERIA, score
from spanwright.evaluation.mistake_passages import find_passages
from spanwright.evaluation.mistakes import find_confusions, find_mistakes
from spanwright.evaluation.reliability import find_reliability
from spanwright.evaluation.significance import Difference, confidence_intervals
from spanwright.lexicons import Coverage
from spanwright.lexicons.coverage import Covered
from spanwright.perturbing.measuring import Robustness
from spanwright.text import Document, Entity

WIDTHS = (50, 80, 120)
LONG = "a-very-long-name-without-any-blank-in-it-as-files-and-settings-have-them"


def document(confidence: float | None = None, type: str = "Disease") -> Document:
    text = "Mutations of BRCA1 cause breast cancer and ovarian cancer."
    places = ((13, 18, "Gene"), (25, 38, type), (43, 57, "Disease"))
    entities = [Entity(start, end, name, confidence=confidence) for start, end, name in places]
    return Document(id="1", text=text, entities=tuple(entities))


GOLD, PREDICTED = document(), document(0.9, "Gene")
COMPARISON = compare_documents([GOLD] * 30, [PREDICTED] * 30)
COUNTS = strict_scores(COMPARISON).micro
COVERED = Covered(100, 50, 10, 5, 2.0)
NEAR = SimpleNamespace(same=0.1, different=0.2, different_across=None, by_meaning={"Disease": 0.3})
WRITING = SimpleNamespace(bleu=0.1, empty=3, words=1000, unknown_share=0.1)
REPORT = SimpleNamespace(
    **dict.fromkeys(("documents", "words", "entities", "too_wide", "cutting_words"), 12_345),
    **dict.fromkeys(("discontinuous", "across_windows", "repeated", "second_types", "shortened_words"), 1),
    ceiling=0.99,
    unknown_types=Counter(),
    types=Counter({"Disease": 3, LONG: 4}),
)
RUN = SimpleNamespace(corpus="corpus", recipe="plain", measure=lambda name: 0.8123)
RECIPE = SimpleNamespace(
    recipe="binder/tuned-thresholds",
    significant=True,
    against_base=SimpleNamespace(p_value=0.01),
    outcomes=(RUN,) * 5,
    seconds=12_345.0,
    words_per_second=1234.0,
    spread=lambda name: SimpleNamespace(mean=0.8, deviation=0.01),
)
CLAIM = SimpleNamespace(
    claim=SimpleNamespace(name="a claim of several words", in_points=True),
    verdict="confirmed",
    flags=("too few seeds", "still rising"),
    effect=SimpleNamespace(value=0.1, low=-0.2, high=0.3, p_value=0.2),
    seeds=3,
    documents=1234,
)
TRIAL = SimpleNamespace(
    number=1,
    state="finished",
    f1=0.8,
    epochs=3,
    settings={f"optimiser.learning_rates.{n}": 1e-5 for n in "ab"},
)
COUNTED = dict.fromkeys(("read", "tagged", "failed", "lost", "rejected", "unreadable_inputs"), 12_345)
JOB = SimpleNamespace(counts=SimpleNamespace(**COUNTED, entities=1, words=1, left_out=2), tagged_before=3)
MODEL = SimpleNamespace(
    name="biomed",
    about="six types " * 20,
    types=("Disease",) * 20,
    size=10,
    licence="MIT",
    folder=Path(LONG) / LONG,
)
FIGURES = SimpleNamespace(
    runtime="onnx-int8", difference=1e-5, same=0.99, words_per_second=1234.5, speed=1.6, size=10**8, f1=0.8
)
COSINES = SimpleNamespace(mean=0.1, within=0.1, between=0.2, against_none=None, between_types=0.1)
PROJECTION = SimpleNamespace(
    types=SimpleNamespace(silhouette=0.1, purity=0.2), types_and_none=SimpleNamespace(purity=0.1)
)
INSPECTION = SimpleNamespace(
    sample=SimpleNamespace(is_entity=np.ones(3), type=[1] * 9, documents=2),
    overlaps=dict.fromkeys(("apart", "weak", "strong"), COSINES),
    classes=COSINES,
    templates=COSINES,
    stages={"": {"t-SNE": PROJECTION}},
    scores={"Disease": SimpleNamespace(separation=0.9)},
)
CORPORA = SimpleNamespace(
    labels=SimpleNamespace(mapped=True, meanings=("Disease",)),
    conditions_before=NEAR,
    conditions=SimpleNamespace(nearness=NEAR),
    entities=SimpleNamespace(nearness=NEAR),
    entity_counts=lambda: {"Disease": 3},
)
WRITTEN = SimpleNamespace(
    text="breast cancer", types=("Disease",), reconstruction=("breast",) * 9, synonym=("mamma",) * 9
)
ROBUSTNESS = Robustness("mentions of other documents", COUNTS, 0.1, 12_345, 6789)


def _intervals() -> Iterable[Table]:
    found = {criterion: score(COMPARISON, criterion) for criterion in CRITERIA}
    return scores.criteria_tables(found, {name: confidence_intervals(each) for name, each in found.items()})


def _reliability() -> Table:
    found, _ = find_reliability(COMPARISON)
    assert found is not None
    return scores.reliability_table(found)


def _examples() -> Table:
    mistakes = find_mistakes(COMPARISON)
    return scores.example_table("type", find_passages(mistakes, "type", 3), 3)


TABLES: dict[str, Callable[[], Any]] = {
    "claim_verdicts_table": lambda: training.claim_verdicts_table((CLAIM,)),
    "corpus_figures_table": lambda: corpora.corpus_figures_table(statistics([GOLD])),
    "type_counts_table": lambda: corpora.type_counts_table(statistics([GOLD])),
    "split_sizes_table": lambda: corpora.split_sizes_table(
        [Path(f"{LONG}-{n}") for n in "ab"], [[GOLD], [GOLD]]
    ),
    "overlaps_table": lambda: corpora.overlaps_table(
        Path("test.jsonl"), {Path(LONG): overlap([GOLD], [GOLD]), Path("b"): overlap([GOLD], [GOLD])}, 1
    ),
    "suggested_types_table": lambda: corpora.suggested_types_table(
        [Suggestion("Disease", "Phenotype", 0.5, "Phenotype", ("a line of evidence " * 5,))]
    ),
    "lexicon_coverage_table": lambda: corpora.lexicon_coverage_table(
        {LONG: Coverage(COVERED, {"Disease": COVERED, "Gene": COVERED})}
    ),
    "abbreviations_table": lambda: corpora.abbreviations_table(Counter({("BC", "breast cancer " * 9): 12})),
    "span_figures_table": lambda: inspections.span_figures_table(INSPECTION),
    "written_spans_table": lambda: inspections.written_spans_table([WRITTEN]),
    "writing_scores_table": lambda: inspections.writing_scores_table(
        SimpleNamespace(spans=1234, one_word=5, reconstruction=WRITING, synonyms=WRITING, with_synonyms=3)
    ),
    "corpora_nearness_table": lambda: inspections.corpora_nearness_table(CORPORA),
    "type_scores_table": lambda: scores.type_scores_table(strict_scores(COMPARISON)),
    "criteria_tables": _intervals,
    "breakdown_tables": lambda: scores.breakdown_tables(break_down(COMPARISON, [GOLD])),
    "concept_tables": lambda: scores.concept_tables(score_concepts(COMPARISON.pairs)),
    "mistake_tables": lambda: scores.mistake_tables(find_mistakes(COMPARISON)),
    "confusion_table": lambda: scores.confusion_table(find_confusions(COMPARISON)),
    "reliability_table": _reliability,
    "example_table": _examples,
    "difference_table": lambda: scores.difference_table(
        {criterion: (Difference(0.8, 0.7, 0.01, 0.1),) * 2 for criterion in CRITERIA}
    ),
    "perturbation_scores_table": lambda: scores.perturbation_scores_table(ROBUSTNESS, [ROBUSTNESS] * 3),
    "found_entities_table": lambda: tagging.found_entities_table(PREDICTED),
    "job_counts_table": lambda: tagging.job_counts_table(JOB, 12.3),
    "installed_models_table": lambda: tagging.installed_models_table([MODEL, MODEL]),
    "runtime_figures_table": lambda: tagging.runtime_figures_table([FIGURES] * 3, "documents"),
    "shipped_recipes_table": lambda: [
        training.shipped_recipes_table(),
        training.shipped_recipes_table(unfolded=True),
    ],
    "splits_table": lambda: training.splits_table({"train": REPORT, "dev": REPORT, "test": REPORT}),
    "split_types_table": lambda: training.split_types_table({"train": REPORT, "dev": REPORT, "test": REPORT}),
    "finished_runs_table": lambda: training.finished_runs_table([RUN] * 9),
    "recipe_scores_table": lambda: training.recipe_scores_table(
        SimpleNamespace(corpus="corpus", recipes=[RECIPE, RECIPE])
    ),
    "trials_table": lambda: training.trials_table([TRIAL, TRIAL], TRIAL),
}


def tables_of(name: str) -> list[Table]:
    made = TABLES[name]()
    return [made] if isinstance(made, Table) else list(made)


def drawn(table: Any, width: int) -> str:
    console = Console(width=width, file=None, force_terminal=False)
    with console.capture() as captured:
        console.print(table)
    return captured.get()


def words_of(text: str) -> str:
    """Letters and digits alone, as lines of a table fall between the words of a heading."""
    return re.sub(r"[^\w%/+.-]", "", text)


def test_there_is_no_table_that_is_not_tried_here() -> None:
    rooms = ("corpora", "inspections", "scores", "tagging", "training")
    folder = Path(training.__file__).parent
    assert {file.stem for file in folder.glob("*.py")} == {*rooms, "__init__", "table"}
    made = {
        name
        for room in rooms
        for name, _ in getmembers(import_module(f"spanwright.cli.tables.{room}"), isfunction)
        if name.endswith(("_table", "_tables")) and not name.startswith("_")
    }
    assert made == set(TABLES)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", sorted(TABLES))
def test_all_headings_and_first_cells_are_there_at_any_width(name: str, width: int) -> None:
    for table in tables_of(name):
        lines = drawn(table, width)
        assert all(len(line) <= width for line in lines.splitlines())
        headings = [
            word for column in table.columns if table.show_header for word in str(column.header).split()
        ]
        for word in headings:
            # A heading longer than the terminal is folded, and stands there as a whole all the same.
            assert word in lines if len(word) < width - 4 else words_of(word) in words_of(lines)
        for cell in table.columns[0].cells:
            for word in str(cell).split():
                assert word in lines or words_of(word)[:12] in words_of(lines)


def test_what_has_room_is_drawn_as_rich_draws_it() -> None:
    table = tables_of("type_scores_table")[0]
    assert drawn(table, 120).splitlines()[1].split("┃")[1].strip() == "type"


def test_a_table_without_room_becomes_records() -> None:
    table = Table("name", *(f"heading{number}" for number in range(9)), title="a title")
    table.add_row(Text("[first]"), *map(str, range(9)))
    table.add_row("second", *map(str, range(9)))
    lines = drawn(table, 40).splitlines()
    assert lines[:3] == ["a title", "name: [first]", "  heading0: 0"]
    assert lines.count("  heading8: 8") == 2 and "" in lines
