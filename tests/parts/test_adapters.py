"""T5 as an encoder, adapters on frozen and quantised encoders, and what a saved model keeps of them."""

from __future__ import annotations

import json
import string
import sys
from pathlib import Path
from typing import Any

import pytest
import safetensors.torch
import torch
import transformers
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from torch import Tensor, nn

import making
import tiny
from batching import as_taken
from spanwright import artifact, train
from spanwright.batches.collate import collate
from spanwright.batches.pieces import PieceEncoder
from spanwright.batches.prepare import gold_words, prepare, windows_of
from spanwright.errors import InputError, SettingsError
from spanwright.labels import LabelSpace
from spanwright.parts.build import build
from spanwright.parts.encoder.adapters import adapt, merged
from spanwright.parts.encoder.backbone import from_config, hidden_size, load_pretrained, longest_input
from spanwright.predicting.tagger import Tagger
from spanwright.settings import load_settings
from spanwright.settings.encoder import LoraSettings
from spanwright.training.loop import RunResult
from spanwright.training.setup import set_up
from watching import Recorder, StoppedError

HALVED = {
    "t5": (transformers.T5Config, transformers.T5ForConditionalGeneration, transformers.T5EncoderModel),
    "mt5": (transformers.MT5Config, transformers.MT5ForConditionalGeneration, transformers.MT5EncoderModel),
    "umt5": (
        transformers.UMT5Config,
        transformers.UMT5ForConditionalGeneration,
        transformers.UMT5EncoderModel,
    ),
}
SMALL = {"d_model": 32, "d_kv": 16, "d_ff": 64, "num_layers": 2, "num_heads": 2}
LORA = "encoder.lora={rank=4}"
KINDS = {
    "lora": (LORA,),
    "4bit": (LORA, "encoder.quantised=4bit"),
    "8bit": (LORA, "encoder.quantised=8bit"),
}
TRAIN = making.documents(24)
DEV = making.documents(8, prefix="dev")


def t5_tokenizer() -> Tokenizer:
    """A tokenizer as T5 has one: blanks are part of pieces, and only the end of a text has a special one."""
    tokens = ["<pad>", "</s>", "<unk>", "▁", *string.ascii_letters, *string.digits, *string.punctuation]
    scores = [(token, -9.0) for token in tokens]
    made = Tokenizer(models.Unigram([*scores, ("ase", -3.0), ("▁cell", -3.0)], unk_id=2))
    made.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace(prepend_scheme="always")]
    )
    made.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    return made


def t5_folder(folder: Path, kind: str = "t5", **changes: object) -> str:
    """A folder with a tiny T5, decoder and all."""
    made = t5_tokenizer()
    torch.manual_seed(0)
    config_class, model_class, _ = HALVED[kind]
    model_class(config_class(vocab_size=made.get_vocab_size(), **SMALL, **changes)).save_pretrained(folder)
    made.save(str(folder / "tokenizer.json"))
    return str(folder)


@pytest.fixture(scope="module")
def t5(tmp_path_factory: pytest.TempPathFactory) -> str:
    return t5_folder(tmp_path_factory.mktemp("t5"))


@pytest.fixture(scope="module")
def extra() -> None:
    """Skips where the extra `lora` is not installed."""
    for package in ("peft", "bitsandbytes", "accelerate"):
        pytest.importorskip(package, reason=f"{package} is not installed; the extra `lora` has it")


needs_extra = pytest.mark.usefixtures("extra")


def load(name: str, quantised: Any = None, **lora: Any) -> nn.Module:
    """A backbone with adapters that do something: fresh ones change nothing."""
    torch.manual_seed(0)
    backbone, _ = load_pretrained(name, lora=LoraSettings(rank=4, **lora), quantised=quantised)
    awaken(backbone)
    return backbone.eval()


def awaken(network: nn.Module) -> None:
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            if "lora_B" in name:
                parameter.normal_(std=0.1, generator=generator)


def read(backbone: nn.Module) -> Tensor:
    """(windows, pieces, width): states of some pieces; the second window is padded."""
    ids = torch.tensor([[4, 5, 6, 7, 8, 1], [9, 10, 1, 0, 0, 0]])
    states: Tensor = backbone(input_ids=ids, attention_mask=(ids > 0).long()).last_hidden_state
    return states


