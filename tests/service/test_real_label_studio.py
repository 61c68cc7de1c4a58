"""The real Label Studio against the real service; SPANWRIGHT_LABEL_STUDIO names its Python.

python -m venv studio && studio/bin/pip install label-studio
SPANWRIGHT_LABEL_STUDIO=studio/bin/python pytest tests/service/test_real_label_studio.py
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from serving import Served, served, wait_until

import tiny
from spanwright.formats.files import read, write
from spanwright.predicting.tagger import Tagger
from spanwright.text import Argument, Document, Entity, Relation

PYTHON = os.environ.get("SPANWRIGHT_LABEL_STUDIO")
TOKEN = "0123456789abcdef0123456789abcdef01234567"
START_SECONDS = 1000.0
"""It makes its database when it starts for the first time."""
# As our page about it says: backends and webhooks at addresses of this machine.
SETTINGS = {"ML_BLOCK_LOCAL_IP": "false", "SSRF_PROTECTION_ENABLED": "false", "COLLECT_ANALYTICS": "false"}
CONFIG = """<View>
  <Relations><Relation value="part of"/></Relations>
  <Labels name="label" toName="text" choice="multiple">
    <Label value="Gene"/><Label value="Cell"/><Label value="Disease"/>
  </Labels>
  <Text name="text" value="$text"/>
  <TextArea name="concepts" toName="text" perRegion="true"/>
</View>"""
TEXTS = ["😀  abase cell of  the xvase, bcell.\nNext  one", "abase", "", "the 𝒙vase 👩‍🔬 bcell & <cell>"]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(START_SECONDS + 300),
    pytest.mark.skipif(
        PYTHON is None, reason="there is no Label Studio; SPANWRIGHT_LABEL_STUDIO names its Python"
    ),
]


@contextmanager
def label_studio(folder: Path) -> Iterator[httpx.Client]:
    """Label Studio with an empty database, and a client that is logged in."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [str(PYTHON), "-m", "label_studio.server", "start", "--no-browser", "--port", str(port)]
    command += ["--internal-host", "127.0.0.1", "--data-dir", str(folder), "--log-level", "WARNING"]
    command += ["--username", "a@example.org", "--password", "pa55word!", "--user-token", TOKEN]
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"} | SETTINGS
    with (folder / "log").open("w") as log:
        started = subprocess.Popen(
            [*command, "--enable-legacy-api-token"], stdout=log, stderr=log, env=environment
        )
    headers = {"Authorization": f"Token {TOKEN}"}
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", headers=headers, timeout=100) as client:
            wait_for_start(started, client, folder / "log")
            yield client
    finally:
        started.terminate()
        started.wait(60)


def wait_for_start(started: subprocess.Popen[bytes], client: httpx.Client, log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while True:
        assert started.poll() is None and time.monotonic() < deadline, log.read_text()[-3000:]
        try:
            if client.get("/health").status_code == 200:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.5)


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    with label_studio(tmp_path_factory.mktemp("studio")) as client:
        yield client


@pytest.fixture(scope="module")
def tagger() -> Tagger:
    return Tagger(tiny.model())


@pytest.fixture(scope="module")
def service(tagger: Tagger) -> Iterator[Served]:
    with served({"tiny": tagger}) as found:
        yield found


def ask(studio: httpx.Client, method: str, path: str, body: Any = None, **parameters: Any) -> Any:
    """The JSON of an answer, which has to be a good one."""
    answer = studio.request(method, path, json=body, params=parameters)
    assert answer.is_success, f"{path}: {answer.status_code} {answer.text[:2000]}"
    return answer.json()


def new_project(studio: httpx.Client, tasks: list[Any]) -> int:
    project = ask(studio, "POST", "/api/projects", {"title": "of a test", "label_config": CONFIG})["id"]
    ask(studio, "POST", f"/api/projects/{project}/import", tasks)
    return int(project)


def tasks_of(studio: httpx.Client, project: int) -> list[dict[str, Any]]:
    """The tasks of a project with their predictions, in their order."""
    listed = ask(studio, "GET", "/api/tasks", project=project, fields="all", page_size=100)["tasks"]
    return [ask(studio, "GET", f"/api/tasks/{each['id']}") for each in sorted(listed, key=lambda x: x["id"])]


