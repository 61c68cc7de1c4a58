"""Mutations of a model directory: of each file, blind and by hand, with digests that fit and others."""

from __future__ import annotations

import copy
import json
import os
import random
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spanwright import artifact

Change = Callable[[Path], None]
HUGE = (10**5, 10**6, 10**9, 10**18, 10**400)
NASTY = (None, True, -1, 0, 1, 2, 3, 1e999, -0.5, "", "x", "\ud800", [], {}, [[]], {"a": {}}, *HUGE)
SIZES = (
    *("num_hidden_layers", "hidden_size", "vocab_size", "max_position_embeddings", "type_vocab_size"),
    *("intermediate_size", "num_attention_heads", "num_labels", "pad_token_id", "chunk_size_feed_forward"),
)
OTHER_KINDS = ("albert", "t5", "gpt2", "distilbert", "modernbert", "funnel", "detr", "abacus", "bart")
NUMBERS = (
    *("candidates.width_limit", "windows.pieces", "windows.overlap", "representation.size"),
    *("representation.width_size", "scorer.smoothing_distance", "training.epochs"),
)


@dataclass(frozen=True, slots=True)
class Mutation:
    """A change of a good folder, with the promise about what comes of it."""

    name: str
    change: Change
    fits: bool = False
    """Whether digests are made to fit: it may then be another model, which tags as it likes."""
    refused: bool = False
    """Whether it cannot be loaded, by any reading."""


def apply(mutation: Mutation, good: Path, folder: Path) -> Path:
    """A copy of the good folder with a mutation in it."""
    shutil.copytree(good, folder)
    mutation.change(folder)
    if mutation.fits:
        _fit(folder)
    return folder


def _fit(folder: Path) -> None:
    """Make digests fit, unless the description is beyond reading."""
    try:
        artifact.seal(folder)
    except Exception:
        return


def by_hand(other: Path) -> list[Mutation]:
    """The ones that somebody who means harm, or mixes up files, would think of; `other` is another model."""
    return [
        *_mixed_up(other),
        *(
            Mutation(f"config {key} {value}", _config(key, value), fits=True, refused=key != "num_labels")
            for key in SIZES
            for value in (10**6, 10**9)
        ),
        *(
            Mutation(f"config is {kind}", _config("model_type", kind), fits=True, refused=True)
            for kind in OTHER_KINDS
        ),
        *(Mutation(f"settings {key}", _setting(key, 10**9), fits=True) for key in NUMBERS),
        *_lists(),
        *_labels(),
        *_headers(),
        *_tokenizers(other),
        *_descriptions(),
    ]


def blind(count: int, seed: int, other: Path) -> Iterator[Mutation]:
    """Flipped bits, cut and longer files, files of another model, and any value in place of any other."""
    for number in range(count):
        chance = random.Random(f"{seed} {number}")
        kind = chance.choice(("flip", "cut", "longer", "swap", "value", "value", "value", "plain value"))
        name = chance.choice(artifact.FILES)
        match kind:
            case "flip":
                yield Mutation(f"{number} flip {name}", _bytes(name, _flipped(chance)))
            case "cut":
                yield Mutation(f"{number} cut {name}", _bytes(name, _cut(chance)), refused=True)
            case "longer":
                yield Mutation(f"{number} longer {name}", _bytes(name, lambda old: old + b"\0"), refused=True)
            case "swap":
                yield Mutation(f"{number} swap {name}", _taken(name, other), refused=True)
            case _:
                file = chance.choice((artifact.FILES[0], artifact.FILES[0], "labels.json", "tokenizer.json"))
                change = _json(file, lambda values, c=chance: _replace_any(values, c))
                yield Mutation(f"{number} {kind} {file}", change, fits=kind == "value")


def _mixed_up(other: Path) -> list[Mutation]:
    return [
        Mutation("card", _bytes("README.md", lambda old: old + b"More about it.\n")),
        Mutation("spaces", _bytes("spanwright.json", lambda old: json.dumps(json.loads(old)).encode())),
        *(Mutation(f"other {name}", _taken(name, other), refused=True) for name in artifact.FILES),
        *(
            Mutation(f"no {name}", lambda f, n=name: (f / n).unlink(), refused=True)
            for name in artifact.FILES
        ),
        *(Mutation(f"link {name}", _linked(name, other), refused=True) for name in artifact.FILES),
        Mutation(
            "pipe", lambda f: ((f / "labels.json").unlink(), os.mkfifo(f / "labels.json")), refused=True
        ),
        Mutation("reversed labels", _json("labels.json", lambda v: v["types"].reverse()), refused=True),
    ]


