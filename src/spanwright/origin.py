"""What a result must say about where it comes from: the commit of the code, and the machine."""

from __future__ import annotations

import os
import platform
import subprocess
from importlib.metadata import version
from pathlib import Path
from typing import Any

from spanwright import __version__

_CHANGED = "+changes"
"""Stands after a commit whose files were changed since."""
_SECONDS = 10


def commit(folder: Path = Path(__file__).parent) -> str | None:
    """The git commit of the code in a folder, marked if there are uncommitted changes; None outside of git.

    An installed package is outside, also if its environment lies in the checkout of something else.
    """
    try:
        _git(folder, "ls-files", "--error-unmatch", "__init__.py")
        found = _git(folder, "rev-parse", "HEAD")
        changes = _git(folder, "status", "--porcelain", "--", ".")
    except (OSError, subprocess.SubprocessError):
        return None
    return found + (_CHANGED if changes else "")


def machine() -> dict[str, Any]:
    """Processor, threads and versions of this machine."""
    import torch

    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "python": platform.python_version(),
        **{name: version(name) for name in ("torch", "transformers")},
        "spanwright": __version__,
    }


def _git(folder: Path, *arguments: str) -> str:
    # Without what a hook sets, which would point to another repository; and without taking its lock.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    done = subprocess.run(
        ["git", "--no-optional-locks", "-C", str(folder), *arguments],
        capture_output=True,
        text=True,
        check=True,
        timeout=_SECONDS,
        env=environment,
    )
    return done.stdout.strip()


def _processor() -> str:
    information = Path("/proc/cpuinfo")
    if not information.exists():
        return platform.processor()
    names = [
        line.partition(":")[2].strip()
        for line in information.read_text().splitlines()
        if "model name" in line
    ]
    return names[0] if names else platform.processor()
