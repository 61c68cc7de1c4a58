"""Texts that are annotated: what is asked and answered, what is kept, and who was first."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import making
import spanwright
import tiny
from places import ROOT
from service.annotating import TEXT, found, texts
from service.serving import Served, served
from spanwright.cli.main import app
from spanwright.cli.serve import _annotation
from spanwright.errors import InputError
from spanwright.formats.files import read, write
from spanwright.predicting.tagger import Tagger
from spanwright.service import annotation
from spanwright.service.annotation import AnnotationFolder, ConflictError
from spanwright.text import Document, Entity


@pytest.fixture(scope="module")
def tagger() -> Tagger:
    return Tagger(tiny.model())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "annotated"


@pytest.fixture
def service(tagger: Tagger, folder: Path) -> Iterator[Served]:
    with served({"plain": tagger}, annotation=AnnotationFolder(texts(), folder)) as running:
        yield running


def save(service: Served, number: int, version: str, *entities: dict[str, Any]) -> Any:
    return service.client.put(f"/annotation/{number}", json={"version": version, "entities": entities})


GENE = {"start": 2, "end": 7, "type": "Gene"}


def kept(folder: Path) -> dict[str, list[str]]:
    """What the folder has of each text, by id."""
    files = [folder / name for name in ("train.jsonl", "dev.jsonl") if (folder / name).exists()]
    return {document.id: found(document) for document in read(*files, strict=True).documents}


def test_texts_come_in_their_order_with_suggestions_and_reasons(service: Served) -> None:
    about = service.client.get("/annotation").json()
    assert about["texts"] == [[f"text {number}", False] for number in range(3)]
    assert about["types"] == ["Cell", "Gene", "Disease"]
    text = service.client.get("/annotation/1").json()
    assert (text["id"], text["text"], text["done"], text["version"]) == ("text 1", f"{TEXT} 1", False, "")
    assert text["reason"] == "unsure of text 1"
    assert text["entities"][0] == {**GENE, "fragments": [], "concepts": [], "confidence": 0.9}
    assert text["words"][1] == [2, 7]


def test_what_is_saved_is_in_the_folder_and_comes_back(service: Served, folder: Path) -> None:
    answer = save(service, 1, "", GENE, {**GENE, "end": 17}, GENE)
    assert answer.status_code == 200
    assert kept(folder) == {"text 1": ["Gene BRCA1", "Gene BRCA1 mutations"]}
    text = service.client.get("/annotation/1").json()
    assert text["done"] and text["version"] == answer.json()["version"] != ""
    assert [entity["confidence"] for entity in text["entities"]] == [None, None]
    assert service.client.get("/annotation").json()["texts"][1] == ["text 1", True]
    again = AnnotationFolder(texts(), folder)
    assert again.latest(texts()[1])[1] == text["version"]


def test_fragments_and_concepts_are_kept(service: Served, folder: Path) -> None:
    gapped = {"start": 2, "end": 17, "type": "Gene", "fragments": [[2, 7], [8, 17]], "concepts": ["672"]}
    assert save(service, 0, "", gapped).status_code == 200
    (document,) = read(folder / "train.jsonl").documents
    assert document.entities == (Entity(2, 17, "Gene", ((2, 7), (8, 17)), ("672",)),)
    assert service.client.get("/annotation/0").json()["entities"] == [{**gapped, "confidence": None}]


def test_the_second_of_two_people_is_refused_and_both_versions_are_kept(
    service: Served, folder: Path
) -> None:
    assert save(service, 0, "", GENE).status_code == 200
    refused = save(service, 0, "", {**GENE, "type": "Cell"})
    assert refused.status_code == 409
    assert "yours is in conflicts.jsonl" in refused.json()["detail"]
    assert kept(folder) == {"text 0": ["Gene BRCA1"]}
    assert [found(each) for each in read(folder / "conflicts.jsonl").documents] == [["Cell BRCA1"]]
    version = service.client.get("/annotation/0").json()["version"]
    assert save(service, 0, version, {**GENE, "type": "Cell"}).status_code == 200
    assert kept(folder) == {"text 0": ["Cell BRCA1"]}


def test_the_same_again_is_no_conflict(service: Served, folder: Path) -> None:
    """The answer to the first may have been lost on its way."""
    first, second = save(service, 0, "", GENE), save(service, 0, "", GENE)
    assert first.json() == second.json()
    assert not (folder / "conflicts.jsonl").exists()


BAD: list[tuple[str, Any]] = [
    ("beyond the text", {**GENE, "end": 1000}),
    ("empty", {**GENE, "end": 2}),
    ("negative", {**GENE, "start": -1}),
    ("no type", {**GENE, "type": ""}),
    ("blank type", {**GENE, "type": " \u2009"}),
    ("long type", {**GENE, "type": "x" * 101}),
    ("no number", {**GENE, "start": "2"}),
    ("fragments that are none", {**GENE, "fragments": [[5, 3]]}),
    ("fragments of three", {**GENE, "fragments": [[2, 3, 4]]}),
    ("misspelt", {**GENE, "typ": "Gene"}),
    ("null", None),
]


@pytest.mark.parametrize("entity", [row[1] for row in BAD], ids=[row[0] for row in BAD])
def test_entities_that_cannot_be_are_refused(service: Served, folder: Path, entity: Any) -> None:
    answer = service.client.put("/annotation/0", json={"version": "", "entities": [entity]})
    assert answer.status_code == 422, answer.text
    assert "Input should" not in answer.text and "texts" not in answer.text, "fields of another path"
    assert kept(folder) == {}


@pytest.mark.parametrize("number", [3, -1])
def test_a_text_that_there_is_not_is_told(service: Served, number: int) -> None:
    for answer in (service.client.get(f"/annotation/{number}"), save(service, number, "")):
        assert answer.status_code == 404
        assert answer.json()["detail"] == f"there is no text {number}; expected the place of one, 0 to 2"


def test_a_place_that_is_no_number_is_a_wrong_path(service: Served) -> None:
    answer = service.client.get("/annotation/x")
    assert answer.status_code == 422
    assert answer.json()["detail"][0]["loc"] == ["path", "number"]


def test_texts_are_counted_as_one_path(service: Served) -> None:
    for number in range(2):
        service.client.get(f"/annotation/{number}")
    service.client.get("/annotation/5", headers={"Host": "elsewhere.example"})  # which gets to no route
    line = 'spanwright_requests_total{path="/annotation/{number}",status="%d"}'
    assert [service.metric(line % status) for status in (200, 421)] == [2, 1]


def test_the_openapi_file_says_what_is_refused_of_texts(service: Served) -> None:
    paths = service.client.get("/openapi.json").json()["paths"]
    every = {"200", "400", "401", "403", "408", "413", "415", "421", "422", "503"}
    assert paths["/annotation"]["get"]["responses"].keys() == every
    assert paths["/annotation/{number}"]["get"]["responses"].keys() == every | {"404"}
    assert paths["/annotation/{number}"]["put"]["responses"].keys() == every | {"404", "409"}


def test_without_texts_there_is_nothing_to_annotate(tagger: Tagger) -> None:
    with served({"plain": tagger}) as running:
        assert running.client.get("/annotate").status_code == 404
        assert running.client.get("/annotation").status_code == 404


def test_every_fifth_text_is_kept_for_dev_and_stays_there(folder: Path) -> None:
    documents = texts(12)
    kept_in = AnnotationFolder(documents, folder)
    for document in documents:
        kept_in.save(document, document.entities, "")
    dev = [document.id for document in read(folder / "dev.jsonl")]
    assert dev == ["text 4", "text 9"]
    other = AnnotationFolder(documents[::-1], folder)
    other.save(documents[4], (), other.latest(documents[4])[1])
    assert [document.id for document in read(folder / "dev.jsonl")] == dev
    assert len(read(folder / "train.jsonl")) == 10


def test_a_folder_of_other_texts_is_refused(folder: Path) -> None:
    AnnotationFolder(texts(), folder).save(texts()[0], (), "")
    with pytest.raises(InputError, match="another text with the id 'text 0'"):
        AnnotationFolder([Document("text 0", "Other words.")], folder)
    with pytest.raises(InputError, match="1 texts have the id of another one"):
        AnnotationFolder([*texts(), texts()[0]], folder)


def test_what_fails_to_be_written_is_not_taken_as_saved(folder: Path) -> None:
    kept_in = AnnotationFolder(texts(), folder)
    folder.parent.joinpath("annotated").write_text("a file where a folder should be")
    with pytest.raises(OSError):
        kept_in.save(texts()[0], (), "")
    assert not kept_in.is_done(texts()[0])


SAVING = """
import sys
from pathlib import Path
from service.annotating import texts
from spanwright.service.annotation import AnnotationFolder
documents = texts(2000)
folder = AnnotationFolder(documents, Path(sys.argv[1]))
for document in documents:
    folder.save(document, document.entities, "")
    print(document.id, flush=True)
