"""The spaCy component: what the tagger finds, all of it, in whatever tokens the pipeline has."""

from __future__ import annotations

import copy
import gc
import os
import pickle
import random
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

import making
import naughty
import tiny
from spanwright import artifact
from spanwright.errors import InputError, ModelError
from spanwright.evaluation import Calibration
from spanwright.lexicons import Lexicon, Term
from spanwright.linking.building import build_linker
from spanwright.linking.saved import save_linker
from spanwright.predicting.onnx.export import export
from spanwright.predicting.tagger import Tagger, load
from spanwright.text import Entity

spacy = pytest.importorskip("spacy", reason="spaCy is not installed")

from spacy.tokens import Doc, DocBin, Span  # noqa: E402

from spanwright.integrations.doc_entities import add_ents, add_group  # noqa: E402
from spanwright.integrations.spacy import SpanwrightComponent  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent.parent
TEXT = "The p53-mutant xvase cell (TNFα) of lot cells wasn't an oxidase."
KEY = "spanwright"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("made") / "model"
    artifact.save(tiny.model(), made)
    return made


@pytest.fixture(scope="module")
def tagger(folder: Path) -> Tagger:
    return load(folder)


@pytest.fixture(scope="module")
def nlp(folder: Path) -> Any:
    return pipeline(folder)


def pipeline(folder: Path, **config: object) -> Any:
    made = spacy.blank("en")
    made.add_pipe(KEY, config={"model": str(folder), **config})
    return made


def in_order(entities: Iterable[Entity]) -> tuple[Entity, ...]:
    return tuple(sorted(entities, key=lambda entity: (entity.start, -entity.end, entity.type)))


def texts(count: int) -> list[str]:
    """Made-up sentences, texts of random characters, and mixtures of both."""
    generator = random.Random(0)
    letters = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    sentences = [document.text for document in making.documents(count)]
    strange = ["".join(generator.choices(letters, k=generator.randint(0, 20))) for _ in range(count)]
    mixed = [
        "".join(generator.sample((*naughty.NAUGHTY, *sentences[:9], " ", "\n", "-"), 5)) for _ in strange
    ]
    return [generator.choice(kinds) for kinds in zip(sentences, strange, mixed, strict=True)]


def test_a_thousand_documents_have_the_entities_that_the_tagger_finds(nlp: Any, tagger: Tagger) -> None:
    given = texts(1000)
    expected = [in_order(document.entities) for document in tagger.tag(given)]
    docs = list(nlp.pipe(given))
    assert [doc.text for doc in docs] == given
    assert [doc._.spanwright for doc in docs] == expected
    assert sum(map(len, expected)) > 1000


def test_one_text_has_the_entities_that_the_tagger_finds(nlp: Any, tagger: Tagger) -> None:
    for text in ("", " ", TEXT, *texts(20)):
        assert nlp(text)._.spanwright == in_order(tagger.tag(text).entities)


def covering(doc: Any, start: int, end: int) -> tuple[int, int]:
    """First token and the one after the last of those that share a character with a range."""
    shared = [token.i for token in doc if token.idx < end and start < token.idx + len(token)]
    return min(shared), max(shared) + 1


@given(text=naughty.texts())
def test_a_span_has_the_tokens_that_share_a_character_with_its_entity(nlp: Any, text: str) -> None:
    doc = nlp(text)
    for span, entity in zip(doc.spans[KEY], doc._.spanwright, strict=True):
        assert (span.start, span.end) == covering(doc, entity.start, entity.end)
        assert span.label_ == entity.type


def test_an_entity_inside_a_token_keeps_its_characters_and_its_confidence(folder: Path) -> None:
    doc = Doc(spacy.blank("en").vocab, words=["a", "p53-mutant", "cell"])
    add_group(doc, KEY, [Entity(2, 5, "Gene", confidence=0.5), Entity(6, 12, "Gene", confidence=0.75)])
    assert [span.text for span in doc.spans[KEY]] == ["p53-mutant", "p53-mutant"]
    assert doc.spans[KEY].attrs == {"exact_offsets": [[2, 5], [6, 12]], "scores": [0.5, 0.75]}
    assert doc._.spanwright == (Entity(2, 5, "Gene", confidence=0.5), Entity(6, 12, "Gene", confidence=0.75))


def test_a_span_knows_its_entity_and_the_most_confident_of_several(folder: Path) -> None:
    doc = Doc(spacy.blank("en").vocab, words=["a", "p53-mutant", "cell"])
    better, other = Entity(6, 12, "Gene", confidence=0.75), Entity(2, 12, "Cell", confidence=1.0)
    add_group(doc, KEY, [Entity(2, 5, "Gene", confidence=0.5), better, other])
    assert Span(doc, 1, 2, "Gene")._.spanwright == better
    assert Span(doc, 1, 2, "Cell")._.spanwright == other
    assert Span(doc, 1, 2, "Drug")._.spanwright is None
    assert Span(doc, 1, 3, "Gene")._.spanwright is None


