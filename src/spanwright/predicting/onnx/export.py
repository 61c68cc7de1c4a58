"""Export: a copy of a model directory with its whole network as ONNX graphs.

For each costly part (see `exported_parts`) there are two files: one that computes what torch does, and one in
which onnxruntime has put products with weights, and embeddings, into 8-bit integers.
"""

from __future__ import annotations

import logging
import shutil
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch

from spanwright import artifact
from spanwright.errors import InputError, MissingExtraError, SpanwrightError
from spanwright.formats.io.whole_folders import whole_folder
from spanwright.model_files.digests import RUNTIME
from spanwright.model_files.folders import model_folder
from spanwright.model_files.stored import digests_of
from spanwright.parts.batch import Batch, to_tensors
from spanwright.parts.encoder.backbone import as_of_transformers
from spanwright.parts.encoder.encoder import Encoder
from spanwright.parts.model import SpanModel
from spanwright.parts.spans.scorers.type_vectors import TextReader
from spanwright.predicting.onnx.exported_parts import Exportable, exportable, type_arrays
from spanwright.predicting.onnx.files import LARGEST, TYPES, WEIGHTS, file_name, stored_weights_digest
from spanwright.predicting.onnx.loading import LONGEST
from spanwright.predicting.onnx.runtimes import random_documents
from spanwright.predicting.tagger import Tagger

_PACKAGES = ("onnx", "onnxscript")
_OPSET, _IR_VERSION = 20, 10
_OUTPUT = "output of the part: "
"""What outputs are called until nothing inside can have their names."""
_PLAIN_ATTENTION = "eager"
"""What transformers calls attention as two products and a softmax."""


def export(folder: str | Path, out: str | Path, *, small: bool = False) -> None:
    """Write a copy of a model directory that can also be loaded with the runtimes `onnx` and `onnx-int8`.

    An older model directory of that name is replaced when the new one is complete; it may be `folder` itself.
    With `small`, weights are in 16 bits, and graphs in 8 alone, which run the model unless told otherwise.
    """
    check_export_installed()
    folder, out = model_folder(folder), Path(out)
    model = exportable_model(folder)
    if out.exists():
        _check_is_model(out)
    try:
        with whole_folder(out) as partial:
            if small:
                artifact.save(model, partial, bits=16)
                model = exportable_model(partial)  # whose weights are rounded, as graphs must have them
            _copy_others(folder, partial)
            weights = stored_weights_digest(digests_of(partial))
            _write_types(model.network, weights, partial)
            for part, graph in network_graphs(model, weights):
                _write(graph, part, partial, in_floats=not small or not part.in_8_bits)
            runtime = "onnx-int8" if small else None  # also where the model was a small export itself
            artifact.seal(partial, **{LONGEST: model.longest_input, RUNTIME: runtime})
    except OSError as error:
        raise SpanwrightError(f"{out}: the export could not be written: {error}") from error


def exportable_model(folder: Path) -> artifact.TrainedModel:
    """A model with the backbone of transformers, whose attention can be made plain."""
    model = artifact.load(folder)
    encoder = model.network.encoder
    encoder.register_module("backbone", as_of_transformers(encoder.backbone))
    for reader in model.network.modules():
        if isinstance(reader, TextReader):
            _read_by_transformers(reader, encoder)
    return model


def _read_by_transformers(reader: TextReader, encoder: Encoder) -> None:
    if reader.backbone is None:
        reader._shared = (encoder.backbone,)
    else:
        reader.backbone = as_of_transformers(reader.backbone)


def _copy_others(folder: Path, out: Path) -> None:
    """Copy the files of a model directory that are not there yet, but no graphs."""
    for file in folder.iterdir():
        wanted = file.is_file() and not file.is_symlink() and file.suffix != ".onnx"
        if wanted and not (out / file.name).exists():
            shutil.copy(file, out)


def check_export_installed() -> None:
    """Refuse to begin where a package of the extra `export` is missing."""
    for package in _PACKAGES:
        if find_spec(package) is None:
            raise MissingExtraError("an export", package, "export")


def _check_is_model(out: Path) -> None:
    try:
        model_folder(out)
    except SpanwrightError:
        raise InputError(
            f"{out}: exists and is no model directory; expected a new folder, or a model directory to replace"
        ) from None


def small_batch(model: artifact.TrainedModel) -> Batch:
    """Several windows, since an exporter takes one of anything for a constant, of texts without meaning."""
    tagger = Tagger(model)
    batches = tagger.batches(tagger.prepare(random_documents(tagger, 8, seed=0, size=32)))
    largest = max(batches, key=lambda batch: len(batch.piece_ids))
    return to_tensors(largest, model.network.device)


def network_graphs(model: artifact.TrainedModel, weights: str) -> Iterator[tuple[Exportable, Any]]:
    """The parts of a network, each with its ONNX model in floats, which names the digest of the weights."""
    for part in exportable(model.network, small_batch(model)):
        with _plain_attention(model.network.encoder):
            graph = graph_of(part, weights)
        yield part, graph


