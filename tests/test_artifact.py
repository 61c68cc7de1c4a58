from __future__ import annotations

import errno
import json
import math
import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
import safetensors.torch
import torch
from tokenizers import Tokenizer
from torch import nn

import tiny
from spanwright import artifact
from spanwright.batches.pieces import PieceEncoder
from spanwright.batches.writer import Vocabulary
from spanwright.errors import DivergenceError, InputError, ModelError, SpanwrightError
from spanwright.formats.io.whole_folders import restore_folder
from spanwright.labels import LabelSpace
from spanwright.parts.build import build
from spanwright.parts.encoder.backbone import from_config, load_pretrained
from spanwright.predicting.tagger import Tagger

FIXTURES = Path(__file__).resolve().parent / "fixtures"


@pytest.fixture(scope="module")
def model() -> artifact.TrainedModel:
    return tiny.model()


@pytest.fixture
def folder(model: artifact.TrainedModel, tmp_path: Path) -> Path:
    artifact.save(model, tmp_path / "model")
    return tmp_path / "model"


def test_a_model_directory_holds_what_it_promises_and_nothing_else(folder: Path) -> None:
    assert {file.name for file in folder.iterdir()} == {*artifact.FILES, "README.md"}
    assert [path.name for path in folder.parent.iterdir()] == ["model"]


def test_a_model_with_the_default_encoder_answers_the_same_when_it_is_loaded(tmp_path: Path) -> None:
    """A tiny encoder has few pieces: limits of files that it keeps may be too tight for a real one."""
    backbone, pieces = load_pretrained("minilm")
    labels, settings = LabelSpace(("Cell", "Gene")), tiny.settings()
    network = build(settings, backbone, labels=labels, pieces=pieces)
    saved = artifact.TrainedModel(tiny.eager(network).eval(), pieces, labels, settings)
    artifact.save(saved, tmp_path / "model")
    text = "Mutations of BRCA1 cause breast cancer in cells."
    expected = Tagger(saved).tag(text)
    assert expected.entities
    assert Tagger(artifact.load(tmp_path / "model")).tag(text) == expected


def test_all_files_of_a_model_are_equally_readable(folder: Path) -> None:
    assert len({file.stat().st_mode for file in folder.iterdir()}) == 1


def test_labels_settings_and_facts_are_loaded_as_they_were_saved(tmp_path: Path) -> None:
    saved = tiny.model(("Zelle", "基因", "[x]"))
    saved = artifact.TrainedModel(saved.network, saved.pieces, saved.labels, saved.settings, {"note": "ä"})
    artifact.save(saved, tmp_path / "model")
    loaded = artifact.load(tmp_path / "model")
    assert loaded.labels == saved.labels
    assert loaded.settings == saved.settings
    assert loaded.facts == {"note": "ä"}


def test_a_model_that_meets_new_types_leaves_its_writer_and_the_words_of_it_behind(tmp_path: Path) -> None:
    writing = {"span_vae": {"latent": 4, "hidden": 8, "word_size": 4, "keep": True}}
    settings = tiny.settings(scorer={"kind": "bi-encoder"}, auxiliaries=writing)
    saved, words = tiny.model(scorer={"kind": "bi-encoder"}), Vocabulary(("one", "two"))
    network = build(
        settings, saved.network.encoder.backbone, labels=saved.labels, pieces=saved.pieces, vocabulary=6
    )
    kept = artifact.TrainedModel(network, saved.pieces, saved.labels, settings, vocabulary=words)
    artifact.save(kept, tmp_path / "kept")
    artifact.save(kept.with_types({"Drug": "names of drugs"}), tmp_path / "wider")
    assert artifact.load(tmp_path / "kept").vocabulary == words
    wider = artifact.load(tmp_path / "wider")
    assert wider.network.writer is None and wider.labels.types == ("Cell", "Gene", "Drug")
    assert not (tmp_path / "wider" / "vocabulary.json").exists()


def test_saving_replaces_an_older_model(model: artifact.TrainedModel, folder: Path) -> None:
    (folder / "stray.txt").write_text("left over")
    artifact.save(tiny.model(("Drug",)), folder)
    assert artifact.load(folder).labels.types == ("Drug",)
    assert not (folder / "stray.txt").exists()


def test_no_path_of_this_machine_is_in_the_encoder_configuration(folder: Path) -> None:
    config = json.loads((folder / "spanwright.json").read_text())["encoder_config"]
    assert config["model_type"] == "bert"
    assert not {"_name_or_path", "auto_map"} & config.keys()


def test_windows_are_never_longer_than_the_encoder_can_read() -> None:
    assert tiny.model(windows={"pieces": 4096}).plan.pieces == 128


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"absent: no such model directory"):
        artifact.load(tmp_path / "absent")


