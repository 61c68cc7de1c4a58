"""The two files of onnxruntime-web that run a graph in a browser: from a folder, or fetched by npm."""

from __future__ import annotations

import shutil
import subprocess
import tarfile
from pathlib import Path
from tempfile import TemporaryDirectory

from spanwright.errors import InputError, SpanwrightError

PACKAGE = "onnxruntime-web@1.30.0"
SCRIPT = "ort.wasm.bundle.min.mjs"
WASM = "ort-wasm-simd-threaded.wasm"
_SECONDS = 300


def runtime_files(folder: Path | None) -> dict[str, bytes]:
    """Script and WebAssembly by name, of an unpacked npm package or of one that npm fetches now."""
    if folder is not None:
        return {name: _of_folder(folder, name) for name in (SCRIPT, WASM)}
    npm = shutil.which("npm")
    if npm is None:
        raise InputError(
            f"a web folder holds onnxruntime-web, and there is no npm to fetch it; expected "
            f"--onnxruntime-web FOLDER, where the package {PACKAGE} is unpacked"
        )
    with TemporaryDirectory(prefix="spanwright-web-") as place:
        return _packed(npm, Path(place))


def _of_folder(folder: Path, name: str) -> bytes:
    for file in (folder / "dist" / name, folder / "package" / "dist" / name, folder / name):
        if file.is_file():
            return file.read_bytes()
    raise InputError(f"{folder}: has no dist/{name}; expected the unpacked npm package {PACKAGE}")


def _packed(npm: str, place: Path) -> dict[str, bytes]:
    done = subprocess.run(
        [npm, "pack", PACKAGE, "--silent"], cwd=place, capture_output=True, text=True, timeout=_SECONDS
    )
    archive = next(place.glob("*.tgz"), None)
    if done.returncode or archive is None:
        reason = done.stderr.strip().partition("\n")[0] or f"exit code {done.returncode}"
        raise SpanwrightError(
            f"npm pack {PACKAGE}: {reason}; expected --onnxruntime-web FOLDER where it cannot be fetched"
        )
    with tarfile.open(archive) as packed:
        return {name: _member(packed, f"package/dist/{name}") for name in (SCRIPT, WASM)}


def _member(packed: tarfile.TarFile, name: str) -> bytes:
    stream = packed.extractfile(name)
    if stream is None:
        raise SpanwrightError(f"{PACKAGE}: has no {name}")
    return stream.read()
