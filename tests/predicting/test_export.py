"""Exported models: ONNX graphs give the answers of torch, for every recipe, and are checked before they run.

An export takes seconds, so there are three: of a span Transformer, whose encoder serves all other recipes as
well, of a bi-encoder that meets new types, and of a model whose encoder reads vectors of corpora.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import onnx
import pytest
import torch
from onnx import helper
from typer.testing import CliRunner

import spanwright
from spanwright import artifact
from spanwright.artifact import TrainedModel
from spanwright.cli.main import app
from spanwright.errors import InputError, ModelError, SettingsError, SpanwrightError
from spanwright.formats.files import write
from spanwright.labels import LabelSpace
from spanwright.model_files.digests import Digests
from spanwright.model_files.folders import usual_runtime
from spanwright.parts.build import build
from spanwright.parts.encoder.backbone import load_pretrained
from spanwright.predicting.jobs.running import Job
from spanwright.predicting.jobs.shards import Reading
from spanwright.predicting.onnx.encoder_graph import GraphBackbone
from spanwright.predicting.onnx.export import export, graph_of, products_in_floats, small_batch
from spanwright.predicting.onnx.exported_parts import exportable, type_arrays
from spanwright.predicting.onnx.files import ENCODER, HEAD, Graph, Runtime, stored_weights_digest
from spanwright.predicting.onnx.loading import GraphModel
from spanwright.predicting.onnx.network import GraphNetwork
from spanwright.predicting.onnx.runtimes import (
    compare_runtimes,
    confidence_difference,
    random_batches,
    random_documents,
)
from spanwright.predicting.tagger import Tagger, load
from spanwright.predicting.tagging_options import TaggingOptions
from spanwright.settings import load_settings
from spanwright.text import Document

SMALL = ["windows.pieces=64", "windows.overlap=6", "candidates.width_limit=4", "decoding=nested"]
WITHOUT_WRITER = ("auxiliaries.span_vae=false", "objective={}")
ONE_CORPUS = LabelSpace(("Cell", "Gene"))
TWO_CORPORA = LabelSpace(
    ("Cell", "Gene", "Gene"), corpora=("A", "B"), corpus=(0, 0, 1), shared=("Cell", "Gene", "Gene")
)

Make = Callable[..., TrainedModel]


@pytest.fixture(scope="module")
def make(tiny_encoder: str) -> Make:
    """Makes an untrained model of a recipe; all of them have the same encoder."""

    def made(recipe: str, *changes: str, labels: LabelSpace = ONE_CORPUS) -> TrainedModel:
        settings = load_settings(recipe, [f"encoder.name={tiny_encoder}", *SMALL, *changes])
        backbone, pieces = load_pretrained(tiny_encoder)
        pieces = pieces.naming_corpus() if settings.names_corpus else pieces
        torch.manual_seed(1)
        network = build(settings, backbone, labels=labels, pieces=pieces)
        with torch.no_grad():
            for name, parameter in network.named_parameters():
                if name.startswith(("spans.scorer.layers", "tagger")):
                    parameter.normal_()
        return TrainedModel(network.eval(), pieces, labels, settings)

    return made


@dataclass(frozen=True)
class Exported:
    """A model that was exported, and what the command said."""

    model: TrainedModel
    folder: Path
    output: str = ""

    @property
    def weights(self) -> tuple[str]:
        """What graphs of this model say they were made from."""
        return (stored_weights_digest(artifact.digests_of(self.folder)),)

    @property
    def encoder(self) -> Graph:
        return Graph("encoder.onnx", artifact.digests_of(self.folder), weights=self.weights)


@pytest.fixture(scope="module")
def deep(make: Make, tmp_path_factory: pytest.TempPathFactory) -> Exported:
    """Exported by the command, with gold entities that torch finds."""
    folder, model = tmp_path_factory.mktemp("deep"), make("dspert")
    artifact.save(model, folder / "model")
    tagger = Tagger(model)
    write(tagger.tag(random_documents(tagger, 20, seed=1)), folder / "gold.jsonl")
    arguments = [folder / "model", "--out", folder / "exported", "--check", folder / "gold.jsonl"]
    done = CliRunner().invoke(app, ["export", *map(str, arguments)], env={"COLUMNS": "200"})
    assert done.exit_code == 0, done.output
    return Exported(model, folder / "exported", done.stdout)


@pytest.fixture(scope="module")
def several(make: Make, tmp_path_factory: pytest.TempPathFactory) -> Exported:
    """A model of two corpora, exported in its place."""
    folder = tmp_path_factory.mktemp("several") / "model"
    model = make("cvae", "scorer.hidden=[]", labels=TWO_CORPORA).for_use()
    artifact.save(model, folder)
    export(folder, folder)
    return Exported(model, folder)


@pytest.fixture(scope="module")
def meeting(make: Make, tmp_path_factory: pytest.TempPathFactory) -> Exported:
    """A bi-encoder with learnt thresholds, which reads descriptions of types."""
    folder = tmp_path_factory.mktemp("meeting") / "model"
    model = make("binder/learned-thresholds")
    artifact.save(model, folder)
    export(folder, folder)
    return Exported(model, folder)


def head_graph(model: TrainedModel, folder: Path) -> Graph:
    """The head of a model as a graph, in floats; its encoder is not exported."""
    batch = small_batch(model)
    (part,) = (part for part in exportable(model.network, batch) if part.name == HEAD)
    (folder / "head.onnx").write_bytes(graph_of(part, "these").SerializeToString())
    return Graph("head.onnx", Digests(folder, None), weights=("these",))


def by_graphs(model: TrainedModel, exported: Exported, folder: Path) -> GraphModel:
    """A model of graphs with the encoder of another, which is the same, so that it is exported once."""
    types = {name: tensor.numpy() for name, tensor in type_arrays(model.network).items()}
    network = GraphNetwork(exported.encoder, head_graph(model, folder), types)
    made_of = load(exported.folder, "onnx").model.made_of
    return GraphModel(network, model.pieces, model.labels, model.settings, made_of=made_of)


RECIPES = {
    "plain": ("plain",),
    "binder": ("binder",),
    "binder, shared encoder": ("binder", "scorer.share_encoder=true"),
    "bundling": ("bundling",),
    "bundling/tags": ("bundling/tags",),
    "tagger": ("tagger", "auxiliaries.tagger.kind=crf"),
    "bundling/max-words": ("bundling/max-words",),
    "joint-ib": ("joint-ib", *WITHOUT_WRITER),
    "binder/joint": ("binder/joint",),
    "binder/tuned-thresholds": ("binder/tuned-thresholds",),
    "dspert": ("dspert",),
    "dspert/pruned": ("dspert/pruned",),
    "dspert/shared-blocks": ("dspert/shared-blocks",),
    "dspert/shallow-additive": ("dspert/shallow-additive",),
}


def assert_same_answers(ours: Tagger, theirs: Tagger) -> None:
    """Entities are the same, and confidences nearly, over texts of all lengths."""
    texts = ["", "p53 in cells", *random_documents(ours, 12, seed=3)]
    mine, other = (list(tagger.tag(texts)) for tagger in (ours, theirs))
    assert list(map(answers, mine)) == list(map(answers, other))
    assert sum(len(document.entities) for document in mine) > 20
    assert confidence_difference(ours, theirs, list(random_batches(ours, 12))) < 1e-4


def answers(document: Document) -> list[tuple[int, int, str]]:
    return [(entity.start, entity.end, entity.type) for entity in document.entities]


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=RECIPES)
def test_graphs_in_floats_answer_as_torch_does(
    recipe: tuple[str, ...], make: Make, deep: Exported, tmp_path: Path
) -> None:
    model = make(*recipe)
    assert_same_answers(Tagger(model), Tagger(by_graphs(model, deep, tmp_path)))


def test_a_loaded_export_answers_as_torch_does(deep: Exported, several: Exported, meeting: Exported) -> None:
    for exported in (deep, several, meeting):
        assert_same_answers(load(exported.folder, "torch"), load(exported.folder))


def test_a_model_of_several_corpora_answers_as_each_of_them(several: Exported) -> None:
    taggers = [load(several.folder, "torch"), load(several.folder)]
    for corpus in ("A", "B"):
        assert_same_answers(*(tagger.answering(corpus=corpus) for tagger in taggers))


def test_a_bi_encoder_meets_new_types_with_any_runtime(meeting: Exported) -> None:
    new = {"Drug": "names of drugs", "Cell": "cells, described again"}
    ours, theirs = (load(meeting.folder, runtime).with_types(new) for runtime in ("torch", "onnx"))
    assert_same_answers(ours, theirs)
    found = ours.tag(random_documents(ours, 8, seed=4))
    assert any(entity.type == "Drug" for document in found for entity in document.entities)
    in_8_bits = load(meeting.folder, "onnx-int8").with_types(new)
    assert confidence_difference(ours, in_8_bits, list(random_batches(ours, 8))) < 0.3


def test_a_model_without_descriptions_meets_no_new_types(deep: Exported) -> None:
    with pytest.raises(SettingsError, match="only a bi-encoder that reads descriptions can"):
        load(deep.folder).with_types({"Drug": "names of drugs"})


WITHOUT_TORCH = """
import sys
sys.modules.update(dict.fromkeys(("torch", "transformers", "onnx")))
import spanwright
from spanwright.predicting.tagging_options import TaggingOptions, load_tagger
for document in load_tagger(TaggingOptions(model=sys.argv[1])).tag(["p53 in xase cells", ""]):
    print(*(f"{entity.start}-{entity.end}-{entity.type}" for entity in document.entities))
