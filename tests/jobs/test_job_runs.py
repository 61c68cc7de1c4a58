"""Jobs with real worker processes and a tagger that is quick: what comes out, what is lost, what goes on."""

from __future__ import annotations

import errno
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pretending_tagger
import pytest
from making_jobs import SMALL, InlineEngine, content, make_job, tagged, texts, write_inputs
from pretending_tagger import DEADLY, DEADLY_ONCE, FAILS

from spanwright.errors import InputError
from spanwright.formats.files import FOLDERS, write
from spanwright.formats.io.file_names import FoundFile
from spanwright.predicting.jobs import folder as job_folder
from spanwright.predicting.jobs.folder import JobError, open_folder
from spanwright.predicting.jobs.local_engine import LocalEngine
from spanwright.predicting.jobs.running import JobOutcome, run_job
from spanwright.predicting.jobs.shards import Reading
from spanwright.text import Document


def summary(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "summary.json").read_text())
    return found


def problems(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "problems.jsonl").read_text().splitlines()]


def local(processes: int = 2) -> LocalEngine:
    return LocalEngine(processes, pretending_tagger.load)


def test_every_document_is_tagged_once_whatever_the_number_of_processes(tmp_path: Path) -> None:
    paths = write_inputs(tmp_path / "in")
    job = make_job(tmp_path, paths)
    for name, engine in {"inline": InlineEngine(), "one": local(1), "three": local(3)}.items():
        outcome = run_job(job, tmp_path / name, engine)
        assert outcome.is_whole and (outcome.counts.read, outcome.counts.tagged) == (50, 50)
    assert content(tmp_path / "one") == content(tmp_path / "inline") == content(tmp_path / "three")
    expected = [document.id for path in paths for document in texts(5, path.stem)]
    assert [document.id for document in tagged(tmp_path / "one")] == expected
    assert all(len(document.entities) == 1 for document in tagged(tmp_path / "one"))


def test_a_finished_job_is_not_done_again(tmp_path: Path) -> None:
    job = make_job(tmp_path, write_inputs(tmp_path / "in"))
    run_job(job, tmp_path / "out", InlineEngine())
    before = content(tmp_path / "out")
    outcome = run_job(job, tmp_path / "out", LocalEngine(1, pretending_tagger.die))
    assert outcome.tagged_before == summary(tmp_path / "out")["shards"]
    assert content(tmp_path / "out") == before


def test_bad_documents_are_told_and_counts_add_up(tmp_path: Path) -> None:
    paths = write_inputs(tmp_path / "in", files=4)
    write([*texts(2), Document("sad", f"an {FAILS} word"), *texts(2, "more")], paths[1])
    paths[2].write_text('{"id": "good", "text": "base"}\nbroken\n[]\n')
    paths[3].write_bytes(b"\x00\x01")
    outcome = run_job(make_job(tmp_path, paths), tmp_path / "out", local())
    assert not outcome.is_whole
    found = summary(tmp_path / "out")
    assert found["documents"] == {"read": 11, "tagged": 10, "failed": 1, "lost": 0, "rejected": 2}
    assert (found["unreadable_inputs"], found["problems"]) == (1, 4)
    assert [
        (line["path"], line.get("document", line.get("line"))) for line in problems(tmp_path / "out")
    ] == [
        (str(paths[1]), "sad"),
        (str(paths[2]), 2),
        (str(paths[2]), 3),
        (str(paths[3]), 0),
    ]
    assert problems(tmp_path / "out")[0]["reason"] == "tagging failed: ArithmeticError: no words for it"
    assert len(tagged(tmp_path / "out")) == 10 and found["entities"] == 10


def test_a_lost_worker_is_replaced_and_its_shard_tried_again(tmp_path: Path) -> None:
    paths = write_inputs(tmp_path / "in", files=4)
    fragile = Document(str(tmp_path / "died"), f"a {DEADLY_ONCE} base")
    write([*texts(2), fragile], paths[1])
    outcome = run_job(make_job(tmp_path, paths), tmp_path / "out", local())
    assert (tmp_path / "died").exists()
    assert outcome.is_whole and outcome.counts.tagged == 18
    run_job(make_job(tmp_path, paths), tmp_path / "inline", InlineEngine())
    assert content(tmp_path / "out") == content(tmp_path / "inline")


