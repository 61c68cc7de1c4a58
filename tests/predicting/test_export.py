"""Exported models: ONNX graphs give the answers of torch, for every recipe, and are checked before they run.

An export takes seconds, so there are two: of a span Transformer, whose encoder serves all other recipes as
well, and of a model whose encoder reads vectors instead of pieces.
"""

from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
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
from spanwright.errors import InputError, ModelError, SpanwrightError
from spanwright.formats.files import write
from spanwright.labels import LabelSpace
from spanwright.model_files.digests import Digests
from spanwright.model_files.folders import usual_runtime
from spanwright.parts.build import build
from spanwright.parts.encoder.backbone import load_pretrained
from spanwright.predicting.jobs.running import Job
from spanwright.predicting.jobs.shards import Reading
from spanwright.predicting.onnx.export import export, products_in_floats
from spanwright.predicting.onnx.files import Graph, Runtime, weights_digest
from spanwright.predicting.onnx.graphs import BLOCKS, ENCODER, GraphBackbone, GraphBlocks, span_transformer
from spanwright.predicting.onnx.runtimes import (
    compare_runtimes,
    random_batches,
    random_documents,
    score_difference,
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

    def graph(self, part: str) -> Graph:
        files = artifact.digests_of(self.folder)
        return Graph(f"{part}.onnx", files, weights=weights_digest(self.model.network))


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


def by_graphs(model: TrainedModel, exported: Exported) -> TrainedModel:
    """A model with the graphs of another that has the same encoder, so that not every recipe is exported."""
    network = copy.deepcopy(model.network)
    transformer = span_transformer(network)
    if transformer is not None:
        transformer.register_module("blocks", GraphBlocks(exported.graph(BLOCKS), transformer.blocks))
    backbone = GraphBackbone(exported.graph(ENCODER), network.encoder)
    network.encoder.register_module("backbone", backbone)
    return replace(model, network=network)


RECIPES = {
    "plain": ("plain",),
    "binder": ("binder",),
    "binder, shared encoder": ("binder", "scorer.share_encoder=true"),
    "bundling": ("bundling",),
    "bundling/tags": ("bundling/tags",),
    "tagger": ("tagger", "auxiliaries.tagger.kind=crf"),
    "joint-ib": ("joint-ib", *WITHOUT_WRITER),
    "dspert": ("dspert",),
    "dspert/pruned": ("dspert/pruned",),
    "dspert/shared-blocks": ("dspert/shared-blocks",),
}


def difference(model: TrainedModel, exported: Exported, shapes: int) -> float:
    ours, theirs = Tagger(model), Tagger(by_graphs(model, exported))
    batches = list(random_batches(ours, shapes))
    assert len({batch.piece_ids.shape for batch in batches}) == shapes
    return score_difference(ours, theirs, batches)


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=RECIPES)
def test_scores_are_those_of_torch_on_100_random_shapes(
    recipe: tuple[str, ...], make: Make, deep: Exported
) -> None:
    assert 0 < difference(make(*recipe), deep, 100) < 1e-4


def test_scores_of_a_model_of_several_corpora_are_those_of_torch_on_100_random_shapes(
    several: Exported,
) -> None:
    assert 0 < difference(several.model, several, 100) < 1e-4


def test_a_loaded_export_finds_the_entities_of_torch(deep: Exported, several: Exported) -> None:
    for exported in (deep, several):
        taggers = [load(exported.folder), load(exported.folder, "onnx")]
        texts = ["", "p53 in cells", *random_documents(taggers[0], 12, seed=3)]
        ours, theirs = (list(tagger.tag(texts)) for tagger in taggers)
        assert [answers(document) for document in ours] == [answers(document) for document in theirs]
        assert sum(len(document.entities) for document in ours) > 50


def answers(document: Document) -> list[tuple[int, int, str]]:
    return [(entity.start, entity.end, entity.type) for entity in document.entities]


def test_a_bi_encoder_meets_new_types_with_any_runtime(make: Make, deep: Exported) -> None:
    model = make("binder")
    tagger = Tagger(model)
    documents = random_documents(tagger, 8, seed=4)
    new = {"Drug": "names of drugs"}
    ours = list(tagger.with_types(new).tag(documents))
    theirs = list(Tagger(by_graphs(model, deep)).with_types(new).tag(documents))
    assert any(entity.type == "Drug" for document in ours for entity in document.entities)
    assert [answers(document) for document in ours] == [answers(document) for document in theirs]


