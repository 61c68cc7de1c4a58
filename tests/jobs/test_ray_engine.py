"""Ray does what the local engine does, byte for byte, also when it loses a worker on the way."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pretending_tagger
import pytest
from making_jobs import InlineEngine, content, make_job, texts, write_inputs
from pretending_tagger import DEADLY, DEADLY_ONCE, FAILS

from spanwright.errors import InputError
from spanwright.formats.files import write
from spanwright.predicting.jobs.local_engine import LocalEngine
from spanwright.predicting.jobs.ray_engine import RayEngine
from spanwright.predicting.jobs.running import run_job
from spanwright.text import Document

ray = pytest.importorskip("ray", reason="ray is not installed")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(900),
    # Ray has deprecated parts of itself, and leaves files open for its processes.
    pytest.mark.filterwarnings("ignore"),
]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """A cluster of two processors, whose workers can import the helpers of these tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
        yield ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
        ray.shutdown()


def engine(load: Any = pretending_tagger.load) -> RayEngine:
    return RayEngine(2, load=load)


def test_ray_writes_the_same_bytes_although_it_loses_a_worker(cluster: Any, tmp_path: Path) -> None:
    paths = write_inputs(tmp_path / "in", files=8)
    fragile = Document(str(tmp_path / "died"), f"a {DEADLY_ONCE} base")
    write([*texts(3), Document("sad", f"an {FAILS} word"), fragile], paths[3])
    paths[5].write_text('{"text": "base"}\nbroken\n')
    job = make_job(tmp_path, paths)
    outcome = run_job(job, tmp_path / "ray", engine())
    assert (tmp_path / "died").exists()
    assert outcome.is_whole and (outcome.counts.tagged, outcome.counts.failed) == (35, 1)
    run_job(job, tmp_path / "inline", InlineEngine())
    assert content(tmp_path / "ray") == content(tmp_path / "inline")


def test_a_job_begun_by_one_engine_is_ended_by_the_other(cluster: Any, tmp_path: Path) -> None:
    """A shard that kills its workers is lost to Ray alone; what is left is done by the next run."""
    paths = write_inputs(tmp_path / "in", files=4)
    write([*texts(2), Document("end", f"a {DEADLY} base")], paths[1])
    job = make_job(tmp_path, paths)
    outcome = run_job(job, tmp_path / "out", engine())
    assert outcome.lost == ("00000-00001",) and outcome.counts.lost == 4
    assert outcome.counts.read == 18 == outcome.counts.tagged + outcome.counts.lost
    paths[1].write_text(paths[1].read_text().replace(DEADLY, "better"))
    outcome = run_job(job, tmp_path / "out", LocalEngine(1, pretending_tagger.load))
    assert outcome.is_whole and outcome.tagged_before > 0
    run_job(job, tmp_path / "inline", InlineEngine())
    assert content(tmp_path / "out") == content(tmp_path / "inline")


def test_options_that_the_model_cannot_obey_stop_ray_at_once(cluster: Any, tmp_path: Path) -> None:
    job = make_job(tmp_path, write_inputs(tmp_path / "in"), corpus="missing")
    with pytest.raises(InputError, match="the model knows no corpus 'missing'"):
        run_job(job, tmp_path / "out", engine())
