"""The function for Spark: on Arrow batches by itself, and in a real Spark on this machine."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import making
import tiny
from spanwright import artifact
from spanwright.errors import InputError
from spanwright.integrations import spark as spark_integration
from spanwright.integrations.spark import SCHEMA, tagging
from spanwright.predicting.tagger import load

pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
DOCUMENTS = making.documents(30)

Found = list[tuple[Any, ...]]
COLUMNS = ("start", "end", "type", "confidence")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("spark") / "model"
    artifact.save(tiny.model(), folder)
    return str(folder)


@pytest.fixture(scope="module")
def expected(model: str) -> dict[str, Found]:
    """What the tagger itself finds in the documents."""
    return {
        document.id: [(each.start, each.end, each.type, each.confidence) for each in document.entities]
        for document in load(model).tag(DOCUMENTS)
    }


def batch(**columns: list[Any]) -> Any:
    return pyarrow.RecordBatch.from_pydict(columns)


def found(rows: list[dict[str, Any]]) -> dict[str, Found]:
    return {row["id"]: [tuple(map(each.get, COLUMNS)) for each in row["entities"]] for row in rows}


def test_batches_are_tagged_as_the_tagger_does(model: str, expected: dict[str, Found]) -> None:
    given = batch(id=[each.id for each in DOCUMENTS], text=[each.text for each in DOCUMENTS])
    (answer,) = tagging(model)([given])
    assert found(answer.to_pylist()) == expected
    assert sum(map(len, expected.values())) > 0


def test_numbers_as_ids_and_texts_that_are_null_are_taken(model: str) -> None:
    (answer,) = tagging(model)([batch(id=[7, 8], text=[None, "abase"])])
    rows = answer.to_pylist()
    assert [row["id"] for row in rows] == ["7", "8"] and rows[0]["entities"] == []


def test_options_are_those_of_a_job(model: str) -> None:
    given = batch(id=["1"], text=[DOCUMENTS[0].text])
    (answer,) = tagging(model, minimum_confidence=1.0)([given])
    (everything,) = tagging(model)([given])
    assert len(answer.to_pylist()[0]["entities"]) < len(everything.to_pylist()[0]["entities"])


def test_a_process_loads_the_model_once(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    loads = []
    monkeypatch.setattr(spark_integration, "_loaded", [])
    monkeypatch.setattr(spark_integration, "load_tagger", lambda chosen: loads.append(chosen) or load(model))
    for _ in range(3):
        list(tagging(model)([batch(id=["1"], text=["abase"])] * 2))
    assert len(loads) == 1


def test_other_columns_are_an_error_that_says_what_to_do(model: str) -> None:
    with pytest.raises(InputError, match="the columns are id, body; expected id and text"):
        list(tagging(model)([batch(id=["1"], body=["abase"])]))


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Spark with two workers on this machine."""
    pyspark = pytest.importorskip("pyspark.sql", reason="pyspark is not installed")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("no Java for Spark")
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
    builder = pyspark.SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    started = builder.config("spark.driver.host", "127.0.0.1").getOrCreate()
    yield started
    started.stop()


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.filterwarnings("ignore")
def test_spark_gives_the_same_entities(
    session: Any, model: str, expected: dict[str, Found], tmp_path: Path
) -> None:
    rows = [(document.id, document.text) for document in DOCUMENTS]
    texts = session.createDataFrame(rows, "id string, text string").repartition(3)
    texts.mapInArrow(tagging(model), SCHEMA).write.parquet(str(tmp_path / "tagged"))
    answer = found(parquet.read_table(tmp_path / "tagged").to_pylist())
    assert answer.keys() == expected.keys()
    for id, entities in expected.items():
        assert [each[:3] for each in answer[id]] == [each[:3] for each in entities]
        assert [each[3] for each in answer[id]] == pytest.approx([each[3] for each in entities], abs=1e-4)