def test_a_shard_that_always_kills_its_worker_is_lost_alone_and_tried_again_by_the_next_run(
    tmp_path: Path,
) -> None:
    paths = write_inputs(tmp_path / "in", files=4)
    write([*texts(3), Document("end", f"a {DEADLY} base"), *texts(1, "more")], paths[1])
    job = make_job(tmp_path, paths, Reading(shard_documents=4, group_bytes=1))
    outcome = run_job(job, tmp_path / "out", local())
    assert outcome.lost == ("00001-00000",) and not outcome.is_whole
    documents = summary(tmp_path / "out")["documents"]
    assert documents == {"read": 20, "tagged": 16, "failed": 0, "lost": 4, "rejected": 0}
    assert summary(tmp_path / "out")["lost_shards"] == ["00001-00000"]
    assert problems(tmp_path / "out")[0]["shard"] == "00001-00000"
    # As if there were more memory now: the same bytes on disk, which the tagger survives.
    paths[1].write_text(paths[1].read_text().replace(DEADLY, "better"))
    outcome = run_job(job, tmp_path / "out", local())
    assert outcome.is_whole and outcome.counts.tagged == 20
    run_job(job, tmp_path / "inline", InlineEngine())
    assert content(tmp_path / "out") == content(tmp_path / "inline")


def test_options_that_the_model_cannot_obey_stop_the_job_at_once(tmp_path: Path) -> None:
    job = make_job(tmp_path, write_inputs(tmp_path / "in"), corpus="missing")
    with pytest.raises(InputError, match="the model knows no corpus 'missing'"):
        run_job(job, tmp_path / "out", local())


def test_workers_that_cannot_even_start_stop_the_job(tmp_path: Path) -> None:
    job = make_job(tmp_path, write_inputs(tmp_path / "in"))
    with pytest.raises(JobError, match=r"lost 3 times while they loaded the model, at last with signal 9"):
        run_job(job, tmp_path / "out", LocalEngine(1, pretending_tagger.die))


@pytest.mark.parametrize("shards", [0, 1, 5])
def test_a_full_disk_keeps_finished_shards_and_the_job_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shards: int
) -> None:
    job = make_job(tmp_path, write_inputs(tmp_path / "in"))
    run_job(job, tmp_path / "whole", InlineEngine())
    kept, sync = [], os.fsync

    def fill(descriptor: int) -> None:
        path = str(Path(f"/proc/self/fd/{descriptor}").readlink())
        if len(kept) == shards and ".part-" in path:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        kept.extend([path] if ".part-" in path else [])
        sync(descriptor)

    with monkeypatch.context() as disk:
        disk.setattr(os, "fsync", fill)
        with pytest.raises(JobError, match=r"No space left on device\. What is finished is kept; run"):
            run_job(job, tmp_path / "out", local())
    assert len(list((tmp_path / "out").glob("shards/*"))) == shards
    outcome = run_job(job, tmp_path / "out", local())
    assert outcome.tagged_before == shards
    assert content(tmp_path / "out") == content(tmp_path / "whole")


def test_leftovers_of_a_kill_are_cleaned_and_done_again(tmp_path: Path) -> None:
    job = make_job(tmp_path, write_inputs(tmp_path / "in"))
    run_job(job, tmp_path / "whole", InlineEngine())
    out = tmp_path / "out"
    run_job(job, out, InlineEngine())
    (out / "done/shards/00001-00000.json").unlink()
    (out / "done/groups/00001.json").unlink()
    (out / "shards/part-00001-00000.jsonl").write_text("half a")
    (out / "shards/.part-00001-00001.jsonl.partial").write_text("half a")
    (out / "summary.json").unlink()
    outcome = run_job(job, out, InlineEngine())
    assert outcome.tagged_before == summary(out)["shards"] - 1
    assert content(out) == content(tmp_path / "whole")


