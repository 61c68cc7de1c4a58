"""Label Studio's labelling interface, an XML text: which tags label which texts, and with what.

<View>
  <Labels name="label" toName="text"><Label value="Disease"/><Label value="Chemical"/></Labels>
  <Text name="text" value="$text"/>
</View>
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from spanwright.errors import InputError
from spanwright.formats.io.safe_xml import refuse_doctype
from spanwright.service.messages import FieldError

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_VARIABLE = re.compile(r"\$(\w+(?:\.\w+)*)")
_EXAMPLE = (
    '<Labels name="label" toName="text"> with <Label value="..."/>, and <Text name="text" value="$text"/>'
)


@dataclass(frozen=True, slots=True)
class LabelledText:
    """A tag of labels and the tag of texts that it labels."""

    from_name: str
    to_name: str
    key: str
    """Of the data of a task, under which the text stands; `article.text` for one inside another."""
    labels: tuple[str, ...]


def labelled_texts(config: str, field: str) -> list[LabelledText]:
    """The tags of a labelling interface that label texts; at least one, else a `FieldError` says why not.

    `field` is where the interface stands in the request.
    """
    root = _parsed(config, field)
    texts = {each.get("name"): each for each in root.iter("Text")}
    found = [
        _labelled(labels, texts[name], field)
        for labels in root.iter("Labels")
        for name in (labels.get("toName") or "").split(",")
        if name in texts
    ]
    if not found:
        tags = sorted({each.tag for each in root.iter()} - {"View", "Label"})
        raise FieldError(
            (field,),
            f"nothing in the labelling interface labels a text; found {', '.join(tags) or 'no tags'}; "
            f"expected {_EXAMPLE}",
        )
    return found


def _parsed(config: str, field: str) -> Element:
    try:
        content = config.encode()
        refuse_doctype(content, field)
        return ElementTree.fromstring(content)
    except InputError as error:
        raise FieldError((field,), str(error)) from None
    except (ElementTree.ParseError, UnicodeEncodeError, ValueError) as error:
        raise FieldError((field,), f"not an XML text ({error}); expected {_EXAMPLE}") from None


def _labelled(labels: Element, text: Element, field: str) -> LabelledText:
    value = text.get("value") or ""
    if text.get("valueType") == "url":
        raise FieldError(
            (field,),
            f"the texts of <Text value={value!r:.80}> are at addresses (valueType='url'), and this service "
            f"fetches nothing; expected texts in the tasks themselves",
        )
    variable = _VARIABLE.fullmatch(value)
    if variable is None:
        raise FieldError(
            (field,),
            f"<Text value={value!r:.80}> is not the name of a text in the data of a task; expected a value "
            f"such as '$text' or '$article.text' alone",
        )
    names = tuple(each.get("alias") or each.get("value") or "" for each in labels.iter("Label"))
    return LabelledText(labels.get("name") or "", text.get("name") or "", variable[1], names)