def adapted(backbone: nn.Module) -> set[str]:
    """Last names of the maps that have an adapter."""
    return {name.split(".")[-1] for name, module in backbone.named_modules() if hasattr(module, "lora_A")}


def losses(model: artifact.TrainedModel) -> dict[str, Tensor]:
    """The loss terms of a document: they depend on every part of a model."""
    document = prepare(DEV[0], model.pieces, model.plan)
    windows = list(windows_of(document, 0, model.plan, model.pieces.special_count))
    golds, limit = [gold_words(document, model.labels).rows], model.plan.width_limit
    batch = as_taken(collate(windows, [document], model.pieces, width_limit=limit, golds=golds))
    return model.network.losses(batch, model.network.terms)


# T5 as an encoder


@pytest.mark.parametrize("kind", HALVED)
def test_of_an_encoder_decoder_only_the_encoder_is_used(kind: str, tmp_path: Path) -> None:
    name = t5_folder(tmp_path, kind)
    backbone, _ = load_pretrained(name)
    whole = HALVED[kind][2].from_pretrained(name)
    torch.testing.assert_close(read(backbone.eval()), read(whole.eval()))
    assert hidden_size(backbone) == 32
    assert not any("decoder" in name for name, _ in backbone.named_parameters())


def test_t5_has_no_longest_input(t5: str) -> None:
    backbone, _ = load_pretrained(t5)
    assert longest_input(backbone.config) > 1_000_000
    assert backbone(input_ids=torch.full((1, 700), 5)).last_hidden_state.shape == (1, 700, 32)


def test_t5_reads_a_word_alike_after_a_blank_and_at_the_start(t5: str) -> None:
    _, pieces = load_pretrained(t5)
    assert (pieces.prefix, pieces.suffix) == ((), (1,))
    ids, counts = pieces.encode("cell cell", [(0, 4), (5, 9)])
    assert counts.tolist() == [1, 1] and ids[0] == ids[1]


@pytest.mark.parametrize("kind", HALVED)
def test_the_biases_of_positions_learn_beside_dropout(kind: str, tmp_path: Path) -> None:
    backbone, _ = load_pretrained(t5_folder(tmp_path, kind, dropout_rate=0.1))
    read(backbone.train()).square().sum().backward()
    biases = [parameter for name, parameter in backbone.named_parameters() if "relative_attention" in name]
    assert biases and all(bias.grad is not None and bias.grad.abs().sum() > 0 for bias in biases)


def test_a_t5_is_rebuilt_from_its_configuration(t5: str) -> None:
    backbone, _ = load_pretrained(t5)
    again = from_config(backbone.config.to_dict())
    again.load_state_dict(backbone.state_dict())
    torch.testing.assert_close(read(again.eval()), read(backbone.eval()))


def test_dropout_can_be_set_for_t5(t5: str) -> None:
    backbone, _ = load_pretrained(t5, 0.0)
    assert backbone.config.dropout_rate == 0.0
    assert torch.equal(read(backbone.train()), read(backbone))


# Adapters


@needs_extra
@pytest.mark.parametrize("feed_forward", ["relu", "gated-gelu"])
def test_all_maps_of_t5_are_adapted_the_keys_too(feed_forward: str, tmp_path: Path) -> None:
    backbone = load(t5_folder(tmp_path, feed_forward_proj=feed_forward))
    inner = {"wi"} if feed_forward == "relu" else {"wi_0", "wi_1"}
    assert adapted(backbone) == {"q", "k", "v", "o", "wo"} | inner


@needs_extra
def test_only_named_maps_are_adapted(t5: str) -> None:
    assert adapted(load(t5, targets=("q", "SelfAttention.v"))) == {"q", "v"}


@needs_extra
def test_any_encoder_can_be_adapted(tiny_encoder: str) -> None:
    assert adapted(load(tiny_encoder)) == {"query", "key", "value", "dense"}