def documents_of(tasks: list[Any], folder: Path) -> list[Document]:
    """What our format reads from tasks."""
    path = folder / "export.json"
    path.write_text(json.dumps(tasks), encoding="utf-8")
    corpus = read(path, strict=True)
    assert not corpus.problems
    return corpus.documents


def test_label_studio_gets_the_predictions_of_the_service(
    studio: httpx.Client, service: Served, tagger: Tagger, tmp_path: Path
) -> None:
    project = new_project(
        studio, [{"data": {"id": str(place), "text": text}} for place, text in enumerate(TEXTS)]
    )
    url = f"http://127.0.0.1:{service.port}/label-studio"
    ask(studio, "POST", "/api/ml", {"project": project, "url": url, "title": "spanwright"})
    everything = {"selectedItems": {"all": True, "excluded": []}}
    ask(studio, "POST", "/api/dm/actions", everything, id="retrieve_tasks_predictions", project=project)
    tasks = tasks_of(studio, project)
    found = documents_of(tasks, tmp_path)
    expected = [tagger.tag(Document(str(place), text)) for place, text in enumerate(TEXTS)]
    assert sum(len(each.entities) for each in expected) > 4
    assert [(each.id, each.text, each.entities) for each in found] == [
        (each.id, each.text, each.entities) for each in expected
    ]
    assert {each["predictions"][0]["model_version"] for each in tasks} == {"tiny"}


def test_label_studio_sends_webhooks_to_the_service(studio: httpx.Client, service: Served) -> None:
    project = new_project(studio, [{"data": {"text": "abase"}}])
    url = f"http://127.0.0.1:{service.port}/label-studio"
    ask(studio, "POST", "/api/ml", {"project": project, "url": url, "title": "spanwright"})
    heard = 'spanwright_requests_total{path="/label-studio/webhook",status="201"}'
    before = service.metric(heard)
    (task,) = tasks_of(studio, project)
    ask(studio, "POST", f"/api/tasks/{task['id']}/annotations/", {"result": []})
    wait_until(lambda: service.metric(heard) > before)


def annotated() -> list[Document]:
    """Nested and equal ranges, characters of two UTF-16 units, concepts, relations and metadata."""
    text = "😀 The BRCA1 gene  of 𝒙-cells\nand 👩‍🔬 more"

    def entity(mention: str, type_: str, *concepts: str) -> Entity:
        start = text.index(mention)
        return Entity(start, start + len(mention), type_, concepts=concepts)

    gene, whole = entity("BRCA1", "Gene", "672", "x:1"), entity("The BRCA1 gene", "Disease")
    both, again = entity("𝒙-cells", "Cell"), entity("𝒙-cells", "Disease")
    relations = (
        Relation("part of", (Argument(gene), Argument(both))),
        Relation("", (Argument(whole), Argument(gene))),
    )
    first = Document("one", text, (whole, gene, both, again), relations=relations, metadata={"year": 1999})
    return [first, Document("two", "nothing"), Document("three", "x", (Entity(0, 1, "Gene"),))]


def test_an_export_is_read_back_equal(studio: httpx.Client, tmp_path: Path) -> None:
    documents = annotated()
    write(documents, tmp_path / "tasks.label-studio.json")
    project = new_project(studio, json.loads((tmp_path / "tasks.label-studio.json").read_text("utf-8")))
    exported = ask(
        studio, "GET", f"/api/projects/{project}/export", exportType="JSON", download_all_tasks=True
    )
    assert documents_of(exported, tmp_path) == documents


def test_regions_with_several_labels_are_read_from_an_export(studio: httpx.Client, tmp_path: Path) -> None:
    text = "👩‍🔬 abase cell"
    project = new_project(studio, [{"data": {"id": "1", "text": text}}])
    (task,) = tasks_of(studio, project)
    start = text.index("abase")
    value = {"start": start, "end": start + 5, "text": "abase", "labels": ["Gene", "Cell"]}
    region = {"id": "a", "from_name": "label", "to_name": "text", "type": "labels", "value": value}
    ask(studio, "POST", f"/api/tasks/{task['id']}/annotations/", {"result": [region]})
    (document,) = documents_of(
        ask(studio, "GET", f"/api/projects/{project}/export", exportType="JSON"), tmp_path
    )
    entities = tuple(Entity(start, start + 5, label) for label in ("Gene", "Cell"))
    assert document == replace(Document("1", text), entities=entities)
