"""Tables in Parquet and Arrow files, alone or several in a folder, read batch by batch.

A folder may be one of Parquet files or one that the Hugging Face library `datasets` saved.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spanwright.errors import InputError, MissingExtraError
from spanwright.formats.io.file_names import visible

_BATCH_ROWS = 1000
_PARQUET = "PAR1"
_ARROW_FILE = "ARROW1"
_SHARD = re.compile(r"(.+)-\d+-of-\d+\.\w+")


def import_pyarrow(feature: str = "the format 'parquet'") -> Any:
    """The package `pyarrow` with its modules for files; without it, an error about what needs it."""
    try:
        import pyarrow.ipc
        import pyarrow.parquet
    except ImportError:
        raise MissingExtraError(feature, "pyarrow", "parquet") from None
    return pyarrow


@dataclass(frozen=True, slots=True)
class ArrowTable:
    """A file of rows under a schema."""

    path: Path
    schema: Any
    """A `pyarrow.Schema`."""

    def batches(self, columns: list[str]) -> Iterator[Any]:
        """Yield `pyarrow.RecordBatch`es of some columns; each call reads the file again."""
        pyarrow = import_pyarrow()
        with _legible(self.path):
            if _magic(self.path).startswith(_PARQUET):
                with pyarrow.parquet.ParquetFile(self.path) as file:
                    yield from file.iter_batches(batch_size=_BATCH_ROWS, columns=columns)
            else:
                with pyarrow.OSFile(str(self.path)) as source:
                    for batch in _arrow_batches(source, self.path):
                        # Offsets in Arrow files are taken as they stand, and may point anywhere.
                        batch.validate(full=True)
                        yield batch.select(columns)


def open_arrow_table(path: Path) -> ArrowTable:
    """The table in a file."""
    pyarrow = import_pyarrow()
    with _legible(path):
        if _magic(path).startswith(_PARQUET):
            return ArrowTable(path, pyarrow.parquet.read_schema(path))
        with pyarrow.OSFile(str(path)) as source:
            return ArrowTable(path, _arrow_reader(source, path).schema)


def _magic(path: Path) -> str:
    with path.open("rb") as file:
        return file.read(len(_ARROW_FILE)).decode("latin-1")


def _arrow_reader(source: Any, path: Path) -> Any:
    """A reader of the file form or of the stream form, which `datasets` uses."""
    ipc = import_pyarrow().ipc
    return ipc.open_file(source) if _magic(path) == _ARROW_FILE else ipc.open_stream(source)


def _arrow_batches(source: Any, path: Path) -> Iterator[Any]:
    reader = _arrow_reader(source, path)
    if _magic(path) != _ARROW_FILE:
        yield from reader
        return
    for number in range(reader.num_record_batches):
        yield reader.get_batch(number)


@contextmanager
def _legible(path: Path) -> Iterator[None]:
    """Turns what pyarrow says of a broken file into an `InputError` that names the file."""
    try:
        yield
    except (import_pyarrow().ArrowException, OSError) as error:
        reason = " ".join(str(error).split())
        raise InputError(
            f"{path}: not a whole Parquet or Arrow file ({reason:.200}); expected one of the two"
        ) from None


def looks_like_tables(path: Path, head: str) -> bool:
    """Whether a folder holds tables, or a file begins like one."""
    if not path.is_dir():
        return head.startswith((_PARQUET, _ARROW_FILE)) or path.suffix.lower() == ".arrow"
    return is_saved_data_set(path) or bool(visible(path.glob("*.parquet")))


def is_saved_data_set(folder: Path) -> bool:
    """Whether the library `datasets` saved a folder: one split, or several with a folder each."""
    if (folder / "dataset_dict.json").is_file():
        return True
    return (folder / "state.json").is_file() and bool(visible(folder.glob("*.arrow")))


def table_files(path: Path) -> list[Path]:
    """The files that a path means, in the order of their names; those of several splits are refused."""
    if not path.is_dir():
        return [path]
    if (path / "dataset_dict.json").is_file():
        splits = sorted(each.parent.name for each in path.glob("*/state.json"))
        raise InputError(f"{path}: a folder of splits; name one of them: {', '.join(splits)}")
    files = _saved_files(path) or visible(path.glob("*.parquet"))
    if not files:
        raise InputError(f"{path}: no Parquet file in this folder, and no data set that was saved")
    splits = sorted({match[1] for file in files if (match := _SHARD.fullmatch(file.name))})
    if len(splits) > 1:
        raise InputError(f"{path}: files of several splits, {', '.join(splits)}; name the files of one")
    return files


def _saved_files(folder: Path) -> list[Path]:
    """The files of a data set that `datasets` saved; others beside them are its cache."""
    try:
        state = json.loads((folder / "state.json").read_text(encoding="utf-8"))
        # The bare name: a list from elsewhere may not lead out of the folder.
        return [folder / Path(each["filename"]).name for each in state["_data_files"]]
    except (OSError, ValueError, LookupError, TypeError):
        return []


def label_names(schema: Any, column: str) -> list[str]:
    """The names of the numbers in a column, as `datasets` puts them into the schema; [] if there are none."""
    try:
        feature = json.loads(schema.metadata[b"huggingface"])["info"]["features"][column]
        while "names" not in feature:
            feature = feature[0] if isinstance(feature, list) else feature["feature"]
        return [str(name) for name in feature["names"]]
    except (ValueError, LookupError, TypeError):
        return []
