"""Which room may import which: read from the source, so that a forbidden import fails here and not in use."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

import spanwright

SOURCE = Path(spanwright.__file__).parent
HEAVY = frozenset(("torch", "transformers"))
LATER = "packages inside calls"


@dataclass(frozen=True)
class Import:
    """One import of a module: `spanwright.text.words`, `torch.nn`."""

    module: str
    line: int
    at_once: bool
    """Whether importing the file imports it, rather than a call or a type checker."""

    @property
    def room(self) -> str | None:
        """The room or top file of the library; None for foreign packages."""
        parts = self.module.split(".")
        return None if parts[0] != "spanwright" else parts[1] if len(parts) > 1 else ""

    @property
    def package(self) -> str:
        return self.module.partition(".")[0]


@dataclass(frozen=True)
class Rule:
    """What the files of a room may import besides the standard library and the room itself."""

    rooms: frozenset[str] = frozenset()
    packages: frozenset[str] = frozenset()
    later_packages: bool = False
    """Whether calls may import any other package, as optional ones must be."""


def rule(rooms: str = "", packages: str = "", *, later_packages: bool = False) -> Rule:
    return Rule(frozenset(rooms.split()), frozenset(packages.split()), later_packages)


RULES = {
    "text": rule("errors drawing"),
    "drawing.py": rule("text palette"),
    "frames.py": rule("errors", later_packages=True),
    "formats": rule("text errors outside frames drawing", later_packages=True),
    "outside.py": rule("errors"),
    "corpora": rule("text errors formats toml_text palette pictures"),
    "descriptions": rule("errors"),
    "lexicons": rule("text errors formats outside"),
    "distant": rule("text errors lexicons", later_packages=True),
    "linking": rule("text errors lexicons arrays", "numpy"),
    "linking/encoder.py": rule("arrays batches parts", "torch safetensors"),
    "linking/neighbours.py": rule("arrays errors", "numpy", later_packages=True),
    "linking/learning.py": rule("errors", "numpy torch"),
    "linking/saved.py": rule("errors formats model_files __version__", "numpy safetensors"),
    "settings": rule("errors strict toml_files toml_text wrong_values recipes outside", "pydantic"),
    "recipes": rule("errors"),
    "batches": rule("text arrays labels errors settings", "numpy tokenizers"),
    "decoding": rule("arrays batches settings", "numpy"),
    "parts": rule("batches decoding devices errors settings", "torch numpy"),
    "parts/encoder/backbone.py": rule("batches errors settings", "torch", later_packages=True),
    "parts/encoder/bert.py": rule("strict", "torch pydantic"),
    "parts/encoder/conversions.py": rule("errors", "numpy safetensors", later_packages=True),
    "parts/encoder/pretrained.py": rule("errors", later_packages=True),
    "parts/encoder/adapters.py": rule("errors settings", "torch", later_packages=True),
    "parts/build.py": rule("batches errors labels settings", "torch"),
    "evaluation": rule("text arrays errors frames", "numpy"),
    "predicting": rule(
        "text arrays errors devices formats labels lexicons linking batches decoding parts evaluation "
        "identity artifact model_files settings __version__",
        "numpy torch",
        later_packages=True,
    ),
    "training": rule(
        "text arrays errors corpora descriptions devices formats labels lexicons batches parts evaluation "
        "identity artifact model_files origin predicting settings strict toml_files toml_text __version__",
        "numpy pydantic safetensors torch",
    ),
    "artifact.py": rule(
        "errors formats batches parts settings model_card model_files __version__", "torch safetensors"
    ),
    "model_card.py": rule("errors labels model_files settings", later_packages=True),
    "comparing": rule(
        "text arrays errors devices formats frames corpora evaluation settings strict toml_files "
        "identity training predicting origin pictures",
        "numpy pydantic",
    ),
    "tuning": rule(
        "text errors devices formats evaluation settings strict toml_files toml_text identity training",
        "numpy pydantic",
        later_packages=True,
    ),
    "perturbing": rule("text errors"),
    "perturbing/measuring.py": rule("text evaluation"),
    "reporting": rule("text arrays errors formats evaluation palette", "numpy"),
    "analysis": rule(
        "text arrays errors settings batches lexicons parts predicting evaluation artifact palette pictures",
        "numpy torch",
        later_packages=True,
    ),
    "selecting": rule(
        "text arrays errors analysis corpora batches model_files parts predicting", "numpy torch"
    ),
    "integrations": rule(
        "text errors devices formats linking predicting model_files hub", later_packages=True
    ),
    "model_files": rule(
        "arrays batches devices errors evaluation labels outside settings __version__",
        "numpy torch safetensors tokenizers",
    ),
    "hub.py": rule("errors model_files predicting", later_packages=True),
    "service": rule(
        "text errors devices formats linking model_files palette predicting wrong_values __version__",
        "pydantic",
        later_packages=True,
    ),
    "web": rule("text errors artifact formats model_files predicting service"),
    "arrays.py": rule("", "numpy"),
    "labels.py": rule("text descriptions errors"),
    "toml_files.py": rule("errors wrong_values", "pydantic"),
    "wrong_values.py": rule(),
    "palette.py": rule(),
    "pictures.py": rule("errors palette", later_packages=True),
    "toml_text.py": rule("", "tomli_w"),
    "strict.py": rule("", "pydantic"),
    "identity.py": rule("formats"),
    "errors.py": rule(),
    "devices.py": rule("errors", later_packages=True),
    "origin.py": rule("__version__", later_packages=True),
}


def imports(file: Path) -> Iterator[Import]:
    """All imports of a file, `from package import module` as `package.module`."""

    def walk(node: ast.AST, at_once: bool) -> Iterator[Import]:
        for child in ast.iter_child_nodes(node):
            later = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            checking = isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test)
            if isinstance(child, ast.Import):
                yield from (Import(name.name, child.lineno, at_once) for name in child.names)
            elif isinstance(child, ast.ImportFrom):
                assert child.level == 0, f"{file}:{child.lineno}: relative imports hide the room"
                yield from (
                    Import(f"{child.module}.{name.name}", child.lineno, at_once) for name in child.names
                )
            else:
                yield from walk(child, at_once and not later and not checking)

    return walk(ast.parse(file.read_text(encoding="utf-8")), True)


def place_of(file: Path) -> str:
    return file.relative_to(SOURCE).as_posix()


def room_of(file: Path) -> str:
    """The room of a file, or its name where it stands at the top."""
    return place_of(file).partition("/")[0]


def rule_name(file: Path) -> str | None:
    """Under which name the rule of a file stands: its own, or that of its room."""
    return next((name for name in (place_of(file), room_of(file)) if name in RULES), None)


def permission(found: Import, file: Path, given: Rule) -> str | None:
    """What an import of a file must be permitted by; None if it needs no permission."""
    if found.room is not None:
        return None if found.room == room_of(file) else f"room {found.room}"
    if found.package in sys.stdlib_module_names:
        return None
    return LATER if given.later_packages and not found.at_once else f"package {found.package}"


def permissions(given: Rule) -> set[str]:
    """All that a rule permits."""
    rooms = {f"room {name}" for name in given.rooms}
    packages = {f"package {name}" for name in given.packages}
    return rooms | packages | ({LATER} if given.later_packages else set())


FILES = sorted(SOURCE.rglob("*.py"))
GUARDED = [file for file in FILES if rule_name(file) is not None]


@pytest.mark.parametrize("file", GUARDED, ids=place_of)
def test_a_file_imports_only_what_its_room_may(file: Path) -> None:
    given = RULES[rule_name(file) or ""]
    permitted = {None, *permissions(given)}
    wrong = [
        f"{file}:{found.line}: {found.module}"
        for found in imports(file)
        if permission(found, file, given) not in permitted
    ]
    assert wrong == []


@pytest.mark.parametrize("name", sorted(RULES))
def test_every_rule_guards_something_and_permits_nothing_that_no_file_needs(name: str) -> None:
    guarded = [file for file in GUARDED if rule_name(file) == name]
    assert guarded
    needed = {permission(found, file, RULES[name]) for file in guarded for found in imports(file)}
    assert permissions(RULES[name]) - needed == set()


def test_only_what_stands_above_all_rooms_has_no_rule() -> None:
    # Commands may import every room, but see below when; the sample is data.
    assert {room_of(file) for file in FILES} - {room_of(file) for file in GUARDED} == {
        "__init__.py",
        "__main__.py",
        "cli",
        "sample",
    }


def test_evaluation_never_imports_torch() -> None:
    found = {each.package for file in (SOURCE / "evaluation").rglob("*.py") for each in imports(file)}
    assert found & HEAVY == set()


def test_only_the_room_of_tables_makes_tables_for_the_terminal() -> None:
    makers = {
        file.relative_to(SOURCE).parent.as_posix()
        for file in SOURCE.rglob("*.py")
        for found in imports(file)
        if found.at_once and found.module.startswith("rich.table.")
    }
    assert makers == {"cli/tables"}


@pytest.mark.parametrize("file", sorted((SOURCE / "cli").rglob("*.py")), ids=lambda file: file.name)
def test_commands_import_the_heavy_rooms_inside_calls_only(file: Path) -> None:
    heavy = {"training", "predicting", "settings", "parts", "batches", "artifact", "analysis"}
    heavy |= {"hub", "service", "tuning", "web"}
    at_once = [found for found in imports(file) if found.at_once]
    # The view of a training is itself imported inside the command that trains.
    if file.name != "progress.py":
        assert [found for found in at_once if found.room in heavy] == []
    assert [found for found in at_once if found.package in HEAVY] == []


@pytest.mark.parametrize("file", ["cli/tag.py", "predicting/tagging_options.py", "integrations/spark.py"])
def test_tagging_at_once_knows_nothing_of_jobs(file: str) -> None:
    found = [each.module for each in imports(SOURCE / file)]
    assert [module for module in found if module.startswith("spanwright.predicting.jobs")] == []


def loaded(*modules: str) -> set[str]:
    """What a fresh process has loaded once it has imported some modules."""
    code = f"import sys, {', '.join(modules)}; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": str(SOURCE.parent)},
    )
    return set(done.stdout.split())


def modules_of(*rooms: str) -> list[str]:
    """The names of all modules of some rooms."""
    files = [file for room in rooms for file in sorted((SOURCE / room).rglob("*.py"))]
    return [".".join(file.relative_to(SOURCE.parent).with_suffix("").parts) for file in files]


@pytest.mark.parametrize("module", ["spanwright", "spanwright.cli.main", "spanwright.labels"])
def test_importing_a_light_module_loads_no_torch(module: str) -> None:
    assert loaded(module) & HEAVY == set()


@pytest.mark.parametrize("room", ["text", "formats", "settings", "batches", "decoding", "evaluation"])
def test_no_module_of_a_light_room_loads_torch_by_whatever_way(room: str) -> None:
    assert loaded(*modules_of(room)) & HEAVY == set()


TAGGING = (
    "spanwright.predicting.tagger",
    "spanwright.predicting.tagging_options",
    "spanwright.predicting.jobs.local_engine",
    "spanwright.predicting.onnx.loading",
    "spanwright.integrations.spark",
    "spanwright.linking.saved",
    "spanwright.service.app",
    "spanwright.service.starting",
)
"""What tags, in whichever way, where the network of a model is graphs."""


def test_nothing_that_tags_loads_torch() -> None:
    assert loaded(*TAGGING) & HEAVY == set()


def test_predicting_loads_nothing_of_training() -> None:
    found = loaded(*modules_of("predicting"), "spanwright.hub", "spanwright.service.app")
    assert [module for module in found if module.startswith("spanwright.training")] == []


def test_functions_are_short() -> None:
    functions = [
        node
        for file in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    bodies = sorted(_body_lines(node) for node in functions)
    assert bodies[len(bodies) // 2] <= 5 and bodies[len(bodies) * 9 // 10] <= 16
    assert [node.name for node in functions if (node.end_lineno or 0) - node.lineno >= 60] == []


def _body_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of a function without its head and its docstring."""
    body = function.body[1:] if ast.get_docstring(function) and len(function.body) > 1 else function.body
    return (body[-1].end_lineno or 0) - body[0].lineno + 1


