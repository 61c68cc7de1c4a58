"""Tables of pandas, for those who have it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from spanwright.errors import MissingExtraError


def frame(rows: Iterable[Sequence[object]], columns: Sequence[str]) -> Any:
    """A `pandas.DataFrame` of rows; the columns are there even without a row."""
    try:
        import pandas
    except ImportError:
        raise MissingExtraError("a table of pandas", "pandas", "notebook") from None
    return pandas.DataFrame(list(rows), columns=list(columns))
