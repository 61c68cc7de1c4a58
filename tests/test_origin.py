from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import torch

import spanwright
from spanwright.origin import commit, machine


def git(folder: Path, *arguments: str) -> str:
    author = ("-c", "user.name=nobody", "-c", "user.email=nobody@example.org", "-c", "commit.gpgsign=false")
    done = subprocess.run(
        ["git", "-C", str(folder), *author, *arguments], check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package whose files are committed, in a checkout with other files."""
    folder = tmp_path / "checkout" / "src" / "package"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    (tmp_path / "checkout" / ".gitignore").write_text("installed/\n")
    git(tmp_path, "init", "--quiet", "checkout")
    git(folder, "add", "--all", ":/")
    git(folder, "commit", "--quiet", "--message", "all of it")
    return folder


def test_the_commit_of_a_checkout_is_its_head(package: Path) -> None:
    assert commit(package) == git(package, "rev-parse", "HEAD")


@pytest.mark.parametrize("name", ["__init__.py", "added.py"])
def test_uncommitted_changes_of_the_code_are_marked(package: Path, name: str) -> None:
    (package / name).write_text("changed = True\n")
    assert commit(package) == git(package, "rev-parse", "HEAD") + "+changes"


def test_files_beside_the_code_are_no_changes(package: Path) -> None:
    (package.parent.parent / "results.json").write_text("{}")
    assert commit(package) == git(package, "rev-parse", "HEAD")


def test_a_hook_of_another_repository_does_not_change_the_commit(
    package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "other.git"))
    assert commit(package) is not None


def test_a_package_that_is_installed_in_the_checkout_of_something_else_has_no_commit(package: Path) -> None:
    installed = package.parent.parent / "installed"
    installed.mkdir()
    (installed / "__init__.py").write_text("")
    assert commit(installed) is None


def test_outside_of_git_there_is_no_commit(tmp_path: Path) -> None:
    (tmp_path / "__init__.py").write_text("")
    assert commit(tmp_path) is None


def test_without_git_there_is_no_commit(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert commit(package) is None


def test_the_machine_is_told_with_its_threads_and_versions() -> None:
    found = machine()
    assert (found["threads"], found["torch"]) == (torch.get_num_threads(), torch.__version__)
    assert found["spanwright"] == spanwright.__version__
    assert found["cores"] >= 1 and found["processor"]