@needs_extra
def test_a_name_that_no_map_has_is_refused_with_those_that_are_legal(t5: str) -> None:
    with pytest.raises(SettingsError, match=r"names '\.k'.*expected k, o, q, v, wi, wo, or 'auto'"):
        load(t5, targets=("q", ".k"))


@needs_extra
def test_fresh_adapters_change_nothing(t5: str) -> None:
    plain, _ = load_pretrained(t5)
    fresh, _ = load_pretrained(t5, lora=LoraSettings())
    torch.testing.assert_close(read(fresh.eval()), read(plain.eval()))


@needs_extra
def test_an_adapter_is_a_map_of_low_rank_times_alpha_by_rank(t5: str) -> None:
    backbone = load(t5, alpha=8, targets=("q",))
    map_ = backbone.get_submodule("block.0.layer.0.SelfAttention.q")
    given = torch.randn(3, 32)
    low = map_.lora_B["default"].weight @ map_.lora_A["default"].weight
    assert map_.lora_A["default"].weight.shape == (4, 32)
    torch.testing.assert_close(map_(given), given @ (map_.base_layer.weight + 8 / 4 * low).T)


@needs_extra
def test_what_adapters_read_is_dropped_while_training(tmp_path: Path) -> None:
    name = t5_folder(tmp_path, dropout_rate=0.0)
    still, dropping = (load(name, dropout=dropout).train() for dropout in (0.0, 0.5))
    assert torch.equal(read(still), read(still))
    assert not torch.equal(read(dropping), read(dropping))


@needs_extra
@pytest.mark.parametrize("quantised", [None, "4bit", "8bit"])
def test_only_adapters_learn(t5: str, quantised: str | None) -> None:
    backbone = load(t5, quantised).train()
    read(backbone).square().sum().backward()
    for name, parameter in backbone.named_parameters():
        assert parameter.requires_grad == ("lora_" in name), name
        assert (parameter.grad is not None) == ("lora_" in name), name


@needs_extra
@pytest.mark.parametrize(("quantised", "dtype"), [("4bit", torch.uint8), ("8bit", torch.int8)])
def test_quantised_weights_are_small_and_nearly_the_same(t5: str, quantised: Any, dtype: torch.dtype) -> None:
    name = "block.0.layer.0.SelfAttention.q"
    small, plain = load(t5, quantised), load(t5)
    assert small.get_submodule(f"{name}.base_layer").weight.dtype == dtype
    found, given = (merged(made).get_submodule(name).weight for made in (small, plain))
    assert 0 < (found - given).norm() / given.norm() < {"4bit": 0.15, "8bit": 0.01}[quantised]


@needs_extra
def test_4_bit_weights_are_normal_floats_with_quantised_scales(t5: str) -> None:
    state = load(t5, "4bit").get_submodule("block.0.layer.0.SelfAttention.q.base_layer").weight.quant_state
    assert (state.quant_type, state.nested, state.dtype) == ("nf4", True, torch.float32)


# Merging


@needs_extra
@pytest.mark.parametrize(
    ("quantised", "tolerance"), [(None, 1e-5), ("4bit", 3e-5), ("8bit", 0.1)], ids=["lora", "4bit", "8bit"]
)
@pytest.mark.parametrize("encoder", ["t5", "tiny_encoder"])
def test_merged_weights_say_the_same(
    encoder: str, quantised: str | None, tolerance: float, request: pytest.FixtureRequest
) -> None:
    backbone = load(request.getfixturevalue(encoder), quantised)
    # With 8 bits, also the states that a product reads are rounded.
    torch.testing.assert_close(read(merged(backbone)), read(backbone), atol=tolerance, rtol=0)


@needs_extra
def test_merging_leaves_the_network_and_the_random_numbers_alone(t5: str) -> None:
    backbone = load(t5, "4bit", targets=("q",))
    names, states, numbers = list(backbone.state_dict()), read(backbone), torch.get_rng_state()
    plain = merged(backbone)
    assert torch.equal(torch.get_rng_state(), numbers)
    assert list(backbone.state_dict()) == names and torch.equal(read(backbone), states)
    assert list(plain.state_dict()) == list(load_pretrained(t5)[0].state_dict())
    assert {parameter.dtype for parameter in plain.parameters()} == {torch.float32}


