"""Pre-tokenised documents for property tests, and short ways to read and write a text in a format."""

from __future__ import annotations

import re
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import strategies as st
from strategies import TYPES, ids, texts

from spanwright.formats.format import Format, ReadingLog
from spanwright.formats.token_texts import entity_of, joined
from spanwright.text import Document

COLUMN_WORDS = st.one_of(
    st.sampled_from(
        ["p53", "-", "#", "O", "B-Disease", "-DOCSTART-1", "|t|", "\ufeff", "\x00", "🧬", "x", "1"]
    ),
    texts(max_chunks=2).map(
        lambda text: re.sub(r"[\s\u3005-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]|-DOCSTART-", "", text)
    ),
).filter(bool)
"""Words of a column file: no white space, not the mark, and no characters that are joined without blanks."""
ANY_WORDS = texts(max_chunks=2).filter(bool)


@st.composite
def token_documents(
    draw: st.DrawFn,
    *,
    words: st.SearchStrategy[str],
    most_sentences: int = 1,
    nested: bool = True,
    blank: str = " ",
) -> Document:
    """A document as readers of token formats make it: words joined to a text, entities on whole words."""
    sentences = draw(st.lists(st.lists(words, min_size=1, max_size=6), max_size=most_sentences))
    text, word_ranges, sentence_ranges = joined(sentences, blank)
    runs: list[tuple[int, int, str]] = []
    start = 0
    for tokens in sentences:
        end = 0
        for _ in range(draw(st.integers(0, 3))):
            first = draw(st.integers(0 if nested else end, len(tokens)))
            end = draw(st.integers(first, len(tokens)))
            if first < end:
                runs.append((start + first, start + end, draw(st.sampled_from(TYPES))))
        start += len(tokens)
    entities = tuple(entity_of(run, word_ranges) for run in sorted(set(runs)))
    return Document(draw(ids()), text, entities, word_ranges, sentence_ranges)


def read(format: Format, content: str | bytes, name: str = "corpus.txt") -> tuple[list[Document], ReadingLog]:
    """The documents of a file with that content, and the log of its reading."""
    log = ReadingLog()
    with TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return [log.accept(document) for document in format.read(path, log)], log


def write(format: Format, *documents: Document) -> str:
    """The content of a file with those documents."""
    assert format.serialise is not None
    return "".join(format.serialise(documents))


def problems(log: ReadingLog) -> list[tuple[int, str]]:
    """Line and reason of each problem."""
    return [(problem.line, problem.reason) for problem in log.problems]
