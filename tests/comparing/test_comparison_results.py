from __future__ import annotations

import csv
import io
import json
import math
from dataclasses import replace
from pathlib import Path
from statistics import fmean

import numpy as np
import pretending
import pytest
from pretending import TEST, Answer, cells_only, nothing, right
from rich.console import Console

from spanwright.cli.tables.training import recipe_scores_table
from spanwright.comparing.outcomes import analyse
from spanwright.comparing.result_texts import effect_texts, heat_map_csv, markdown, mistakes_csv
from spanwright.comparing.results import heat_map_buckets, summarise_runs
from spanwright.comparing.runs import training_time
from spanwright.errors import InputError
from spanwright.evaluation import (
    Effect,
    Matches,
    break_down,
    compare_documents,
    compare_runs,
    evaluate,
    paired_randomisation,
    score,
)
from spanwright.formats.files import write
from spanwright.origin import commit, machine
from spanwright.text import Document, Entity

SYSTEMS: dict[str, Answer] = {
    "plain": cells_only,
    "spanner": right,
    "bundling": cells_only,
    "binder": nothing,
}


def steady_cells(document: Document, seed: int) -> Document:
    """Finds cells, whatever the seed."""
    return cells_only(document, 1)


STEADY: dict[str, Answer] = SYSTEMS | {"plain": steady_cells, "bundling": steady_cells}


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def star(page: str, recipe: str) -> bool:
    """Whether the F1 of a recipe has a star on the markdown page."""
    line = next(line for line in page.splitlines() if line.startswith(f"| {recipe} |"))
    return line.split(" | ")[3].endswith("\\*")


def test_a_clear_difference_has_a_star_and_no_difference_has_none(tmp_path: Path) -> None:
    results = pretending.results(tmp_path, STEADY)
    found = {each.recipe: each for each in results.corpora[0].recipes}
    assert {name: each.significant for name, each in found.items()} == {
        "plain": False,
        "spanner": True,
        "bundling": False,
        "binder": True,
    }
    page = markdown(results)
    assert [star(page, recipe) for recipe in SYSTEMS] == [False, True, False, True]
    same = found["bundling"].against_base
    assert same is not None and (same.difference, same.p_value) == (0.0, 1.0)
    assert found["plain"].against_base is None


def every_eighth(document: Document, seed: int) -> Document:
    """Finds half of the entities of a few documents and all of the others, whatever the seed."""
    return cells_only(document, 1) if int(document.id.rpartition("-")[2]) % 8 == 1 else document


def test_seeds_that_answer_alike_give_the_p_value_of_one(tmp_path: Path) -> None:
    first, second = (
        score(compare_documents(TEST, [answer(document, 1) for document in TEST]))
        for answer in (every_eighth, right)
    )
    expected = paired_randomisation(first, second).p_value
    assert 0.001 < expected < 0.5
    for seeds in (1, 3, 5):
        results = pretending.results(
            tmp_path / str(seeds), {"plain": right, "spanner": every_eighth}, seeds=seeds
        )
        found = results.corpora[0].of("spanner").against_base
        assert found is not None and found.p_value == expected


def test_seeds_that_disagree_make_a_difference_less_certain(tmp_path: Path) -> None:
    def once(document: Document, seed: int) -> Document:
        return cells_only(document, 1) if seed == 2 else document

    answers: dict[str, Answer] = {"plain": right, "spanner": steady_cells, "bundling": once}
    result = pretending.results(tmp_path, answers, seeds=3).corpora[0]
    p_values = [each.against_base.p_value for each in result.recipes if each.against_base is not None]
    assert p_values[0] < 0.001 < 0.1 < p_values[1]


def test_a_single_run_of_the_base_gives_no_star(tmp_path: Path) -> None:
    found = pretending.results(tmp_path, STEADY).corpora[0].of("binder")
    assert found.significant and found.base_runs > 1
    assert not replace(found, base_runs=1).significant


def test_one_seed_has_a_p_value_and_no_star(tmp_path: Path) -> None:
    results = pretending.results(tmp_path, SYSTEMS, seeds=1)
    found = results.corpora[0].of("binder")
    assert found.against_base is not None and found.against_base.p_value < 0.001
    assert not found.significant
    page = markdown(results)
    assert not any(star(page, recipe) for recipe in SYSTEMS)
    assert "one seed cannot tell whether the recipes differ" in page


def test_p_values_and_scores_can_be_made_again_from_the_counts_alone(tmp_path: Path) -> None:
    results = pretending.results(tmp_path, SYSTEMS, seeds=3)
    runs = {
        each.recipe: np.array([json.loads(json.dumps(run.to_dict()))["counts"] for run in each.outcomes])
        for each in results.corpora[0].recipes
    }
    for result in results.corpora[0].recipes:
        f1 = [Matches(*run.sum(axis=0)).f1 for run in runs[result.recipe]]
        assert f1 == [outcome.measure("f1") for outcome in result.outcomes]
        if result.against_base is not None:
            assert compare_runs(runs[result.recipe], runs["plain"]) == result.against_base