def _write(graph: Any, part: Exportable, folder: Path, *, in_floats: bool) -> None:
    """Write the graphs of a part."""
    import onnx

    if graph.ByteSize() > LARGEST:
        raise InputError(
            f"the {part.name} has {graph.ByteSize()} bytes as an ONNX file; expected at most {LARGEST}"
        )
    exact = folder / file_name(part.name, "onnx")
    onnx.save_model(graph, exact)
    if part.in_8_bits:
        _quantise(exact, folder / file_name(part.name, "onnx-int8"))
    if not in_floats:
        exact.unlink()


def _write_types(network: SpanModel, weights: str, folder: Path) -> None:
    import onnx

    if (graph := types_graph(network, weights)) is not None:
        onnx.save_model(graph, folder / file_name(TYPES, "onnx"))


def types_graph(network: SpanModel, weights: str) -> Any | None:
    """The ONNX model that holds the vectors of types; None where spans are compared with none."""
    import onnx
    from onnx import helper, numpy_helper

    nodes, outputs = [], []
    for name, tensor in type_arrays(network).items():
        value = numpy_helper.from_array(tensor.numpy(), name)
        nodes.append(helper.make_node("Constant", [], [name], value=value))
        outputs.append(helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, tensor.shape))
    if not nodes:
        return None
    graph = helper.make_graph(nodes, TYPES, [], outputs)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=_IR_VERSION)
    model.metadata_props.add(key=WEIGHTS, value=weights)
    return model


def _quantise(exact: Path, out: Path) -> None:
    """Write a graph in 8 bits. Weights have a scale for each column; activations have one when they come.

    Weights take 7 of their bits: with 8, sums of products overflow on processors without VNNI.
    """
    import onnx
    from onnxruntime.quantization import QuantType, quantize_dynamic

    with _quietly():
        quantize_dynamic(exact, out, weight_type=QuantType.QInt8, per_channel=True, reduce_range=True)
    model = onnx.load_model(out)
    if left := products_in_floats(model):
        raise SpanwrightError(
            f"{out.name}: onnxruntime left {len(left)} products with weights in floats, such as {left[0]!r}. "
            f"Use the runtime 'onnx', or the versions in constraints.txt"
        )


def products_in_floats(model: Any) -> list[str]:
    """The names of the products with weights that are not in 8 bits."""
    weights = {
        tensor.name
        for tensor in model.graph.initializer
        if len(tensor.dims) == 2 and tensor.data_type == tensor.FLOAT
    }
    products = (node for node in model.graph.node if node.op_type in ("MatMul", "Gemm"))
    return [node.name for node in products if node.input[1] in weights]


def graph_of(part: Exportable, weights: str) -> Any:
    """The ONNX model of a part, without traces of where it was made."""
    shapes = {
        name: dict.fromkeys(axes, torch.export.Dim.DYNAMIC) for name, axes in part.sizes_that_vary.items()
    }
    with _quietly(), torch.no_grad():
        program = torch.onnx.export(
            part.module.eval(),
            kwargs={"given": part.examples},
            input_names=list(part.examples),
            output_names=[_OUTPUT + name for name in part.outputs],
            dynamic_shapes={"given": shapes},
            opset_version=_OPSET,
            dynamo=True,
            external_data=False,
            verbose=False,
        )
    assert program is not None  # it is None only for the old exporter
    model = program.model_proto
    _strip(model)
    _name_outputs(model.graph, part.outputs)
    model.metadata_props.add(key=WEIGHTS, value=weights)
    return model


def _name_outputs(graph: Any, names: Iterable[str]) -> None:
    """Give outputs their names; what is called so inside, as parts of others may, gets another one."""
    renamed = {name: f"{name}_inside" for name in names} | {_OUTPUT + name: name for name in names}
    kept = {value.name for value in graph.input}
    renamed = {old: new for old, new in renamed.items() if old not in kept}
    for node in graph.node:
        node.input[:] = [renamed.get(name, name) for name in node.input]
        node.output[:] = [renamed.get(name, name) for name in node.output]
    for value in (*graph.initializer, *graph.output):
        value.name = renamed.get(value.name, value.name)


def _strip(model: Any) -> None:
    """Leave out what no runtime reads: remarks, inputs without use, shapes of tensors in between, which the
    graph in integers will not have."""
    del model.metadata_props[:]
    del model.graph.value_info[:]
    for item in (model.graph, *model.graph.node, *model.graph.initializer):
        del item.metadata_props[:]
        item.ClearField("doc_string")
    used = {name for node in model.graph.node for name in node.input}
    used |= {entry.name for entry in model.graph.output}
    for kept in (model.graph.input, model.graph.initializer):
        wanted = [entry for entry in kept if entry.name in used]
        del kept[:]
        kept.extend(wanted)


@contextmanager
def _plain_attention(encoder: Encoder) -> Iterator[None]:
    """Attention of a form that onnxruntime knows; torch's own would be guarded against rows without a key."""
    backbone: Any = encoder.backbone
    before = backbone.config._attn_implementation
    if before == _PLAIN_ATTENTION or not backbone._can_set_attn_implementation():
        yield
        return
    backbone.set_attn_implementation(_PLAIN_ATTENTION)
    try:
        yield
    finally:
        backbone.set_attn_implementation(before)


@contextmanager
def _quietly() -> Iterator[None]:
    """Without the remarks of exporters, which are about their own insides."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)
