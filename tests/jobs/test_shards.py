"""How inputs become groups and shards."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from making_jobs import write_inputs

from spanwright.errors import InputError, MissingExtraError
from spanwright.formats.files import write
from spanwright.predicting.jobs import shards
from spanwright.predicting.jobs.shards import Group, GroupEnd, Input, Reading, Shard, list_inputs, plan_groups
from spanwright.text import Document

SIZES = st.lists(st.integers(0, 50), max_size=40)


@given(SIZES, st.integers(1, 60))
def test_groups_hold_every_input_once_in_order(sizes: list[int], room: int) -> None:
    inputs = [Input(str(number), size) for number, size in enumerate(sizes)]
    groups = plan_groups(inputs, room)
    assert [item for group in groups for item in group.inputs] == inputs
    assert [group.name for group in groups] == [f"{number:05}" for number in range(len(groups))]


@given(SIZES, st.integers(1, 60))
def test_a_group_of_several_inputs_is_not_larger_than_told_and_takes_what_fits(
    sizes: list[int], room: int
) -> None:
    groups = plan_groups([Input(str(number), size) for number, size in enumerate(sizes)], room)
    for group in groups:
        assert len(group.inputs) == 1 or group.bytes + len(group.inputs) <= room
    for group, following in pairwise(groups):
        assert group.bytes + len(group.inputs) + following.inputs[0].bytes + 1 > room


def test_names_of_more_groups_than_five_digits_tell_still_sort_as_numbers() -> None:
    groups = plan_groups([Input(str(number), 9) for number in range(100_001)], 1)
    assert [group.name for group in (groups[0], groups[-1])] == ["000000", "100000"]


def read_all(paths: list[Path], reading: Reading) -> tuple[list[Shard], GroupEnd]:
    *found, end = shards.read_group(Group("00000", list_inputs(paths)), reading)
    assert isinstance(end, GroupEnd)
    return [shard for shard in found if isinstance(shard, Shard)], end


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cut")


@given(st.lists(st.integers(0, 12), max_size=30), st.integers(1, 6), st.integers(1, 25))
def test_shards_hold_every_document_once_in_order_and_are_cut_when_full(
    folder: Path, lengths: list[int], most: int, characters: int
) -> None:
    path = folder / "texts.jsonl"
    documents = [Document(str(number), "x" * length) for number, length in enumerate(lengths)]
    write(documents, path)
    found, end = read_all([path], Reading(shard_documents=most, shard_characters=characters))
    assert [document for shard in found for document in shard.documents] == documents
    assert end.sizes == tuple(len(shard.documents) for shard in found)
    for shard in found:
        size = sum(len(document.text) for document in shard.documents)
        without_last = size - len(shard.documents[-1].text)
        assert len(shard.documents) <= most and (len(shard.documents) == 1 or without_last < characters)
    for shard in found[:-1]:
        full = sum(len(document.text) for document in shard.documents) >= characters
        assert full or len(shard.documents) == most


def test_shards_of_a_group_reach_over_its_files_and_say_where_documents_are_from(tmp_path: Path) -> None:
    paths = write_inputs(tmp_path, files=3, documents=3)
    found, _ = read_all(paths, Reading(shard_documents=4))
    assert [len(shard.documents) for shard in found] == [4, 4, 1]
    assert found[1].paths == (str(paths[1]), str(paths[1]), str(paths[2]), str(paths[2]))
    assert [shard.name for shard in found] == ["00000-00000", "00000-00001", "00000-00002"]


def test_positions_rise_to_the_size_of_the_group(tmp_path: Path) -> None:
    paths = write_inputs(tmp_path, files=3, documents=3)
    found, _ = read_all(paths, Reading(shard_documents=4))
    positions = [shard.position for shard in found]
    assert positions == sorted(positions)
    assert positions[-1] == sum(path.stat().st_size for path in paths)


def test_positions_within_a_large_file_tell_how_far_it_is_read(tmp_path: Path) -> None:
    write((Document(str(number), "x" * 1000) for number in range(5000)), tmp_path / "large.jsonl")
    found, _ = read_all([tmp_path / "large.jsonl"], Reading(shard_documents=500, shard_characters=10**6))
    shares = [shard.position / (tmp_path / "large.jsonl").stat().st_size for shard in found]
    assert all(abs(share - (number + 1) / 10) < 0.25 for number, share in enumerate(shares))
    assert shares[3] < shares[6] < 1


def test_what_cannot_be_read_is_told_by_the_shard_around_it(tmp_path: Path) -> None:
    paths = write_inputs(tmp_path, files=3, documents=2)
    paths[1].write_text('{"text": "good"}\nbroken\n{"text": "good"}\n')
    found, _ = read_all(paths, Reading(shard_documents=4))
    assert [shard.rejected for shard in found] == [1, 0]
    assert [(problem.path, problem.line) for problem in found[0].problems] == [(str(paths[1]), 2)]


def test_an_input_of_no_format_is_told_and_the_others_are_read(tmp_path: Path) -> None:
    paths = write_inputs(tmp_path, files=3, documents=2)
    paths[1].write_bytes(b"\x00\x01\x02")
    found, _ = read_all(paths, Reading())
    assert len(found[0].documents) == 4
    assert (found[0].unreadable, found[0].rejected) == (1, 0)
    assert "not read, or not to its end" in found[0].problems[0].reason


def test_problems_after_the_last_document_have_a_shard(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "good"}\nbroken\n')
    found, end = read_all([tmp_path / "a.jsonl"], Reading(shard_documents=1))
    assert [(len(shard.documents), shard.rejected) for shard in found] == [(1, 0), (0, 1)]
    assert end.sizes == (1, 0)


def test_a_missing_package_or_a_fault_of_the_disk_is_no_fault_of_an_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = write_inputs(tmp_path, files=1)
    for error in (MissingExtraError("this", "that", "those"), OSError(5, "Input/output error")):

        def fail(*_: object, error: Exception = error, **__: object) -> None:
            raise error

        monkeypatch.setattr(shards, "stream", fail)
        with pytest.raises(type(error)):
            read_all(paths, Reading())


@pytest.mark.parametrize("name", ["shard_documents", "shard_characters", "group_bytes"])
def test_sizes_below_one_are_refused(name: str) -> None:
    with pytest.raises(InputError, match=f"{name}: found 0; expected 1 or more"):
        Reading(**{name: 0})


def test_the_size_of_a_folder_is_that_of_its_files(tmp_path: Path) -> None:
    paths = write_inputs(tmp_path / "folder", files=2)
    assert list_inputs([tmp_path / "folder"])[0].bytes == sum(path.stat().st_size for path in paths)
    with pytest.raises(InputError, match="no such file or folder"):
        list_inputs([tmp_path / "missing"])