def test_results_tell_the_commit_and_the_machine(tmp_path: Path) -> None:
    found = pretending.results(tmp_path, {"plain": right}).to_dict()
    assert (found["commit"], found["machine"]) == (commit(), machine())


def test_scores_are_means_and_deviations_over_seeds(tmp_path: Path) -> None:
    result = pretending.results(tmp_path, SYSTEMS).corpora[0].of("plain")
    scores = [evaluate(TEST, [cells_only(document, seed) for document in TEST]).micro for seed in (1, 2)]
    for name in ("precision", "recall", "f1"):
        first, second = (getattr(counts, name) for counts in scores)
        spread = result.spread(name)  # type: ignore[arg-type]
        assert spread.mean == pytest.approx((first + second) / 2)
        assert spread.deviation == pytest.approx(abs(first - second) / 2**0.5)
        assert result.to_dict()[name]["mean"] == spread.mean
    assert result.to_dict()["f1_per_seed"] == pytest.approx({"1": scores[0].f1, "2": scores[1].f1})
    assert scores[0].f1 > scores[1].f1 + 0.1


def bucket_f1(gold: list[Document], answers: list[Document], width: int) -> float:
    """F1 on the entities of so many words, by loops."""

    def entities(documents: list[Document]) -> set[tuple[str, int, int, str]]:
        return {
            (document.id, entity.start, entity.end, entity.type)
            for document in documents
            for entity in document.entities
            if len(document.mention(entity).split()) == width
        }

    wanted, found = entities(gold), entities(answers)
    both = len(wanted & found)
    return 2 * both / (len(wanted) + len(found)) if both else 0.0


@pytest.mark.parametrize("split", ["dev", "test"])
def test_a_cell_of_the_heat_map_is_the_mean_f1_of_a_bucket_less_that_of_the_base(
    tmp_path: Path, split: str
) -> None:
    results = pretending.results(tmp_path, SYSTEMS, base="spanner", heat_map_split=split)
    cells = {
        (row["recipe"], row["bucket"]): row
        for row in rows(heat_map_csv(results.corpora[0]))
        if row["attribute"] == "width"
    }
    gold = {"dev": pretending.DEV, "test": TEST}[split]
    for recipe, answer in SYSTEMS.items():
        for width in (1, 2):
            f1 = fmean(bucket_f1(gold, [answer(each, seed) for each in gold], width) for seed in (1, 2))
            cell = cells[recipe, str(width)]
            assert float(cell["f1"]) == pytest.approx(f1)
            assert float(cell["difference"]) == pytest.approx(f1 - 1)
    assert float(cells["plain", "2"]["difference"]) not in (0.0, -1.0)


def test_a_heat_map_of_overlapping_entities_has_five_attributes_with_four_buckets_each(
    tmp_path: Path,
) -> None:
    found = rows(heat_map_csv(pretending.results(tmp_path, SYSTEMS).corpora[0]))
    assert len(found) == 5 * 4 * len(SYSTEMS)
    assert list(dict.fromkeys(row["attribute"] for row in found)) == [
        "width",
        "text length",
        "label consistency",
        "entity density",
        "nesting",
    ]
    entities = sum(len(document.entities) for document in TEST)
    by_width = [int(row["gold"]) for row in found if (row["recipe"], row["attribute"]) == ("plain", "width")]
    assert sum(by_width) == entities


def test_a_heat_map_has_nesting_as_well_where_gold_entities_overlap() -> None:
    flat = [Document("1", "one two three", (Entity(0, 3, "A"), Entity(4, 7, "A")))]
    nested = [Document("1", "one two three", (Entity(0, 7, "A"), Entity(4, 7, "A")))]
    for gold, more in ((flat, ()), (nested, ("nesting",))):
        found = break_down(compare_documents(gold, nested), gold).attributes
        buckets = {(name, bucket): own[bucket] for name, own in found.items() for bucket in own}
        assert tuple(dict.fromkeys(name for name, _ in heat_map_buckets(buckets)))[4:] == more


def test_mistakes_are_means_over_seeds(tmp_path: Path) -> None:
    """Genes are missed or lie in a found cell; with seed 2, half of the documents have cells as genes."""
    found = {
        row["kind"]: row
        for row in rows(mistakes_csv(pretending.results(tmp_path, {"plain": cells_only}).corpora[0]))
    }
    odd = [document for document in TEST if int(document.id.rpartition("-")[2]) % 2]
    swapped = sum(entity.type == "Cell" for document in odd for entity in document.entities)
    assert float(found["type"]["count"]) + float(found["boundary"]["count"]) == swapped / 2
    kinds = ("type", "boundary", "both", "spurious", "overlapped", "missed")
    assert sum(float(found[kind]["rate"]) for kind in kinds) == pytest.approx(1)
    # A rate without a count of its own, as it is the sum of two.
    assert found["any boundary"]["count"] == ""
    assert float(found["any boundary"]["rate"]) == pytest.approx(
        float(found["boundary"]["rate"]) + float(found["both"]["rate"])
    )


