"""A file that names several corpora to train on together:

target = "BioRED"                 # whose dev F1 chooses the model; a list for the mean of several
map = "cvae-ner"                  # a label map: a shipped name, a file, or "auto"

[corpora.BioRED]
train = "biored/train.pubtator"
dev = "biored/dev.pubtator"
test = "biored/test.pubtator"

[corpora.NLMGene]
train = ["nlmgene/train.pubtator", "nlmgene/dev.pubtator"]
weight = 0.5
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, PositiveInt, ValidationError

from spanwright.errors import InputError
from spanwright.formats.files import read
from spanwright.formats.format import ReadingLog
from spanwright.settings.data import Factor
from spanwright.strict import Strict
from spanwright.text import Document
from spanwright.toml_files import read_toml, reasons
from spanwright.toml_text import value_text

SPLITS = ("train", "dev", "test")


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, str | Path) else value


Files = Annotated[tuple[Path, ...], BeforeValidator(_as_list), Field(min_length=1)]
"""One file or a list of them; paths start from where the command runs."""
CorpusNames = Annotated[tuple[str, ...], BeforeValidator(_as_list)]


class DocumentLimits(Strict):
    """How many documents of each split are used: the first ones, or all when None."""

    train: PositiveInt | None = None
    dev: PositiveInt | None = None
    test: PositiveInt | None = None


class CorpusFiles(Strict):
    """The files of one corpus."""

    train: Files
    dev: Files | None = None
    test: Files | None = None
    format: str | None = None
    """The format of all files; recognised unless given."""
    options: dict[str, str] = Field(default_factory=dict)
    """Choices of the format, such as tag_column."""
    documents: DocumentLimits = DocumentLimits()
    weight: Factor = 1.0
    """How many times its windows count."""


class CorporaFile(Strict):
    """Several corpora, the one that matters, and how their types correspond."""

    target: CorpusNames = ()
    map: str | None = None
    corpora: dict[str, CorpusFiles] = Field(min_length=1)

    @property
    def changes(self) -> list[str]:
        """What the file says as settings, `key=value`."""
        weights = {name: files.weight for name, files in self.corpora.items() if files.weight != 1}
        # The target always, even if there is none: it switches several corpora on in any recipe.
        changes = [f"corpora.target={value_text(self.target)}"]
        changes += [f"corpora.map={value_text(self.map)}"] if self.map else []
        return [*changes, f"corpora.weights={value_text(weights)}"] if weights else changes


@dataclass(frozen=True, slots=True)
class SplitReading:
    """What was read of one split of one corpus."""

    corpus: str
    split: str
    documents: list[Document]
    log: ReadingLog


def load_corpora_file(path: Path) -> CorporaFile:
    """The corpora file at a path; an error names each wrong key."""
    values = read_toml(path, hint="it names corpora and their files, see docs/cvae.md")
    try:
        return CorporaFile.model_validate(values)
    except ValidationError as error:
        raise InputError(f"{path}: {reasons(error, CorporaFile)}") from None


def read_splits(file: CorporaFile, *, strict: bool = False) -> Iterator[SplitReading]:
    """Read corpus after corpus; every document says which it is from."""
    for name, files in file.corpora.items():
        for split in SPLITS:
            if paths := getattr(files, split):
                found = read(*paths, format=files.format, options=files.options, strict=strict, to_train=True)
                chosen = found.documents[: getattr(files.documents, split)]
                if not chosen:
                    raise InputError(f"corpus {name!r}: its {split} files have no document that can be read")
                yield SplitReading(name, split, [replace(each, corpus=name) for each in chosen], found.log)