def test_a_network_without_adapters_is_not_copied(t5: str) -> None:
    backbone, _ = load_pretrained(t5)
    assert merged(backbone) is backbone


@needs_extra
@pytest.mark.parametrize(
    "changes",
    [
        {"scorer": {"kind": "bi-encoder", "types": "keywords"}},
        {"scorer": {"kind": "bi-encoder", "types": "keywords", "share_encoder": True}},
        {
            "encoder": {"pooling": "mean"},
            "representation": {"kind": "span-transformer", "depth": 1},
        },
    ],
    ids=["types-apart", "types-shared", "span-transformer"],
)
def test_adapters_of_every_copy_of_the_encoder_are_saved(changes: dict[str, Any], tmp_path: Path) -> None:
    settings, made = tiny.settings(**changes), tiny.tokenizer()
    backbone = tiny.backbone(made.get_vocab_size())
    adapt(backbone, LoraSettings(rank=2))
    labels, pieces = LabelSpace(("Cell", "Gene")), PieceEncoder(made)
    network = build(settings, backbone, labels=labels, pieces=pieces).eval()
    model = artifact.TrainedModel(network, pieces, labels, settings)
    silent = losses(model)
    awaken(network)
    artifact.save(model, tmp_path / "model")
    assert losses(model)["spans"] != silent["spans"]
    torch.testing.assert_close(losses(artifact.load(tmp_path / "model")), losses(model))


# Gradient checkpointing


def gradients(name: str, *, checkpointing: bool, **options: Any) -> dict[str, Tensor]:
    torch.manual_seed(3)
    backbone, _ = load_pretrained(name, checkpointing=checkpointing, **options)
    awaken(backbone)
    torch.manual_seed(4)
    read(backbone.train()).square().sum().backward()
    return {name: value.grad for name, value in backbone.named_parameters() if value.grad is not None}


