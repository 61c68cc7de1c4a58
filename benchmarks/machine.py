"""What a benchmark result must say about where it was measured."""

from __future__ import annotations

import os
import platform
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch


def machine() -> dict[str, Any]:
    """Processor, threads, versions and load of this machine."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "load_at_start": round(os.getloadavg()[0], 2),
        "python": platform.python_version(),
        **{name: version(name) for name in ("torch", "transformers", "spanwright")},
    }


def command() -> str:
    """The command that was run."""
    return " ".join(["python", f"benchmarks/{Path(sys.argv[0]).name}", *sys.argv[1:]])


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
