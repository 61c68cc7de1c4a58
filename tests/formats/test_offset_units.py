"""Offsets that count bytes or UTF-16 code units: told, refused for training, converted where asked to."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from spanwright.cli.main import main
from spanwright.errors import InputError
from spanwright.formats.files import read
from spanwright.formats.offsets import UNITS, Unit, length_in
from spanwright.text import Range
from spanwright.training.corpora_file import CorporaFile, read_splits
from spanwright.training.loop import train

TEXT = "A 🧬 in α-cells: the gene p53, and 蛋白 for ever"
MENTIONS = ("α-cells", "p53", "蛋白", "ever")
OTHER_UNITS = ("utf-16", "bytes")


def ranges(unit: Unit, text: str = TEXT) -> list[Range]:
    starts = [text.index(mention) for mention in MENTIONS]
    ends = [start + len(mention) for start, mention in zip(starts, MENTIONS, strict=True)]
    return [
        (length_in(text[:start], unit), length_in(text[:end], unit))
        for start, end in zip(starts, ends, strict=True)
    ]


def jsonl(folder: Path, unit: Unit) -> Path:
    marked = [
        {"start": start, "end": end, "type": "X", "text": mention}
        for (start, end), mention in zip(ranges(unit), MENTIONS, strict=True)
    ]
    path = folder / "corpus.jsonl"
    path.write_text(json.dumps({"id": "1", "text": TEXT, "entities": marked}, ensure_ascii=False) + "\n")
    return path


def pubtator(folder: Path, unit: Unit) -> Path:
    rows = "".join(
        f"1\t{start}\t{end}\t{mention}\tX\n"
        for (start, end), mention in zip(ranges(unit), MENTIONS, strict=True)
    )
    path = folder / "corpus.pubtator"
    path.write_text(f"1|t|{TEXT}\n1|a|\n{rows}\n")
    return path


def brat(folder: Path, unit: Unit) -> Path:
    rows = "".join(
        f"T{number}\tX {start} {end}\t{mention}\n"
        for number, ((start, end), mention) in enumerate(zip(ranges(unit), MENTIONS, strict=True))
    )
    (folder / "1.txt").write_text(TEXT)
    (folder / "1.ann").write_text(rows)
    return folder


def bioc(folder: Path, unit: Unit) -> Path:
    """Two passages with the same text, so that offsets of the second one count the first, too."""
    gap = length_in(TEXT, unit) + 1
    passages = [
        {
            "offset": offset,
            "text": TEXT,
            "annotations": [
                {
                    "infons": {"type": "X"},
                    "locations": [{"offset": offset + start, "length": end - start}],
                    "text": mention,
                }
                for (start, end), mention in zip(ranges(unit), MENTIONS, strict=True)
            ],
        }
        for offset in (0, gap)
    ]
    path = folder / "corpus.bioc.json"
    path.write_text(json.dumps({"documents": [{"id": "1", "passages": passages}]}, ensure_ascii=False))
    return path


Maker = Callable[[Path, Unit], Path]
EACH_FORMAT = pytest.mark.parametrize("make", [jsonl, pubtator, brat, bioc])
EACH_OTHER_UNIT = pytest.mark.parametrize("unit", OTHER_UNITS)


@EACH_FORMAT
@pytest.mark.parametrize("unit", UNITS)
def test_offsets_are_converted_where_the_option_tells_what_they_count(
    tmp_path: Path, make: Maker, unit: Unit
) -> None:
    corpus = read(make(tmp_path, unit), options={"offsets": unit}, to_train=True)
    (document,) = corpus.documents
    found = [document.mention(entity) for entity in document.entities]
    assert found == [*MENTIONS] * (len(found) // len(MENTIONS))
    assert (corpus.log.problems, corpus.log.notes) == ([], [])


@EACH_FORMAT
@EACH_OTHER_UNIT
def test_the_unit_that_would_fit_is_named_and_training_refused(
    tmp_path: Path, make: Maker, unit: Unit
) -> None:
    path = make(tmp_path, unit)
    (note,) = read(path).log.notes
    assert f"{path}: " in note
    assert f"of these are if offsets count {UNITS[unit]}: read it with the option offsets={unit}" in note
    with pytest.raises(InputError) as caught:
        read(path, to_train=True)
    assert str(caught.value) == note


@EACH_FORMAT
def test_offsets_in_characters_are_left_alone(tmp_path: Path, make: Maker) -> None:
    log = read(make(tmp_path, "characters"), to_train=True).log
    assert (log.problems, log.notes, log.mentions.displaced) == ([], [], 0)
    assert log.mentions.compared == log.entities_read


def test_few_mentions_in_texts_beyond_ascii_tell_the_unit_and_keep_nobody_from_training(
    tmp_path: Path,
) -> None:
    path = jsonl(tmp_path, "bytes")
    plain = {"text": "p53", "entities": [{"start": 0, "end": 3, "type": "X", "text": "p53"}]}
    path.write_text(path.read_text() + 20 * (json.dumps(plain) + "\n"))
    (note,) = read(path, to_train=True).log.notes
    assert "of 23 mentions are not what stands at their offsets, and" in note
    assert "offsets=bytes" in note


def test_a_wrong_mention_among_right_ones_is_a_problem_and_no_more(tmp_path: Path) -> None:
    path = pubtator(tmp_path, "characters")
    path.write_text(path.read_text().replace("\tp53\t", "\tp54\t"))
    log = read(path, to_train=True).log
    assert (len(log.problems), log.notes) == (1, [])


def test_a_file_most_of_whose_mentions_are_nowhere_near_is_refused(tmp_path: Path) -> None:
    mentions = [
        {"start": at, "end": at + 1, "entity_type": "X", "text": word} for at, word in enumerate("bca")
    ]
    path = tmp_path / "corpus.jsonl"
    path.write_text(json.dumps({"tokens": ["a", "b", "c"], "entity_mentions": mentions}))
    with pytest.raises(InputError, match="3 of 3 mentions are not what stands at their offsets; expected"):
        read(path, to_train=True)


def test_an_offset_inside_a_character_is_rejected(tmp_path: Path) -> None:
    entity = {"start": 1, "end": 2, "type": "X"}
    path = tmp_path / "corpus.jsonl"
    path.write_text(json.dumps({"text": "αβ", "entities": [entity]}))
    log = read(path, options={"offsets": "bytes"}).log
    assert [problem.reason for problem in log.problems] == [
        "entity 0: [(1, 2)] is not in the text or cuts a character; expected offsets 0 <= start < end <= 4"
    ]
    assert log.entities_rejected == 1


def test_words_and_sentences_are_converted_too(tmp_path: Path) -> None:
    path = tmp_path / "corpus.jsonl"
    record = {"text": "αβ γ", "words": [[0, 4], [5, 7]], "sentences": [[0, 7]]}
    path.write_text(json.dumps(record))
    (document,) = read(path, options={"offsets": "bytes"}, strict=True).documents
    assert (document.words, document.sentences) == (((0, 2), (3, 4)), ((0, 4),))


def test_one_file_is_not_judged_by_another(tmp_path: Path) -> None:
    (tmp_path / "right").mkdir()
    notes = read(jsonl(tmp_path, "bytes"), jsonl(tmp_path / "right", "characters")).log.notes
    assert [note.partition(":")[0] for note in notes] == [str(tmp_path / "corpus.jsonl")]


def test_every_way_to_train_refuses_such_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = jsonl(tmp_path, "bytes")
    with pytest.raises(InputError, match="offsets=bytes"):
        train("plain", train=path, dev=path, out=tmp_path / "run")
    with pytest.raises(InputError, match="offsets=bytes"):
        train("plain", train=read(path), dev=read(path), out=tmp_path / "run")
    files = CorporaFile.model_validate({"corpora": {"made": {"train": str(path)}}})
    with pytest.raises(InputError, match="offsets=bytes"):
        list(read_splits(files))
    arguments = ["train", "plain", "--train", str(path), "--dev", str(path), "--out", str(tmp_path / "run")]
    monkeypatch.setattr(sys, "argv", ["spanwright", *arguments])
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 2
    assert not (tmp_path / "run").exists()


def test_a_check_says_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["spanwright", "corpus", "check", str(jsonl(tmp_path, "utf-16"))])
    with pytest.raises(SystemExit):
        main()
    assert (
        "offsets count UTF-16 code units: read it with the option offsets=utf-16" in capsys.readouterr().out
    )
