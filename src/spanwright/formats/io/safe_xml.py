"""XML files as streams of elements, opened so that no file can do harm.

Nothing but the file itself is ever read, and nothing in it is expanded: a DOCTYPE that names a DTD
(`<!DOCTYPE collection SYSTEM "BioC.dtd">`) is skipped, while declarations inside the file, which are what
"billion laughs" and external entities are made of, are refused with an `InputError` before any is used.

    for element in root_children(path, log, root="collection", entity="annotation"):
        if element.tag == "document": ...

The children of the root come one by one and are not kept. Where a file is malformed, the children before are
good and the log says what is lost.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from xml.parsers import expat

from spanwright.errors import InputError
from spanwright.formats.format import ReadingLog
from spanwright.formats.io.opening import open_bytes

_CHUNK_BYTES = 1 << 16
_DEEPEST = 100
"""More levels than any corpus has, and few enough for recursive readers."""

# Atomic, because a lazy match that may try again takes exponential time on many comments.
_BEFORE_ROOT = re.compile(r"(?>\s+|<\?.*?\?>|<!--.*?-->)*+<(?:!DOCTYPE\s+)?([\w.:-]+)", re.DOTALL)
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# A parser reads a bare carriage return as a line feed, and any white space in an attribute as a blank.
_ESCAPES = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"} | {code: f"&#{ord(code)};" for code in "\r"}
)
_ATTRIBUTE_ESCAPES = _ESCAPES | str.maketrans({code: f"&#{ord(code)};" for code in "\t\n"})


@dataclass(slots=True)
class XmlElement:
    """An XML element."""

    tag: str
    attributes: dict[str, str]
    line: int
    """Where it begins, counted from 1."""
    content: list[XmlElement | str]
    """Elements and texts in their order; a long text may be in several chunks."""

    def children(self, tag: str) -> Iterator[XmlElement]:
        """The elements of a tag right in this one."""
        return (each for each in self.content if isinstance(each, XmlElement) and each.tag == tag)

    def text(self) -> str:
        """The whole text, that of inner elements too."""
        return "".join(each if isinstance(each, str) else each.text() for each in self.content)

    def count(self, tag: str) -> int:
        """How many elements of a tag there are in this one, at any depth."""
        return sum(
            (each.tag == tag) + each.count(tag) for each in self.content if isinstance(each, XmlElement)
        )


class _UnreadableError(Exception):
    """What a handler found that is well-formed XML, but cannot be read."""


class _Builder:
    """Builds the children of the root from the events of a parser."""

    def __init__(self, path: Path, root: str) -> None:
        self._path = path
        self._root = root
        self.open: list[XmlElement] = []
        """The root, a child of it, and so on, as far as they are not closed."""
        self.ready: list[XmlElement] = []
        """Children of the root that are complete."""
        self.parser = parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.buffer_size = _CHUNK_BYTES
        parser.StartDoctypeDeclHandler = self._doctype
        parser.SkippedEntityHandler = self._skipped
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text

    def _doctype(self, name: str, system: str | None, public: str | None, internal: int) -> None:
        if internal:
            raise InputError(
                f"{self._path}:{self.parser.CurrentLineNumber}: the DOCTYPE {name!r} has declarations in "
                f"the file, which may define harmful entities; expected one without: remove the part in [ ]"
            )

    def _skipped(self, name: str, is_parameter: bool) -> None:
        raise _UnreadableError(f"the entity &{name}; is defined nowhere in the file; expected characters")

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        element = XmlElement(tag, attributes, self.parser.CurrentLineNumber, [])
        if not self.open:
            self._check_root(element)
        elif len(self.open) > _DEEPEST:
            raise _UnreadableError(f"elements are nested more than {_DEEPEST} levels deep")
        elif len(self.open) > 1:
            self.open[-1].content.append(element)
        self.open.append(element)

    def _check_root(self, element: XmlElement) -> None:
        if element.tag != self._root:
            raise InputError(
                f"{self._path}:{element.line}: the root element is <{element.tag}>; expected <{self._root}>"
            )

    def _end(self, tag: str) -> None:
        element = self.open.pop()
        if len(self.open) == 1:
            self.ready.append(element)

    def _text(self, text: str) -> None:
        if len(self.open) > 1:
            self.open[-1].content.append(text)

    def take(self) -> list[XmlElement]:
        """The children that are complete and were not taken before."""
        taken, self.ready = self.ready, []
        return taken


def root_children(path: Path, log: ReadingLog, *, root: str, entity: str) -> Iterator[XmlElement]:
    """Yield the elements right in the root element, which must have the tag `root`, one by one.

    A malformed file ends the stream: the child that is open there is rejected as a document, with its
    elements of the tag `entity`.
    """
    builder = _Builder(path, root)
    with open_bytes(path) as file:
        is_last = False
        while not is_last:
            chunk = file.read(_CHUNK_BYTES)
            is_last = not chunk
            fault = _fed(builder, chunk, is_last=is_last)
            yield from builder.take()
            if fault:
                _log_fault(fault, builder, path, log, entity, is_end=is_last)
                return


def _fed(builder: _Builder, chunk: bytes, *, is_last: bool) -> str:
    """Feed a chunk to the parser; what is wrong with it, '' for nothing."""
    parser = builder.parser
    try:
        parser.Parse(chunk, is_last)
    except expat.ExpatError as error:
        if is_last and builder.open:
            return f"malformed XML: the file ends inside <{builder.open[-1].tag}>"
        return f"malformed XML: {expat.ErrorString(error.code)} at offset {parser.ErrorByteIndex} of the file"
    except (_UnreadableError, LookupError, ValueError) as error:
        # The last two are of an encoding that is not known or has several bytes a character.
        return str(error)
    return ""


def _log_fault(
    fault: str, builder: _Builder, path: Path, log: ReadingLog, entity: str, *, is_end: bool
) -> None:
    """Reject the child of the root that is open; at the end of the file there may be none."""
    line = builder.parser.CurrentLineNumber
    if is_end and len(builder.open) < 2:
        log.remark(path, line, fault)
        return
    lost = builder.open[1].count(entity) if len(builder.open) > 1 else 0
    log.reject_document(path, line, f"{fault}; the rest of the file is left out", entities=lost)


def root_name(head: str) -> str:
    """The name of the root element, or of the DOCTYPE before it, at the beginning of a file; '' if none."""
    match = _BEFORE_ROOT.match(head)
    return match[1] if match else ""


def refuse_doctype(content: bytes, name: str) -> None:
    """An `InputError` if an XML text, called `name`, has a DOCTYPE: before another library parses it.

    What is malformed is left to that library.
    """

    def refuse(*declared: object) -> None:
        raise InputError(f"{name}: a DOCTYPE was found, which may define harmful entities; expected none")

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = refuse
    with suppress(expat.ExpatError, LookupError, ValueError):
        parser.Parse(content, True)


def is_legal(text: str) -> bool:
    """Whether XML can hold every character of a text: it cannot hold NUL and other control characters."""
    return _NOT_XML.search(text) is None


def replaced(text: str) -> str:
    """A text with U+FFFD for each character that XML cannot hold."""
    return _NOT_XML.sub("\ufffd", text)


def escape(text: str) -> str:
    """A text between tags; U+FFFD stands for each character that XML cannot hold."""
    return replaced(text).translate(_ESCAPES)


def escape_attribute(text: str) -> str:
    """A text between the double quotes of an attribute, as `escape`."""
    return replaced(text).translate(_ATTRIBUTE_ESCAPES)
