"""What a benchmark result must say about where it was measured."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from spanwright import origin


def machine() -> dict[str, Any]:
    """Processor, threads, versions and load of this machine, and the commit of the code."""
    load = round(os.getloadavg()[0], 2)
    return {**origin.machine(), "commit": origin.commit(), "load_at_start": load}


def command() -> str:
    """The command that was run."""
    return " ".join(["python", f"benchmarks/{Path(sys.argv[0]).name}", *sys.argv[1:]])
