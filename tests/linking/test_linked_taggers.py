"""Whoever tags can link: the tagger itself, the service and spaCy."""

from __future__ import annotations

from pathlib import Path

import pytest

import tiny
from service.serving import served
from spanwright import artifact
from spanwright.lexicons import Lexicon, Term
from spanwright.linking.building import build_linker
from spanwright.linking.linker import Linker
from spanwright.linking.saved import save_linker
from spanwright.predicting.tagger import Tagger
from spanwright.text import Document

TEXT = "The p53-mutant xvase cell of lot cells was an oxidase."


@pytest.fixture(scope="module")
def tagger() -> Tagger:
    return Tagger(tiny.model())


@pytest.fixture(scope="module")
def lexicon(tagger: Tagger) -> Lexicon:
    """A term for each mention that the tagger finds in the text."""
    document = tagger.tag(TEXT)
    mentions = dict.fromkeys(document.mention(entity) for entity in document.entities)
    assert len(mentions) > 1
    return Lexicon(Term(mention, None, f"X{number}") for number, mention in enumerate(mentions))


@pytest.fixture(scope="module")
def linker(lexicon: Lexicon) -> Linker:
    return build_linker(lexicon)


def test_a_linked_tagger_finds_the_same_with_concepts(
    tagger: Tagger, lexicon: Lexicon, linker: Linker
) -> None:
    plain, linked = tagger.tag(TEXT), tagger.linked(lexicon).tag(TEXT)
    assert [entity.key for entity in linked.entities] == [entity.key for entity in plain.entities]
    assert all(entity.concepts for entity in linked.entities)
    assert not any(entity.concepts for entity in tagger.tag(TEXT).entities)
    assert list(tagger.linked(linker).tag([TEXT])) == [linked]


def test_linking_survives_other_types_and_corpora(tagger: Tagger, linker: Linker) -> None:
    assert all(entity.concepts for entity in tagger.linked(linker).answering().tag(TEXT).entities)


def test_the_service_links_where_it_is_asked_to(tagger: Tagger, linker: Linker) -> None:
    pytest.importorskip("fastapi")
    with served({"plain": tagger}, linker=linker) as service:
        plain = service.tag(text=TEXT).json()["documents"][0]["entities"]
        linked = service.tag(text=TEXT, link=True).json()["documents"][0]["entities"]
        lines = service.tag(text=TEXT, link=True, format="pubtator").text
        assert service.client.get("/model").json()["models"][0]["links"] is True
    assert not any("link" in entity for entity in plain)
    assert all(entity["link"]["concepts"] and entity["link"]["candidates"] for entity in linked)
    assert "X0" in lines


def test_a_service_without_a_linker_refuses_to_link(tagger: Tagger) -> None:
    pytest.importorskip("fastapi")
    with served({"plain": tagger}) as service:
        answer = service.tag(text=TEXT, link=True)
    assert answer.status_code == 422
    assert answer.json()["detail"][0]["loc"] == ["body", "link"]


def test_spacy_has_concepts_as_ids(tmp_path: Path, tagger: Tagger, linker: Linker) -> None:
    spacy = pytest.importorskip("spacy")
    artifact.save(tagger.model, tmp_path / "model")
    save_linker(linker, tmp_path / "linker")
    nlp = spacy.blank("en")
    import spanwright.integrations.spacy  # noqa: F401 - makes the factory known

    nlp.add_pipe("spanwright", config={"model": str(tmp_path / "model"), "linker": str(tmp_path / "linker")})
    doc = nlp(TEXT)
    assert doc.ents and all(span.kb_id_ for span in doc.ents)
    expected = tagger.linked(linker).tag(Document("doc", TEXT))
    found = {(entity.key, entity.concepts) for entity in doc._.spanwright}
    assert found == {(entity.key, entity.concepts) for entity in expected.entities}