def test_finished_groups_are_not_read_again(tmp_path: Path) -> None:
    paths = write_inputs(tmp_path / "in")
    job = make_job(tmp_path, paths)
    run_job(job, tmp_path / "out", InlineEngine())
    for path in paths:
        path.write_bytes(b"\x00" * path.stat().st_size)
    assert run_job(job, tmp_path / "out", InlineEngine()).counts.tagged == 50


@pytest.mark.parametrize("gone", ["done/shards/*.json", "shards/*"])
def test_what_is_gone_of_a_finished_job_is_done_again(tmp_path: Path, gone: str) -> None:
    job = make_job(tmp_path, write_inputs(tmp_path / "in"))
    run_job(job, tmp_path / "out", InlineEngine())
    before = {path.name: path.read_bytes() for path in (tmp_path / "out" / "shards").iterdir()}
    sorted((tmp_path / "out").glob(gone))[0].unlink()
    assert run_job(job, tmp_path / "out", InlineEngine()).counts.tagged == 50
    assert {path.name: path.read_bytes() for path in (tmp_path / "out" / "shards").iterdir()} == before


def test_a_call_that_finished_nothing_does_not_claim_the_folder(tmp_path: Path) -> None:
    paths = write_inputs(tmp_path / "in")
    with open_folder(tmp_path / "out", {"tagging": {"corpus": "misspelt"}}, ".jsonl"):
        pass
    assert run_job(make_job(tmp_path, paths), tmp_path / "out", InlineEngine()).counts.tagged == 50


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"minimum_confidence": 0.5}, "tagging minimum_confidence: 0.0 there, 0.5 now"),
        ({"format": "parquet"}, "tagging format: 'jsonl' there, 'parquet' now"),
        ({"threads": 2}, "tagging threads: 1 there, 2 now"),
        ({"types": {"Gene": "genes"}}, "tagging types Gene: none there, 'genes' now"),
    ],
)
def test_another_job_is_refused_and_says_what_differs(
    tmp_path: Path, changes: dict[str, Any], told: str
) -> None:
    paths = write_inputs(tmp_path / "in", files=2)
    run_job(make_job(tmp_path, paths), tmp_path / "out", InlineEngine())
    with pytest.raises(InputError) as caught:
        run_job(make_job(tmp_path, paths, **changes), tmp_path / "out", InlineEngine())
    assert told in str(caught.value) and "or another --out" in str(caught.value)


def test_other_inputs_sizes_of_shards_or_weights_are_another_job(tmp_path: Path) -> None:
    paths = write_inputs(tmp_path / "in", files=2)
    run_job(make_job(tmp_path, paths), tmp_path / "out", InlineEngine())

    def refused(job: Any) -> str:
        with pytest.raises(InputError) as caught:
            run_job(job, tmp_path / "out", InlineEngine())
        return str(caught.value)

    larger = Reading(shard_documents=5, group_bytes=SMALL.group_bytes)
    assert "reading shard_documents: 4 there, 5 now" in refused(make_job(tmp_path, paths, larger))
    assert f"inputs {paths[1]}: {paths[1].stat().st_size} there, none now" in refused(
        make_job(tmp_path, paths[:1])
    )
    paths[0].write_text(paths[0].read_text() + "\n")
    assert f"inputs {paths[0]}: {paths[0].stat().st_size - 1} there" in refused(make_job(tmp_path, paths))
    (tmp_path / "model" / "model.safetensors").write_bytes(b"other")
    assert "tagging model: " in refused(make_job(tmp_path, paths))


def test_a_folder_with_other_things_in_it_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    job = make_job(tmp_path, write_inputs(tmp_path / "in"))
    (tmp_path / "in/.scores.json.partial").write_text("of somebody else")
    before = sorted((tmp_path / "in").rglob("*"))
    with pytest.raises(InputError, match="a folder with other things in it"):
        run_job(job, tmp_path / "in", InlineEngine())
    assert sorted((tmp_path / "in").rglob("*")) == before


def test_a_job_that_was_killed_as_it_began_can_begin_again(tmp_path: Path) -> None:
    job, out = make_job(tmp_path, write_inputs(tmp_path / "in")), tmp_path / "out"
    out.mkdir()
    (out / ".job.json.partial").write_text("half a")
    run_job(job, out, InlineEngine())
    assert summary(out)["shards"]
    assert not list(out.rglob(".*.partial"))