def test_every_entity_in_ents_knows_its_confidence(nlp: Any) -> None:
    doc = nlp(TEXT)
    assert doc.ents
    assert all(ent._.spanwright in doc._.spanwright for ent in doc.ents)


def greedy(doc: Any, entities: Sequence[Entity]) -> set[tuple[int, int, str]]:
    """The most confident first, the longer of equals; by comparing all pairs."""
    spans = [(*covering(doc, entity.start, entity.end), entity) for entity in entities]
    kept: list[tuple[int, int, Entity]] = []
    for start, end, entity in sorted(
        spans, key=lambda row: (-(row[2].confidence or 0), row[0] - row[1], row[0])
    ):
        if all(end <= other[0] or other[1] <= start for other in kept):
            kept.append((start, end, entity))
    return {(start, end, entity.type) for start, end, entity in kept}


def test_ents_are_the_most_confident_spans_without_overlap(nlp: Any) -> None:
    for doc in nlp.pipe(texts(100)):
        found = {(ent.start, ent.end, ent.label_) for ent in doc.ents}
        assert found == greedy(doc, doc._.spanwright)


def test_ents_that_are_there_already_stay(nlp: Any) -> None:
    plain = nlp(TEXT)
    doc = nlp.make_doc(TEXT)
    taken = plain.ents[0]
    doc.ents = [Span(doc, taken.start, taken.end, "MINE")]
    doc = nlp(doc)
    assert "MINE" in {ent.label_ for ent in doc.ents}
    assert doc._.spanwright == plain._.spanwright
    assert len(doc.ents) > 1


def test_an_entity_without_a_type_is_no_ent_but_a_span(nlp: Any) -> None:
    doc = Doc(nlp.vocab, words=["a", "cell"])
    add_group(doc, KEY, [Entity(2, 6, "", confidence=1.0)])
    add_ents(doc, KEY)
    assert doc.ents == ()
    assert doc._.spanwright == (Entity(2, 6, "", confidence=1.0),)


def test_ents_can_be_left_alone(folder: Path) -> None:
    doc = pipeline(folder, set_ents=False)(TEXT)
    assert doc.ents == ()
    assert doc.spans[KEY]


def test_two_components_have_a_group_each(folder: Path, tmp_path: Path) -> None:
    artifact.save(tiny.model(("Drug",), seed=1), tmp_path / "other")
    nlp = pipeline(folder)
    nlp.add_pipe(KEY, name="drugs", config={"model": str(tmp_path / "other"), "key": "drugs"})
    doc = nlp(TEXT)
    assert {span.label_ for span in doc.spans["drugs"]} == {"Drug"}
    assert len(doc._.spanwright) == len(doc.spans[KEY]) + len(doc.spans["drugs"])


def test_a_minimum_confidence_is_that_of_the_tagger(folder: Path, tagger: Tagger) -> None:
    doc = pipeline(folder, minimum_confidence=0.8)(TEXT)
    assert doc._.spanwright == in_order(tagger.tag(TEXT, minimum_confidence=0.8).entities)
    assert 0 < len(doc._.spanwright) < len(tagger.tag(TEXT).entities)


def test_a_minimum_confidence_that_is_none_is_refused(folder: Path) -> None:
    with pytest.raises(InputError, match="minimum confidence: found 2"):
        pipeline(folder, minimum_confidence=2.0)(TEXT)


def test_tuned_thresholds_are_those_of_the_tagger(tmp_path: Path) -> None:
    model = tiny.model()
    tuned = artifact.TrainedModel(
        model.network,
        model.pieces,
        model.labels,
        model.settings,
        calibration=Calibration(),
        thresholds={"Cell": 0.9, "Gene": 0.1},
    )
    artifact.save(tuned, tmp_path / "tuned")
    doc = pipeline(tmp_path / "tuned", tuned_thresholds=True)(TEXT)
    assert doc._.spanwright == in_order(Tagger(tuned).tag(TEXT, tuned_thresholds=True).entities)
    assert len(doc._.spanwright) < len(Tagger(tuned).tag(TEXT).entities)


def test_a_stream_is_read_no_further_than_a_batch(nlp: Any) -> None:
    read: list[int] = []

    def stream() -> Iterator[Any]:
        for number in range(100):
            read.append(number)
            yield nlp.make_doc(f"text {number}")

    tagged = nlp.get_pipe(KEY).pipe(stream(), batch_size=3)
    assert next(tagged).text == "text 0"
    assert len(read) == 3
    assert [doc.text for doc in tagged] == [f"text {number}" for number in range(1, 100)]