def count_blocks(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Grows by one with each block of T5 that is computed while training."""
    calls: list[object] = []
    block = transformers.models.t5.modeling_t5.T5LayerFF
    forward = block.forward

    def counted(self: nn.Module, states: Tensor) -> Tensor:
        if self.training:
            calls.append(self)
        return forward(self, states)

    monkeypatch.setattr(block, "forward", counted)
    return calls


@pytest.mark.parametrize("encoder", ["t5", "tiny_encoder"])
def test_gradients_are_the_same_with_checkpointing(encoder: str, request: pytest.FixtureRequest) -> None:
    name = request.getfixturevalue(encoder)
    kept, anew = (gradients(name, checkpointing=checkpointing) for checkpointing in (False, True))
    assert kept.keys() == anew.keys()
    for parameter, gradient in kept.items():
        torch.testing.assert_close(anew[parameter], gradient, msg=parameter)


@needs_extra
@pytest.mark.parametrize("quantised", ["4bit", "8bit"])
def test_gradients_of_adapters_are_the_same_with_checkpointing(t5: str, quantised: str) -> None:
    options: dict[str, Any] = {"lora": LoraSettings(rank=4), "quantised": quantised}
    kept, anew = (gradients(t5, checkpointing=checkpointing, **options) for checkpointing in (False, True))
    assert kept.keys() == anew.keys() and all("lora_" in parameter for parameter in kept)
    for parameter, gradient in kept.items():
        torch.testing.assert_close(anew[parameter], gradient, msg=parameter)


def test_checkpointing_computes_blocks_anew(t5: str, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = count_blocks(monkeypatch)
    gradients(t5, checkpointing=False)
    assert len(calls) == 2
    gradients(t5, checkpointing=True)
    assert len(calls) == 2 + 4


# Training, saving, resuming


def run(
    name: str, out: Path, *changes: str, watcher: Recorder | None = None, resume: bool = False
) -> RunResult:
    settings = making.settings(name, "training.epochs=2", *changes)
    return train(settings, train=TRAIN, dev=DEV, out=out, watcher=watcher or Recorder(), resume=resume)


@pytest.fixture(scope="module", params=KINDS)
def finished(
    request: pytest.FixtureRequest, extra: None, t5: str, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, RunResult, Recorder]:
    """A run with adapters and one kind of weights, and what it told."""
    recorder = Recorder()
    folder = tmp_path_factory.mktemp("runs") / request.param
    return request.param, run(t5, folder, *KINDS[request.param], watcher=recorder), recorder


Finished = tuple[str, RunResult, Recorder]


def test_an_adapted_encoder_learns(finished: Finished) -> None:
    _, result, recorder = finished
    assert sum(recorder.losses[-4:]) < 0.5 * sum(recorder.losses[:4])
    assert result.scores["dev"].micro.f1 > 0.5


def test_a_run_changes_adapters_and_head_alone(finished: Finished) -> None:
    _, _, recorder = finished
    before, after = recorder.fresh, recorder.weights[-1]
    changed = {name for name in before if not torch.equal(before[name], after[name])}
    assert changed == {name for name in before if "lora_" in name or name.startswith("spans.")}


def test_the_optimiser_has_no_frozen_weights(finished: Finished) -> None:
    roles = finished[2].setup.model.network.roles()
    assert all("lora_" in name for name, _ in roles["encoder"])
    assert all(parameter.requires_grad for named in roles.values() for _, parameter in named)


def test_a_saved_model_has_a_plain_encoder(finished: Finished, t5: str) -> None:
    weights = safetensors.torch.load_file(finished[1].folder / "model" / "model.safetensors")
    plain = {f"encoder.backbone.{name}" for name in load_pretrained(t5)[0].state_dict()}
    assert {name for name in weights if name.startswith("encoder.")} == plain
    assert {weight.dtype for weight in weights.values()} == {torch.float32}
    description = json.loads((finished[1].folder / "model" / "spanwright.json").read_text())
    assert "quantization_config" not in description["encoder_config"]


def test_a_saved_model_needs_no_extra_and_answers_as_the_run_did(
    finished: Finished, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind, _, recorder = finished
    model = recorder.setup.model
    artifact.save(model, tmp_path / "model")
    model.network.eval()
    before = found_by(model)
    for package in [name for name in sys.modules if name.split(".")[0] in ("peft", "bitsandbytes")]:
        monkeypatch.setitem(sys.modules, package, None)
    after = found_by(artifact.load(tmp_path / "model"))
    if kind == "8bit":
        # A run also rounds the states that it multiplies with weights, so it may decide close cases otherwise
        assert len(before.keys() & after.keys()) > 0.9 * len(before.keys() | after.keys())
    else:
        assert after == pytest.approx(before, abs=1e-4)


def found_by(model: artifact.TrainedModel) -> dict[tuple[str, int, int, str], float | None]:
    """Confidences of what a model finds in the dev documents."""
    return {
        (document.id, entity.start, entity.end, entity.type): entity.confidence
        for document in Tagger(model).tag(DEV)
        for entity in document.entities
    }


def test_a_checkpoint_holds_what_learns_and_nothing_frozen(finished: Finished) -> None:
    folders = sorted((finished[1].folder / "checkpoints").glob("step-*"))
    stored = safetensors.torch.load_file(folders[-1] / "model.safetensors").keys()
    names = {name for named in finished[2].setup.model.network.roles().values() for name, _ in named}
    assert stored == names


def test_a_resumed_run_ends_with_the_same_model(finished: Finished, t5: str, tmp_path: Path) -> None:
    kind, result, _ = finished
    out, changes = tmp_path / "run", (*KINDS[kind], "training.checkpoint_steps=5")
    with pytest.raises(StoppedError):
        run(t5, out, *changes, watcher=Recorder(stop_at_step=12))
    run(t5, out, *changes, resume=True)
    ended, whole = (
        safetensors.torch.load_file(folder / "model" / "model.safetensors") for folder in (out, result.folder)
    )
    assert ended.keys() == whole.keys() and all(torch.equal(ended[name], whole[name]) for name in whole)


def test_a_whole_t5_learns_and_is_saved(t5: str, tmp_path: Path) -> None:
    recorder = Recorder()
    result = run(t5, tmp_path / "run", "encoder.checkpointing=true", "training.epochs=3", watcher=recorder)
    assert result.scores["dev"].micro.f1 > 0.5
    before, after = recorder.fresh, recorder.weights[-1]
    changed = {name for name in before if not torch.equal(before[name], after[name])}
    assert any(name.endswith("SelfAttention.q.weight") for name in changed)
    loaded = artifact.load(tmp_path / "run" / "model")
    assert list(Tagger(loaded).tag(DEV)) == list(Tagger(result.model).tag(DEV))


@needs_extra
def test_adapters_learn_faster_than_whole_encoders(t5: str) -> None:
    rates = []
    for changes in ((), (LORA,)):
        settings = load_settings("plain", [f"encoder.name={t5}", *changes])
        model = set_up(settings, TRAIN, DEV, ()).model
        rates.append(model.settings.optimiser.learning_rates["encoder"])
    assert rates == [2e-4, 7e-4]


# Refusals


@pytest.mark.parametrize("quantised", ["4bit", "8bit"])
def test_quantised_weights_without_adapters_are_refused(quantised: str) -> None:
    with pytest.raises(SettingsError, match=r"weights of a few bits cannot learn: set encoder\.lora"):
        load_settings("plain", [f"encoder.quantised={quantised}"])


def test_adapters_and_quantised_weights_can_be_switched_off() -> None:
    changes = [*KINDS["4bit"], "encoder.quantised=false"]
    assert load_settings("plain", changes).encoder.quantised is None
    assert load_settings("plain", [*changes, "encoder.lora=false"]).encoder.lora is None


@needs_extra
@pytest.mark.parametrize(
    ("encoder", "changes", "message"),
    [
        ("t5", (), "kind 't5': its blocks normalise what they read"),
        ("tiny_encoder", KINDS["4bit"], "quantised weights: copies of its blocks could not learn"),
        ("tiny_encoder", KINDS["8bit"], "quantised weights: copies of its blocks could not learn"),
    ],
)
def test_a_span_transformer_is_refused_where_blocks_cannot_be_copied(
    encoder: str, changes: tuple[str, ...], message: str, request: pytest.FixtureRequest
) -> None:
    name = request.getfixturevalue(encoder)
    kind = "representation={kind='span-transformer'}"
    settings = load_settings("plain", [f"encoder.name={name}", "encoder.pooling=mean", kind, *changes])
    with pytest.raises(SettingsError, match=message):
        set_up(settings, TRAIN, DEV, ())


def test_a_model_that_writes_is_refused_unless_it_is_a_t5(tmp_path: Path) -> None:
    transformers.BartConfig(d_model=8, encoder_layers=1, decoder_layers=1).save_pretrained(tmp_path)
    with pytest.raises(
        InputError, match=r"kind 'bart', whose states are those of its decoder.*t5, mt5, umt5"
    ):
        load_pretrained(str(tmp_path))


def test_weights_that_are_stored_quantised_are_refused(t5: str, tmp_path: Path) -> None:
    config = json.loads((Path(t5) / "config.json").read_text())
    config["quantization_config"] = {"quant_method": "bitsandbytes", "load_in_4bit": True}
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(InputError, match="is stored with quantised weights; give the model"):
        load_pretrained(str(tmp_path))


def test_a_tokenizer_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    t5_folder(tmp_path)
    (tmp_path / "tokenizer.json").unlink()
    transformers.ByT5Tokenizer().save_pretrained(tmp_path)
    with pytest.raises(InputError, match="tokenizer of the slow kind, ByT5Tokenizer"):
        load_pretrained(str(tmp_path))


def test_dropout_is_refused_where_an_encoder_has_none_to_set(tmp_path: Path) -> None:
    transformers.ModernBertConfig(hidden_size=8, num_hidden_layers=1).save_pretrained(tmp_path)
    with pytest.raises(SettingsError, match=r"encoder\.dropout is 0\.2, but an encoder of kind 'modernbert'"):
        load_pretrained(str(tmp_path), 0.2)


def test_checkpointing_is_refused_where_an_encoder_cannot(
    tiny_encoder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transformers.BertModel, "supports_gradient_checkpointing", False)
    with pytest.raises(SettingsError, match=r"encoder\.checkpointing is true, but an encoder of kind 'bert'"):
        load_pretrained(tiny_encoder, checkpointing=True)