@pytest.mark.parametrize("name", artifact.FILES)
def test_a_model_that_lacks_a_file_is_refused_with_its_name(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(ModelError, match=rf"not a model directory: {name} is missing"):
        artifact.load(folder)


@pytest.mark.parametrize("name", artifact.FILES)
@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b"\xff\xfe", b"{}"])
def test_a_model_with_a_broken_file_is_refused_in_one_line(folder: Path, name: str, content: bytes) -> None:
    (folder / name).write_bytes(content)
    with pytest.raises(ModelError) as caught:
        artifact.load(folder)
    assert str(folder) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_weights_of_another_network_are_refused(folder: Path) -> None:
    (folder / "labels.json").write_text('{"types": ["A", "B", "C"]}')
    artifact.seal(folder)
    with pytest.raises(ModelError, match=r"'spans\.scorer\S+' have the shape 3 x 16; expected 4 x 16"):
        artifact.load(folder)


@pytest.mark.parametrize("name", artifact.FILES)
def test_a_flipped_bit_is_refused_with_the_name_of_the_file(folder: Path, name: str) -> None:
    content = bytearray((folder / name).read_bytes())
    # A letter of the last word of JSON files, such as a digest, and a bit of the last weight.
    place = max(number for number, byte in enumerate(content) if chr(byte).isalpha())
    content[place] ^= 1
    (folder / name).write_bytes(content)
    with pytest.raises(ModelError, match=rf"^{folder / name}: has changed since the model was saved"):
        artifact.load(folder)


def test_labels_in_another_order_are_refused(folder: Path) -> None:
    (folder / "labels.json").write_text('{"types": ["Gene", "Cell"]}')
    with pytest.raises(ModelError, match=r"labels\.json: has changed since .* Get the whole folder again"):
        artifact.load(folder)


def test_the_model_card_may_be_edited_and_other_files_may_lie_beside(folder: Path) -> None:
    (folder / "README.md").write_text("# Mine")
    (folder / "notes.txt").write_text("mine, too")
    assert artifact.load(folder).labels.types == ("Cell", "Gene")


def test_digests_are_written_last_and_cover_all_files_but_the_card(
    model: artifact.TrainedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[set[str]] = []
    write = artifact.write_description

    def watched(place: Path, description: dict[str, object]) -> None:
        seen.append({file.name for file in place.iterdir()})
        write(place, description)

    monkeypatch.setattr(artifact, "write_description", watched)
    artifact.save(model, tmp_path / "model")
    assert seen == [{*artifact.FILES, "README.md"} - {"spanwright.json"}]
    stored = json.loads((tmp_path / "model" / "spanwright.json").read_text())["digests"]
    assert stored.keys() == {*artifact.FILES}


@pytest.mark.parametrize("version", [1, 2])
def test_a_tokenizer_with_pieces_beyond_the_embeddings_is_refused_in_older_formats(
    tmp_path: Path, version: int
) -> None:
    folder = Path(shutil.copytree(FIXTURES / f"model-format-{version}", tmp_path / "model"))
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    vocabulary = tokenizer["model"]["vocab"]
    vocabulary[next(reversed(vocabulary))] = 142
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    with pytest.raises(ModelError, match=r"number 142, but embeddings for 142 pieces only: it is the tok"):
        artifact.load(folder)


def test_a_vocabulary_of_usual_size_and_a_type_for_every_word_of_it_are_no_reason_to_refuse(
    tmp_path: Path,
) -> None:
    tokenizer = tiny.tokenizer()
    tokenizer.add_tokens([f"word{number}" for number in range(5_000)])
    values = json.loads(tokenizer.to_str())
    values["model"]["vocab"] |= {f"piece{number}": number for number in range(5_142, 60_000)}
    pieces = PieceEncoder(Tokenizer.from_str(json.dumps(values)))
    labels, settings = LabelSpace(tuple(f"type {number}" for number in range(5_000))), tiny.settings()
    network = build(settings, tiny.backbone(60_000), labels=labels, pieces=pieces)
    artifact.save(artifact.TrainedModel(network, pieces, labels, settings), tmp_path / "model")
    assert artifact.load(tmp_path / "model").labels == labels


def test_layers_that_share_their_weights_are_limited(tmp_path: Path) -> None:
    config = tiny.backbone_config("albert")
    config.vocab_size = 142
    plain = tiny.model()
    network = build(plain.settings, from_config(config.to_dict()), labels=plain.labels, pieces=plain.pieces)
    artifact.save(replace(plain, network=network), tmp_path / "model")
    path = tmp_path / "model" / "spanwright.json"
    description = json.loads(path.read_text())
    description["encoder_config"]["num_hidden_layers"] = 10**6
    path.write_text(json.dumps(description))
    artifact.seal(tmp_path / "model")
    with pytest.raises(ModelError, match="'num_hidden_layers' is 1000000; expected at most 256"):
        artifact.load(tmp_path / "model")


def test_what_another_thread_builds_meanwhile_keeps_its_memory(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    devices: set[str] = set()

    def built(*arguments: object, **options: object) -> object:
        with ThreadPoolExecutor(1) as pool:
            devices.add(pool.submit(nn.Linear, 2, 2).result().weight.device.type)
        return build(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(artifact, "build", built)
    loaded = artifact.load(folder)
    assert devices == {"cpu"} == {weight.device.type for weight in loaded.network.parameters()}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"encoder_config": {"model_type": "abacus"}}, "encoder of kind 'abacus' is unknown"),
        ({"settings": {"name": "x"}}, "candidates.width_limit is still 'auto'"),
    ],
    ids=["encoder", "settings"],
)
def test_what_cannot_be_built_is_refused_with_the_folder(
    folder: Path, change: dict[str, object], reason: str
) -> None:
    description = json.loads((folder / "spanwright.json").read_text())
    (folder / "spanwright.json").write_text(json.dumps(description | change))
    artifact.seal(folder)
    with pytest.raises(ModelError) as caught:
        artifact.load(folder)
    assert str(caught.value).startswith(f"{folder}: not a model that can be loaded: {reason}")


