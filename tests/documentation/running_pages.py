"""Runs the examples of a page in a folder, and compares what they print with what the page shows.

    PYTHONPATH=src:tests python -m documentation.running_pages README.md docs/tutorials/nested.md

writes what is printed now into the pages; `make examples` does so for all of them.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

from cli.running import run
from documentation.blocks import Step, steps
from spanwright.model_files.folders import installed_names

ROOT = Path(__file__).resolve().parents[2]
PAGES = ("README.md", "docs/start/*.md", "docs/tutorials/*.md")
"""The pages whose every example is run."""
WIDTH = 96
"""Columns of the terminal whose output is shown."""
PORT = "8000"
"""What pages say for the port of a service; a free one is taken in its place."""
PIPE_CLOSED = 128 + signal.SIGPIPE
"""How a command ends whose reader, such as `head`, has read enough."""
SHELL = re.compile(r"[|<>&;*~]|^(?!spanwright )")
"""What only a shell can run; all else runs in this process, where torch is loaded once."""


class ExampleError(AssertionError):
    """An example that failed, or that prints something else than its page shows."""


@dataclass
class Session:
    """A folder in which the steps of a page run one after another."""

    folder: Path
    names: dict[str, Any] = field(default_factory=lambda: {"__name__": "__main__"})
    port: str = field(default_factory=lambda: free_port())
    started: list[subprocess.Popen[str]] = field(default_factory=list)

    def output(self, step: Step) -> str:
        """What a step prints, with trailing blanks and the folder's name taken away."""
        with contextlib.chdir(self.folder):
            if step.kind == "file":
                path = Path(step.title)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(step.source, encoding="utf-8")
                return ""
            printed = self._python(step) if step.kind == "python" else self._command(step.source)
        printed = printed.replace(self.port, PORT).replace(f"{self.folder}/", "")
        return "\n".join(line.rstrip() for line in printed.rstrip().splitlines())

    def close(self) -> None:
        """End what was started in the background."""
        for process in self.started:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
            process.communicate(timeout=30)

    def _python(self, step: Step) -> str:
        printed, source = io.StringIO(), step.source.replace(PORT, self.port)
        with contextlib.redirect_stdout(printed):
            exec(compile("\n" * (step.line - 1) + source, "example", "exec"), self.names)  # noqa: S102
        return printed.getvalue()

    def _command(self, command: str) -> str:
        command = command.replace(PORT, self.port)
        if command.endswith(" &"):
            self.started.append(self._shell(command.removesuffix(" &")))
            return ""
        if SHELL.search(command):
            process = self._shell(command)
            printed, _ = process.communicate(timeout=120)
            code = process.returncode
        else:
            outcome = run(*shlex.split(command, comments=True)[1:], columns=WIDTH)
            # What a command tells on the way comes before its result, as on a terminal.
            printed, code = outcome.stderr + outcome.stdout, outcome.code
        if code not in (0, PIPE_CLOSED):
            raise ExampleError(f"`{command}` ended with {code}:\n{printed}")
        return printed

    def _shell(self, command: str) -> subprocess.Popen[str]:
        tools = f"{Path(__file__).parent / 'commands'}{os.pathsep}{Path(sys.executable).parent}"
        paths = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
        return subprocess.Popen(
            ["bash", "-c", f"set -o pipefail; {command}"],
            env={
                **os.environ,
                "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
                "PYTHONPATH": paths,
                "COLUMNS": str(WIDTH),
                "NO_COLOR": "1",
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )


def free_port() -> str:
    """A port that nobody listens at."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def reason_to_skip(step: Step) -> str | None:
    """Why a step is not run: the page says so, or a model is not installed."""
    model = step.marked("needs")
    if model is not None and model not in installed_names():
        return f"the model {model} is not installed; `make model` makes it"
    return step.marked("skip")


def run_page(page: Path, folder: Path) -> Iterator[tuple[Step, str | None]]:
    """Each step of a page with what it prints; None where it is not run."""
    session = Session(folder)
    try:
        for step in steps(page.read_text(encoding="utf-8")):
            if reason_to_skip(step) is not None:
                yield step, None
                continue
            try:
                yield step, session.output(step)
            except Exception as error:
                raise ExampleError(f"{page.name}, line {step.line}: {error}") from error
    finally:
        session.close()


def differs(step: Step, shown: str, printed: str) -> bool:
    """Whether a page shows something else than what is printed.

    Decimals and seconds depend on the machine, and so do all numbers, or the answers of a model, where the
    page says that they vary. A line `...` stands for any lines.
    """
    if step.marked("answers vary") is not None:
        return not printed.strip()
    parts = [_normal(part, step) for part in re.split(r"^\.\.\.$", shown, flags=re.M)]
    pattern = r"\n(?:.*\n)*?".join(re.escape(part.strip("\n")) for part in parts if part.strip())
    whole = f"\n{_normal(printed, step)}\n"
    head = "" if shown.startswith("...") else r"^\n"
    tail = "" if shown.rstrip().endswith("...") else r"\n*$"
    return re.search(f"{head}{pattern}{tail}", whole) is None


def _normal(text: str, step: Step) -> str:
    text = re.sub(r"\d+(\.\d+)? (s|ms|seconds|min)\b", "TIME", text)
    if step.marked("numbers vary") is not None:
        text = re.sub(r"[+-]?\d[\d,.]*", "#", text)
    text = re.sub(r"\d[\d,]*\.\d+", "#", text)
    return "\n".join(re.sub(r"[ ─━═-]{2,}", " ", line).strip() for line in text.splitlines())


def refresh(page: Path) -> bool:
    """Write what the examples of a page print into it; whether anything changed."""
    lines = page.read_text(encoding="utf-8").splitlines()
    with tempfile.TemporaryDirectory() as folder:
        ran = list(run_page(page, Path(folder)))
    changed = False
    for step, printed in ran:
        print(f"--- line {step.line}\n{printed if printed is not None else reason_to_skip(step)}")  # noqa: T201
    for step, printed in reversed(ran):
        if printed is None or step.shown is None:
            continue
        first, end = step.shown
        shown = lines[first:end]
        fresh = cut(shown, printed.splitlines(), step)
        varies = step.marked("answers vary") is not None
        if shown != fresh and (varies or differs(step, "\n".join(shown), printed)):
            lines[first:end] = fresh
            changed = True
    page.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return changed


def cut(shown: list[str], printed: list[str], step: Step) -> list[str]:
    """New output, cut where the old had `...`: as many lines are kept before, between and after them.

    What stands between two of them begins with the line that it began with.
    """
    parts = [list(lines) for dots, lines in groupby(shown, lambda line: line == "...") if not dots]
    if "..." not in shown or not parts:
        return shown if "..." in shown else printed
    known = [_normal(line, step) for line in printed]
    fresh: list[str] = [] if shown[0] != "..." else ["..."]
    for number, part in enumerate(parts):
        first = _normal(part[0], step)
        start = known.index(first) if first in known else 0
        if number == 0 and shown[0] != "...":
            start = 0
        elif number == len(parts) - 1 and shown[-1] != "...":
            start = len(printed) - len(part)
        fresh += [*printed[start : start + len(part)], "..."]
    return fresh if shown[-1] == "..." else fresh[:-1]


def pages() -> list[Path]:
    """All pages whose examples are run."""
    return [page for pattern in PAGES for page in sorted(ROOT.glob(pattern))]


if __name__ == "__main__":
    for page in [Path(name).resolve() for name in sys.argv[1:]] or pages():
        state = "refreshed" if refresh(page) else "as it was"
        print(f"{page.relative_to(ROOT)}: {state}")  # noqa: T201
