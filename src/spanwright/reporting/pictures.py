"""Pictures that others have drawn, as a part of the page: PNG files, which hold no script."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from spanwright.errors import InputError
from spanwright.reporting.markup import Element, figure, make, name_of, section

_BEGIN = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"
"""The signature, then the length and the name of the first chunk, which every PNG file begins with."""
_END = b"\x00\x00\x00\x00IEND\xaeB`\x82"
"""The last chunk; without it a file was cut off."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture and what is written above it."""

    caption: str
    data: bytes
    """A whole PNG file."""

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels."""
        width, height = (self.data[start : start + 4] for start in (len(_BEGIN), len(_BEGIN) + 4))
        return int.from_bytes(width), int.from_bytes(height)


def read_picture(path: Path, caption: str) -> Picture:
    """A picture from a PNG file; other files are refused."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: the picture cannot be read: {error.strerror}") from None
    if not data.startswith(_BEGIN) or not data.endswith(_END):
        raise InputError(
            f"{path}: not a whole PNG file; expected pictures in PNG form, such as `spanwright inspect "
            f"spans` and `spanwright compare` draw"
        )
    return Picture(caption, data)


def pictures_section(pictures: Sequence[Picture]) -> Element:
    """The pictures one below the other."""
    return section("pictures", "Pictures", make("div", {"class": "charts"}, map(_shown, pictures)))


def _shown(picture: Picture) -> Element:
    width, height = picture.size
    address = f"data:image/png;base64,{base64.b64encode(picture.data).decode('ascii')}"
    # With its size, the browser leaves the room for it before it is decoded.
    attributes = {"src": address, "alt": picture.caption, "width": width, "height": height}
    return figure(name_of(picture.caption), make("img", {"class": "picture", **attributes}))