def test_long_texts_are_not_held_until_a_batch_is_full(nlp: Any) -> None:
    read: list[int] = []

    def stream() -> Iterator[Any]:
        for number in range(100):
            read.append(number)
            yield nlp.make_doc(" " * 50_000 + f"text {number}")

    next(nlp.get_pipe(KEY).pipe(stream(), batch_size=100))
    assert len(read) < 10


def test_the_model_is_loaded_once_and_only_when_a_text_comes(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded: list[object] = []

    def counting(place: Path, **options: Any) -> Tagger:
        loaded.append(place)
        return load(place, **options)

    monkeypatch.setattr("spanwright.predicting.tagger.load", counting)
    nlp = pipeline(folder)
    assert loaded == []
    list(nlp.pipe([TEXT, TEXT]))
    nlp(TEXT)
    assert loaded == [folder]


def test_a_model_that_is_not_there_is_refused_with_its_folder(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="absent: no such model directory"):
        pipeline(tmp_path / "absent")(TEXT)


def test_a_saved_pipeline_works_without_the_first_model(tmp_path: Path) -> None:
    first = tmp_path / "model"
    artifact.save(tiny.model(), first)
    (first / "notes.txt").write_text("private")
    nlp = pipeline(first, key="mine")
    expected = nlp(TEXT)._.spanwright
    nlp.to_disk(tmp_path / "saved")
    first.rename(tmp_path / "gone")
    doc = spacy.load(tmp_path / "saved")(TEXT)
    assert doc._.spanwright == expected
    assert "mine" in doc.spans
    copied = {file.name for file in (tmp_path / "saved" / KEY).iterdir()}
    assert copied == {*artifact.FILES, "README.md"}


def test_a_pipeline_can_be_saved_where_it_came_from(folder: Path, tmp_path: Path) -> None:
    pipeline(folder).to_disk(tmp_path / "saved")
    nlp = spacy.load(tmp_path / "saved")
    nlp.to_disk(tmp_path / "saved")
    assert nlp(TEXT)._.spanwright == spacy.load(tmp_path / "saved")(TEXT)._.spanwright


def test_saving_replaces_an_older_model(folder: Path, tmp_path: Path) -> None:
    artifact.save(tiny.model(("Drug",)), tmp_path / "saved")
    SpanwrightComponent(folder).to_disk(tmp_path / "saved")
    assert load(tmp_path / "saved").model.labels.types == ("Cell", "Gene")


def test_saving_never_replaces_files_that_are_no_model(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(InputError, match="holds other files; expected a new or empty folder"):
        SpanwrightComponent(folder).to_disk(tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_saved_pipeline_without_its_model_is_refused(folder: Path, tmp_path: Path) -> None:
    pipeline(folder).to_disk(tmp_path / "saved")
    (tmp_path / "saved" / KEY / "labels.json").unlink()
    with pytest.raises(ModelError, match=r"labels\.json is missing"):
        spacy.load(tmp_path / "saved")


def test_a_pipeline_in_bytes_brings_its_model_and_leaves_no_file(folder: Path, tmp_path: Path) -> None:
    packed = pipeline(folder).to_bytes()
    component = SpanwrightComponent(tmp_path / "absent")
    nlp = spacy.blank("en")
    nlp.add_pipe(KEY, config={"model": str(tmp_path / "absent")})
    nlp.from_bytes(packed)
    assert nlp(TEXT)._.spanwright == pipeline(folder)(TEXT)._.spanwright
    component.from_bytes(SpanwrightComponent(folder).to_bytes())
    unpacked = component._folder
    assert unpacked.is_dir()
    del component
    gc.collect()
    assert not unpacked.exists()


WITHOUT_TORCH = """
import sys
sys.modules.update(dict.fromkeys(("torch", "transformers", "onnx")))
import spacy
_, model, saved = sys.argv
nlp = spacy.blank("en")
nlp.add_pipe("spanwright", config={"model": model})
nlp.to_disk(saved)
other = spacy.blank("en")
other.add_pipe("spanwright", config={"model": "absent"})
for pipeline in (nlp, spacy.load(saved), other.from_bytes(nlp.to_bytes())):
    doc = pipeline("TEXT")
    print(*((span.start_char, span.end_char, span.label_) for span in doc.spans["spanwright"]))
"""


def test_an_export_is_saved_and_loaded_where_there_is_no_torch(folder: Path, tmp_path: Path) -> None:
    export(folder, tmp_path / "export")
    command = [sys.executable, "-c", WITHOUT_TORCH.replace("TEXT", TEXT)]
    command += [str(tmp_path / "export"), str(tmp_path / "saved")]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    first, *others = done.stdout.splitlines()
    assert first and others == [first, first]


def test_bytes_without_a_model_are_refused(nlp: Any, tmp_path: Path) -> None:
    packed = spacy.util.to_bytes({"../../evil": lambda: b"x", "labels.json": lambda: b"{}"}, ())
    with pytest.raises(ModelError, match=r"spanwright\.json is missing"):
        SpanwrightComponent(tmp_path / "absent").from_bytes(packed)


def test_another_process_gets_the_settings_and_loads_the_model_itself(folder: Path) -> None:
    component = SpanwrightComponent(folder, key="mine", minimum_confidence=0.5)
    component.tagger  # noqa: B018
    pickled = pickle.dumps(component)
    assert len(pickled) < 1000
    nlp = spacy.blank("en")
    copy = pickle.loads(pickled)
    assert copy(nlp(TEXT)).spans["mine"].attrs == component(nlp(TEXT)).spans["mine"].attrs


def test_entities_survive_bytes_and_files_of_docs(nlp: Any) -> None:
    doc = nlp(TEXT)
    assert Doc(nlp.vocab).from_bytes(doc.to_bytes())._.spanwright == doc._.spanwright
    (stored,) = DocBin().from_bytes(DocBin(docs=[doc]).to_bytes()).get_docs(nlp.vocab)
    assert stored._.spanwright == doc._.spanwright


def test_a_group_that_was_added_to_is_refused(nlp: Any) -> None:
    doc = nlp(TEXT)
    doc.spans[KEY].append(Span(doc, 0, 1, "MINE"))
    with pytest.raises(
        InputError, match=r"doc\.spans\['spanwright'\]: found \d+ spans and \d+ exact offsets"
    ):
        _ = doc._.spanwright


def test_other_groups_are_none_of_ours(nlp: Any) -> None:
    doc = nlp(TEXT)
    before = doc._.spanwright
    doc.spans["mine"] = [Span(doc, 0, 1, "MINE")]
    assert doc._.spanwright == before


USE = """
import sys, spacy
nlp = spacy.blank("en")
assert "spanwright.predicting.tagger" not in sys.modules
nlp.add_pipe("spanwright", config={"model": sys.argv[1]})
print(nlp(sys.argv[2])._.spanwright)
"""


def test_an_installed_package_needs_no_import(folder: Path, tagger: Tagger, tmp_path: Path) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    # What installing leaves, so that the test does not depend on how and when that was done.
    installed = tmp_path / "spanwright-0.1.0.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: spanwright\nVersion: 0.1.0\n")
    factory = project["entry-points"]["spacy_factories"]["spanwright"]
    (installed / "entry_points.txt").write_text(f"[spacy_factories]\nspanwright = {factory}\n")
    done = subprocess.run(
        [sys.executable, "-c", USE, str(folder), TEXT],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join((str(tmp_path), str(ROOT / "src")))},
    )
    assert done.stdout == f"{in_order(tagger.tag(TEXT).entities)}\n", done.stderr


def test_a_linker_is_saved_beside_the_model(folder: Path, tmp_path: Path) -> None:
    linker = tmp_path / "linker"
    text = "BRCA1 in a cell."
    save_linker(build_linker(Lexicon([Term("x", None, "X1")])), linker)
    nlp = spacy.blank("en")
    nlp.add_pipe(KEY, config={"model": str(folder), "linker": str(linker)})
    expected = nlp(text)._.spanwright
    nlp.to_disk(tmp_path / "saved")
    packed = nlp.to_bytes()
    linker.rename(tmp_path / "gone")
    other = spacy.blank("en")
    other.add_pipe(KEY, config={"model": "absent", "linker": "absent"})
    for made in (spacy.load(tmp_path / "saved"), other.from_bytes(packed)):
        assert made(text)._.spanwright == expected
        assert made.get_pipe(KEY)._linker_folder.name == "linker"


def test_a_copy_keeps_the_files_that_came_in_bytes(folder: Path, tmp_path: Path) -> None:
    component = SpanwrightComponent(tmp_path / "absent")
    component.from_bytes(SpanwrightComponent(folder).to_bytes())
    other = copy.deepcopy(component)
    del component
    gc.collect()
    assert other.tagger.types


def test_a_forked_process_loads_the_model_again(folder: Path) -> None:
    component = SpanwrightComponent(folder)
    first = component.tagger
    assert component.tagger is first
    component._process = -1  # as the child of a fork sees it
    assert component.tagger is not first
