"""Parts, formats and lexicons of another package: as good as our own, and nothing else is ever imported."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import making
import spanwright
from cli.running import run
from service.serving import served
from spanwright.errors import SettingsError, SpanwrightError
from spanwright.formats.files import FORMATS
from spanwright.lexicons import read_lexicon
from spanwright.lexicons.files import FORMS
from spanwright.predicting.onnx.export import export
from spanwright.settings import check, load_settings
from spanwright.settings.part import PARTS
from spanwright.settings.scorers import SoftmaxSettings

PACKAGE = Path(__file__).parent / "fixtures" / "outside"
TRAIN, DEV = making.documents(40), making.documents(6, prefix="dev")
PARTS_OF_OTHERS = {
    "representation": {"kind": "gated", "size": 12},
    "transforms": [{"kind": "louder"}],
    "scorer": {"kind": "margin", "margin": 0.5},
    "auxiliaries.others": [{"kind": "entity-words"}],
}


def forget() -> None:
    """Let entry points be looked up once more."""
    for known in (FORMATS, FORMS, PARTS):
        vars(known).pop("_outside", None)


@pytest.fixture(scope="module")
def installed() -> Iterator[None]:
    """The package on the path, with its entry points beside it, as pip leaves it."""
    sys.path.insert(0, str(PACKAGE))
    forget()
    yield
    sys.path.remove(str(PACKAGE))
    forget()


@pytest.fixture(scope="module")
def trained(installed: None, tiny_encoder: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose files are of the package's format and whose model is made of its parts."""
    folder = tmp_path_factory.mktemp("outside")
    spanwright.write(TRAIN, folder / "train.marked")
    spanwright.write(DEV, folder / "dev.marked")
    settings = making.settings(tiny_encoder, "training.epochs=4")
    spanwright.train(
        load_settings(settings, PARTS_OF_OTHERS),
        train=folder / "train.marked",
        dev=folder / "dev.marked",
        out=folder / "run",
    )
    return folder


def test_a_format_is_recognised_written_and_read(trained: Path) -> None:
    assert spanwright.read(trained / "dev.marked").documents == DEV
    assert spanwright.read(trained / "dev.marked", format="marked").documents == DEV


def test_a_form_of_lexicons_is_recognised_and_read(installed: None, tmp_path: Path) -> None:
    path = tmp_path / "names.comma"
    path.write_text("aspirin,acetylsalicylic acid\n")
    assert [term.names for term in read_lexicon(path).terms()] == [("aspirin", "acetylsalicylic acid")]


def test_a_model_of_such_parts_learns_and_is_loaded_as_it_was(trained: Path) -> None:
    model = spanwright.load(trained / "run" / "model")
    chosen = model.model.settings
    assert (chosen.representation.kind, chosen.representation.size) == ("gated", 12)
    assert [transform.kind for transform in chosen.transforms] == ["louder"]
    assert (chosen.scorer.kind, chosen.scorer.margin) == ("margin", 0.5)
    names = {name for name, _ in model.model.network.named_parameters()}
    assert {"spans.representation.transforms.0.loudness", "spans.scorer.types.weight"} <= names
    # What learns beside the spans is left out of saved models, and its loss had its usual weight.
    assert chosen.auxiliaries.others == () and chosen.objective.weights["entity-words"] == 0.5
    assert not any(name.startswith("others") for name in names)


def test_the_command_line_tags_with_them_and_writes_their_format(trained: Path, tmp_path: Path) -> None:
    out = tmp_path / "tagged.marked"
    done = run("tag", trained / "run" / "model", trained / "dev.marked", "--out", out)
    assert done.code == 0, done.stderr
    tagger = spanwright.load(trained / "run" / "model")
    expected = [{entity.key for entity in document.entities} for document in tagger.tag(DEV)]
    found = [{entity.key for entity in document.entities} for document in spanwright.read(out)]
    assert found == expected and any(expected)


