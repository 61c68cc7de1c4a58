"""What annotation tools ask, as they send it, and what they get."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from serving import GatedTagger, Served, served

import tiny
from spanwright.errors import InputError
from spanwright.formats.files import read
from spanwright.predicting.tagger import Tagger
from spanwright.service.limits import ServiceLimits
from spanwright.service.tools.suggesting import Naming, _runs
from spanwright.text import Document

CONFIG = """<View>
  <Labels name="entities" toName="abstract">
    <Label value="gene" background="#ffa"/><Label value="CELL"/><Label value="Protein"/>
  </Labels>
  <Text name="abstract" value="$body"/>
</View>"""
IMAGES = """<View><Image name="i" value="$image"/>
  <RectangleLabels name="r" toName="i"><Label value="Gene"/></RectangleLabels></View>"""
DOCTYPE = '<!DOCTYPE x [<!ENTITY a "b">]><View>&a;</View>'
URLS = """<View><Labels name="l" toName="t"><Label value="Gene"/></Labels>
  <Text name="t" value="$url" valueType="url"/></View>"""
TEXT = "😀  abase cell of  the xvase, bcell.\nNext  one"
JSON = {"Content-Type": "application/json"}
TOKEN = "s3cret-token-of-a-user"


@pytest.fixture(scope="module")
def tagger() -> Tagger:
    return Tagger(tiny.model())


@pytest.fixture(scope="module")
def service(tagger: Tagger) -> Iterator[Served]:
    with served({"tiny": tagger}) as found:
        yield found


def predict_body(*texts: Any, config: str = CONFIG, key: str = "body") -> dict[str, Any]:
    """What Label Studio sends, as a client of version 1.13 does."""
    return {
        "tasks": [
            {
                "id": number,
                "data": {key: text, "title": "x"},
                "meta": {},
                "annotations": [],
                "predictions": [],
            }
            for number, text in enumerate(texts)
        ],
        "model_version": None,
        "project": "3.1718272",
        "label_config": config,
        "params": {"login": "a@b.c", "password": "hidden", "context": None},
    }


def predict(service: Served, *texts: Any, **options: Any) -> Any:
    return service.client.post("/label-studio/predict", json=predict_body(*texts, **options))


# Label Studio.


def test_health_and_versions_are_told(service: Served) -> None:
    assert service.client.get("/label-studio/health").json() == {"status": "UP", "model_class": "Spanwright"}
    assert service.client.get("/label-studio/versions").json() == {"versions": ["tiny"]}


def test_setup_answers_the_version_and_nobody_keeps_the_token(
    service: Served, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    body = {"project": "3.17", "schema": CONFIG, "hostname": "http://studio", "access_token": TOKEN}
    answer = service.client.post("/label-studio/setup", json=body | {"extra_params": None})
    assert (answer.status_code, answer.json()) == (200, {"model_version": "tiny"})
    assert TOKEN not in caplog.text
    assert TOKEN not in service.client.get("/metrics").text


def test_regions_are_exact_and_named_as_the_project_names_them(service: Served, tagger: Tagger) -> None:
    (result,) = predict(service, TEXT).json()["results"]
    expected = tagger.tag(TEXT)
    assert isinstance(expected, Document)
    assert len(expected.entities) > 2
    names = {"Gene": "gene", "Cell": "CELL"}
    found = [
        (each["value"]["start"], each["value"]["end"], each["value"]["labels"], each["value"]["text"])
        for each in result["result"]
    ]
    assert found == [
        (each.start, each.end, [names[each.type]], TEXT[each.start : each.end]) for each in expected.entities
    ]
    assert {(each["from_name"], each["to_name"], each["type"]) for each in result["result"]} == {
        ("entities", "abstract", "labels")
    }
    assert [each["score"] for each in result["result"]] == [each.confidence for each in expected.entities]
    assert len({each["id"] for each in result["result"]}) == len(found)
    assert 0 < result["score"] <= 1
    assert result["model_version"] == "tiny"


def test_what_label_studio_gets_is_what_it_reads_as_predictions(
    service: Served, tagger: Tagger, tmp_path: Path
) -> None:
    (prediction,) = predict(service, TEXT).json()["results"]
    task = {"data": {"text": TEXT}, "predictions": [prediction]}
    (tmp_path / "tasks.json").write_text(json.dumps([task]))
    (document,) = read(tmp_path / "tasks.json", strict=True).documents
    assert [entity.key[0] for entity in document.entities] == [
        entity.key[0] for entity in tagger.tag(TEXT).entities
    ]


def test_a_thousand_tasks_at_once_are_answered_in_their_order(service: Served, tagger: Tagger) -> None:
    texts = [f"abase cell number {number} " + "of the xvase " * (number % 40) for number in range(1000)]
    answer = predict(service, *texts)
    assert answer.status_code == 200
    results = answer.json()["results"]
    assert len(results) == 1000
    for number in (0, 1, 499, 999):
        expected = tagger.tag(texts[number])
        assert len(results[number]["result"]) == len(expected.entities)


def test_bodies_of_tools_may_be_larger_than_others(service: Served) -> None:
    body = predict_body("abase cell") | {"padding": "x" * 2**21}
    assert service.client.post("/label-studio/predict", json=body).status_code == 200
    assert service.client.post("/tag", json={"text": "a", "padding": "x" * 2**21}).status_code == 413


@pytest.mark.parametrize("task", [{}, {"data": {}}, {"data": {"body": ""}}, {"data": {"body": None}}])
def test_an_empty_task_has_an_empty_prediction(service: Served, task: dict[str, Any]) -> None:
    answer = service.client.post("/label-studio/predict", json=predict_body() | {"tasks": [task]})
    assert answer.json()["results"] == [{"result": [], "score": 0.0, "model_version": "tiny"}]


@pytest.mark.parametrize(
    ("change", "field", "reason"),
    [
        (
            {"label_config": CONFIG.replace("gene", "Ort").replace("CELL", "Zeit")},
            "label_config",
            "none of the labels",
        ),
        ({"label_config": IMAGES}, "label_config", "found Image, RectangleLabels"),
        ({"label_config": URLS}, "label_config", "fetches nothing"),
        ({"label_config": "<View>"}, "label_config", "not an XML text"),
        ({"label_config": DOCTYPE}, "label_config", "a DOCTYPE was found"),
        ({"label_config": CONFIG.replace("$body", "Title: $body")}, "label_config", "'$article.text' alone"),
        ({"label_config": CONFIG.replace("$body", "$body[0]")}, "label_config", "'$article.text' alone"),
        ({"label_config": None}, "label_config", "expected a string"),
        ({"tasks": "all"}, "tasks", "expected a list"),
        ({"tasks": [{"data": {"body": 5}}]}, "body", "expected a string"),
        ({"tasks": [{"data": {"body": ["a"]}}]}, "body", "expected a string"),
    ],
)
def test_what_cannot_be_answered_is_told_by_field(
    service: Served, change: dict[str, Any], field: str, reason: str
) -> None:
    answer = service.client.post("/label-studio/predict", json=predict_body("abase") | change)
    assert answer.status_code == 422
    (problem,) = answer.json()["detail"]
    assert reason in problem["msg"]
    assert field in problem["loc"]


def test_a_lone_surrogate_and_a_broken_body_are_told(service: Served) -> None:
    answers = [
        service.client.post("/label-studio/predict", content=content, headers=JSON)
        for content in (json.dumps(predict_body("\ud800")), "{", "[]", "null")
    ]
    assert [answer.status_code for answer in answers] == [422, 400, 422, 422]


@pytest.mark.parametrize(
    "config", [IMAGES, URLS, CONFIG.replace("gene", "Ort").replace("CELL", "Zeit"), "<", DOCTYPE]
)
def test_a_project_that_gets_no_suggestions_is_refused_when_it_is_connected(
    service: Served, config: str
) -> None:
    answer = service.client.post("/label-studio/setup", json={"project": "3.17", "schema": config})
    assert answer.status_code == 422
    assert [problem["loc"] for problem in answer.json()["detail"]] == [["body", "schema"]]


@pytest.mark.parametrize(
    "data", [{"article": {"text": TEXT}}, {"article.text": TEXT}, {"article.text": TEXT, "article": {}}]
)
def test_a_text_may_stand_inside_other_data_of_a_task(service: Served, data: dict[str, Any]) -> None:
    body = predict_body(config=CONFIG.replace("$body", "$article.text")) | {"tasks": [{"data": data}]}
    answer = service.client.post("/label-studio/predict", json=body)
    assert answer.json() == predict(service, TEXT).json()


@pytest.mark.parametrize("data", [{"article": TEXT}, {"article": None}, {"article": {}}, {"text": TEXT}])
def test_a_task_without_the_inner_text_has_an_empty_prediction(service: Served, data: dict[str, Any]) -> None:
    body = predict_body(config=CONFIG.replace("$body", "$article.text")) | {"tasks": [{"data": data}]}
    answer = service.client.post("/label-studio/predict", json=body)
    assert [each["result"] for each in answer.json()["results"]] == [[]]


def test_types_that_are_no_label_of_the_project_are_left_out(service: Served) -> None:
    config = CONFIG.replace('<Label value="CELL"/>', '<Label value="?"/>')
    values, fewer = (
        [each["value"] for each in predict(service, TEXT, config=each).json()["results"][0]["result"]]
        for each in (CONFIG, config)
    )
    assert any(value["labels"] == ["CELL"] for value in values)
    assert fewer == [value for value in values if value["labels"] != ["CELL"]]


def test_annotations_of_tasks_are_not_read_even_if_they_are_outside_of_the_text(service: Served) -> None:
    body = predict_body("abase cell")
    value = {"start": 900, "end": -5, "labels": ["nobody"]}
    body["tasks"][0]["annotations"] = [{"result": [{"type": "labels", "value": value}, 5]}]
    answer = service.client.post("/label-studio/predict", json=body)
    assert answer.status_code == 200
    assert answer.json() == predict(service, "abase cell").json()


@pytest.mark.parametrize("length", [0, 1, 999, 50_000])
def test_many_texts_are_tagged_in_runs_of_bounded_length(length: int) -> None:
    documents = [Document(str(number), "x" * length) for number in range(50_000 // (length + 1) + 3)]
    runs = list(_runs(documents))
    assert [each for run in runs for each in run] == documents
    assert all(len(run) == 1 or sum(len(each.text) + 1 for each in run) <= 20_000 for run in runs)
    assert len(runs) < 7


@pytest.mark.parametrize(
    "action", ["ANNOTATION_CREATED", "ANNOTATION_DELETED", "START_TRAINING", "PROJECT_DELETED"]
)
def test_a_webhook_is_answered_even_if_the_project_is_gone(service: Served, action: str) -> None:
    bodies: list[dict[str, Any]] = [{"project": {"id": 3, "title": "x"}}, {"project": None}, {}]
    for body in bodies:
        answer = service.client.post("/label-studio/webhook", json={"action": action} | body)
        assert (answer.status_code, answer.json()["status"]) == (201, "ok")
    assert service.client.post("/label-studio/webhook", json={}).status_code == 422


def test_names_for_types_may_be_given(tagger: Tagger) -> None:
    with served({"tiny": tagger}, tool_types={"Cell": "Protein"}) as found:
        (result,) = predict(found, TEXT).json()["results"]
        labels = {label for each in result["result"] for label in each["value"]["labels"]}
        assert "Protein" in labels
        assert "CELL" not in labels
        assert "Protein" in {
            each["label"] for each in found.client.post("/doccano", json={"text": TEXT}).json()
        }


def test_a_name_for_a_type_that_there_is_not_is_refused_with_every_type_once() -> None:
    with pytest.raises(InputError, match=r"no type 'Drug'.*expected: Gene, Cell$"):
        Naming(["Gene", "Cell", "Gene"], {"Drug": "DRUG"})


def test_a_text_with_more_words_than_a_request_may_have_is_refused(tagger: Tagger) -> None:
    with served({"tiny": tagger}, limits=ServiceLimits(request_words=5)) as found:
        assert found.client.post("/doccano", json={"text": "1 2 3 4 5"}).status_code == 200
        assert predict(found, "1 2 3 4 5", "1 2 3 4 5").status_code == 200, "each by itself"
        long = "1 2 3 4 5 6"
        for answer in (found.client.post("/doccano", json={"text": long}), predict(found, "1", long)):
            assert answer.status_code == 413
            assert "a text has 6 words, and at most 5 are allowed" in answer.json()["detail"]


def test_a_text_that_takes_too_long_by_itself_is_refused_for_good(tagger: Tagger) -> None:
    gated = GatedTagger(tagger)
    with served({"gated": gated}, timeout=0.3) as found:
        answer = found.client.post("/doccano", json={"text": "abase cell"})
        gated.gate.set()
        assert answer.status_code == 413
        assert "longer than the limit of 0.3 s" in answer.json()["detail"]


def test_the_password_of_basic_is_the_token(tagger: Tagger) -> None:
    with served({"tiny": tagger}, token="t0ken") as found:
        codes = []
        for secret in ("studio:t0ken", "studio:wrong", "t0ken", ":"):
            header = {"Authorization": f"Basic {base64.b64encode(secret.encode()).decode()}"}
            codes.append(found.client.get("/label-studio/health", headers=header).status_code)
        assert codes == [200, 401, 401, 401]
        broken = found.client.get("/label-studio/health", headers={"Authorization": "Basic !!!"})
        assert broken.status_code == 401


# doccano.


def test_doccano_gets_a_list_of_labels(service: Served, tagger: Tagger) -> None:
    answer = service.client.post("/doccano", json={"text": TEXT})
    assert answer.json() == [
        {"label": each.type, "start_offset": each.start, "end_offset": each.end}
        for each in tagger.tag(TEXT).entities
    ]
    assert service.client.post("/doccano", json={"text": ""}).json() == []
    assert service.client.post("/doccano", json={}).status_code == 422


# INCEpTION.

LAYER, TOP = "webanno.custom.Finding", "uima.cas.TOP"


def recommendation(text: str = TEXT, *, tokens: bool = False, **changes: Any) -> dict[str, Any]:
    """What INCEpTION sends to a recommender."""
    cassis = pytest.importorskip("cassis")
    from spanwright.formats.tools.cas_files import TOKEN as TOKEN_TYPE

    types = cassis.TypeSystem()
    layer = types.create_type(LAYER, supertypeName="uima.tcas.Annotation")
    token = types.create_type(TOKEN_TYPE, supertypeName="uima.tcas.Annotation")
    for name, kind in (
        ("value", "String"),
        ("value_score", "Double"),
        ("value_score_explanation", "String"),
        ("inception_internal_predicted", "Boolean"),
    ):
        types.create_feature(layer, name, f"uima.cas.{kind}")
    cas = cassis.Cas(typesystem=types)
    cas.sofa_string, cas.sofa_mime = text, "text/plain"
    if tokens:
        cas.add(token(begin=0, end=len(text)))
    place = {
        "layer": LAYER,
        "feature": "value",
        "projectId": 1,
        "anchoringMode": "tokens",
        "crossSentence": False,
    }
    document = {"xmi": cas.to_xmi(), "documentId": 2, "userId": "admin"}
    return {"metadata": place, "document": document, "typeSystem": types.to_xml()} | changes


def predictions(answer: Any, body: dict[str, Any]) -> list[Any]:
    from spanwright.formats.tools.cas_files import load_cas, parse_types

    cas = load_cas(answer.json()["document"].encode(), parse_types(body["typeSystem"].encode(), "types"))
    return list(cas.select(LAYER))


def test_inception_gets_predictions_in_its_layer_and_feature(service: Served, tagger: Tagger) -> None:
    body = recommendation()
    found = predictions(service.client.post("/inception/predict", json=body), body)
    expected = sorted(tagger.tag(TEXT).entities, key=lambda each: (each.start, each.end, each.type))
    assert sorted((each.begin, each.end, each.value) for each in found) == [
        (each.start, each.end, each.type) for each in expected
    ]
    assert all(each.inception_internal_predicted is True and 0 < each.value_score <= 1 for each in found)


def test_predictions_begin_and_end_with_tokens(service: Served) -> None:
    body = recommendation("abase cell", tokens=True)
    for each in predictions(service.client.post("/inception/predict", json=body), body):
        assert (each.begin, each.end) == (0, 10)


def test_tokens_outside_of_the_text_are_told(service: Served) -> None:
    body = recommendation("abase cell", tokens=True)
    body["document"]["xmi"] = body["document"]["xmi"].replace('end="10"', 'end="99"')
    answer = service.client.post("/inception/predict", json=body)
    assert answer.status_code == 422
    assert "word [0, 99)" in answer.json()["detail"][0]["msg"]


def test_training_is_answered_and_done(service: Served) -> None:
    body = {"metadata": {}, "documents": [], "typeSystem": ""}
    assert service.client.post("/inception/train", json=body).status_code == 204


@pytest.mark.parametrize(
    ("change", "place", "reason"),
    [
        ({"metadata": {"layer": "x.Y", "feature": "value"}}, ["metadata", "layer"], "no type 'x.Y'"),
        ({"metadata": {"layer": TOP, "feature": "value"}}, ["metadata", "layer"], "no begin and end"),
        ({"metadata": {"layer": LAYER, "feature": "begin"}}, ["metadata", "feature"], "'uima.cas.Integer'"),
        ({"metadata": {"layer": LAYER, "feature": "no"}}, ["metadata", "feature"], "no feature 'no'"),
        ({"metadata": {"layer": LAYER}}, ["metadata", "feature"], "it is missing"),
        ({"typeSystem": "<x"}, ["typeSystem"], "cannot be read by dkpro-cassis"),
        ({"document": {"xmi": "<x"}}, ["document", "xmi"], "cannot be read by dkpro-cassis"),
        (
            {"document": {"xmi": '<!DOCTYPE x [<!ENTITY a "b">]><x/>'}},
            ["document", "xmi"],
            "a DOCTYPE was found",
        ),
        (
            {"document": {"xmi": '<xmi:XMI xmlns:xmi="http://www.omg.org/XMI"/>'}},
            ["document", "xmi"],
            "no text",
        ),
        ({"document": {}}, ["document", "xmi"], "it is missing"),
        ({"typeSystem": "\ud800"}, ["typeSystem"], "surrogates not allowed"),
        ({"document": {"xmi": "\ud800"}}, ["document", "xmi"], "surrogates not allowed"),
    ],
)
def test_what_inception_asks_wrongly_is_told_by_field(
    service: Served, change: dict[str, Any], place: list[str], reason: str
) -> None:
    body = json.dumps(recommendation() | change)  # in ASCII, as surrogates have no bytes
    answer = service.client.post("/inception/predict", content=body, headers=JSON)
    assert answer.status_code == 422
    (problem,) = answer.json()["detail"]
    assert problem["loc"] == ["body", *place]
    assert reason in problem["msg"]
