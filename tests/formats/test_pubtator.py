from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import concept_ids, corpora, documents, texts

from spanwright.formats.format import ReadingLog
from spanwright.formats.pubtator.annotations import join_concepts, split_concepts
from spanwright.formats.pubtator.documents import FORMAT
from spanwright.text import Argument, Document, Entity, Relation

BLOCK = """\
1|t|Famotidine and delirium
1|a|A report.
1\t0\t10\tFamotidine\tChemical\tD015738
1\t15\t23\tdelirium\tDisease\tD003693

"""
OTHER = re.sub("^1", "2", BLOCK, flags=re.MULTILINE)
TWO_SECTIONS = st.tuples(texts(), texts()).map(
    lambda sections: "\n".join(text for text in (re.sub("[\r\n]", " ", s) for s in sections) if text)
)


def read(folder: Path, content: str | bytes) -> tuple[list[Document], ReadingLog]:
    path = folder / "corpus.pubtator"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    log = ReadingLog()
    return [log.accept(document) for document in FORMAT.read(path, log)], log


def write(*given: Document) -> str:
    assert FORMAT.serialise is not None
    return "".join(FORMAT.serialise(given))


def without_last_line_ends(document: Document) -> Document:
    """What a reader gets back of a text: line ends at its end only where an entity has them."""
    ended = document.text.rstrip("\r\n")
    reaches = max((entity.end for entity in document.entities), default=0)
    return replace(document, text=document.text if reaches > len(ended) else ended)


def reasons(log: ReadingLog) -> list[tuple[int, str]]:
    return [(problem.line, problem.reason) for problem in log.problems]


def test_a_document_is_title_line_break_and_abstract(tmp_path: Path) -> None:
    (document,), log = read(tmp_path, BLOCK)
    assert document == Document(
        "1",
        "Famotidine and delirium\nA report.",
        (
            Entity(0, 10, "Chemical", concepts=("D015738",)),
            Entity(15, 23, "Disease", concepts=("D003693",)),
        ),
    )
    assert log.problems == []


@pytest.mark.parametrize("abstract", ["", "1|a|\n"])
def test_without_an_abstract_the_text_is_the_title(tmp_path: Path, abstract: str) -> None:
    (document,), _ = read(tmp_path, f"1|t|Delirium\n{abstract}1\t0\t8\tDelirium\tDisease\n")
    assert document.text == "Delirium"
    assert document.entities == (Entity(0, 8, "Disease"),)


HARMLESS = {
    "CRLF": lambda text: text.replace("\n", "\r\n"),
    "CR": lambda text: text.replace("\n", "\r"),
    "a byte order mark": lambda text: f"\ufeff{text}",
    "two empty lines": lambda text: text.replace("\n\n", "\n\n\n"),
    "no line end at the end": lambda text: text.rstrip("\n"),
    "blanks in the empty line": lambda text: text.replace("\n\n", "\n \t\n"),
}


@pytest.mark.parametrize("change", HARMLESS.values(), ids=HARMLESS)
def test_harmless_differences_change_nothing(tmp_path: Path, change: Callable[[str], str]) -> None:
    assert read(tmp_path, change(BLOCK + OTHER)) == read(tmp_path, BLOCK + OTHER)


def test_a_title_line_begins_a_block_where_the_empty_line_is_missing(tmp_path: Path) -> None:
    found, _ = read(tmp_path, BLOCK.rstrip("\n") + "\n2|t|Next\n2|a|\n")
    assert [document.id for document in found] == ["1", "2"]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("1\t0\t34\tx\tDisease", "expected whole numbers 0 <= start < end <= 33"),
        ("1\t5\t5\t\tDisease", "are '5' and '5'"),
        ("1\t9\t5\tx\tDisease", "are '9' and '5'"),
        ("1\t-1\t5\tx\tDisease", "are '-1' and '5'"),
        ("1\t0.0\t5\tx\tDisease\tD1", "are '0.0' and '5'"),
        ("1\tzero\t10\tFamotidine\tChemical", "are 'zero' and '10'"),
        ("1\t0\tten\tFamotidine\tChemical", "are '0' and 'ten'"),
        ("1\t٠\t٥\tx\tDisease", "are '٠' and '٥'"),
        (f"1\t0\t{'9' * 5000}\tx\tDisease", "expected whole numbers"),
        ("1\t0\t10\tFamotidine", "4 tab-separated columns"),
        ("1 0 10 Famotidine Chemical", "1 tab-separated columns"),
        ("1\t0\t10\tFamotidine\t\tD015738", "has no type"),
        ("2\t0\t10\tFamotidine\tChemical", "an annotation of '2' in the block of '1'"),
        ("1|x|another section", "1 tab-separated columns"),
    ],
)
def test_a_malformed_annotation_is_rejected_with_line_and_reason(
    tmp_path: Path, line: str, reason: str
) -> None:
    (document,), log = read(tmp_path, f"{BLOCK.rstrip()}\n{line}\n")
    ((number, found),) = reasons(log)
    assert number == 5
    assert reason in found
    assert (log.entities_read, log.entities_rejected) == (2, 1)
    assert document.relations == ()


