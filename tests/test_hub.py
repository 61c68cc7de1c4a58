"""The Hub: only files of a model travel, whatever lies beside them, and every failure says what is legal."""

from __future__ import annotations

import errno
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import huggingface_hub
import pytest
import yaml
from huggingface_hub import constants
from hypothesis import given
from hypothesis import strategies as st

import hub_server
import naughty
import tiny
from spanwright import artifact
from spanwright.errors import InputError, ModelError, SpanwrightError
from spanwright.hub import from_hub, model_files, push
from spanwright.labels import LabelSpace
from spanwright.model_card import model_card
from spanwright.predicting.onnx.export import export
from spanwright.predicting.onnx.loading import GraphModel
from spanwright.predicting.tagger import load

NAME = "somebody/tiny-model"
TEXT = "The xvase cell of lot cells was not an oxidase."


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made") / "model"
    artifact.save(tiny.model(), folder)
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    """A model directory with files beside those of the model."""
    copied = tmp_path / "model"
    copied.mkdir()
    for file in made.iterdir():
        (copied / file.name).write_bytes(file.read_bytes())
    (copied / "notes.txt").write_text("private")
    (copied / ".env").write_text("SECRET=1")
    (copied / "checkpoints").mkdir()
    (copied / "checkpoints" / "model.safetensors").write_text("old")
    return copied


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[hub_server.Hub]:
    """A Hub on this machine, with a cache of its own and a token that is nobody's."""
    monkeypatch.setenv("HF_TOKEN", "nobody")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    with hub_server.running() as started:
        reach(started.address, monkeypatch)
        yield started


def reach(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "ENDPOINT", address)
    template = f"{address}/{{repo_id}}/resolve/{{revision}}/{{filename}}"
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in model_files(folder)}


def test_a_model_comes_back_from_the_hub_as_it_was_pushed(hub: hub_server.Hub, folder: Path) -> None:
    push(folder, NAME)
    assert from_hub(NAME).tag(TEXT) == load(folder).tag(TEXT)
    assert load(folder).tag(TEXT).entities


def test_exactly_the_files_of_the_model_are_pushed(hub: hub_server.Hub, folder: Path) -> None:
    assert push(folder, NAME) == f"{hub.address}/{NAME}"
    (pushed,) = hub.commits[NAME]
    assert pushed == contents(folder)
    assert set(pushed) == {*artifact.FILES, "README.md"}


def test_words_of_a_writer_training_ids_and_graphs_belong_to_the_model(folder: Path) -> None:
    more = {"vocabulary.json", "training-ids.json", "encoder.onnx", "head-int8.onnx"}
    for name in more:
        (folder / name).write_text("{}")
    assert {file.name for file in model_files(folder)} == {*artifact.FILES, "README.md", *more}


def test_an_export_comes_back_with_its_graphs(hub: hub_server.Hub, folder: Path, tmp_path: Path) -> None:
    export(folder, tmp_path / "export")
    push(tmp_path / "export", NAME)
    tagger = from_hub(NAME)
    assert isinstance(tagger.model, GraphModel)
    assert tagger.tag(TEXT) == load(tmp_path / "export").tag(TEXT)


def test_a_second_push_is_a_second_commit(hub: hub_server.Hub, folder: Path) -> None:
    push(folder, NAME)
    first = load(folder).tag(TEXT)
    artifact.save(tiny.model(("Drug",), seed=1), folder)
    push(folder, NAME)
    assert from_hub(NAME).tag(TEXT) == load(folder).tag(TEXT) != first
    assert from_hub(NAME, revision=hub_server.sha(NAME, 0)).tag(TEXT) == first


def test_graphs_of_an_earlier_push_are_gone(hub: hub_server.Hub, folder: Path, tmp_path: Path) -> None:
    export(folder, tmp_path / "export")
    push(tmp_path / "export", NAME)
    push(folder, NAME)
    assert not [name for name in hub.files(NAME, "main") or () if name.endswith(".onnx")]
    assert from_hub(NAME).tag(TEXT) == load(folder).tag(TEXT)


