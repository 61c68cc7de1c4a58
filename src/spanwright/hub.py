"""Models on the Hugging Face Hub: `push` a model directory, `from_hub` loads one. See docs/hub.md.

Only the files of a model travel, in both directions, whatever else lies beside them. What is downloaded is in
the cache that all tools of the Hub share, and is loaded as any model directory is: no code of it is run.
"""

from __future__ import annotations

import atexit
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path
from tempfile import mkdtemp

from spanwright.errors import InputError, ModelError, SpanwrightError
from spanwright.model_files.digests import GRAPHS, REQUIRED, TRAINING_IDS, VOCABULARY
from spanwright.model_files.folders import model_folder
from spanwright.predicting.tagger import Tagger, load

_FILES = (*REQUIRED, VOCABULARY, TRAINING_IDS, "README.md", GRAPHS)
"""All files that a model directory can have, graphs by their pattern."""
_NAME = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)
"""The Hub is stricter, and says so."""
_LOGIN = "`hf auth login` or the environment variable HF_TOKEN tells the Hub who you are"
_LONGEST_REASON = 300


def push(folder: str | Path, repository: str, *, private: bool = False, token: str | None = None) -> str:
    """Upload a model directory to `user/name` on the Hub, in one commit, and return the address there.

    The repository is made if there is none; `private` counts only then. Without a token, the one of
    `hf auth login` or of the environment variable HF_TOKEN is used.
    """
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete, HfApi

    files = model_files(folder)
    _check_name(repository)
    with _clear_errors(repository):
        api = HfApi(token=token, library_name="spanwright")
        address = api.create_repo(repository, private=private, exist_ok=True)
        additions = [CommitOperationAdd(path_in_repo=file.name, path_or_fileobj=file) for file in files]
        # Files of an earlier model there, such as graphs, are none of this one.
        old = filter(is_model_file, api.list_repo_files(repository))
        removals = [CommitOperationDelete(name) for name in old if name not in {file.name for file in files}]
        api.create_commit(repository, [*additions, *removals], commit_message="Upload a Spanwright model")
    return str(address)


def from_hub(repository: str, revision: str | None = None) -> Tagger:
    """Load the model `user/name` of the Hub, or what the cache has of it when the Hub is out of reach.

    A revision is a branch, a tag or a commit; only a commit is certain to stay the same.
    """
    from huggingface_hub import snapshot_download

    _check_name(repository)
    with _clear_errors(repository, revision, otherwise=", or a model that is in the cache already"):
        snapshot = snapshot_download(
            repository, revision=revision, allow_patterns=list(_FILES), library_name="spanwright"
        )
    # A model directory has no links, but the cache consists of them.
    folder = mkdtemp(prefix="spanwright-")
    # Not before: some graphs are read when they are needed.
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    _take_files(Path(snapshot), Path(folder), repository)
    try:
        return load(folder)
    except ModelError as error:
        raise ModelError(str(error).replace(folder, repository)) from error


def is_model_file(name: str) -> bool:
    """Whether a model directory can have a file of that name."""
    return Path(name).name == name and any(fnmatchcase(name, pattern) for pattern in _FILES)


def model_files(model: str | Path) -> list[Path]:
    """The files of a model directory that belong to the model, without others that lie there."""
    files = _files_of(model_folder(model))
    for file in files:
        if file.is_symlink() or not file.is_file():
            raise ModelError(f"{file}: not a plain file; expected a model directory without links")
    return files


def _files_of(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("*") if is_model_file(path.name))


def _take_files(snapshot: Path, folder: Path, repository: str) -> None:
    """Bring the files of a snapshot in the cache to a folder."""
    cache = snapshot.resolve().parents[2]
    for link in _files_of(snapshot):
        file, name = link.resolve(), link.name
        if not file.is_file() or not file.is_relative_to(cache):
            raise ModelError(
                f"{repository}: {name} in the cache leads to {file}; expected a file inside {cache}. "
                f"Remove {snapshot} to download it again"
            )
        try:
            (folder / name).hardlink_to(file)
        except OSError:  # on another disk, or nobody but the owner may link it
            shutil.copyfile(file, folder / name)


def _check_name(repository: str) -> None:
    if not _NAME.fullmatch(repository):
        raise InputError(
            f"{repository!r} is not the name of a repository; expected user/name, made of letters, digits, "
            f"hyphens, underlines and dots"
        )


@contextmanager
def _clear_errors(repository: str, revision: str | None = None, *, otherwise: str = "") -> Iterator[None]:
    """Turn what the Hub, or the way to it, can say into errors that say what is expected."""
    try:
        yield
    except Exception as error:  # which ones there are depends on the version of huggingface_hub
        raise _clear_error(error, repository, revision, otherwise) from error


def _clear_error(error: Exception, repository: str, revision: str | None, otherwise: str) -> SpanwrightError:
    from huggingface_hub import errors

    reported, cause = error, error.__cause__
    if isinstance(error, errors.LocalEntryNotFoundError) and isinstance(cause, errors.HfHubHTTPError):
        reported = cause  # why it looked into the cache, where there was nothing
    reason = " ".join(str(reported).split())[:_LONGEST_REASON].rstrip(".")
    match reported:
        case errors.GatedRepoError():
            return InputError(f"{repository}: its owner must give you access first; {_LOGIN}")
        case errors.RepositoryNotFoundError():
            return InputError(
                f"{repository}: the Hub has no such model, or it is private; expected a model that you may "
                f"use. {_LOGIN}"
            )
        case errors.RevisionNotFoundError():
            return InputError(
                f"{repository}: has no revision {revision!r}; expected its branches, tags and commits"
            )
        case errors.HfHubHTTPError() if reported.response.status_code >= 500:
            return SpanwrightError(f"{repository}: the Hub failed: {reason}")
        case errors.HfHubHTTPError():
            return InputError(f"{repository}: the Hub refuses this: {reason}. {_LOGIN}")
        case ValueError():
            return InputError(f"{repository}: the Hub cannot take this: {reason}")
        case OSError(errno=int()):
            return SpanwrightError(f"{repository}: {reason}")  # of this machine, such as a full disk
        case _:
            return InputError(
                f"{repository}: the Hub cannot be reached: {reason}. Expected a connection{otherwise}"
            )