@pytest.mark.parametrize(
    ("block", "line", "reason"),
    [
        ("1|a|abstract\n1|t|title\n", 1, "a block of 1|a|"),
        ("1|t|title\n1|a|one\n1|a|two\n", 1, "a block of 1|t| 1|a| 1|a|"),
        ("1|t|title\n2|a|abstract\n", 2, "a block of 1|t| 2|a|"),
        ("1\t0\t10\tFamotidine\tChemical\n", 1, "without an ID|t| line"),
    ],
)
def test_a_block_without_a_sound_text_is_rejected(tmp_path: Path, block: str, line: int, reason: str) -> None:
    _, log = read(tmp_path, block)
    assert reasons(log)[0][0] == line
    assert reason in reasons(log)[0][1]
    assert log.documents_rejected == 1


def test_the_annotations_of_a_rejected_block_are_counted_without_its_relations(tmp_path: Path) -> None:
    without_title = BLOCK.partition("\n")[2].rstrip() + "\n1\tCID\tD015738\tD003693\n\n"
    found, log = read(tmp_path, without_title + OTHER)
    assert [document.id for document in found] == ["2"]
    assert (log.documents_rejected, log.entities_rejected) == (1, 2)


def test_a_text_line_that_is_no_utf8_rejects_its_document_only(tmp_path: Path) -> None:
    found, log = read(tmp_path, BLOCK.encode().replace(b"report", b"r\xe9port") + OTHER.encode())
    assert [document.id for document in found] == ["2"]
    assert (log.documents_rejected, log.entities_rejected) == (1, 2)
    assert reasons(log)[0][0] == 2
    assert "byte 0xe9 at offset 7" in reasons(log)[0][1]


def test_an_annotation_that_is_no_utf8_is_rejected_alone(tmp_path: Path) -> None:
    (document,), log = read(tmp_path, BLOCK.encode().replace(b"\tdel", b"\td\xff"))
    assert [entity.type for entity in document.entities] == ["Chemical"]
    assert (log.entities_read, log.entities_rejected, reasons(log)[0][0]) == (1, 1, 4)


@pytest.mark.parametrize("given", ["Delirium", "delirium  ", "something else"])
def test_a_mention_that_is_not_at_its_offsets_is_kept_and_remarked(tmp_path: Path, given: str) -> None:
    (document,), log = read(tmp_path, BLOCK.replace("\tdelirium\t", f"\t{given}\t"))
    assert document.entities[1] == Entity(15, 23, "Disease", concepts=("D003693",))
    assert log.entities_rejected == 0
    ((line, reason),) = reasons(log)
    assert line == 4
    assert repr(given) in reason and "'delirium'" in reason


def test_a_repeated_id_gets_a_number_and_a_remark(tmp_path: Path) -> None:
    found, log = read(tmp_path, BLOCK * 3)
    assert [document.id for document in found] == ["1", "1#2", "1#3"]
    assert [document.metadata.get("given_id") for document in found] == [None, "1", "1"]
    assert [line for line, _ in reasons(log)] == [6, 11]
    assert write(*found) == BLOCK * 3


def test_a_numbered_document_without_its_namesake_keeps_its_id(tmp_path: Path) -> None:
    second = read(tmp_path, BLOCK * 2)[0][1]
    assert [document.id for document in read(tmp_path, write(second))[0]] == ["1#2"]