def test_the_public_names_are_all_there() -> None:
    for name in spanwright.__all__:
        assert getattr(spanwright, name).__name__ == name


def test_an_unknown_public_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="'spanwright' has no attribute 'nothing'"):
        _ = spanwright.nothing


def test_the_guard_tells_imports_at_once_from_later_ones(tmp_path: Path) -> None:
    file = tmp_path / "sample.py"
    file.write_text(
        "import os\n"
        "from spanwright.text import words\n"
        "if TYPE_CHECKING:\n    import torch\n"
        "try:\n    import rich\nexcept ImportError:\n    pass\n"
        "class A:\n    import json\n    def f(self):\n        import numpy.random\n"
    )
    found = [(each.module, each.room, each.at_once) for each in imports(file)]
    assert found == [
        ("os", None, True),
        ("spanwright.text.words", "text", True),
        ("torch", None, False),
        ("rich", None, True),
        ("json", None, True),
        ("numpy.random", None, False),
    ]


DOCS = SOURCE.parent.parent / "docs"
MAP = (DOCS / "architecture.md").read_text(encoding="utf-8")
ROWS = dict(re.findall(r"^\| `(\w+)/` \|.*\| (.*) \|$", MAP, re.M))
"""The rooms in the order of the first table of the map, each with what it may import in words."""
LOOPS = (("text", "drawing"),)
"""Rooms that a module at the top leads back to: a document shows itself in notebooks, drawn by `drawing`."""


