"""Every option that a message names exists, in the command that the message is from or names."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from inspect import unwrap
from pathlib import Path
from typing import Any

import pytest
import typer

import spanwright
from cli.running import run
from spanwright.cli.main import app

SOURCE = Path(spanwright.__file__).parent
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]*")
STYLE = re.compile(r"var\(--|:root|[{;]--")
"""What style sheets have."""
FOREIGN = {"--nproc-per-node": "torchrun", "--no-deps": "pip", "--directory": "python -m http.server"}
"""Options of other programs."""
_NAME = "((?:corpus |inspect )?[a-z]+)"
NAMED_COMMAND = re.compile(f"`?spanwright {_NAME}|`{_NAME} (?=--)")
"""A command that a message names, before its options."""
FROM = {
    "training": "train",
    "comparing": "compare",
    "tuning": "tune",
    "analysis": "train",
    "settings": "train",
    "reporting": "report",
    "predicting": "job",
    "linking": "link",
    "hub.py": "push",
    "selecting": "select",
    "service": "serve",
    "web": "export",
    "parts": "train",
}
"""Which command the messages of a room of the library are told by, where they name none."""
SHARED = {
    "reading.py": {"--option": "corpus convert", "--type": "tag", "--lexicon": "corpus label"},
    "tagging.py": {"--type": "tag", "--input-format": "tag"},
    "linking.py": {"--link": "tag"},
    "trainings.py": {"--resume": "train"},
    "encoder.py": {"--encoder": "train"},
    "doctor.py": {"--encoder": "train"},
    "serve.py": {"--train": "train", "--dev": "train"},
    "progress.py": {"--set": "train"},
    "select.py": {"--set": "train"},
}
"""Modules of several commands, or that tell of another: an option that they name, and its command."""


def commands(group: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    if hasattr(group, "commands"):
        for name, inner in group.commands.items():
            yield from commands(inner, (*path, name))
    else:
        yield " ".join(path), group


COMMANDS = dict(commands(typer.main.get_command(app)))
OPTIONS = {
    name: {option for parameter in command.params for option in parameter.opts}
    for name, command in COMMANDS.items()
}
FILES = {Path(unwrap(command.callback).__code__.co_filename).name: name for name, command in COMMANDS.items()}


def messages(file: Path) -> Iterator[str]:
    """All texts of a module but its docstrings, those of format strings with a letter for each gap."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    documented = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    inside = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(part.value if isinstance(part, ast.Constant) else "…" for part in node.values)
        elif isinstance(node, ast.Constant) and id(node) not in documented | inside:
            yield str(node.value)


def named_options(message: str) -> Iterator[tuple[str, str | None]]:
    """Options that a message names, each with the command that it is of, if it says so."""
    for found in OPTION.finditer(message):
        before = list(NAMED_COMMAND.finditer(message, 0, found.end()))
        name = next((group for group in before[-1].groups() if group), None) if before else None
        yield found[0], name if name in OPTIONS else None


def command_of(file: Path, option: str) -> str | None:
    place = file.relative_to(SOURCE).as_posix()
    if shared := SHARED.get(file.name, {}).get(option):
        return shared
    if place.startswith("cli/"):
        return FILES.get(file.name)
    return next((command for room, command in FROM.items() if place.startswith(room)), None)


MESSAGES = [
    (file, message)
    for file in sorted(SOURCE.rglob("*.py"))
    for message in messages(file)
    if OPTION.search(message) and not OPTION.fullmatch(message) and not STYLE.search(message)
]


def test_messages_are_found() -> None:
    assert len(MESSAGES) > 80


@pytest.mark.parametrize(
    "file, message", MESSAGES, ids=[f"{file.stem}-{number}" for number, (file, _) in enumerate(MESSAGES)]
)
def test_an_option_that_a_message_names_exists(file: Path, message: str) -> None:
    for option, said in named_options(message):
        if option in FOREIGN or (file.name == "origin.py" and "git" in file.read_text(encoding="utf-8")):
            continue
        command = said or command_of(file, option)
        assert command is not None, f"{file}: no command is known for {option}: {message}"
        assert option in OPTIONS[command], f"{file}: `{command}` has no {option}: {message}"


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        (("corpus", "split", "brat", "--out", "train", "--share", "1"), "--to"),
        (("corpus", "convert", "x", "--out", "a.xml"), "--to"),
        (("corpus", "stats", "odd.data"), "--format"),
        (("tag", "model", "odd.data", "--out", "a.xml"), "--format"),
        (("report", "odd.data", "--gold", "odd.data"), "corpus convert FILE --format NAME"),
    ],
)
def test_a_way_round_is_an_option_of_the_command(
    arguments: tuple[str, ...], option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "odd.data").write_text("nothing that is known\n")
    outcome = run(*arguments)
    assert outcome.code == 2 and option in outcome.error
    if "to" in option:
        assert ".tsv" in outcome.error  # one of the endings


def test_split_may_leave_out_what_a_format_cannot_express(tmp_path: Path) -> None:
    entities = [{"start": 0, "end": end, "type": "X"} for end in (1, 3)]
    nested = json.dumps({"text": "a b", "entities": entities})
    (tmp_path / "nested.jsonl").write_text(f"{nested}\n{nested}\n")
    arguments = ("corpus", "split", tmp_path / "nested.jsonl", "--share", 50, "--share", 50)
    outs = ("--out", tmp_path / "a.conll", "--out", tmp_path / "b.conll")
    assert "allow that with --lossy" in run(*arguments, *outs).error
    outcome = run(*arguments, *outs, "--lossy")
    assert outcome.code == 0 and outcome.stderr.count("left out:") == 2
    named = ("--out", tmp_path / "a", "--out", tmp_path / "b", "--to", "brat")
    assert run(*arguments, *named).code == 0 and (tmp_path / "a").is_dir()