@pytest.mark.parametrize("relation", ["CID\tD015738\tD003693", "Association\tD015738\tD003693\tNovel"])
def test_relations_are_no_entities_and_survive_writing(tmp_path: Path, relation: str) -> None:
    content = f"{BLOCK.rstrip()}\n1\t{relation}\n\n"
    (document,), log = read(tmp_path, content)
    type_, first, second, *note = relation.split("\t")
    assert document.relations == (Relation(type_, (Argument(first), Argument(second)), "".join(note)),)
    assert (log.entities_read, log.problems) == (2, [])
    assert write(document) == content


def test_a_relation_of_concepts_that_no_entity_has_is_kept_and_remarked(tmp_path: Path) -> None:
    (document,), log = read(tmp_path, f"{BLOCK.rstrip()}\n1\tabc\tdef\tdelirium\tDisease\n")
    assert document.relations == (Relation("abc", (Argument("def"), Argument("delirium")), "Disease"),)
    assert [line for line, _ in reasons(log)] == [5]


@pytest.mark.parametrize(
    ("column", "concepts"),
    [
        ("D001|D002", ("D001", "D002")),
        ("3172,3651,6927", ("3172", "3651", "6927")),
        ("17125;17129", ("17125", "17129")),
        ("D020279+D035583", ("D020279", "D035583")),
        (" OMIM:106210 ", ("OMIM:106210",)),
        ("348932,22598(Tax:10090)", ("348932", "22598(Tax:10090)")),
        ("c|SUB|G|2633+1|C", ("c|SUB|G|2633+1|C",)),
        ("p|SUB|V||M;Gene:3577;Disease:D1,D2", ("p|SUB|V||M", "Gene:3577", "Disease:D1,D2")),
        ("-1", ()),
        ("-", ()),
        ("D001|D002\tone part|another part", ("D001", "D002")),
        ("\tone part|another part", ()),
    ],
)
def test_concepts_are_split_and_the_column_is_written_as_it_was(
    tmp_path: Path, column: str, concepts: tuple[str, ...]
) -> None:
    content = BLOCK.replace("D003693", column)
    (document,), _ = read(tmp_path, content)
    assert document.entities[1].concepts == concepts
    assert write(document) == content


def test_an_entity_that_changed_is_written_with_its_own_concepts(tmp_path: Path) -> None:
    (document,), _ = read(tmp_path, BLOCK.replace("D003693", "D003693,D000001"))
    changed = document.with_entities((Entity(15, 23, "Disease", concepts=("D9",)),))
    assert read(tmp_path, write(changed))[0][0].entities == changed.entities


@pytest.mark.parametrize(
    ("column", "concepts"),
    [
        (
            "tmVar:p|SUB|V|600|E;HGVS:p.V600E;CorrespondingGene:673",
            ("tmVar:p|SUB|V|600|E", "HGVS:p.V600E", "CorrespondingGene:673"),
        ),
        ("|DEL|46|S", ("|DEL|46|S",)),
        ("c|DEL888|C", ("c|DEL888|C",)),
        ("MESH:D005947,-", ("MESH:D005947",)),
        ("D002544|-1", ("D002544",)),
    ],
)
def test_variants_are_one_concept_and_no_concept_is_none(column: str, concepts: tuple[str, ...]) -> None:
    assert split_concepts(column) == concepts


def test_a_mention_with_tabs_is_one_column(tmp_path: Path) -> None:
    block = "1|t|a\tb disease\n1|a|\n1\t0\t3\ta\tb\tDisease\tD1\n"
    (document,), log = read(tmp_path, block)
    assert document.entities == (Entity(0, 3, "Disease", concepts=("D1",)),)
    assert not log.problems


@given(concepts=st.lists(concept_ids(), max_size=4).map(tuple))
def test_joined_concepts_split_again(concepts: tuple[str, ...]) -> None:
    column = join_concepts(concepts)
    assert column is not None
    assert split_concepts(column) == concepts


@given(corpus=corpora(documents(text=TWO_SECTIONS, concepts=True, related="concepts")))
def test_documents_survive_writing_and_reading(corpus: list[Document]) -> None:
    assert [line for document in corpus for line in FORMAT.unwritable(document)] == []
    with TemporaryDirectory() as folder:
        found, log = read(Path(folder), write(*corpus))
    assert found == corpus
    assert log.problems == []


@given(document=documents(discontinuous=True))
def test_lossy_writing_keeps_every_offset(document: Document) -> None:
    document = without_last_line_ends(document)
    with TemporaryDirectory() as folder:
        (found,), log = read(Path(folder), write(document))
    assert found.entities == tuple(entity for entity in document.entities if not entity.fragments)
    assert len(found.text) == len(document.text)
    changed = {was for was, now in zip(document.text, found.text, strict=True) if was != now}
    assert changed <= {"\n", "\r"}
    assert log.entities_rejected == 0


