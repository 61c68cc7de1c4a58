"""BioCreative II gene mentions: offsets that count no white space, and alternatives."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import corpora as several
from strategies import documents, texts
from token_documents import problems

from spanwright.errors import InputError
from spanwright.formats import files
from spanwright.formats.bc2gm import FORMAT
from spanwright.formats.format import ReadingLog
from spanwright.text import Document, Entity

TEXT = "the  IL-9 gene"
GENE = Entity(5, 9, "GENE")


def store(folder: Path, **contents: str | bytes) -> Path:
    """A folder with `sentences.in` and `.eval` files of these contents."""
    names = {"sentences": "sentences.in", "genes": "GENE.eval", "others": "ALTGENE.eval"}
    for name, content in contents.items():
        path = folder / names.get(name, f"{name}.eval")
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def read(path: Path) -> tuple[list[Document], ReadingLog]:
    log = ReadingLog()
    return [log.accept(document) for document in FORMAT.read(path, log)], log


def written(*given_documents: Document) -> tuple[list[Document], ReadingLog]:
    """What is read again after writing."""
    assert FORMAT.write is not None
    with TemporaryDirectory() as folder:
        FORMAT.write(given_documents, Path(folder))
        return read(Path(folder))


def test_offsets_count_no_white_space_and_include_the_last_character(tmp_path: Path) -> None:
    store(tmp_path, sentences=f"S1 {TEXT}\n", genes="S1|3 6|IL-9\n", others="S1|3 10|IL-9 gene\n")
    (document,), log = read(tmp_path)
    assert document == Document(
        "S1", TEXT, (GENE,), sentences=((0, 14),), annotation_notes={"alternatives": [[5, 14]]}
    )
    assert document.mention(GENE) == "IL-9"
    assert log.problems == []


def test_files_with_other_names_are_read_when_named(tmp_path: Path) -> None:
    folder = store(tmp_path, sentences=f"S1 {TEXT}", mine="S1|3 6|IL-9", more="S1|7 10|gene")
    options = {"eval": "mine.eval", "alternatives": str(folder / "more.eval")}
    (document,) = files.read(folder / "sentences.in", options=options).documents
    assert document.entities == (GENE,)
    assert document.annotation_notes == {"alternatives": [[10, 14]]}
    with pytest.raises(InputError, match=r"none\.eval: no such file"):
        files.read(folder / "sentences.in", options={"eval": "none.eval"})


def test_sentences_without_offsets_are_read_with_a_remark(tmp_path: Path) -> None:
    (document,), log = read(store(tmp_path, sentences=f"S1 {TEXT}") / "sentences.in")
    assert (document.text, document.entities) == (TEXT, ())
    assert problems(log) == [(0, "there is no GENE.eval beside it: the sentences are read without genes")]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("S1|3 11|x", "[3, 11] is outside the sentence; expected first <= last < 11, blanks not counted"),
        ("S1|6 3|x", "[6, 3] is outside the sentence; expected first <= last < 11, blanks not counted"),
        ("S1|3|x", "'S1|3|x' was found; expected id|first last|mention"),
        ("S1|a 3|x", "'S1|a 3|x' was found; expected id|first last|mention"),
        ("S1", "'S1' was found; expected id|first last|mention"),
        ("S9|0 1|x", "no sentence has the id 'S9'"),
    ],
)
def test_a_wrong_line_of_genes_is_rejected_and_of_alternatives_remarked_on(
    tmp_path: Path, line: str, reason: str
) -> None:
    store(tmp_path, sentences=f"S1 {TEXT}", genes=f"S1|3 6|IL-9\n{line}\n", others=f"\n{line}\n")
    (document,), log = read(tmp_path)
    assert document.entities == (GENE,)
    assert problems(log) == [(2, reason), (2, reason)]
    assert log.entities_rejected == 1


def test_a_mention_that_is_not_its_range_is_remarked_on(tmp_path: Path) -> None:
    (document,), log = read(store(tmp_path, sentences=f"S1 {TEXT}", genes="S1|3 6|IL-8"))
    assert document.entities == (GENE,)
    assert problems(log) == [(1, "the mention is given as 'IL-8', but [5, 9) is 'IL-9'; offsets are kept")]


def test_a_line_that_is_no_sentence_is_rejected_with_its_genes(tmp_path: Path) -> None:
    store(tmp_path, sentences=b"S1 \xff\n S2\nS3 gene\n", genes="S1|0 1|ab\nS3|0 3|gene")
    found, log = read(tmp_path)
    assert [document.id for document in found] == ["S3"]
    assert [line for line, _ in problems(log)] == [1, 2]
    assert (log.documents_rejected, log.entities_rejected, log.entities_read) == (2, 1, 1)


def test_genes_of_an_id_that_repeats_belong_to_the_first(tmp_path: Path) -> None:
    found, log = read(store(tmp_path, sentences="S1 p53\nS1 p53\n", genes="S1|0 2|p53"))
    assert [(each.id, len(each.entities)) for each in found] == [("S1", 1), ("S1#2", 0)]
    assert len(log.problems) == 1


def test_a_folder_with_several_sentence_files_is_refused(tmp_path: Path) -> None:
    store(tmp_path, sentences="S1 a", genes="")
    (tmp_path / "more.in").write_text("S2 b", encoding="utf-8")
    with pytest.raises(InputError, match=r"found more\.in, sentences\.in; name the file"):
        files.read(tmp_path)


def test_files_and_folders_are_recognised(tmp_path: Path) -> None:
    folder = store(tmp_path, sentences=f"S1 {TEXT}", genes="")
    assert files.reader_of(folder).name == files.reader_of(folder / "sentences.in").name == "bc2gm"


def test_a_folder_is_written_with_the_lines_that_were_read(tmp_path: Path) -> None:
    folder = tmp_path / "train.bc2gm"
    document = Document(
        "S1", TEXT, (GENE,), annotation_notes={"alternatives": [[5, 14], [4, 9], [0, 99], "x"]}
    )
    files.write([document], folder)
    assert {path.name: path.read_text() for path in folder.iterdir()} == {
        "train.in": f"S1 {TEXT}\n",
        "GENE.eval": "S1|3 6|IL-9\n",
        "ALTGENE.eval": "S1|3 10|IL-9 gene\n",
    }


def test_two_documents_with_one_id_are_refused_and_nothing_is_left_behind(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="two documents have the id 'S1'"):
        files.write([Document("S1", "a"), Document("S1", "b")], tmp_path / "x.bc2gm")
    assert list((tmp_path / "x.bc2gm").iterdir()) == []


def as_genes(document: Document) -> Document:
    return document.with_entities(tuple(replace(entity, type="GENE") for entity in document.entities))


@given(corpus=several(documents(text=texts(), discontinuous=True).map(as_genes)))
def test_what_is_not_read_again_was_named_as_unwritable(corpus: list[Document]) -> None:
    found, log = written(*corpus)
    for before, after in zip(corpus, found, strict=True):
        unwritable = list(FORMAT.unwritable(before))
        breaks = sum("line breaks" in line for line in unwritable)
        assert (before.text == after.text) is (breaks == 0)
        assert len(before.entities) - len(after.entities) == len(unwritable) - breaks
        assert [each for each in before.entities if each in after.entities] == list(after.entities)
    assert log.problems == []


@st.composite
def sentence_documents(draw: st.DrawFn) -> Document:
    """Documents that the format can express, with alternatives."""
    words = draw(
        st.lists(st.sampled_from(["p53", "|", "β", "(IL-9)", "\u2028", "🧬"]), min_size=1, max_size=6)
    )
    text = draw(st.sampled_from([" ", "  ", "\t"])).join(words)
    borders = st.integers(0, len(text)).filter(lambda at: at == len(text) or not text[at].isspace())
    pairs = draw(st.lists(st.tuples(borders, borders).map(sorted), max_size=4))
    ranges = [(start, end) for start, end in pairs if start < end and not text[end - 1].isspace()]
    genes = [Entity(*each, "GENE") for each in ranges[::2] if not text[each[0]].isspace()]
    others = [list(each) for each in ranges[1::2] if not text[each[0]].isspace()]
    notes = {"alternatives": others} if others else {}
    return Document("S1", text, tuple(genes), sentences=((0, len(text)),), annotation_notes=notes)


@given(document=sentence_documents())
def test_genes_and_alternatives_survive(document: Document) -> None:
    assert list(FORMAT.unwritable(document)) == []
    found, log = written(document)
    assert found == [document]
    assert log.problems == []


@pytest.mark.parametrize(
    ("document", "line"),
    [
        (Document("a b", "x"), "the id 'a b' of a document"),
        (Document("1", "a\nb"), "the line breaks of document '1'"),
        (Document("1", "a", words=((0, 1),)), "the given words of document '1'"),
        (
            Document("1", "a b", sentences=((0, 1), (2, 3))),
            "the borders of the 2 sentences of document '1'",
        ),
        (
            Document("1", "a", (Entity(0, 1, "RNA"),)),
            "an entity of a type other than GENE, 'RNA' 'a' at [0, 1) of document '1'",
        ),
        (
            Document("1", "a b", (Entity(0, 2, "GENE"),)),
            "an entity that begins or ends with white space, 'GENE' 'a ' at [0, 2) of document '1'",
        ),
        (
            Document("1", "a", (Entity(0, 1, "GENE", concepts=("D1",)),)),
            "the concepts ['D1'] of 'GENE' 'a' at [0, 1) of document '1'",
        ),
    ],
)
def test_what_the_format_cannot_express_is_unwritable(document: Document, line: str) -> None:
    assert list(FORMAT.unwritable(document)) == [line]
    assert len(written(document)[0]) == 1


def lines(path: Path) -> Counter[str]:
    return Counter(path.read_text(encoding="utf-8").splitlines())


@pytest.mark.parametrize(("split", "sentences", "odd"), [("train", 15_000, 4), ("test", 5_000, 0)])
def test_the_corpus_has_the_published_counts(corpora: Path, split: str, sentences: int, odd: int) -> None:
    folder = corpora / "bc2gm" / "original" / split
    corpus = files.read(folder)
    assert (corpus.log.documents_read, corpus.log.documents_rejected) == (sentences, 0)
    assert corpus.log.entities_read == lines(folder / "GENE.eval").total()
    assert corpus.log.entities_rejected == 0
    others = sum(len(document.annotation_notes.get("alternatives", ())) for document in corpus.documents)
    assert others == lines(folder / "ALTGENE.eval").total()
    # Every mention is the text of its range, but for four lines of the training files.
    reasons = [problem.reason for problem in corpus.log.problems]
    assert len([reason for reason in reasons if "the mention is given as" in reason]) == len(reasons) == odd


def test_the_corpus_is_written_with_the_lines_of_its_files(corpora: Path, tmp_path: Path) -> None:
    folder = corpora / "bc2gm" / "original" / "test"
    files.write(files.read(folder).documents, tmp_path / "test.bc2gm")
    for name in ("test.in", "GENE.eval", "ALTGENE.eval"):
        assert lines(tmp_path / "test.bc2gm" / name) == lines(folder / name)