def imported_rooms(room: str) -> Iterator[tuple[str, str, str]]:
    """Files of a room, what they import of the library, and each room of the map that this is or leads to.

    Modules at the top have no row: they stand for the rooms that they import themselves.
    """
    for file in sorted((SOURCE / room).rglob("*.py")):
        for found in imports(file):
            if found.room and found.room != room:
                yield from ((place_of(file), found.room, reached) for reached in rooms_behind(found.room))


@cache
def rooms_behind(name: str) -> frozenset[str]:
    """A room itself, or the rooms that a module at the top leads to."""
    if name in ROWS:
        return frozenset((name,))
    files = [file for file in FILES if room_of(file).removesuffix(".py") == name]
    own = {found.room for file in files for found in imports(file) if found.room and found.room != name}
    return frozenset(reached for each in own for reached in rooms_behind(each))


@pytest.mark.parametrize("room", ROWS)
def test_a_room_imports_only_rooms_above_it_in_the_map(room: str) -> None:
    above = set(list(ROWS)[: list(ROWS).index(room)])
    wrong = [
        f"{place}: {imported} leads to {reached}"
        for place, imported, reached in imported_rooms(room)
        if reached not in above and not (reached == room and (room, imported) in LOOPS)
    ]
    assert wrong == []


@pytest.mark.parametrize(("room", "module"), LOOPS)
def test_every_loop_that_the_map_allows_is_there(room: str, module: str) -> None:
    assert room in {reached for _, imported, reached in imported_rooms(room) if imported == module}