@given(document=documents(discontinuous=True, concepts=True, related="anything"))
def test_what_is_not_read_again_was_named_as_unwritable(document: Document) -> None:
    with TemporaryDirectory() as folder:
        (found,), _ = read(Path(folder), write(document))
    same = found == without_last_line_ends(document)
    assert same is not bool(list(FORMAT.unwritable(document)))


@pytest.mark.parametrize(
    ("document", "line"),
    [
        (Document("1", "one\ntwo\nthree"), "the line breaks of document '1'"),
        (Document("1", "one\n", (Entity(0, 4, "D"),)), "the line breaks of document '1'"),
        (Document("1|2", "one"), "the id '1|2'"),
        (Document("", "one"), "the id ''"),
        (Document("1", "one", words=((0, 3),), sentences=((0, 3),)), "the given words and sentences"),
        (
            Document("1", "a b c", (Entity(0, 5, "D", ((0, 1), (4, 5))),)),
            "the fragments of 'D' 'a c' at [0, 5)",
        ),
        (Document("1", "one", (Entity(0, 3, "a\tb"),)), "the type of 'a\\tb' 'one'"),
        (Document("1", "one", (Entity(0, 3, ""),)), "the type of ''"),
        (Document("1", "one", (Entity(0, 3, "D", concepts=("a|b",)),)), "the concepts ['a|b'] of 'D' 'one'"),
        (Document("1", "one", (Entity(0, 3, "D", concepts=("a\nb",)),)), "the concepts ['a\\nb'] of"),
        (Document("1", "one", (Entity(0, 3, "D", concepts=("-1",)),)), "the concepts ['-1'] of"),
    ],
)
def test_what_cannot_be_written_is_named(tmp_path: Path, document: Document, line: str) -> None:
    (found,) = FORMAT.unwritable(document)
    assert line in found
    assert len(read(tmp_path, write(document))[0]) == 1


@pytest.mark.parametrize("text", ["Famotidine helps.\n", "Famotidine.\nIt helps.\n", "Famotidine\r\n\n"])
def test_line_ends_at_the_end_of_a_text_count_for_nothing(tmp_path: Path, text: str) -> None:
    document = Document("1", text, (Entity(0, 10, "Chemical"),))
    assert list(FORMAT.unwritable(document)) == []
    (found,), log = read(tmp_path, write(document))
    assert (found.text, found.entities, log.problems) == (text.rstrip(), document.entities, [])


def test_line_breaks_that_become_blanks_are_not_left_out() -> None:
    (line,) = FORMAT.unwritable(Document("1", "one\ntwo\nthree"))
    assert line.fate == "turned into blanks"


def test_notes_of_other_formats_do_not_disturb_the_writing(tmp_path: Path) -> None:
    strange = {"pubtator_columns": 7, "given_id": None}
    document = Document("1", "one", (Entity(0, 3, "D"),), metadata=strange, annotation_notes=strange)
    (found,), log = read(tmp_path, write(document))
    assert found.entities == document.entities
    assert log.problems == []


def test_kept_columns_stay_with_an_entity_of_another_type(tmp_path: Path) -> None:
    line = "1\t0\t15\tliver and heart\tDisease\tD1|D2\tliver|heart"
    (document,), _ = read(tmp_path, f"1|t|liver and heart\n1|a|\n{line}\n")
    (old,) = document.entities
    changed = document.with_changed_entities({old: replace(old, type="Disorder")})
    assert write(changed).splitlines()[-2] == line.replace("Disease", "Disorder")


def test_kept_columns_that_tell_other_concepts_are_not_written() -> None:
    entity = Entity(0, 3, "D", concepts=("D1",))
    document = Document("1", "one", (entity,), annotation_notes={"pubtator_columns": {"0 3\tD\tD1": "D2"}})
    assert write(document).splitlines()[-2] == "1\t0\t3\tone\tD\tD1"


def test_files_are_recognised_by_their_first_line() -> None:
    path = Path("corpus.txt")
    assert FORMAT.recognises(path, f"\n{BLOCK}")
    assert not FORMAT.recognises(path, "Some text.\n1|t|title\n")
    assert not FORMAT.recognises(path, "a\tB-Disease\n")