def test_they_are_exported_beside_an_encoder_in_onnx(trained: Path, tmp_path: Path) -> None:
    pytest.importorskip("onnxscript", reason="the extra export is not installed")
    export(trained / "run" / "model", tmp_path / "exported")
    ours, theirs = (
        spanwright.load(tmp_path / "exported", runtime=runtime).tag(DEV[0]) for runtime in ("torch", "onnx")
    )
    assert [entity.key for entity in ours.entities] == [entity.key for entity in theirs.entities] != []


def test_they_are_served(trained: Path) -> None:
    pytest.importorskip("uvicorn", reason="the extra serve is not installed")
    tagger = spanwright.load(trained / "run" / "model")
    with served({"gated": tagger}) as service:
        (answer,) = service.tag(text=DEV[0].text).json()["documents"]
    assert len(answer["entities"]) == len(tagger.tag(DEV[0].text).entities) > 0


def settings_with(**values: object) -> None:
    check({"name": "mine", **values}, "mine")


def test_wrong_settings_of_such_a_part_are_told_as_ours_are(installed: None) -> None:
    with pytest.raises(
        SettingsError, match=r"'sizes' is unknown .did you mean 'size'..; expected kind, size"
    ):
        settings_with(representation={"kind": "gated", "sizes": 3})
    with pytest.raises(SettingsError, match="the kind 'louder' is a LouderSettings; expected a ScorerSettin"):
        settings_with(scorer={"kind": "louder"})
    with pytest.raises(
        SettingsError, match="unknown kind 'gatet'; expected composed, span-transformer, or one of"
    ):
        settings_with(representation={"kind": "gatet"})
    with pytest.raises(SettingsError, match="unknown kind ''; expected one of an installed package: gated, "):
        settings_with(auxiliaries={"others": [{}]})


def test_such_a_kind_drops_what_our_own_had(installed: None) -> None:
    changed = load_settings("plain", ["scorer.kind=margin", "representation.kind=gated"])
    assert (changed.scorer.kind, changed.representation.kind) == ("margin", "gated")
    assert changed.representation.model_dump() == {"kind": "gated", "size": 256}
    assert load_settings(changed, ["scorer.kind=softmax"]).scorer == SoftmaxSettings()


def test_a_kind_is_told_to_be_missing() -> None:
    with pytest.raises(SettingsError, match="'kind' is missing; expected softmax, sigmoid, bi-encoder, none"):
        settings_with(scorer={"dropout": 0.1})


def test_without_the_package_its_models_are_refused(trained: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [place for place in sys.path if place != str(PACKAGE)])
    forget()
    with pytest.raises(SpanwrightError, match=r"unknown kind 'gated'; .* an installed package: none"):
        spanwright.load(trained / "run" / "model")
    monkeypatch.undo()
    forget()


@pytest.mark.parametrize("kind", ["spy_module:Spy", "spy_module.Spy", "spy_module"])
def test_no_settings_can_have_a_module_imported(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "spy_module.py").write_text("class Spy: pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    for place in ("representation", "scorer"):
        with pytest.raises(SettingsError, match="unknown kind 'spy_module"):
            settings_with(**{place: {"kind": kind}})
    assert "spy_module" not in sys.modules


def test_what_a_package_lists_in_vain_is_told_with_its_name(installed: None) -> None:
    with pytest.raises(SpanwrightError, match="'broken', which the package 'gated-spans' lists in "):
        settings_with(scorer={"kind": "broken"})
    with pytest.raises(SpanwrightError, match=r"'wrong', .* is of the type ModelMetaclass; expected Format"):
        FORMATS["wrong"]


def test_our_own_names_stay_ours(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    info = tmp_path / "bold-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: bold\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[spanwright.formats]\njsonl = bold:FORMAT\n")
    before = FORMATS["jsonl"]
    monkeypatch.syspath_prepend(tmp_path)
    forget()
    assert FORMATS["jsonl"] is before and list(FORMATS).count("jsonl") == 1
    monkeypatch.undo()
    forget()
