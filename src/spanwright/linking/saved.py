"""Saved linkers: a folder of JSON and safetensors that is loaded without building anything again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import safetensors
from safetensors import numpy as arrays

from spanwright import __version__
from spanwright.errors import InputError, ModelError, SpanwrightError, needing
from spanwright.formats.io.whole_folders import whole_folder
from spanwright.linking.concepts import NamedConcepts, SameConcepts
from spanwright.linking.confidence import Confidence
from spanwright.linking.index import NameIndex
from spanwright.linking.linker import Linker, Stages
from spanwright.model_files import json_files

if TYPE_CHECKING:
    from spanwright.linking.encoder import NameEncoder

FORMAT_VERSION = 2
DESCRIPTION, NAMES, ARRAYS = "linker.json", "names.json", "names.safetensors"
ENCODER, TOKENIZER = "encoder.safetensors", "tokenizer.json"
NEIGHBOURS = "neighbours-{}.usearch"
"""Of each type of names that has so many that they are searched through an index."""
_LARGEST_NAMES = 4 * 1024**3
_MOST_NAMES = 100_000_000


def save_linker(linker: Linker, folder: str | Path) -> None:
    """Write a linker to a folder; an older linker there is replaced when the new one is complete."""
    folder = Path(folder)
    if folder.exists() and not is_linker(folder):
        raise InputError(f"{folder}: is there already, and is no linker; expected a new folder")
    try:
        with whole_folder(folder) as partial:
            _write(linker, partial)
    except OSError as error:
        raise SpanwrightError(f"{folder}: the linker could not be written: {error}") from error


def is_linker(path: Path) -> bool:
    """Whether a path is the folder of a saved linker."""
    return (path / DESCRIPTION).is_file()


def _write(linker: Linker, folder: Path) -> None:
    names: dict[str, Any] = {}
    stored: dict[str, Any] = {}
    for number, (type_, index) in enumerate(linker.indexes.items()):
        named = index.named
        names[type_] = {
            "names": named.names,
            "keys": named.keys,
            "answers": named.answers,
            "edits": index.edits,
        }
        stored |= {f"{number}.concept": named.concept, f"{number}.weight": named.weight}
        stored |= {f"{number}.{name}": array for name, array in index.ngrams.arrays.items()}
        if index.vectors is not None:
            stored[f"{number}.vectors"] = index.vectors.vectors
            stored[f"{number}.vector_of"] = index.vectors.vector_of
            index.vectors.neighbours.write(folder / NEIGHBOURS.format(number))
    content = json.dumps({"types": names, "same": linker.same.to_dict()}, ensure_ascii=False)
    (folder / NAMES).write_text(content, encoding="utf-8")
    arrays.save_file(stored, folder / ARRAYS)
    encoder = next((index.vectors.encoder for index in linker.indexes.values() if index.vectors), None)
    description = {
        "format_version": FORMAT_VERSION,
        "spanwright_version": __version__,
        "lexicon": linker.digest,
        "minimum_confidence": linker.minimum_confidence,
        "stages": asdict(linker.stages),
        "confidence": linker.confidence.weights,
        "encoder_config": encoder.write(folder / ENCODER, folder / TOKENIZER) if encoder else None,
        "digests": {file.name: _digest(file) for file in sorted(folder.iterdir())},
    }
    json_files.write(folder / DESCRIPTION, description)
    for file in folder.iterdir():
        file.chmod(0o644)


def _digest(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def load_linker(folder: str | Path, *, digest: str | None = None) -> Linker:
    """Load a saved linker. With `digest`, one that was built from anything else is refused."""
    folder = Path(folder)
    if not is_linker(folder):
        raise InputError(f"{folder}: not a saved linker; expected a folder of `spanwright link --save`")
    try:
        return _loaded(folder, digest)
    except (KeyError, TypeError, ValueError, safetensors.SafetensorError, OSError) as error:
        raise ModelError(f"{folder}: not a linker that can be loaded: {error}") from None


def _loaded(folder: Path, digest: str | None) -> Linker:
    path = folder / DESCRIPTION
    description = json_files.parse(json_files.content_of(path), path)
    if description.get("format_version") != FORMAT_VERSION:
        raise ModelError(
            f"{path}: format version {description.get('format_version')!r}; expected {FORMAT_VERSION}; build "
            f"the linker again with `spanwright link --save {folder}`"
        )
    if digest not in (None, description["lexicon"]):
        raise InputError(
            f"{folder}: the lexicon has changed since the linker was built; build it again with "
            f"`spanwright link --save {folder}`, or leave --lexicon out to use the linker as it is"
        )
    _check_digests(folder, description["digests"])
    names = json_files.parse(
        json_files.content_of(folder / NAMES, _LARGEST_NAMES), folder / NAMES, _MOST_NAMES
    )
    stored = arrays.load_file(folder / ARRAYS)
    encoder = _encoder(folder, description["encoder_config"])
    indexes = {
        type_: _index(values, stored, folder, number, encoder)
        for number, (type_, values) in enumerate(names["types"].items())
    }
    return Linker(
        indexes,
        SameConcepts.from_dict(names["same"]),
        Confidence(tuple(description["confidence"])),
        minimum_confidence=float(description["minimum_confidence"]),
        stages=Stages(**description["stages"]),
        digest=description["lexicon"],
    )


def _check_digests(folder: Path, digests: Mapping[str, str]) -> None:
    for name, digest in digests.items():
        if Path(name).name != name or _digest(folder / name) != digest:
            raise ModelError(
                f"{folder / name}: has changed since the linker was saved; get the whole folder again, or "
                f"build it again with `spanwright link --save {folder}`"
            )


def _index(
    values: Mapping[str, Any],
    stored: Mapping[str, Any],
    folder: Path,
    number: int,
    encoder: NameEncoder | None,
) -> NameIndex:
    own = {name.partition(".")[2]: array for name, array in stored.items() if name.startswith(f"{number}.")}
    named = NamedConcepts(
        values["names"],
        values["keys"],
        own["concept"].astype(np.int64),
        own["weight"].astype(np.float32),
        [tuple(answer) for answer in values["answers"]],
    )
    vectors = None
    if encoder is not None:
        from spanwright.linking.neighbours import Neighbours
        from spanwright.linking.vectors import NameVectors

        neighbours = Neighbours.stored(own["vectors"], folder / NEIGHBOURS.format(number))
        vectors = NameVectors(own["vectors"], own["vector_of"], encoder, neighbours)
    return NameIndex(named, vectors, ngrams=own, edits=values["edits"])


def _encoder(folder: Path, config: dict[str, Any] | None) -> NameEncoder | None:
    if config is None:
        return None
    with needing("a linker with a bi-encoder of names"):
        from spanwright.linking.encoder import NameEncoder

    return NameEncoder.stored(config, folder / ENCODER, folder / TOKENIZER)