def _lists() -> list[Mutation]:
    layer = {"kind": "feed-forward", "size": 1, "width_size": 1}
    return [
        Mutation("transforms", _setting("transforms", [layer] * 5000), fits=True, refused=True),
        Mutation("hidden layers", _setting("scorer.hidden", [1] * 100_000), fits=True, refused=True),
        Mutation("hidden giants", _setting("scorer.hidden", [10**9] * 10), fits=True, refused=True),
        Mutation("unknown keys", _json("spanwright.json", _many_keys), fits=True, refused=True),
        Mutation("wrong phases", _setting("objective.phases", [1] * 100_000), fits=True, refused=True),
        Mutation("names", _config("id2label", {str(n): "x" for n in range(100_000)}), fits=True),
        Mutation("foreign kernels", _config("attn_implementation", "somebody/kernel"), fits=True),
    ]


def _many_keys(values: dict[str, Any]) -> None:
    values["settings"] |= {f"key{number}": number for number in range(50_000)}


def _labels() -> list[Mutation]:
    wrong: dict[str, Any] = {
        "million labels": [str(number) for number in range(400_000)],
        "many labels": [str(number) for number in range(15_000)],
        "no labels": [],
        "empty label": ["Cell", ""],
        "blank label": ["Cell", " \t"],
        "repeated label": ["Cell", "Cell"],
        "surrogate label": ["Cell", "\ud800"],
        "number label": ["Cell", 3],
        "nested label": ["Cell", ["Gene"]],
        "long label": ["Cell", "x" * 10_000],
        "labels by name": {"Cell": 1, "Gene": 2},
        "a text of labels": "ab",
    }
    return [
        Mutation(name, _json("labels.json", lambda v, t=types: v.update(types=t)), fits=True, refused=True)
        for name, types in wrong.items()
    ]


def _headers() -> list[Mutation]:
    def starting(size: int) -> Change:
        return _bytes("model.safetensors", lambda old: size.to_bytes(8, "little") + old[8:])

    def header(edit: Callable[[dict[str, Any]], None]) -> Change:
        return _bytes("model.safetensors", lambda old: _with_header(old, edit))

    def shape(values: dict[str, Any]) -> None:
        next(iter(values.values()))["shape"] = [10**9, 10**9]

    def overlap(values: dict[str, Any]) -> None:
        first, second, *_ = (entry for name, entry in values.items() if name != "__metadata__")
        first["data_offsets"] = second["data_offsets"]

    def half(values: dict[str, Any]) -> None:
        next(iter(values.values()))["dtype"] = "F16"

    def renamed(values: dict[str, Any]) -> None:
        values["somewhere.else"] = values.pop(next(iter(values)))

    def many(values: dict[str, Any]) -> None:
        end = max(entry["data_offsets"][1] for entry in values.values())
        entry = {"dtype": "F32", "shape": [0], "data_offsets": [end, end]}
        values |= {f"x{number}": entry for number in range(30_000)}

    edits = (shape, overlap, half, renamed, many)
    sizes = (0, 10**12, 2**63, 4 * 2**20 + 8)
    return [
        *(Mutation(f"header of {size}", starting(size), fits=True, refused=True) for size in sizes),
        *(Mutation(f"header {edit.__name__}", header(edit), fits=True, refused=True) for edit in edits),
    ]


def _with_header(content: bytes, edit: Callable[[dict[str, Any]], None]) -> bytes:
    size = int.from_bytes(content[:8], "little")
    values = json.loads(content[8 : 8 + size])
    edit(values)
    text = json.dumps(values).encode()
    return len(text).to_bytes(8, "little") + text + content[8 + size :]


