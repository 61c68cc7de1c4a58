"""`spanwright corpus check`, `stats` and `split`, and wrong calls of these and `convert`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from corpus_commands import FLAT, NESTED, corpus, damaged, put

from spanwright.formats.files import read, write
from spanwright.text import Document, Entity

# Check.


def test_check_lists_problems_and_counts(tmp_path: Path) -> None:
    bad = damaged(tmp_path)
    result = corpus("check", bad)
    problem, summary = result.stdout.splitlines()
    assert (result.code, result.stderr) == (0, "")
    assert problem.startswith(f"{bad}:4: the offsets of 'p53' are '0' and '9'")
    assert summary == (f"{bad}: pubtator; read 1 document and 1 entity; rejected 0 documents and 1 entity")


def test_check_shows_notes(tmp_path: Path) -> None:
    path = put(tmp_path, FLAT, "conll")
    assert f"note: {path}: tag scheme IOB2 (detected)\n" in corpus("check", path).stdout


def test_check_of_several_files_answers_for_each_in_json(tmp_path: Path) -> None:
    bad = damaged(tmp_path)
    good = put(tmp_path, FLAT)
    answers = json.loads(corpus("check", good, bad, "--json").stdout)
    assert [(each["path"], each["format"]) for each in answers] == [
        (str(good), "jsonl"),
        (str(bad), "pubtator"),
    ]
    assert [len(each["problems"]) for each in answers] == [0, 1]
    assert answers[1]["problems"][0]["line"] == 4
    counts = ("documents_read", "documents_rejected", "entities_read", "entities_rejected")
    assert [answers[1][count] for count in counts] == [1, 0, 1, 1]


def test_a_strict_check_of_a_good_file_exits_with_0(tmp_path: Path) -> None:
    assert corpus("check", put(tmp_path, FLAT), "--strict").code == 0


def test_a_strict_check_in_json_answers_before_it_fails(tmp_path: Path) -> None:
    bad = damaged(tmp_path)
    result = corpus("check", bad, "--strict", "--json")
    assert (result.code, result.stderr) == (2, "error: 1 problem in 1 file\n")
    assert json.loads(result.stdout)[0]["entities_rejected"] == 1


# Stats.


def test_stats_in_json_hold_the_figures(tmp_path: Path) -> None:
    figures = json.loads(corpus("stats", put(tmp_path, NESTED), "--json").stdout)
    assert (figures["documents"], figures["entities"]) == (2, 4)
    assert figures["types"] == {"Chemical": 1, "Disease": 2, "Organ": 1}
    assert (figures["nesting"]["inside_another"], figures["nesting"]["discontinuous"]) == (1, 1)


def test_stats_of_several_files_are_counted_together(tmp_path: Path) -> None:
    paths = (put(tmp_path, NESTED), put(tmp_path, FLAT, "pubtator"))
    assert json.loads(corpus("stats", *paths, "--json").stdout)["documents"] == 5


def test_stats_are_shown_as_a_table(tmp_path: Path) -> None:
    lines = [line.split() for line in corpus("stats", put(tmp_path, NESTED)).stdout.splitlines()]
    assert ["documents", "2", "(0", "without", "entities)"] in lines
    assert ["│", "Disease", "│", "2", "│", "50.0", "%", "│"] in lines


def test_stats_of_an_empty_corpus_are_zeros(tmp_path: Path) -> None:
    lines = [line.split() for line in corpus("stats", put(tmp_path, [])).stdout.splitlines()]
    assert ["documents", "0", "(0", "without", "entities)"] in lines


def test_stats_of_texts_have_no_label_consistency(tmp_path: Path) -> None:
    lines = [line.split() for line in corpus("stats", put(tmp_path, FLAT[1:2])).stdout.splitlines()]
    assert ["label", "consistency", "-"] in lines


def test_brackets_in_a_type_are_shown_as_they_are(tmp_path: Path) -> None:
    path = put(tmp_path, [Document("1", "ab", (Entity(0, 2, "[/red]"),))])
    assert "│ [/red] │" in corpus("stats", path).stdout


@pytest.mark.parametrize(
    ("ending", "beginning"), [(".png", b"\x89PNG"), (".svg", b"<?xml"), (".pdf", b"%PDF")]
)
def test_a_picture_is_drawn_in_the_format_of_its_ending(
    tmp_path: Path, ending: str, beginning: bytes
) -> None:
    pytest.importorskip("matplotlib")
    picture = tmp_path / f"picture{ending}"
    assert corpus("stats", put(tmp_path, NESTED), "--picture", picture).code == 0
    assert picture.read_bytes().startswith(beginning)


def test_a_picture_of_an_unknown_ending_is_refused(tmp_path: Path) -> None:
    result = corpus("stats", put(tmp_path, NESTED), "--picture", tmp_path / "picture.bmp")
    assert result.code == 2
    assert "expected a picture with one of the endings .png, .svg, .pdf" in result.stderr


# Split.


def split(source: Path, folder: Path, *options: object) -> list[list[Document]]:
    """The documents of two parts, three quarters and one."""
    parts = [folder / "train.jsonl", folder / "dev.jsonl"]
    result = corpus(
        "split", source, "--out", parts[0], "--share", 75, "--out", parts[1], "--share", 25, *options
    )
    assert result.code == 0
    return [read(part).documents for part in parts]


@pytest.fixture
def eight(tmp_path: Path) -> Path:
    return put(tmp_path, [Document(str(number), "p53", (Entity(0, 3, "GENE"),)) for number in range(8)])


def test_a_split_gives_each_document_to_one_part_by_the_shares(tmp_path: Path, eight: Path) -> None:
    train, dev = split(eight, tmp_path)
    assert (len(train), len(dev)) == (6, 2)
    assert sorted(document.id for document in train + dev) == [str(number) for number in range(8)]


def test_the_same_seed_gives_the_same_split_and_another_seed_another(tmp_path: Path, eight: Path) -> None:
    first = split(eight, tmp_path, "--seed", 5)
    assert split(eight, tmp_path, "--seed", 5) == first
    assert any(split(eight, tmp_path, "--seed", seed) != first for seed in range(6, 9))


def test_a_split_shows_documents_and_types_of_each_part(tmp_path: Path) -> None:
    source = put(tmp_path, [Document(str(number), "a b", (Entity(0, 1, "[b]"),)) for number in range(4)])
    outs = ("--out", tmp_path / "[a].jsonl", "--share", 1, "--out", tmp_path / "b.jsonl", "--share", 1)
    result = corpus("split", source, *outs)
    cells = [
        [cell.strip() for cell in line.strip("│┃").replace("┃", "│").split("│")]
        for line in result.stdout.splitlines()
    ]
    assert ["", "[a].jsonl", "b.jsonl"] in cells
    assert ["documents", "2", "2"] in cells
    assert ["[b]", "2", "2"] in cells


# Wrong input: one line, exit code 2, nothing written.


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("check", "absent.jsonl"), "absent.jsonl: no such file or folder"),
        (
            ("check", "good.jsonl", "--format", "conl"),
            "unknown format 'conl' (did you mean 'conll'?); expected parquet",
        ),
        (("check", "good.jsonl", "--option", "scheme"), "--option 'scheme': expected name=value"),
        (("check", "good.jsonl", "--option", "scheme=IOB2"), "'jsonl' has no option 'scheme'"),
        (("check", "odd.data"), "text: name it with --format"),
        (("convert", "absent.jsonl", "--out", "out.jsonl"), "absent.jsonl: no such file or folder"),
        (
            ("convert", "good.jsonl", "--out", "out.xyz"),
            "out.xyz: the ending does not say which format it is",
        ),
        (("convert", "good.jsonl", "--out", "out.x", "--to", "y"), "unknown format 'y'"),
        (("convert", "good.jsonl", "--out", "out.txt", "--lossy"), "document '2' is the second"),
        (("stats", "absent.jsonl"), "absent.jsonl: no such file or folder"),
        (("split", "good.jsonl", "--out", "a.jsonl", "--share", "1"), "expected two or more numbers"),
        (("split", "good.jsonl", "--out", "a.xyz", "--share", "1"), "a.xyz: the ending does not say"),
        (
            ("split", "good.jsonl", "--out", "a.jsonl", "--out", "b.jsonl", "--share", "1"),
            "2 times --out and 1 times --share",
        ),
        (
            ("split", "good.jsonl", "--out", "a.jsonl", "--share", "1", "--out", "a.jsonl", "--share", "1"),
            "--out names a file twice",
        ),
        (
            ("split", "good.jsonl", "--out", "a.jsonl", "--share", "1", "--out", "b.jsonl", "--share", "-1"),
            "expected two or more numbers above 0",
        ),
    ],
)
def test_wrong_input_is_one_line_and_exit_code_2(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    write(FLAT, "good.jsonl")
    Path("odd.data").write_text("what is this?\n", encoding="utf-8")
    before = sorted(tmp_path.iterdir())
    result = corpus(*arguments)
    assert (result.code, result.stdout) == (2, "")
    assert result.stderr.startswith("error: ")
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    "arguments", [("convert", "good.jsonl"), ("split", "good.jsonl"), ("check",), ("chek",)]
)
def test_a_wrong_call_shows_the_usage_and_exits_with_2(arguments: tuple[str, ...]) -> None:
    result = corpus(*arguments)
    assert result.code == 2
    assert result.stderr.startswith("Usage: ")
