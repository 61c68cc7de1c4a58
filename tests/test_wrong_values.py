"""What is wrong with a value, in plain words."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from pydantic import Field, ValidationError

from spanwright.strict import Strict
from spanwright.wrong_values import reason


class Round(Strict):
    kind: Literal["round"] = "round"
    size: int = 1


class Square(Strict):
    kind: Literal["square"] = "square"


class Values(Strict):
    shape: Annotated[Round | Square, Field(discriminator="kind")] = Round()
    count: int = Field(default=1, ge=1, lt=9)
    share: float = Field(default=0.5, gt=0, le=1)
    on: bool = True
    colour: Literal["red", "green"] = "red"
    names: list[str] = Field(default_factory=lambda: ["a"], min_length=1, max_length=2)
    name: str = Field(default="a", min_length=1, max_length=3, pattern="^[a-z]*$")
    tables: dict[str, int] = Field(default_factory=dict)
    path: Path = Path("a")


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"shape": {"kind": "binder"}}, "there is no 'kind' 'binder'; expected 'round', 'square'"),
        ({"shape": {}}, "'kind' is missing, which says what it is"),
        ({"count": 0}, "expected at least 1"),
        ({"count": 9}, "expected less than 9"),
        ({"count": "x"}, "expected a whole number"),
        ({"count": 1.5}, "expected a whole number"),
        ({"share": 0}, "expected more than 0.0"),
        ({"share": 2}, "expected at most 1.0"),
        ({"share": float("nan")}, "expected a finite number"),
        ({"share": []}, "expected a number"),
        ({"on": "perhaps"}, "expected true or false"),
        ({"on": []}, "expected true or false"),
        ({"colour": "blue"}, "expected 'red' or 'green'"),
        ({"names": []}, "expected at least 1, found 0"),
        ({"names": ["a", "b", "c"]}, "expected at most 2, found 3"),
        ({"names": 3}, "expected a list"),
        ({"name": 3}, "expected a string"),
        ({"name": ""}, "expected 1 or more characters"),
        ({"name": "abcd"}, "expected 3 or fewer characters"),
        ({"name": "A"}, "expected something that fits ^[a-z]*$"),
        ({"tables": 3}, "expected names with values"),
        ({"path": 3}, "expected a path"),
    ],
    ids=str,
)
def test_reasons_are_plain_words(values: dict[str, Any], words: str) -> None:
    with pytest.raises(ValidationError) as caught:
        Values.model_validate(values)
    (error,) = caught.value.errors()
    assert reason(error) == words