def test_two_processes_cannot_work_on_the_same_job(tmp_path: Path) -> None:
    job = make_job(tmp_path, write_inputs(tmp_path / "in"))
    with (
        job_folder.open_folder(tmp_path / "out", job.identity(), ".jsonl"),
        pytest.raises(InputError, match="another process is at work in this folder"),
    ):
        run_job(job, tmp_path / "out", InlineEngine())


def test_job_json_has_the_names_with_which_unfinished_jobs_were_begun(tmp_path: Path) -> None:
    identity = make_job(tmp_path, write_inputs(tmp_path / "in", files=1)).identity()
    assert identity["tagging"] | {"model": None} == {
        "model": None,
        "runtime": "torch",
        "threads": 1,
        "types": {},
        "corpus": None,
        "shared_types": False,
        "minimum_confidence": 0.0,
        "tuned_thresholds": False,
        "format": "jsonl",
        "lossy": False,
    }
    reading = {"format": None, "options": {}, "shard_characters": 240_000}
    assert identity["reading"] == reading | {"shard_documents": 4, "group_bytes": 600}


def test_texts_of_folders_have_ids_of_their_own_and_another_folder_is_another_job(tmp_path: Path) -> None:
    paths = [tmp_path / "in" / name / "abstract.txt" for name in ("p1", "p2")]
    for path in paths:
        path.parent.mkdir(parents=True)
        path.write_text("the base")
    found = [FoundFile(path, tmp_path / "in") for path in paths]
    run_job(make_job(tmp_path, found), tmp_path / "out", InlineEngine())
    assert [document.id for document in tagged(tmp_path / "out")] == ["p1/abstract", "p2/abstract"]
    with pytest.raises(InputError, match="the folder of another job"):
        run_job(make_job(tmp_path, paths), tmp_path / "out", InlineEngine())


def test_an_input_named_twice_is_refused(tmp_path: Path) -> None:
    paths = write_inputs(tmp_path / "in", files=1)
    with pytest.raises(InputError, match="named twice"):
        run_job(make_job(tmp_path, [*paths, *paths]), tmp_path / "out", InlineEngine())


@pytest.mark.parametrize("format", [*FOLDERS, "text"])
def test_formats_of_many_files_are_refused_before_anything_is_made(tmp_path: Path, format: str) -> None:
    job = make_job(tmp_path, write_inputs(tmp_path / "in"), format=format)
    with pytest.raises(
        InputError, match=rf"'{format}' is not one file for many documents; expected parquet, spacy"
    ):
        run_job(job, tmp_path / "out", InlineEngine())
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("format", ["parquet", "pubtator", "bioc-json"])
def test_other_formats_are_written_alike_by_every_run(tmp_path: Path, format: str) -> None:
    if format == "parquet":
        pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    job = make_job(tmp_path, write_inputs(tmp_path / "in", files=3), format=format)
    outcomes = [run_job(job, tmp_path / name, InlineEngine()) for name in ("one", "two")]
    assert content(tmp_path / "one") == content(tmp_path / "two")
    assert outcomes[0].counts.tagged == len(tagged(tmp_path / "one")) == 15


def test_what_a_format_cannot_express_fails_its_document_or_is_left_out_and_told(tmp_path: Path) -> None:
    """Column files have no place for entities that cut a word, such as the second half of this one."""
    path = tmp_path / "in.jsonl"
    write([*texts(1), Document("cut", "re-base", words=((0, 7),))], path)
    strict = run_job(make_job(tmp_path, [path], format="conll"), tmp_path / "strict", InlineEngine())
    assert (strict.counts.tagged, strict.counts.failed) == (1, 1)
    assert problems(tmp_path / "strict")[0]["document"] == "cut"
    lossy = run_job(
        make_job(tmp_path, [path], format="conll", lossy=True), tmp_path / "lossy", InlineEngine()
    )
    assert (lossy.counts.tagged, lossy.counts.failed) == (2, 0)
    assert problems(tmp_path / "lossy")[0]["reason"].startswith("left out: ")