"""


def test_a_kill_loses_nothing_that_was_saved(folder: Path) -> None:
    paths = os.pathsep.join((str(ROOT / "src"), str(ROOT / "tests")))
    for _ in range(3):
        process = subprocess.Popen(
            [sys.executable, "-c", SAVING, str(folder)],
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": paths},
        )
        assert process.stdout is not None
        told = [process.stdout.readline().strip() for _ in range(40)]
        process.send_signal(signal.SIGKILL)
        told += process.communicate()[0].split("\n")[:-1]
        assert set(told) <= set(kept(folder))


def test_two_services_do_not_share_a_folder(folder: Path, tmp_path: Path) -> None:
    write(texts(), tmp_path / "next.jsonl")
    with _annotation(tmp_path / "next.jsonl", folder, 1) as first:
        assert first is not None and len(first.texts) == 3
        with (
            pytest.raises(InputError, match=r"another process .* or choose another folder$"),
            _annotation(tmp_path / "next.jsonl", folder, 1),
        ):
            pass


def test_several_workers_are_refused(tmp_path: Path) -> None:
    write(texts(), tmp_path / "next.jsonl")
    asked = ["serve", "model", "--annotate", str(tmp_path / "next.jsonl"), "--workers", "2"]
    result = CliRunner().invoke(app, asked)
    assert isinstance(result.exception, InputError) and "expected one worker" in str(result.exception)


def test_a_conflict_is_an_error_of_its_own(folder: Path) -> None:
    kept_in = AnnotationFolder(texts(), folder)
    version = kept_in.save(texts()[0], (), "")
    with pytest.raises(ConflictError):
        kept_in.save(texts()[0], (Entity(2, 7, "Gene"),), "")
    assert kept_in.latest(texts()[0])[1] == version
    assert json.loads((folder / "conflicts.jsonl").read_text("utf-8"))["id"] == "text 0"


def test_several_conflicts_of_a_text_are_kept_and_gone_on_with(folder: Path) -> None:
    kept_in = AnnotationFolder(texts(), folder)
    kept_in.save(texts()[0], (), "")
    for type_ in ("Gene", "Cell"):
        with pytest.raises(ConflictError):
            kept_in.save(texts()[0], (Entity(2, 7, type_),), "")
    with pytest.raises(ConflictError):
        AnnotationFolder(texts(), folder).save(texts()[0], (Entity(2, 7, "Drug"),), "")
    lines = (folder / "conflicts.jsonl").read_text("utf-8").splitlines()
    assert [json.loads(line)["entities"][0]["type"] for line in lines] == ["Gene", "Cell", "Drug"]


def test_a_conflict_that_cannot_be_written_does_not_disturb_others(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept_in = AnnotationFolder(texts(), folder)
    kept_in.save(texts()[0], (), "")
    with monkeypatch.context() as patched:
        patched.setattr(annotation, "write", raising(OSError("no space left")))
        with pytest.raises(OSError):
            kept_in.save(texts()[0], (Entity(2, 7, "Gene"),), "")
    with pytest.raises(ConflictError):
        kept_in.save(texts()[0], (Entity(2, 7, "Cell"),), "")
    (line,) = (folder / "conflicts.jsonl").read_text("utf-8").splitlines()
    assert json.loads(line)["entities"][0]["type"] == "Cell"


def raising(error: Exception) -> Callable[..., None]:
    def fail(*_: object) -> None:
        raise error

    return fail


def test_one_command_trains_on_the_folder(tiny_encoder: str, folder: Path, tmp_path: Path) -> None:
    settings = making.settings(tiny_encoder, "training.epochs=1")
    spanwright.train(
        settings, train=making.documents(20), dev=making.documents(4, prefix="dev"), out=tmp_path / "first"
    )
    documents = making.documents(10, prefix="next")
    kept_in = AnnotationFolder(documents, folder)
    for document in documents:
        kept_in.save(document, document.entities, "")
    files = ("--train", folder / "train.jsonl", "--dev", folder / "dev.jsonl", "--out", tmp_path / "next")
    call = ("train", "plain", "--from", tmp_path / "first" / "model", "--keep-types", *files)
    small = [part for change in (*making.SMALL, "training.epochs=1") for part in ("--set", change)]
    result = CliRunner().invoke(app, [*map(str, call), "--encoder", tiny_encoder, *small])
    assert result.exit_code == 0, result.output
    assert (tmp_path / "next" / "model" / "spanwright.json").exists()
