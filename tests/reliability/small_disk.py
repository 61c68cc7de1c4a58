"""Run as a script: train on a disk that is too small, make it larger, resume; print how it went as JSON.

    unshare --map-root-user --mount python small_disk.py ENCODER FOLDER SIZE...

The disk is a tmpfs over FOLDER, which only this process sees. One line is printed for each size.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path

CHANGES = ("training.checkpoint_steps=2", "training.epochs=2")
LARGE = "20m"


def main(encoder: str, folder: Path, sizes: list[str]) -> None:
    """Print the error on each small disk, the checkpoints left on it, and the digest of the resumed model."""
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
    import making
    from spanwright.errors import SpanwrightError
    from spanwright.training.loop import train

    settings = making.settings(encoder, *CHANGES)
    data = {"train": making.documents(16), "dev": making.documents(4, prefix="dev")}
    for size in sizes:
        _mount(folder, f"size={size}")
        told: dict[str, object] = {}
        try:
            train(settings, **data, out=folder / "run")
        except SpanwrightError as error:
            told["error"] = str(error)
        told["checkpoints"] = [path.name for path in (folder / "run" / "checkpoints").iterdir()]
        _mount(folder, "remount", f"size={LARGE}")
        train(settings, **data, out=folder / "run", resume=True)
        told["digest"] = hashlib.sha256((folder / "run/model/model.safetensors").read_bytes()).hexdigest()
        print(json.dumps(told))  # noqa: T201


def _mount(folder: Path, *options: str) -> None:
    subprocess.run(["mount", "-t", "tmpfs", "-o", ",".join(options), "tmpfs", str(folder)], check=True)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3:])