class Recorder:
    """Keeps what a watcher is told."""

    def __init__(self) -> None:
        self.moves: list[tuple[int, int, int]] = []

    def moved(self, done: int, total: int, counts: Any) -> None:
        self.moves.append((done, total, counts.tagged))


def test_progress_rises_from_what_is_done_to_the_whole(tmp_path: Path) -> None:
    paths = write_inputs(tmp_path / "in")
    job = make_job(tmp_path, paths)
    size = sum(path.stat().st_size for path in paths)
    first, again = Recorder(), Recorder()
    run_job(job, tmp_path / "out", local(), first)
    shares = [done for done, _, _ in first.moves]
    assert shares[0] == 0 and shares == sorted(shares)
    assert first.moves[-1] == (size, size, 50)
    run_job(job, tmp_path / "out", local(), again)
    assert again.moves == [(size, size, 0)]


RUN = """
import signal
import sys
from pathlib import Path
sys.path[:0] = {path!r}
import pretending_tagger
from making_jobs import make_job
from spanwright.predicting.jobs.running import run_job
from spanwright.predicting.jobs.local_engine import LocalEngine
if __name__ == "__main__":
    # Tests in the background may have been started with it ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    folder = Path(sys.argv[1])
    job = make_job(folder, sorted((folder / "in").iterdir()))
    run_job(job, folder / sys.argv[2], LocalEngine(2, pretending_tagger.load))
"""


def start(folder: Path, out: str) -> subprocess.Popen[bytes]:
    """The job as a process of its own; a script in a file, because workers import it."""
    script = folder / "run.py"
    script.write_text(RUN.format(path=sys.path))
    return subprocess.Popen([sys.executable, str(script), str(folder), out], stderr=subprocess.PIPE)


def kill_and_resume(folder: Path, kills: int, shards: int) -> None:
    """Let a job be killed so often, each time a little further on and at a random moment, and then end."""
    moments = random.Random(kills)
    for kill in range(kills):
        process = start(folder, "killed")
        while len(list((folder / "killed/done/shards").glob("*"))) < kill * shards // kills:
            time.sleep(0.005)
            assert process.poll() is None, "it ended before it could be killed"
        # Before the first shard, starting takes most of the time.
        time.sleep(moments.uniform(0, 0.1 if kill else 1))
        process.kill()
        process.communicate()
        assert process.returncode == -signal.SIGKILL
    process = start(folder, "killed")
    _, told = process.communicate()
    assert process.returncode == 0, told.decode()


def check_kills(folder: Path, files: int, kills: int) -> None:
    write_inputs(folder / "in", files=files, documents=2, more="slow")
    job = make_job(folder, sorted((folder / "in").iterdir()))
    run_job(job, folder / "whole", InlineEngine())
    kill_and_resume(folder, kills, summary(folder / "whole")["shards"])
    assert content(folder / "killed") == content(folder / "whole")
    ids = [document.id for document in tagged(folder / "killed")]
    assert len(ids) == len(set(ids)) == 2 * files


def test_a_job_killed_again_and_again_ends_with_the_same_bytes(tmp_path: Path) -> None:
    check_kills(tmp_path, files=40, kills=3)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_ten_kills_over_two_hundred_files_change_nothing(tmp_path: Path) -> None:
    check_kills(tmp_path, files=200, kills=10)


def test_ctrl_c_stops_soon_and_leaves_no_process_and_a_job_that_goes_on(tmp_path: Path) -> None:
    write_inputs(tmp_path / "in", files=60, documents=2, more="slow")
    process = start(tmp_path, "out")
    while not list((tmp_path / "out/done/shards").glob("0*.json")):
        time.sleep(0.02)
        assert process.poll() is None
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert process.returncode != 0 and time.monotonic() - began < 10
    # The workers, which have the same stderr, are gone too, or it would still be open; one traceback is ours.
    assert told.decode().count("Traceback") == 1
    assert not (tmp_path / "out" / "summary.json").exists()
    job = make_job(tmp_path, sorted((tmp_path / "in").iterdir()))
    outcome: JobOutcome = run_job(job, tmp_path / "out", InlineEngine())
    assert outcome.tagged_before > 0 and outcome.counts.tagged == 120
