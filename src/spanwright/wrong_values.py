"""What is wrong with a value that somebody has written, in plain words instead of those of pydantic."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_EXPECTED = {
    "missing": "it is missing",
    "dict_type": "expected names with values",
    "model_type": "expected names with values",
    "model_attributes_type": "expected names with values",
    "list_type": "expected a list",
    "tuple_type": "expected a list",
    "string_type": "expected a string",
    "path_type": "expected a path",
    "string_too_short": "expected {min_length} or more characters",
    "string_too_long": "expected {max_length} or fewer characters",
    "string_pattern_mismatch": "expected something that fits {pattern}",
    "too_short": "expected at least {min_length}, found {actual_length}",
    "too_long": "expected at most {max_length}, found {actual_length}",
    "int_type": "expected a whole number",
    "int_parsing": "expected a whole number",
    "int_from_float": "expected a whole number",
    "float_type": "expected a number",
    "float_parsing": "expected a number",
    "finite_number": "expected a finite number",
    "bool_type": "expected true or false",
    "bool_parsing": "expected true or false",
    "greater_than": "expected more than {gt}",
    "greater_than_equal": "expected at least {ge}",
    "less_than": "expected less than {lt}",
    "less_than_equal": "expected at most {le}",
    "literal_error": "expected {expected}",
    "union_tag_invalid": "there is no {discriminator} '{tag}'; expected {expected_tags}",
    "union_tag_not_found": "{discriminator} is missing, which says what it is",
}
"""By the kind of error; names in braces are those of pydantic's own context."""


def reason(error: Mapping[str, Any]) -> str:
    """The reason of one of the errors that pydantic lists."""
    if words := _EXPECTED.get(error["type"]):
        return words.format(**error.get("ctx", {}))
    # What remains are checks of our own, which say what they found.
    message = str(error["msg"]).removeprefix("Value error, ")
    return message.replace("Input should be", "expected").replace("a valid ", "a ")