try:
    spanwright.load(sys.argv[1], "torch")
except spanwright.SpanwrightError as error:
    print(error)
"""


def test_an_export_is_tagged_with_where_there_is_no_torch(several: Exported) -> None:
    command = [sys.executable, "-c", WITHOUT_TORCH, str(several.folder)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    first, second, refused = done.stdout.splitlines()
    found = load(several.folder, "torch").tag("p53 in xase cells")
    assert first.split() == [f"{start}-{end}-{type_}" for start, end, type_ in answers(found)] != []
    assert second == "" and refused.endswith("Install it with: pip install 'spanwright[train]'")


def test_an_older_export_of_the_encoder_alone_is_run_with_torch(meeting: Exported, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(meeting.folder, tmp_path / "older"))
    for name in ("head.onnx", "types.onnx", "descriptions.onnx", "descriptions-int8.onnx"):
        (folder / name).unlink()
    artifact.seal(folder)
    assert usual_runtime(folder) == "torch"
    older = load(folder, "onnx")
    assert isinstance(older.model.network.encoder.backbone, GraphBackbone)
    assert_same_answers(load(folder), older)


def test_confidences_in_8_bits_are_near_those_of_torch(deep: Exported, several: Exported) -> None:
    for exported in (deep, several):
        tagger = load(exported.folder, "torch")
        batches = list(random_batches(tagger, 10))
        assert 1e-5 < confidence_difference(tagger, load(exported.folder, "onnx-int8"), batches) < 0.3


def test_in_8_bits_too_a_text_has_the_same_answer_alone_and_among_others(several: Exported) -> None:
    """Activations are scaled by the tensor, so windows that were run together would change each other."""
    tagger = load(several.folder, "onnx-int8")
    documents = random_documents(tagger, 12, seed=5)
    together = list(tagger.tag(iter(documents)))
    assert any(document.entities for document in together)
    assert [tagger.tag(document) for document in documents] == together


def test_all_products_with_weights_are_in_8_bits(deep: Exported) -> None:
    for name in (ENCODER, HEAD):
        model = onnx.load_model(deep.folder / f"{name}-int8.onnx")
        floats = products_in_floats(onnx.load_model(deep.folder / f"{name}.onnx"))
        assert [node.op_type for node in model.graph.node].count("MatMulInteger") >= len(floats) >= 12
        assert products_in_floats(model) == []


def test_a_graph_that_onnxruntime_leaves_as_it_is_is_an_error(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copied = "onnxruntime.quantization.quantize_dynamic"
    monkeypatch.setattr(copied, lambda exact, out, **_: shutil.copy(exact, out))
    artifact.save(make("plain"), tmp_path / "model")
    with pytest.raises(SpanwrightError, match=r"encoder-int8\.onnx: onnxruntime left 12 products"):
        export(tmp_path / "model", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_the_command_compares_all_runtimes(deep: Exported) -> None:
    cells = [[cell.strip() for cell in row.split("│")[1:-1]] for row in deep.output.splitlines()]
    rows = {row[0]: [float(cell.replace(",", "")) for cell in row[1:]] for row in cells if row}
    assert list(rows) == ["torch", "onnx", "onnx-int8"]
    difference, same, _, speed, _, f1 = zip(*rows.values(), strict=True)
    assert difference[0] == 0 < difference[1] < 1e-4 < difference[2]
    assert same[:2] == f1[:2] == (100, 100) and speed[0] == 1


def test_an_export_is_a_copy_of_its_model_and_two_graphs_of_each_part(deep: Exported) -> None:
    model = deep.folder.parent / "model"
    added = {file.name for file in deep.folder.iterdir()} - {file.name for file in model.iterdir()}
    assert added == {"encoder.onnx", "encoder-int8.onnx", "head.onnx", "head-int8.onnx"}
    same = [file for file in model.iterdir() if file.name != "spanwright.json"]
    assert all((deep.folder / file.name).read_bytes() == file.read_bytes() for file in same)
    ours, theirs = (json.loads((folder / "spanwright.json").read_text()) for folder in (model, deep.folder))
    assert theirs.pop("digests").keys() - ours.pop("digests").keys() == added
    assert theirs.pop("longest_input") == deep.model.longest_input
    assert ours == theirs


@pytest.mark.parametrize("name", ["encoder.onnx", "head.onnx"])
def test_a_flipped_bit_in_a_graph_is_refused_with_its_name(deep: Exported, tmp_path: Path, name: str) -> None:
    folder = Path(shutil.copytree(deep.folder, tmp_path / "model"))
    content = bytearray((folder / name).read_bytes())
    content[len(content) // 2] ^= 1
    (folder / name).write_bytes(content)
    with pytest.raises(ModelError, match=rf"{name}: has changed since the model was saved"):
        load(folder, "onnx")


def test_a_graph_that_was_put_into_a_model_is_refused(deep: Exported, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(deep.folder.parent / "model", tmp_path / "model"))
    shutil.copy(deep.folder / "encoder.onnx", folder)
    shutil.copy(deep.folder / "head.onnx", folder)
    with pytest.raises(ModelError, match=r"\.onnx: is no file of this model"):
        load(folder, "onnx")


def test_an_export_may_take_the_place_of_its_model(several: Exported) -> None:
    assert [path.name for path in several.folder.parent.iterdir()] == ["model"]
    names = {file.name for file in several.folder.glob("*.onnx")}
    assert names == {"encoder.onnx", "encoder-int8.onnx", "head.onnx"}


def test_graphs_tell_nothing_of_the_machine_that_made_them(deep: Exported) -> None:
    for file in deep.folder.glob("*.onnx"):
        content = file.read_bytes()
        assert b"site-packages" not in content and b".py" not in content


def test_a_folder_that_is_no_model_is_not_replaced(deep: Exported, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match="exists and is no model directory"):
        export(deep.folder, tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["notes.txt"]


@pytest.mark.parametrize("runtime", ["onnx", "onnx-int8"])
def test_a_model_without_graphs_says_how_to_make_them(deep: Exported, runtime: Runtime) -> None:
    folder = deep.folder.parent / "model"
    with pytest.raises(ModelError, match=rf"missing.*spanwright export {folder} --out"):
        load(folder, runtime)


def test_an_unknown_runtime_is_refused() -> None:
    with pytest.raises(InputError, match="runtime 'tensorrt': expected torch, onnx, onnx-int8"):
        spanwright.load("model", "tensorrt")  # type: ignore[arg-type]


def test_graphs_of_other_weights_are_refused(deep: Exported, make: Make, tmp_path: Path) -> None:
    artifact.save(make("plain", "representation.size=8"), tmp_path / "other")
    shutil.copy(deep.folder / "encoder.onnx", tmp_path / "other")
    artifact.seal(tmp_path / "other")
    with pytest.raises(ModelError, match="made from other weights"):
        load(tmp_path / "other", "onnx")


def test_a_model_that_runs_by_graphs_cannot_be_saved(deep: Exported, tmp_path: Path) -> None:
    with pytest.raises(SpanwrightError, match="load it with runtime 'torch'"):
        artifact.save(load(deep.folder, "onnx").model, tmp_path / "again")


def _with_external_weights(model: onnx.ModelProto) -> None:
    tensor = model.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="../../../etc/passwd")


def _with_external_constant(model: onnx.ModelProto) -> None:
    node = model.graph.node.add(op_type="Constant", output=["stray"])
    tensor = onnx.TensorProto(dims=[1], data_type=1, data_location=onnx.TensorProto.EXTERNAL)
    tensor.external_data.add(key="location", value="secret")
    node.attribute.append(helper.make_attribute("value", tensor))


def _with_foreign_operator(model: onnx.ModelProto) -> None:
    model.graph.node[0].domain = "evil"


def _with_loop(model: onnx.ModelProto) -> None:
    body = helper.make_graph([], "body", [], [])
    model.graph.node.append(helper.make_node("Loop", ["", ""], [], body=body))


def _with_function(model: onnx.ModelProto) -> None:
    model.functions.add(name="f", domain="d")


def _without_an_input(model: onnx.ModelProto) -> None:
    del model.graph.input[0]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (_with_external_weights, "has weights in another file"),
        (_with_external_constant, "has weights in another file"),
        (_with_foreign_operator, "operator evil"),
        (_with_loop, "Loop with a graph inside or the like"),
        (_with_function, "has functions"),
        (_without_an_input, "cannot be run"),
    ],
)
def test_a_graph_that_might_do_more_than_compute_is_refused_in_one_line(
    deep: Exported, tmp_path: Path, change: Callable[[onnx.ModelProto], None], reason: str
) -> None:
    model = onnx.load_model(deep.folder / "encoder.onnx")
    change(model)
    (tmp_path / "encoder.onnx").write_bytes(model.SerializeToString())
    with pytest.raises(ModelError, match=reason) as caught:
        Graph("encoder.onnx", Digests(tmp_path, None), weights=deep.weights)
    assert str(tmp_path) in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"{", b"\xff" * 100])
def test_a_file_that_is_no_graph_is_refused_in_one_line(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "encoder.onnx").write_bytes(content)
    with pytest.raises(ModelError) as caught:
        Graph("encoder.onnx", Digests(tmp_path, None), weights=())
    assert str(tmp_path) in str(caught.value) and "\n" not in str(caught.value)


def test_a_link_to_a_graph_is_refused(deep: Exported, tmp_path: Path) -> None:
    (tmp_path / "encoder.onnx").symlink_to(deep.folder / "encoder.onnx")
    with pytest.raises(ModelError, match="not a plain file"):
        Graph("encoder.onnx", Digests(tmp_path, None), weights=deep.weights)


def test_a_huge_file_is_refused_unread(tmp_path: Path) -> None:
    with (tmp_path / "encoder.onnx").open("wb") as file:
        file.truncate(2**40)
    with pytest.raises(ModelError, match="expected at most"):
        Graph("encoder.onnx", Digests(tmp_path, None), weights=())


def test_a_small_export_has_weights_in_16_bits_and_8_bit_graphs_that_run_it(
    make: Make, tmp_path: Path
) -> None:
    folder, out = tmp_path / "model", tmp_path / "small"
    artifact.save(make("plain"), folder)
    (folder / "notes.json").write_text("{}")
    export(folder, out, small=True)
    assert {file.name for file in out.glob("*.onnx")} == {"encoder-int8.onnx", "head.onnx"}
    assert (out / "notes.json").exists()
    sizes = [(each / "model.safetensors").stat().st_size for each in (out, folder)]
    assert sizes[0] < 0.6 * sizes[1]
    assert isinstance(load(out).model, GraphModel)
    assert isinstance(load(out, "torch").model, TrainedModel)
    assert isinstance(load(folder).model, TrainedModel)
    assert [each.runtime for each in compare_runtimes(out, shapes=2)] == ["torch", "onnx-int8"]
    # A job writes down what runs it, and a copy without graphs still works.
    job = Job(inputs=(), reading=Reading(), tagging=TaggingOptions(model=str(out)))
    assert job.identity()["tagging"]["runtime"] == "onnx-int8"
    export(out, tmp_path / "large")
    assert usual_runtime(out) == "onnx-int8" and usual_runtime(tmp_path / "large") == "onnx"
    for graph in out.glob("*.onnx"):
        graph.unlink()
    assert usual_runtime(out) == "torch" and load(out).tag("The xase cell.").text
