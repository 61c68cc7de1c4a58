"""Runs the `spanwright` command in this process, as its entry point does."""

from __future__ import annotations

import contextlib
import io
import sys
from dataclasses import dataclass
from unittest import mock

from spanwright.cli.main import main


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a command left: its exit code and what it wrote."""

    code: int
    stdout: str
    stderr: str

    @property
    def error(self) -> str:
        """The last line on stderr, which must be the only error, without a traceback before it."""
        *before, last = self.stderr.splitlines()
        assert last.startswith("error: "), self.stderr
        assert not any("Traceback" in line or line.startswith("error") for line in before), self.stderr
        return last


def run(*arguments: object, stdin: bytes = b"", columns: int = 200) -> Outcome:
    """Run `spanwright` with these arguments, in a terminal of so many columns."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    code: object = 0
    with (
        mock.patch.object(sys, "argv", ["spanwright", *map(str, arguments)]),
        mock.patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8")),
        mock.patch.dict("os.environ", {"COLUMNS": str(columns), "TERM": "dumb", "NO_COLOR": "1"}),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as exit:
            code = exit.code
    return Outcome(int(str(code or 0)), *(_written(stream) for stream in (out, err)))


def _written(stream: io.TextIOWrapper) -> str:
    stream.flush()
    written = stream.buffer
    assert isinstance(written, io.BytesIO)
    return written.getvalue().decode("utf-8")
