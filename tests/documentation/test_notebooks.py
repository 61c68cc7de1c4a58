"""The notebooks run from top to bottom, in a folder of their own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from places import ROOT

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
@pytest.mark.timeout(900)
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda file: file.stem)
def test_a_notebook_runs(notebook: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
    nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
    pytest.importorskip("pandas", reason="pandas is not installed; install the extra notebook")
    paths = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    monkeypatch.setenv("PYTHONPATH", paths)
    cells = nbformat.read(notebook, as_version=4)
    assert [cell for cell in cells.cells if cell.cell_type == "code" and cell.outputs] == [], (
        "outputs are not kept"
    )
    client = nbclient.NotebookClient(cells, timeout=800, resources={"metadata": {"path": str(tmp_path)}})
    client.execute()
    drawn = [output for cell in cells.cells for output in cell.get("outputs", ()) if "data" in output]
    assert any("text/html" in output["data"] for output in drawn)


def test_there_are_three() -> None:
    assert len(NOTEBOOKS) == 3
