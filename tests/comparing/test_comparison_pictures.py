from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pretending
import pytest
from pretending import cells_only, nothing, right

from spanwright.comparing import Results, compare, pictures
from spanwright.comparing.pictures import draw_heat_map, draw_plot
from spanwright.comparing.plan import PlotPlan
from spanwright.errors import MissingExtraError


@pytest.fixture
def results(tmp_path: Path) -> Results:
    answers = {"plain": cells_only, "bundling/weight-0.1": right, "bundling/weight-0.5": nothing}
    return pretending.results(tmp_path, answers)


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The figures instead of their files."""
    figures: list[Any] = []
    monkeypatch.setattr(pictures, "save", lambda figure, path: figures.append(figure))
    return figures


def test_a_heat_map_has_the_difference_as_number_and_as_colour(
    results: Results, drawn: list[Any], tmp_path: Path
) -> None:
    result = results.corpora[0]
    draw_heat_map(result, tmp_path / "map.png", title="made")
    axes = drawn[0].axes[0]
    others = [cell for cell in result.heat_map if cell.recipe != "plain"]
    image = axes.images[0]
    assert np.array(image.get_array())[1:].ravel() == pytest.approx([cell.difference for cell in others])
    texts = {text.get_position(): text.get_text() for text in axes.texts}
    assert texts[0, 1] == f"{100 * others[0].difference:+.1f}"
    # Better is blue, worse is red.
    worst, *_, best = sorted(cell.difference for cell in others)
    red, _, blue, _ = image.cmap(image.norm(best))
    assert best > 0 and blue > red
    red, _, blue, _ = image.cmap(image.norm(worst))
    assert worst < 0 and red > blue


def test_a_bucket_without_gold_entities_stays_blank(
    results: Results, drawn: list[Any], tmp_path: Path
) -> None:
    draw_heat_map(results.corpora[0], tmp_path / "map.png", title="made")
    cells = [cell for cell in results.corpora[0].heat_map if cell.recipe == "plain"]
    texts = {text.get_position(): text.get_text() for text in drawn[0].axes[0].texts}
    blank = [not texts[column, 1] for column in range(len(cells))]
    assert blank == [cell.gold == 0 for cell in cells]
    assert any(blank) and not all(blank)


def test_a_line_goes_through_the_means(results: Results, drawn: list[Any], tmp_path: Path) -> None:
    plot = PlotPlan(kind="line", recipes=("bundling/weight-0.1", "bundling/weight-0.5"))
    draw_plot(plot, results, tmp_path / "plot.png", title="weights")
    axes = drawn[0].axes[0]
    assert axes.lines[0].get_ydata() == pytest.approx([100.0, 0.0])
    assert [label.get_text() for label in axes.get_xticklabels()] == ["0.1", "0.5"]


def test_a_plot_waits_until_all_of_its_recipes_have_runs(results: Results) -> None:
    recipes = [each.recipe for each in results.corpora[0].recipes]
    assert results.have(recipes)
    assert not results.have([*recipes, "spanner"])


def test_bars_are_as_high_as_the_means(results: Results, drawn: list[Any], tmp_path: Path) -> None:
    draw_plot(PlotPlan(kind="bars", recipes=("plain",)), results, tmp_path / "plot.png", title="one")
    axes = drawn[0].axes[0]
    mean = 100 * results.corpora[0].of("plain").spread("f1").mean
    assert [bar.get_height() for bar in axes.patches] == pytest.approx([mean])
    assert 0 < axes.get_ylim()[0] < mean


def test_without_matplotlib_nothing_is_begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'spanwright\[report\]'"):
        compare(pretending.plan("plain"), out=tmp_path / "out")
    assert not (tmp_path / "out").exists()