def test_time_is_that_of_the_last_try_of_each_epoch(tmp_path: Path) -> None:
    run = pretending.run(tmp_path, "plain", 1, right)
    lines = [(1, 10.0, 100.0), (2, 3.0, 1.0), (2, 30.0, 20.0)]
    text = "".join(
        json.dumps({"event": "epoch", "epoch": epoch, "seconds": seconds, "words_per_second": speed}) + "\n"
        for epoch, seconds, speed in lines
    )
    (run.folder / "timings.jsonl").write_text(text)
    assert training_time(run) == (40.0, (10 * 100 + 30 * 20) / 40)


def test_analysis_needs_no_model(tmp_path: Path) -> None:
    run = pretending.run(tmp_path, "plain", 1, right)
    assert not (run.folder / "model").exists()
    assert analyse(run, "dev").measure("f1") == 1.0


def test_documents_of_several_files_may_share_an_id(tmp_path: Path) -> None:
    same = [replace(document, id="1") for document in TEST]
    run = pretending.run(tmp_path, "plain", 1, right)
    run = replace(run, corpus=replace(run.corpus, test=same))
    write(same, run.folder / "test.jsonl")
    assert analyse(run, "test").measure("f1") == 1.0


def test_answers_to_other_documents_are_refused(tmp_path: Path) -> None:
    run = pretending.run(tmp_path, "plain", 1, right)
    write(TEST[1:], run.folder / "test.jsonl")
    with pytest.raises(InputError, match=r"test.jsonl: these are not answers to the test documents"):
        analyse(run, "test")


def test_a_corpus_without_a_run_of_the_base_is_left_out_and_refused_if_it_is_the_only_one(
    tmp_path: Path,
) -> None:
    files = {split: f"{split}.jsonl" for split in ("train", "dev", "test")}
    chosen = pretending.plan("plain", "spanner", corpora={"made": files, "begun": files})
    made = pretending.outcomes(tmp_path, {"plain": nothing, "spanner": right}, chosen)
    begun = [replace(outcome, corpus="begun") for outcome in made if outcome.recipe == "spanner"]
    assert [result.corpus for result in summarise_runs(chosen, [*made, *begun]).corpora] == ["made"]
    with pytest.raises(InputError, match=r"no run of 'plain', .* is finished on 'made' or 'begun': train"):
        summarise_runs(chosen, begun)


def test_the_table_shows_every_column(tmp_path: Path) -> None:
    results = pretending.results(tmp_path, STEADY)
    table = recipe_scores_table(results.corpora[0])
    headers = [str(column.header) for column in table.columns]
    assert headers == ["recipe", "P", "R", "F1", "F1 per seed", "p", "seconds", "words/s"]
    cells = {
        str(header): [str(cell) for cell in c.cells] for header, c in zip(headers, table.columns, strict=True)
    }
    assert cells["recipe"] == list(SYSTEMS)
    assert cells["F1"][1] == "100.00 ±0.00*"
    assert cells["F1 per seed"][1] == "100.0 100.0"
    assert cells["p"] == ["base", "0.0005", "1.0000", "0.0005"]
    assert (cells["seconds"][0], cells["words/s"][0]) == ("4", "50")


def test_a_narrow_terminal_loses_no_number(tmp_path: Path) -> None:
    results = pretending.results(tmp_path, {"plain": steady_cells, "bundling/weight-0.1": right})
    text = io.StringIO()
    Console(file=text, width=80).print(recipe_scores_table(results.corpora[0]))
    shown = text.getvalue()
    assert "…" not in shown
    assert "bundling/weight-0.1" in shown and "±0.00*" in shown


def test_one_seed_has_no_deviation(tmp_path: Path) -> None:
    page = markdown(pretending.results(tmp_path, {"plain": right}, seeds=1))
    assert "| plain | 100.00 | 100.00 | 100.00 | 100.0 | base | 4 | 50 |" in page


def test_an_effect_of_one_seed_has_neither_interval_nor_p() -> None:
    assert effect_texts(Effect(0.02, -math.inf, math.inf, 1.0), in_points=True) == ("+2.0", "–", "–")
    assert effect_texts(Effect(0.02, 0.01, 0.03, 0.02), in_points=True) == ("+2.0", "+1.0 to +3.0", "0.020")
