"""Write the built-in sample corpus from our own grammar: `python tools/make_sample.py [--out FOLDER]`.

`sample/tables.txt` holds the word lists, `sample/sentences.txt` the sentence templates. A document takes a
few templates of one topic and fills them from the same rows, so that it keeps to one subject. Some rows and
templates are reserved for the dev and test splits. The same seed gives the same bytes on every version of
Python, because only `random.Random.random` is used.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, TypeVar

from sample_grammar import Row, Table, blocks, joined, read_tables, unmarked
from spanwright.corpora.overlap import overlap
from spanwright.text import Document

GRAMMAR = Path(__file__).resolve().parent / "sample"
OUT = GRAMMAR.parent.parent / "src" / "spanwright" / "sample"
SEED = 34
SIZES = {"train": 300, "dev": 60, "test": 80}

RESERVED_ROWS = 0.3
RESERVED_TEMPLATES = 0.12
RESERVED_USE = 0.35
"""How often dev and test draw from what is reserved for them."""
CLOSED = 0.15
"""Share of documents that end in a sentence of the topic `closing`, which fits any subject."""
INTRODUCED = 0.65
"""Share of first mentions that bring their abbreviation, if they have one."""

Card = TypeVar("Card")

_CHOICE = re.compile(r"<([^<>]*)>")
_NUMBER = re.compile(r"\{(\d+)-(\d+)\}")
_SLOT = re.compile(r"\{(?P<plain>=?)(?P<column>[a-z]+)(?P<plural>(?:\+s)?)(?:#(?P<number>\d))?\}")
_BINOMIAL = re.compile(r"([A-Z])[a-z]+ ([a-z-]+)")


def pick(generator: random.Random, items: Sequence[Card]) -> Card:
    """One of the items."""
    return items[int(generator.random() * len(items))]


class Deck(Generic[Card]):
    """Deals its cards in random order, each once before any comes again."""

    def __init__(self, cards: Sequence[Card], generator: random.Random) -> None:
        self.cards, self.generator = cards, generator
        self.pile: list[Card] = []

    def deal(self) -> Card:
        """The next card."""
        if not self.pile:
            self.pile = shuffled(self.cards, self.generator)
        return self.pile.pop()


def shuffled(cards: Sequence[Card], generator: random.Random) -> list[Card]:
    """The cards in random order."""
    keys = [generator.random() for _ in cards]
    return [cards[position] for position in sorted(range(len(cards)), key=keys.__getitem__)]


class Drawing(Generic[Card]):
    """Deals from what all splits share and, if the split may, from what is reserved for dev and test."""

    def __init__(
        self, common: Sequence[Card], reserved: Sequence[Card], use: float, generator: random.Random
    ):
        self.common, self.reserved = Deck(common, generator), Deck(reserved, generator)
        self.use = use if reserved else 0.0
        self.generator = generator

    def deal(self) -> Card:
        """The next card."""
        return (self.reserved if self.generator.random() < self.use else self.common).deal()


@dataclass
class Writer:
    """Writes the documents of one split."""

    tables: dict[str, Table]
    rows: dict[str, Drawing[Row]]
    templates: dict[str, Drawing[tuple[int, str]]]
    """By topic; a template comes with its position in the grammar."""
    topics: Deck[str]
    generator: random.Random
    bound: dict[tuple[str, str], Row] = field(default_factory=dict)
    """The rows drawn for the current document, by table and number."""
    named: dict[str, bool] = field(default_factory=dict)
    """Long names that the current document has used, and whether their short form stands for them now."""

    def document(self, name: str) -> Document:
        """The next document."""
        self.bound, self.named = {}, {}
        topic = self.topics.deal()
        count = 2 + int(self.generator.random() * 1.8)
        templates: set[tuple[int, str]] = set()
        while len(templates) < count:
            templates.add(self.templates[topic].deal())
        chosen = [template for _, template in sorted(templates)]
        if len(chosen) < 4 and self.generator.random() < CLOSED:
            chosen.append(self.templates["closing"].deal()[1])
        return joined(name, [unmarked(self.filled(template)) for template in chosen])

    def filled(self, template: str) -> str:
        """A template with its choices made and its slots filled; the marks of entities remain."""
        while match := _CHOICE.search(template):
            choice = pick(self.generator, match[1].split("|"))
            template = template[: match.start()] + choice + template[match.end() :]
        template = _NUMBER.sub(lambda match: str(self.number(int(match[1]), int(match[2]))), template)
        while match := _SLOT.search(template):
            before = template[: match.start()]
            inside = before.count("[") > before.count("]")
            template = before + self.mention(match, inside) + template[match.end() :]
        return template

    def number(self, low: int, high: int) -> int:
        """A number from low to high."""
        return low + int(self.generator.random() * (high - low + 1))

    def mention(self, slot: re.Match[str], inside: bool) -> str:
        """What stands for a slot: a cell, in its long or short form, with or without its mark."""
        table = next(table for table in self.tables if slot["column"] in self.tables[table].columns)
        columns = self.tables[table].columns
        cell = self.row(table, slot["number"] or "1")[list(columns).index(slot["column"])]
        type_, latin = columns[slot["column"]].rstrip("*"), columns[slot["column"]].endswith("*")
        mark = "{}" if type_ == "-" or slot["plain"] else f"[{type_}: {{}}]"
        forms = [mark.format(form + slot["plural"][1:]) for form in self.forms(cell, latin, inside)]
        return forms[0] if len(forms) == 1 else f"{forms[0]} ({forms[1]})"

    def row(self, table: str, number: str) -> Row:
        """The row of a table that the document uses under a number; rows of two numbers differ."""
        taken = [row for (name, _), row in self.bound.items() if name == table]
        while (table, number) not in self.bound:
            row = self.rows[table].deal()
            if row not in taken:
                self.bound[table, number] = row
        return self.bound[table, number]

    def forms(self, cell: str, latin: bool, inside: bool) -> list[str]:
        """The form of a name at this point of the document, or the long and the short one to introduce."""
        long, _, short = cell.partition(" = ")
        binomial = _BINOMIAL.fullmatch(long) if latin else None
        if binomial:
            first = long not in self.named
            self.named[long] = True
            return [long if first else f"{binomial[1]}. {binomial[2]}"]
        if not short:
            return [long]
        if long in self.named or inside:
            return [short if self.named.get(long) else long]
        self.named[long] = self.generator.random() < INTRODUCED
        return [long, short] if self.named[long] else [long]


def splits() -> Iterator[tuple[str, list[Document]]]:
    """The splits of the corpus: (name, documents)."""
    generator = random.Random(SEED)
    tables = read_tables(GRAMMAR / "tables.txt")
    rows = {name: parted(table.rows, RESERVED_ROWS, generator) for name, table in tables.items()}
    topics = {topic: list(enumerate(lines)) for topic, lines in blocks(GRAMMAR / "sentences.txt")}
    templates = {topic: parted(lines, RESERVED_TEMPLATES, generator) for topic, lines in topics.items()}
    weighted = [topic for topic, lines in topics.items() if topic != "closing" for _ in lines]
    texts: set[str] = set()
    written: dict[str, tuple[Writer, list[Document]]] = {}
    for split, size in SIZES.items():
        use = 0.0 if split == "train" else RESERVED_USE
        writer = Writer(
            tables,
            {name: Drawing(*parts, use, generator) for name, parts in rows.items()},
            {topic: Drawing(*parts, use, generator) for topic, parts in templates.items()},
            Deck(weighted, generator),
            generator,
        )
        written[split] = writer, list(different(writer, split, size, texts))
    earlier: list[Document] = []
    for split, (writer, documents) in written.items():
        earlier += (apart := list(unlike(writer, documents, tuple(earlier))))
        yield split, apart


def unlike(writer: Writer, documents: Sequence[Document], earlier: Sequence[Document]) -> Iterator[Document]:
    """The documents, with new ones in place of those that nearly stand in an earlier split."""
    shared = {document.id for document in overlap(documents, earlier).shared_a}
    for document in documents:
        while document.id in shared and overlap([document], earlier).shared_a:
            document = writer.document(document.id)
        yield document


def different(writer: Writer, split: str, size: int, texts: set[str]) -> Iterator[Document]:
    """As many documents as asked for, none with a text that has been written before."""
    for number in range(1, size + 1):
        document = writer.document(f"sample-{split}-{number:04}")
        while document.text in texts:
            document = writer.document(document.id)
        texts.add(document.text)
        yield document


def parted(cards: Sequence[Card], share: float, generator: random.Random) -> tuple[list[Card], list[Card]]:
    """The cards in two parts: those that all splits share, and a share that is reserved."""
    cards = shuffled(cards, generator)
    border = round(len(cards) * share)
    return cards[border:], cards[:border]


def line(document: Document) -> str:
    """One line of JSON for a document."""
    entities = [{"start": e.start, "end": e.end, "type": e.type} for e in document.entities]
    record = {"id": document.id, "text": document.text, "entities": entities}
    return json.dumps(record, ensure_ascii=False) + "\n"


def main() -> None:
    """Write train.jsonl, dev.jsonl and test.jsonl."""
    parser = argparse.ArgumentParser(description="Write the built-in sample corpus.")
    parser.add_argument("--out", type=Path, default=OUT, help="folder to write to")
    out: Path = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    for split, documents in splits():
        text = "".join(line(document) for document in documents)
        (out / f"{split}.jsonl").write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
