"""Spark: a function for `DataFrame.mapInArrow` that tags a column of texts. See docs/scale.md.

    from spanwright.integrations.spark import SCHEMA, tagging

    texts = spark.read.parquet("abstracts.parquet").select("id", "text")
    texts.mapInArrow(tagging("runs/plain/model"), SCHEMA).write.parquet("tagged.parquet")

Each Python worker of Spark loads the model once, so every machine must see it under the same path. Spark
brings the batches and tries lost tasks again. How it cuts them can change the last digits of a confidence; a
job (`spanwright job`) repeats to the byte.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from spanwright.errors import InputError, MissingExtraError
from spanwright.predicting.tagging_options import TaggingOptions, load_tagger, tag_documents
from spanwright.text import Document, Entity

if TYPE_CHECKING:
    from spanwright.predicting.tagger import Tagger

SCHEMA = "id string, entities array<struct<start: int, end: int, type: string, confidence: double>>"
"""Of what comes out. Offsets count characters of the text, `[start, end)`."""

_loaded: list[tuple[TaggingOptions, Tagger]] = []
"""The tagger of this process, if it has one: Spark gives a process many tasks of a query."""


def tagging(model: str, **options: Any) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """A function from Arrow batches with the columns `id` and `text` to batches of `SCHEMA`.

    Options are those of `TaggingOptions`: `types`, `corpus`, `shared_types`, `minimum_confidence`,
    `tuned_thresholds`, `runtime`, `device`, `precision`, and `threads`, which is 1 unless given,
    as Spark runs a task on each core. A text that is null has no entities.
    """
    chosen = TaggingOptions(model=model, **options)
    _import_pyarrow()

    def tag_batches(batches: Iterable[Any]) -> Iterator[Any]:
        return (tag_batch(batch, chosen) for batch in batches)

    return tag_batches


def tag_batch(batch: Any, chosen: TaggingOptions) -> Any:
    """Tag the texts of a `pyarrow.RecordBatch`."""
    pyarrow = _import_pyarrow()
    for name in ("id", "text"):
        if name not in batch.schema.names:
            raise InputError(
                f"the columns are {', '.join(batch.schema.names)}; expected id and text: select them first"
            )
    texts = batch["text"].to_pylist()
    documents = [Document(str(row), text or "") for row, text in enumerate(texts)]
    found = tag_documents(_tagger(chosen), documents, chosen)
    rows = [[_row(entity) for entity in document.entities] for document in found]
    entity_type = pyarrow.struct(
        [
            ("start", pyarrow.int32()),
            ("end", pyarrow.int32()),
            ("type", pyarrow.string()),
            ("confidence", pyarrow.float64()),
        ]
    )
    entities = pyarrow.array(rows, pyarrow.list_(entity_type))
    ids = batch["id"].cast(pyarrow.string())
    return pyarrow.RecordBatch.from_arrays([ids, entities], names=["id", "entities"])


def _row(entity: Entity) -> dict[str, Any]:
    return {
        "start": entity.start,
        "end": entity.end,
        "type": entity.type,
        "confidence": entity.confidence,
    }


def _tagger(chosen: TaggingOptions) -> Tagger:
    """The tagger with these options, loaded if this process has another or none."""
    if not _loaded or _loaded[0][0] != chosen:
        _loaded[:] = [(chosen, load_tagger(chosen))]
    return _loaded[0][1]


def _import_pyarrow() -> Any:
    try:
        import pyarrow
    except ImportError:
        raise MissingExtraError("tagging with Spark", "pyarrow", "spark") from None
    return pyarrow