@pytest.mark.parametrize("private", [True, False])
def test_a_repository_is_as_visible_as_asked_for(hub: hub_server.Hub, folder: Path, private: bool) -> None:
    push(folder, NAME, private=private)
    assert [wish["visibility"] for wish in hub.created] == ["private" if private else "public"]


def test_a_given_token_is_the_only_one_that_is_sent(hub: hub_server.Hub, folder: Path) -> None:
    push(folder, NAME, token="given")
    assert hub.tokens == {"Bearer given"}


@pytest.mark.parametrize("name", ["labels.json", "README.md"])
def test_a_model_with_a_link_is_not_pushed(
    hub: hub_server.Hub, folder: Path, tmp_path: Path, name: str
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("private")
    (folder / name).unlink()
    (folder / name).symlink_to(secret)
    with pytest.raises(ModelError, match=rf"{name}.*not a plain file"):
        push(folder, NAME)
    assert hub.requests == []


def test_a_folder_that_is_no_model_is_not_pushed(hub: hub_server.Hub, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"spanwright\.json is missing"):
        push(tmp_path, NAME)
    assert hub.requests == []


@pytest.mark.parametrize("name", ["", "alone", "a/b/c", "../x", "a b/c", "https://hub/a/b", "a/..", "a/b--c"])
def test_what_is_no_name_of_a_repository_is_refused(hub: hub_server.Hub, folder: Path, name: str) -> None:
    for call in (lambda: push(folder, name), lambda: from_hub(name)):
        with pytest.raises(InputError) as caught:
            call()
        assert name in str(caught.value)
    assert hub.requests == []


def test_only_files_of_a_model_are_downloaded(hub: hub_server.Hub, folder: Path, tmp_path: Path) -> None:
    others = {"setup.py": b"raise SystemExit", "weights.pickle": b"x", "old/model.safetensors": b"x"}
    hub.commits[NAME] = [{**contents(folder), **others}]
    assert from_hub(NAME).tag(TEXT) == load(folder).tag(TEXT)
    assert hub.fetched() == {*artifact.FILES, "README.md"}
    cached = {path.name for path in (tmp_path / "cache").rglob("*")}
    assert "model.safetensors" in cached
    assert not cached & {"setup.py", "weights.pickle", "old"}


def test_a_downloaded_model_is_not_downloaded_again(hub: hub_server.Hub, folder: Path) -> None:
    push(folder, NAME)
    from_hub(NAME)
    hub.requests.clear()
    from_hub(NAME)
    assert hub.fetched() == set()


def test_a_downloaded_model_works_without_the_hub(
    hub: hub_server.Hub, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    push(folder, NAME)
    tagged = from_hub(NAME).tag(TEXT)
    reach("http://127.0.0.1:1", monkeypatch)
    assert from_hub(NAME).tag(TEXT) == tagged


def test_without_the_hub_push_asks_for_a_connection_alone(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reach("http://127.0.0.1:1", monkeypatch)
    with pytest.raises(InputError, match=rf"^{NAME}: the Hub cannot be reached: .* Expected a connection$"):
        push(folder, NAME)


def test_a_model_that_is_nowhere_is_refused(hub: hub_server.Hub) -> None:
    with pytest.raises(InputError, match=rf"^{NAME}: the Hub has no such model, or it is private; expected"):
        from_hub(NAME)


def test_an_unknown_revision_is_refused(hub: hub_server.Hub, folder: Path) -> None:
    push(folder, NAME)
    with pytest.raises(InputError, match=rf"^{NAME}: has no revision 'v9'; expected its branches, tags"):
        from_hub(NAME, revision="v9")


def test_a_repository_without_a_model_is_refused_by_its_name(hub: hub_server.Hub) -> None:
    hub.commits[NAME] = [{"config.json": b"{}"}]
    with pytest.raises(ModelError, match=rf"^{NAME}: not a model directory: spanwright.json is missing"):
        from_hub(NAME)


def test_a_broken_model_is_refused_by_its_name(hub: hub_server.Hub, folder: Path) -> None:
    hub.commits[NAME] = [{**contents(folder), "labels.json": b"{"}]
    with pytest.raises(ModelError, match=rf"^{NAME}/labels.json: has changed since the model was saved"):
        from_hub(NAME)


def test_a_link_of_the_cache_that_leads_elsewhere_is_refused(
    hub: hub_server.Hub, folder: Path, tmp_path: Path
) -> None:
    push(folder, NAME)
    from_hub(NAME)
    (link,) = (tmp_path / "cache").rglob("snapshots/*/labels.json")
    link.unlink()
    link.symlink_to(folder / "labels.json")
    with pytest.raises(ModelError, match=rf"^{NAME}: labels.json in the cache leads to {folder}"):
        from_hub(NAME)


@pytest.mark.parametrize(
    ("status", "headers", "message"),
    [
        (403, {"X-Error-Code": "GatedRepo"}, "its owner must give you access first"),
        (401, {}, "the Hub refuses this: .*401 Unauthorized.* `hf auth login`"),
        (400, {}, "the Hub refuses this: Bad request"),
    ],
)
def test_what_the_hub_denies_is_an_error_of_the_call(
    hub: hub_server.Hub, status: int, headers: dict[str, str], message: str
) -> None:
    hub.failing[f"/api/models/{NAME}"] = (status, headers, {})
    with pytest.raises(InputError, match=f"{NAME}: {message}"):
        from_hub(NAME)


def test_a_token_that_may_not_write_is_told_so(hub: hub_server.Hub, folder: Path) -> None:
    hub.failing["/api/repos/create"] = (403, {}, {"error": "read-only token"})
    with pytest.raises(InputError, match=rf"{NAME}: the Hub refuses this: .*read-only token.*hf auth login"):
        push(folder, NAME)


def test_a_card_that_the_hub_does_not_take_is_told_before_anything_is_committed(
    hub: hub_server.Hub, folder: Path
) -> None:
    hub.failing["/api/validate-yaml"] = (400, {}, {"errors": [{"message": "license is unknown"}]})
    with pytest.raises(InputError, match=rf"{NAME}: the Hub cannot take this: .*license is unknown"):
        push(folder, NAME)
    assert hub.commits[NAME] == []


def test_a_hub_that_breaks_is_not_the_fault_of_the_call(hub: hub_server.Hub, folder: Path) -> None:
    hub.failing["/commit/"] = hub.failing["/revision/"] = (500, {}, {"error": "disk"})
    for call in (lambda: push(folder, NAME), lambda: from_hub(NAME)):
        with pytest.raises(SpanwrightError, match=rf"^{NAME}: the Hub failed: .*500") as caught:
            call()
        assert not isinstance(caught.value, InputError)


def test_a_full_disk_is_not_taken_for_a_missing_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(huggingface_hub, "snapshot_download", full)
    with pytest.raises(SpanwrightError, match=rf"^{NAME}: .*No space left on device$"):
        from_hub(NAME)


@pytest.mark.parametrize("offline", [True, False])
def test_without_a_connection_both_directions_say_what_is_legal(
    hub: hub_server.Hub, folder: Path, monkeypatch: pytest.MonkeyPatch, offline: bool
) -> None:
    reach("http://127.0.0.1:1", monkeypatch)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", offline)
    for call in (lambda: push(folder, NAME), lambda: from_hub(NAME)):
        with pytest.raises(InputError, match=rf"^{NAME}: the Hub cannot be reached: .*Expected a connection"):
            call()


def test_the_command_pushes_and_tells_the_address(hub: hub_server.Hub, folder: Path, tmp_path: Path) -> None:
    environment = {"HF_ENDPOINT": hub.address, "HF_HOME": str(tmp_path / "home"), "HF_TOKEN": "nobody"}
    source = str(Path(artifact.__file__).parent.parent)
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "from spanwright.cli.main import main; main()",
            "push",
            str(folder),
            NAME,
            "--private",
        ],
        capture_output=True,
        text=True,
        env={**os.environ, **environment, "PYTHONPATH": source},
    )
    assert (done.returncode, done.stdout) == (0, f"{hub.address}/{NAME}\n"), done.stderr
    assert hub.commits[NAME] == [contents(folder)]
    assert hub.created[0]["visibility"] == "private"


def metadata(card: str) -> dict[str, Any]:
    """What a reader of YAML makes of the beginning of a card."""
    # A line of its own: a value may well end with dashes.
    start, found, rest = re.split(r"(?m)^---\n", card, maxsplit=2)
    assert (start, rest[:3]) == ("", "\n# ")
    values: dict[str, Any] = yaml.safe_load(found)
    return values


SETTINGS = tiny.settings()
SCORES = {
    "dev": {"precision": 0.5, "recall": 0.25, "f1": 1 / 3},
    "test": {"precision": 1, "recall": 0, "f1": 0},
}


def test_the_card_tells_the_hub_kind_and_scores() -> None:
    card = model_card(SETTINGS, LabelSpace(("Gene",)), {"scores": SCORES})
    found = metadata(card)
    (index,) = found.pop("model-index")
    assert found == {
        "library_name": "spanwright",
        "pipeline_tag": "token-classification",
        "tags": ["spanwright", "named-entity-recognition"],
        "metrics": ["precision", "recall", "f1"],
    }
    assert index["name"] == "tiny"
    measured = {
        result["dataset"]["split"]: {metric["type"]: metric["value"] for metric in result["metrics"]}
        for result in index["results"]
    }
    assert measured == SCORES
    assert huggingface_hub.ModelCard(card).data.eval_results is not None


def test_the_card_of_an_unscored_model_has_no_metrics() -> None:
    found = metadata(model_card(SETTINGS, LabelSpace(("Gene",)), {}))
    assert found.keys() == {"library_name", "pipeline_tag", "tags"}


def test_the_card_names_a_licence_that_is_known() -> None:
    card = model_card(SETTINGS, LabelSpace(("Gene",)), {"license": "cc-by-4.0"})
    assert metadata(card)["license"] == "cc-by-4.0"


HOSTILE = st.one_of(
    st.sampled_from(
        ["---\n", "\n---\nlicense: mit", "a: b", "- x", "{", "no", "1e3", "'\"", "#", "\\", "&a *a", "%"]
    ),
    naughty.texts(3),
)


HOSTILE_TYPE = HOSTILE.map(lambda name: name[:500]).filter(str.strip)


@given(name=HOSTILE, type=HOSTILE_TYPE, split=HOSTILE)
def test_no_name_can_break_the_metadata(name: str, type: str, split: str) -> None:
    settings = SETTINGS.model_copy(update={"name": name})
    found = metadata(model_card(settings, LabelSpace((type,)), {"scores": {split: SCORES["dev"]}}))
    assert found.keys() == {"library_name", "pipeline_tag", "tags", "metrics", "model-index"}
    (index,) = found["model-index"]
    (result,) = index["results"]
    assert isinstance(index["name"], str) and isinstance(result["dataset"]["split"], str)
    assert result["metrics"][2] == {"type": "f1", "value": 1 / 3}


@given(type=HOSTILE_TYPE.filter(lambda name: name != "Gene"))
def test_a_type_is_one_line_of_the_card(type: str) -> None:
    card = model_card(SETTINGS, LabelSpace((type, "Gene")), {})
    section = card.split("## Types\n\n")[1].split("\n\n## Use")[0]
    assert [line[:2] for line in section.split("\n")] == ["- ", "- "]
    assert "<" not in section