@pytest.mark.parametrize("number", [math.nan, math.inf])
def test_weights_that_are_not_finite_are_not_saved_and_keep_the_old_model(
    model: artifact.TrainedModel, folder: Path, number: float
) -> None:
    diverged = tiny.model(("Drug",))
    diverged.network.spans.scorer.layers[0].bias.data[0] = number
    with pytest.raises(DivergenceError, match=r"not written, as its weights 'spans\.scorer\.\S+' are not f"):
        artifact.save(diverged, folder)
    assert artifact.load(folder).labels == model.labels
    assert [path.name for path in folder.parent.iterdir()] == ["model"]


@pytest.mark.parametrize("number", [math.nan, -math.inf])
def test_a_model_whose_weights_are_not_finite_is_refused_with_their_name(folder: Path, number: float) -> None:
    weights = safetensors.torch.load_file(folder / "model.safetensors")
    name = next(name for name in weights if name.endswith("word_embeddings.weight"))
    weights[name][3, 5] = number
    safetensors.torch.save_file(weights, folder / "model.safetensors")
    artifact.seal(folder)
    with pytest.raises(ModelError) as caught:
        artifact.load(folder)
    assert str(caught.value).startswith(
        f"{folder}: not a model that can be loaded: the weights {name!r} in model.safetensors are not finite"
    )


def test_a_full_disk_is_a_clear_error_and_keeps_the_old_model(
    model: artifact.TrainedModel, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(SpanwrightError, match=r"model: the model could not be written: .*No space left"):
        artifact.save(tiny.model(("Drug",)), folder)
    assert artifact.load(folder).labels == model.labels
    assert [path.name for path in folder.parent.iterdir()] == ["model"]


def test_an_old_folder_is_put_back_only_where_there_is_none(tmp_path: Path) -> None:
    for name in ("model", ".model.retired"):
        (tmp_path / name).mkdir()
    restore_folder(tmp_path / "model")
    assert (tmp_path / ".model.retired").exists()
    (tmp_path / "model").rmdir()
    restore_folder(tmp_path / "model")
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_weights_in_16_bits_take_half_the_room_and_are_used_in_32(
    model: artifact.TrainedModel, tmp_path: Path
) -> None:
    for bits in (16, 32):
        artifact.save(model, tmp_path / str(bits), bits=bits)
    small, large = (tmp_path / str(bits) / "model.safetensors" for bits in (16, 32))
    assert small.stat().st_size < 0.6 * large.stat().st_size
    loaded, before = artifact.load(tmp_path / "16").network.state_dict(), model.network.state_dict()
    for name, weight in before.items():
        assert loaded[name].dtype == weight.dtype
        assert (loaded[name] - weight).abs().max() <= weight.abs().max() / 1024
    # What is rounded once stays as it is.
    artifact.save(artifact.load(tmp_path / "16"), tmp_path / "again", bits=16)
    assert (tmp_path / "again" / "model.safetensors").read_bytes() == small.read_bytes()


def test_weights_that_16_bits_cannot_hold_are_refused(tmp_path: Path) -> None:
    large = tiny.model()
    with torch.no_grad():
        large.network.encoder.backbone.get_input_embeddings().weight[0, 0] = 70_000
    with pytest.raises(InputError, match="too large for 16 bits; expected at most 65504"):
        artifact.save(large, tmp_path / "model", bits=16)
    assert list(tmp_path.iterdir()) == []
