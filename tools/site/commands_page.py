"""The reference of commands: each with its purpose, arguments and options, as the command line has them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import typer.main

from spanwright.cli.main import app

HEAD = """# Commands

Every command with its arguments and options. This page is made from the command line itself; `--help` after
any command prints the same.
"""


def text() -> str:
    """The page, in Markdown."""
    return "\n".join([HEAD, *_group(typer.main.get_command(app), ("spanwright",))]) + "\n"


def _group(command: Any, path: tuple[str, ...]) -> Iterator[str]:
    for name, each in command.commands.items():
        if hasattr(each, "commands"):
            yield from _group(each, (*path, name))
        else:
            yield from _command(each, (*path, name))


def _command(command: Any, path: tuple[str, ...]) -> Iterator[str]:
    about, _, example = (command.help or "").partition("Example: ")
    shown = [each for each in command.params if not getattr(each, "hidden", False)]
    arguments = [each for each in shown if each.param_type_name == "argument"]
    options = [each for each in shown if each.param_type_name == "option"]
    usage = " ".join([*path, *(_placeholder(each) for each in arguments), "[OPTIONS]"])
    yield f"## {' '.join(path)}\n"
    yield _paragraphs(about) + "\n"
    yield f"```text\n{usage}\n```\n"
    if example:
        yield f"Example:\n\n```console\n$ {' '.join(example.split())}\n```\n"
    yield from _table("argument", [(f"`{each.name.upper()}`", each) for each in arguments])
    yield from _table("option", [(_names(each), each) for each in options])


def _placeholder(argument: Any) -> str:
    name = argument.name.upper() + ("..." if argument.nargs == -1 else "")
    return name if argument.required else f"[{name}]"


def _names(option: Any) -> str:
    """The names of an option, and what may stand after them."""
    names = ", ".join(f"`{name}`" for name in [*option.opts, *option.secondary_opts])
    return names if option.is_flag else f"{names} {_value(option.type_descriptor.annotation)}"


def _value(annotation: Any) -> str:
    if get_origin(annotation) is Literal:
        return " or ".join(f"`{each}`" for each in get_args(annotation))
    inner = next(iter(get_args(annotation)), annotation)
    return {int: "NUMBER", float: "NUMBER", Path: "PATH"}.get(inner, "TEXT")


def _table(head: str, rows: list[tuple[str, Any]]) -> Iterator[str]:
    if not rows:
        return
    yield f"| {head} | what it does | usual |"
    yield "|---|---|---|"
    for name, each in rows:
        about = " ".join((each.help or "").split()).replace("|", "\\|")
        yield f"| {name} | {about} | {_usual(each)} |"
    yield ""


def _usual(parameter: Any) -> str:
    default = parameter.default
    if parameter.required:
        return "must be given"
    if default is None or default is False or default == () or callable(default):
        return ""
    return f"`{default}`"


def _paragraphs(help: str) -> str:
    """Help texts, whose lines are broken for the terminal, as paragraphs."""
    return "\n\n".join(" ".join(part.split()) for part in re.split(r"\n\s*\n", help.strip()))
