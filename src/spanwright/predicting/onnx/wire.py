"""What an ONNX file holds, as far as one must know before it is run, read without the package `onnx`.

The file is a message of Protocol Buffers: a row of numbered fields, some of which are messages themselves.
Every occurrence of a field is looked at, as whoever reads the file merges them; weights are passed over.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from spanwright.errors import ModelError

_DOMAINS = ("", "ai.onnx", "com.microsoft")
_VARINT, _EIGHT_BYTES, _BYTES, _FOUR_BYTES = 0, 1, 2, 5
_FIXED = {_EIGHT_BYTES: 8, _FOUR_BYTES: 4}

# Numbers of fields: of a model, ...
_GRAPH, _METADATA, _TRAINING, _FUNCTIONS = 7, 14, 20, 25
# ... of a graph, ...
_NODE, _INITIALIZER, _SPARSE = 1, 5, 15
# ... of a node, ...
_OPERATOR, _ATTRIBUTE, _DOMAIN = 4, 5, 7
# ... of an attribute: those that are numbers, names and tensors; all others hold graphs and the like.
_TENSOR, _TYPE = 5, 20
_PLAIN_VALUES = frozenset((1, 2, 3, 4, _TENSOR, 7, 8, 9, 13, _TYPE))
_PLAIN_TYPES = frozenset((1, 2, 3, 4, 6, 7, 8))
# ... of a tensor.
_EXTERNAL_DATA, _DATA_LOCATION = 13, 14

Value = int | memoryview


def metadata_of(content: bytes, path: Path) -> dict[str, str]:
    """The properties of a model that computes, and does nothing else.

    Refused are files that reach for others, run foreign code or may never end.
    """
    found: dict[str, str] = {}
    for number, value in _fields(memoryview(content), path):
        if number == _GRAPH:
            _check_graph(_message(value, path), path)
        elif number == _METADATA:
            entry = {key: bytes(_message(part, path)) for key, part in _fields(_message(value, path), path)}
            found[entry.get(1, b"").decode(errors="replace")] = entry.get(2, b"").decode(errors="replace")
        elif number in (_TRAINING, _FUNCTIONS):
            raise _refused(path)
    return found


def _check_graph(graph: memoryview, path: Path) -> None:
    for number, value in _fields(graph, path):
        if number == _NODE:
            _check_node(_message(value, path), path)
        elif number == _INITIALIZER:
            _check_tensor(_message(value, path), path)
        elif number == _SPARSE:
            raise _refused(path)


def _check_node(node: memoryview, path: Path) -> None:
    fields = list(_fields(node, path))
    operator = next((_text(value, path) for number, value in fields if number == _OPERATOR), "")
    for number, value in fields:
        if number == _DOMAIN and (domain := _text(value, path)) not in _DOMAINS:
            raise ModelError(f"{path}: operator {domain}.{operator}; expected standard operators")
        if number == _ATTRIBUTE:
            _check_attribute(_message(value, path), operator, path)


def _check_attribute(attribute: memoryview, operator: str, path: Path) -> None:
    for number, value in _fields(attribute, path):
        if number not in _PLAIN_VALUES or (number == _TYPE and value not in _PLAIN_TYPES):
            raise ModelError(f"{path}: {operator} with a graph inside or the like; expected a plain graph")
        if number == _TENSOR:
            _check_tensor(_message(value, path), path)


def _check_tensor(tensor: memoryview, path: Path) -> None:
    for number, value in _fields(tensor, path):
        if number == _EXTERNAL_DATA or (number == _DATA_LOCATION and value != 0):
            raise ModelError(f"{path}: has weights in another file; expected a file that stands alone")


def _fields(message: memoryview, path: Path) -> Iterator[tuple[int, Value]]:
    """The fields of a message in their order: their number, and a number or the bytes that they hold."""
    at, end = 0, len(message)
    while at < end:
        key, at = _varint(message, at, path)
        kind = key & 7
        if kind == _VARINT:
            value, at = _varint(message, at, path)
            yield key >> 3, value
            continue
        size, at = _varint(message, at, path) if kind == _BYTES else (_FIXED.get(kind, end), at)
        if at + size > end:
            raise _not_onnx(path)
        yield key >> 3, message[at : at + size]
        at += size


def _varint(message: memoryview, at: int, path: Path) -> tuple[int, int]:
    """A number of 7 bits a byte, the lowest first, and where the next byte stands."""
    found = 0
    for shift in range(0, 70, 7):
        if at >= len(message):
            break
        byte = message[at]
        found, at = found | (byte & 0x7F) << shift, at + 1
        if byte < 0x80:
            return found, at
    raise _not_onnx(path)


def _message(value: Value, path: Path) -> memoryview:
    if isinstance(value, int):
        raise _not_onnx(path)
    return value


def _text(value: Value, path: Path) -> str:
    return bytes(_message(value, path)).decode(errors="replace")


def _not_onnx(path: Path) -> ModelError:
    return ModelError(f"{path}: not an ONNX file: its fields do not fit into each other")


def _refused(path: Path) -> ModelError:
    return ModelError(f"{path}: has functions, sparse weights or training parts; expected a plain graph")
