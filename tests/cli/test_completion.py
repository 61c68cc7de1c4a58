"""Completion in shells: commands, options and the names of recipes, formats, encoders and models."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

CODE = "import sys; sys.argv = ['spanwright']; from spanwright.cli.main import main; main()"


def completed(words: str) -> set[str]:
    """What bash would offer for the last of the words."""
    environment = {
        **os.environ,
        "_SPANWRIGHT_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split(" ")) - 1),
    }
    done = subprocess.run(
        [sys.executable, "-c", CODE], capture_output=True, text=True, env=environment, check=True
    )
    return set(done.stdout.split())


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("spanwright tr", {"train"}),
        ("spanwright train pl", {"plain"}),
        ("spanwright train binder/j", {"binder/joint"}),
        ("spanwright train plain --encoder mi", {"minilm"}),
        ("spanwright corpus convert x --to cs", {"csv"}),
        ("spanwright corpus stats x --form", {"--format"}),
    ],
)
def test_the_last_word_is_completed(words: str, expected: set[str]) -> None:
    assert completed(words) == expected