@pytest.mark.parametrize("room", ROWS)
def test_the_map_says_what_a_room_imports(room: str) -> None:
    words = ROWS[room]
    if "everything above" not in words and "what it needs" not in words and room != "cli":
        said = {name.partition("/")[0] for name in re.findall(r"`([\w/.]+)`", words)}
        assert {name for _, name, _ in imported_rooms(room) if name in ROWS} - said == set()


def test_the_map_names_functions_that_are_there() -> None:
    named = re.findall(r"`([\w/]+\.py): ([\w.]+)`", MAP)
    assert len(named) > 10
    for place, name in named:
        last = name.rpartition(".")[2]
        assert re.search(rf"^\s*(def|class) {last}\b", (SOURCE / place).read_text(encoding="utf-8"), re.M), (
            place
        )


@pytest.mark.parametrize("page", ["architecture.md", "contracts.md", "decisions.md"])
def test_the_map_and_its_pages_name_files_and_folders_that_are_there(page: str) -> None:
    text = (DOCS / page).read_text(encoding="utf-8")
    places = set(re.findall(r"`((?:[a-z_]+/)+(?:[a-z_]+\.py)?)`", text)) | set(
        re.findall(r"`([\w/]+\.py)`", text)
    )
    rooms = ["", *(f"{room.name}/" for room in SOURCE.iterdir() if room.is_dir())]
    missing = [place for place in places if not any((SOURCE / f"{room}{place}").exists() for room in rooms)]
    # Tests, the folders of a run, and examples of names.
    known = ("tests/", "model/", "checkpoints/", "formats/NAME")
    assert [place for place in missing if not place.startswith(known)] == []


def test_the_map_lists_every_room_and_module_at_the_top() -> None:
    found = {each.name + "/" * each.is_dir() for each in SOURCE.iterdir() if each.suffix in ("", ".py")}
    data = {"__pycache__/", "__main__.py", "recipes/", "sample/"}
    assert {name for name in found - data if f"`{name}`" not in MAP} == set()
    assert {f"{room}/" for room in ROWS} == {name for name in found - data if name.endswith("/")}


def test_the_map_fits_on_three_screens() -> None:
    assert len(MAP.splitlines()) <= 120
