"""Label Studio's labelling interface, an XML text: which tags label which texts, and with what.

<View>
  <Labels name="label" toName="text"><Label value="Disease"/><Label value="Chemical"/></Labels>
  <Text name="text" value="$text"/>
</View>
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from spanwright.formats.io.safe_xml import refuse_doctype
from spanwright.service.messages import FieldError

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_FIELD = ("label_config",)
_EXAMPLE = (
    '<Labels name="label" toName="text"> with <Label value="..."/>, and <Text name="text" value="$text"/>'
)


@dataclass(frozen=True, slots=True)
class LabelledText:
    """A tag of labels and the tag of texts that it labels."""

    from_name: str
    to_name: str
    key: str
    """Of the data of a task, under which the text stands."""
    labels: tuple[str, ...]


def labelled_texts(config: str) -> list[LabelledText]:
    """The tags of a labelling interface that label texts; at least one, else a `FieldError` says why not."""
    root = _parsed(config)
    texts = {each.get("name"): each for each in root.iter("Text")}
    found = [
        _labelled(labels, texts[name])
        for labels in root.iter("Labels")
        for name in (labels.get("toName") or "").split(",")
        if name in texts
    ]
    if not found:
        tags = sorted({each.tag for each in root.iter()} - {"View", "Label"})
        raise FieldError(
            _FIELD,
            f"nothing in the labelling interface labels a text; found {', '.join(tags) or 'no tags'}; "
            f"expected {_EXAMPLE}",
        )
    return found


def _parsed(config: str) -> Element:
    try:
        content = config.encode()
        refuse_doctype(content, "label_config")
        return ElementTree.fromstring(content)
    except (ElementTree.ParseError, UnicodeEncodeError, ValueError) as error:
        raise FieldError(_FIELD, f"not an XML text ({error}); expected {_EXAMPLE}") from None


def _labelled(labels: Element, text: Element) -> LabelledText:
    value = text.get("value") or ""
    if text.get("valueType") == "url":
        raise FieldError(
            _FIELD,
            f"the texts of <Text value={value!r:.80}> are at addresses (valueType='url'), and this service "
            f"fetches nothing; expected texts in the tasks themselves",
        )
    names = tuple(each.get("alias") or each.get("value") or "" for each in labels.iter("Label"))
    return LabelledText(labels.get("name") or "", text.get("name") or "", value.removeprefix("$"), names)