def _tokenizers(other: Path) -> list[Mutation]:
    double = {"type": "Replace", "pattern": {"String": "a"}, "content": "aa"}
    growing = {"type": "Sequence", "normalizers": [double] * 60}
    bytes_ = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    template = {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "?", "type_id": 0}}]}
    token = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": True, "special": False}
    changes: dict[str, Callable[[dict[str, Any]], None]] = {
        "growing": lambda v: v.update(normalizer=growing),
        "bytes of bytes": lambda v: v.update(
            pre_tokenizer={"type": "Sequence", "pretokenizers": [bytes_] * 50}
        ),
        "many pieces": lambda v: v["model"]["vocab"].update({f"x{n}": n for n in range(200_000)}),
        "high ids": lambda v: v["model"].update(vocab={k: n + 50 for k, n in v["model"]["vocab"].items()}),
        "no unknown": lambda v: v["model"]["vocab"].pop("[UNK]"),
        "no pieces": lambda v: v["model"].update(vocab={}),
        "template": lambda v: v.update(post_processor={**template, "pair": [], "special_tokens": {}}),
        "added": lambda v: v.update(
            added_tokens=[{**token, "id": n, "content": f"added {n}"} for n in range(142, 20_000)]
        ),
        "added beyond": lambda v: v.update(added_tokens=[{**token, "id": 142, "content": "[more]"}]),
        "deep": lambda v: v.update(normalizer=_nested(200)),
        "swallowing": lambda v: v.update(
            normalizer={"type": "Replace", "pattern": {"Regex": "."}, "content": ""}
        ),
    }
    return [
        *(
            Mutation(f"tokenizer {n}", _json("tokenizer.json", c), fits=True, refused=True)
            for n, c in changes.items()
        ),
        Mutation("fitting tokenizer of another", _taken("tokenizer.json", other), fits=True),
    ]


def _descriptions() -> list[Mutation]:
    def written(content: bytes) -> Change:
        return _bytes("spanwright.json", lambda old: content)

    return [
        Mutation("deep description", written(b'{"a": ' * 100_000), refused=True),
        Mutation("many values", written(b'{"a": [' + b"{}," * 3_000_000 + b"1]}"), refused=True),
        Mutation(
            "large description", _bytes("spanwright.json", lambda old: old + b" " * 2**24), refused=True
        ),
        Mutation("no digests", _json("spanwright.json", lambda v: v.pop("digests")), refused=True),
        Mutation("digests in a list", _json("spanwright.json", lambda v: v.update(digests=[])), refused=True),
        Mutation("long number", written(b'{"format_version": ' + b"1" * 10**6 + b"}"), refused=True),
        Mutation(
            "true version", _json("spanwright.json", lambda v: v.update(format_version=[3])), refused=True
        ),
    ]


def _nested(depth: int) -> dict[str, Any]:
    found: dict[str, Any] = {"type": "Lowercase"}
    for _ in range(depth):
        found = {"type": "Sequence", "normalizers": [found]}
    return found


def _bytes(name: str, edit: Callable[[bytes], bytes]) -> Change:
    def change(folder: Path) -> None:
        (folder / name).write_bytes(edit((folder / name).read_bytes()))

    return change


def _json(name: str, edit: Callable[[Any], Any]) -> Change:
    def change(folder: Path) -> None:
        values = json.loads((folder / name).read_text())
        edit(values)
        (folder / name).write_text(json.dumps(values))

    return change


def _config(key: str, value: Any) -> Change:
    return _json("spanwright.json", lambda values: values["encoder_config"].update({key: value}))


def _setting(key: str, value: Any) -> Change:
    *path, last = key.split(".")

    def edit(values: Any) -> None:
        table = values["settings"]
        for name in path:
            table = table[name]
        table[last] = value

    return _json("spanwright.json", edit)


def _taken(name: str, other: Path) -> Change:
    return lambda folder: shutil.copy(other / name, folder / name)


def _linked(name: str, other: Path) -> Change:
    def change(folder: Path) -> None:
        (folder / name).unlink()
        (folder / name).symlink_to(other / name)

    return change


def _flipped(chance: random.Random) -> Callable[[bytes], bytes]:
    def flip(old: bytes) -> bytes:
        content, place = bytearray(old), chance.randrange(len(old))
        content[place] ^= 1 << chance.randrange(8)
        return bytes(content)

    return flip


def _cut(chance: random.Random) -> Callable[[bytes], bytes]:
    return lambda old: old[: chance.randrange(len(old) - 2)]


def _replace_any(values: Any, chance: random.Random) -> None:
    """Put a nasty value, or one from elsewhere, in the place of any."""
    places = list(_places(values))
    container, key = chance.choice(places)
    elsewhere, other_key = chance.choice(places)
    container[key] = chance.choice((*NASTY, copy.deepcopy(elsewhere[other_key])))


def _places(values: Any) -> Iterator[tuple[Any, Any]]:
    pairs = values.items() if isinstance(values, dict) else enumerate(values)
    for key, value in pairs:
        yield values, key
        if isinstance(value, dict | list):
            yield from _places(value)
