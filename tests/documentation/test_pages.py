"""Every command and every piece of Python in the README and the tutorials works, and prints what is shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from documentation.blocks import steps
from documentation.running_pages import (
    ROOT,
    ExampleError,
    Session,
    cut,
    differs,
    pages,
    reason_to_skip,
    run_page,
)


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.relative_to(ROOT).as_posix())
def test_the_examples_of_a_page_print_what_it_shows(page: Path, tmp_path: Path) -> None:
    lines, skipped = page.read_text(encoding="utf-8").splitlines(), set()
    for step, printed in run_page(page, tmp_path):
        if printed is None:
            skipped.add(reason_to_skip(step))
        elif step.shown is not None:
            shown = "\n".join(lines[slice(*step.shown)])
            assert not differs(step, shown, printed), (
                f"line {step.line} shows\n{shown}\nbut prints\n{printed}\n`make examples` mends the page"
            )
    missing = [reason for reason in skipped if reason is not None and "not installed" in reason]
    if missing:
        pytest.skip(f"all that could be run was; {missing[0]}")


PAGE = """# A page

<!-- example: skip it would install something; numbers vary -->
```console
$ pip install spanwright
```

```toml title="a/plan.toml"
seeds = 1
```

```console
$ cat \\
    a/plan.toml
seeds = 1
$ echo one; echo two; echo three
one
...
three
```

```python
print(1 + 1)
```

```text
2
```
"""


def test_the_steps_of_a_page_are_found() -> None:
    found = steps(PAGE)
    assert [step.kind for step in found] == ["console", "file", "console", "console", "python"]
    assert found[0].marked("skip") == "it would install something"
    assert found[0].marked("numbers vary") == ""
    assert found[2].source == "cat a/plan.toml"
    assert [step.shown for step in found] == [None, None, (14, 15), (16, 19), (26, 27)]


def test_a_page_runs_in_its_folder(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE, encoding="utf-8")
    printed = [text for _, text in run_page(page, tmp_path)]
    assert printed == [None, "", "seeds = 1", "one\ntwo\nthree", "2"]


@pytest.mark.parametrize(
    ("shown", "printed", "different"),
    [
        ("a\nb", "a\nb", False),
        ("a\nb", "a\nc", True),
        ("a\nb", "a\nb\nc", True),
        ("a\n...", "a\nb\nc", False),
        ("a\n...\nc", "a\nb\nb\nc", False),
        ("...\nc", "a\nb\nc", False),
        ("a\n...\nd", "a\nb\nc", True),
        ("F1 0.81 in 3 s", "F1 0.79 in 12.5 s", False),
        ("3 entities", "4 entities", True),
        ("a   b", "a  b", False),
    ],
)
def test_what_a_page_shows_is_compared_with_what_is_printed(
    shown: str, printed: str, different: bool
) -> None:
    (step,) = steps("```python\n```")
    assert differs(step, shown, printed) is different


def test_numbers_vary_where_the_page_says_so() -> None:
    (step,) = steps("<!-- example: numbers vary -->\n```python\n```")
    assert not differs(step, "3 entities", "4 entities")
    assert not differs(step, "difference -2.6", "difference +1.4")


def test_answers_that_vary_are_not_compared_but_must_be_there() -> None:
    (step,) = steps("<!-- example: answers vary -->\n```python\n```")
    assert not differs(step, "Gene BRCA1", "Gene TP53")
    assert differs(step, "Gene BRCA1", "")


@pytest.mark.parametrize(
    ("shown", "fresh"),
    [
        (["old"], ["a 1", "b", "c", "d", "e"]),
        (["old", "..."], ["a 1", "..."]),
        (["...", "old", "old"], ["...", "d", "e"]),
        (["x", "...", "c", "old", "...", "y"], ["a 1", "...", "c", "d", "...", "e"]),
        (["..."], ["..."]),
    ],
)
def test_new_output_is_cut_as_the_old_was(shown: list[str], fresh: list[str]) -> None:
    (step,) = steps("```python\n```")
    assert cut(shown, ["a 1", "b", "c", "d", "e"], step) == fresh


def test_a_command_that_fails_fails_the_page(tmp_path: Path) -> None:
    (step,) = steps("```console\n$ spanwright tag no-model text.txt\n```")
    with pytest.raises(ExampleError, match="ended with 2"):
        Session(tmp_path).output(step)