def test_scores_in_8_bits_are_near_those_of_torch(deep: Exported, several: Exported) -> None:
    for exported in (deep, several):
        tagger = load(exported.folder)
        batches = list(random_batches(tagger, 10))
        assert 1e-4 < score_difference(tagger, load(exported.folder, "onnx-int8"), batches) < 0.3


def test_all_products_with_weights_are_in_8_bits(deep: Exported) -> None:
    for name, products in ((ENCODER, 2 * 6), (BLOCKS, 2 * 4)):
        model = onnx.load_model(deep.folder / f"{name}-int8.onnx")
        assert [node.op_type for node in model.graph.node].count("MatMulInteger") == products
        assert products_in_floats(model) == []
        assert len(products_in_floats(onnx.load_model(deep.folder / f"{name}.onnx"))) == products


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
    assert added == {"encoder.onnx", "encoder-int8.onnx", "span-blocks.onnx", "span-blocks-int8.onnx"}
    same = [file for file in model.iterdir() if file.name != "spanwright.json"]
    assert all((deep.folder / file.name).read_bytes() == file.read_bytes() for file in same)
    ours, theirs = (json.loads((folder / "spanwright.json").read_text()) for folder in (model, deep.folder))
    assert theirs.pop("digests").keys() - ours.pop("digests").keys() == added
    assert ours == theirs


@pytest.mark.parametrize("name", ["encoder.onnx", "span-blocks.onnx"])
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
    shutil.copy(deep.folder / "span-blocks.onnx", folder)
    with pytest.raises(ModelError, match=r"\.onnx: is no file of this model"):
        load(folder, "onnx")


def test_an_export_may_take_the_place_of_its_model(several: Exported) -> None:
    assert [path.name for path in several.folder.parent.iterdir()] == ["model"]
    assert {file.name for file in several.folder.glob("*.onnx")} == {"encoder.onnx", "encoder-int8.onnx"}


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
        Graph("encoder.onnx", Digests(tmp_path, None), weights=weights_digest(deep.model.network))
    assert str(tmp_path) in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"{", b"\xff" * 100])
def test_a_file_that_is_no_graph_is_refused_in_one_line(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "encoder.onnx").write_bytes(content)
    with pytest.raises(ModelError) as caught:
        Graph("encoder.onnx", Digests(tmp_path, None), weights="")
    assert str(tmp_path) in str(caught.value) and "\n" not in str(caught.value)


def test_a_link_to_a_graph_is_refused(deep: Exported, tmp_path: Path) -> None:
    (tmp_path / "encoder.onnx").symlink_to(deep.folder / "encoder.onnx")
    with pytest.raises(ModelError, match="not a plain file"):
        Graph("encoder.onnx", Digests(tmp_path, None), weights=weights_digest(deep.model.network))


def test_a_huge_file_is_refused_unread(tmp_path: Path) -> None:
    with (tmp_path / "encoder.onnx").open("wb") as file:
        file.truncate(2**40)
    with pytest.raises(ModelError, match="expected are at most"):
        Graph("encoder.onnx", Digests(tmp_path, None), weights="")


def test_a_small_export_has_weights_in_16_bits_and_8_bit_graphs_that_run_it(
    make: Make, tmp_path: Path
) -> None:
    folder, out = tmp_path / "model", tmp_path / "small"
    artifact.save(make("plain"), folder)
    (folder / "notes.json").write_text("{}")
    export(folder, out, small=True)
    assert [file.name for file in out.glob("*.onnx")] == ["encoder-int8.onnx"]
    assert (out / "notes.json").exists()
    sizes = [(each / "model.safetensors").stat().st_size for each in (out, folder)]
    assert sizes[0] < 0.6 * sizes[1]
    assert isinstance(load(out).model.network.encoder.backbone, GraphBackbone)
    assert not isinstance(load(out, "torch").model.network.encoder.backbone, GraphBackbone)
    assert not isinstance(load(folder).model.network.encoder.backbone, GraphBackbone)
    assert [each.runtime for each in compare_runtimes(out, shapes=2)] == ["torch", "onnx-int8"]
    # A job writes down what runs it, and a copy without graphs still works.
    job = Job(inputs=(), reading=Reading(), tagging=TaggingOptions(model=str(out)))
    assert job.identity()["tagging"]["runtime"] == "onnx-int8"
    (out / "encoder-int8.onnx").unlink()
    assert usual_runtime(out) == "torch" and load(out).tag("The xase cell.").text
