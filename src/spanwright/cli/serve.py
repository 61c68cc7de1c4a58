"""`spanwright serve`: models as an HTTP service, with a page to try them."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from spanwright.cli.devices import Device, PrecisionName
from spanwright.cli.linking import LinkTo, linker_of
from spanwright.cli.reading import read_and_report
from spanwright.devices import AUTO
from spanwright.errors import InputError

if TYPE_CHECKING:
    from spanwright.service.annotation import AnnotationFolder

TOKEN_VARIABLE = "SPANWRIGHT_TOKEN"
_OTHERS_READ = stat.S_IRGRP | stat.S_IROTH
_SECRETS = Path("/run/secrets")
"""Where containers have their secrets; they are read by the user of the container, who does not own them."""
_LOCAL = ("127.0.0.1", "::1", "localhost")

ModelsArgument = Annotated[
    list[str],
    typer.Argument(
        help="Model directories, such as RUN/model or NAME=RUN/model, or names of installed models; "
        "the first is the default."
    ),
]
HostOption = Annotated[str, typer.Option(help="Address to listen at; 0.0.0.0 for all of this machine.")]
PortOption = Annotated[int, typer.Option(min=0, max=65535, help="Port to listen at; 0 takes a free one.")]
TokenFileOption = Annotated[
    Path | None,
    typer.Option(help=f"File with the token that clients must send; else ${TOKEN_VARIABLE}, if set."),
]
WorkersOption = Annotated[
    int, typer.Option(min=1, help="Processes that answer; with torch, they share one copy of the weights.")
]
ThreadsOption = Annotated[
    int | None,
    typer.Option(min=1, help="Threads of the network in each worker; all cores together unless given."),
]
QueueOption = Annotated[
    int, typer.Option(min=1, help="Requests that a worker takes in for a model; more are refused with 503.")
]
BatchWordsOption = Annotated[
    int, typer.Option(min=1, help="Words that are tagged together; longer texts are tagged in steps.")
]
RequestWordsOption = Annotated[
    int, typer.Option(min=1, help="Words of all texts of a request; more are refused with 413.")
]
TimeoutOption = Annotated[
    float, typer.Option(min=0.1, help="Seconds after which a request that is not answered gets 503.")
]
AllowHostOption = Annotated[
    list[str] | None,
    typer.Option(help="A name by which clients may call the service, beside this machine's; repeatable."),
]
DrainSecondsOption = Annotated[
    float, typer.Option(min=0, help="Seconds after SIGTERM in which /ready says 503 and all is answered.")
]
StuckSecondsOption = Annotated[
    float, typer.Option(min=0.1, help="Seconds after which a batch that still runs makes /ready say 503.")
]
ToolTypesOption = Annotated[
    Path | None,
    typer.Option(
        help="TOML file with what types of the model are called in annotation tools: Disease = 'DIS'; others "
        "have their own names."
    ),
]
RuntimeOption = Annotated[str | None, typer.Option(help="What runs the network: torch, onnx or onnx-int8.")]

AnnotateOption = Annotated[
    Path | None,
    typer.Option(help="Texts to annotate on the page, in their order, such as those of `spanwright select`."),
]
AnnotatedOption = Annotated[
    Path, typer.Option(help="Folder for what is annotated; what it has already is gone on with.")
]


def serve_command(
    models: ModelsArgument,
    host: HostOption = "127.0.0.1",
    port: PortOption = 8000,
    token_file: TokenFileOption = None,
    workers: WorkersOption = 1,
    threads: ThreadsOption = None,
    queue: QueueOption = 64,
    batch_words: BatchWordsOption = 4000,
    request_words: RequestWordsOption = 200_000,
    timeout: TimeoutOption = 30.0,
    allow_host: AllowHostOption = None,
    drain_seconds: DrainSecondsOption = 2.0,
    stuck_seconds: StuckSecondsOption = 30.0,
    runtime: RuntimeOption = None,
    device: Device = AUTO,
    precision: PrecisionName = "float32",
    link: LinkTo = None,
    annotate: AnnotateOption = None,
    annotated: AnnotatedOption = Path("annotated"),
    tool_types: ToolTypesOption = None,
) -> None:
    """Serve models over HTTP: POST /tag with {"text": "..."}, or open the address in a browser.

    Example: spanwright serve runs/plain/model --port 8000
    """
    token = read_token(token_file)

    from spanwright.service import running

    running.check_service_installed()
    # Before the models, which take longer: a port that is taken shall be told at once.
    with _annotation(annotate, annotated, workers) as annotation, running.listen(host, port) as listening:
        from spanwright.service.models import named_paths
        from spanwright.service.starting import ServeOptions, start

        options = ServeOptions(
            models=named_paths(models),
            workers=workers,
            threads=threads,
            queue=queue,
            batch_words=batch_words,
            request_words=request_words,
            timeout=timeout,
            token=token,
            hosts=(*(allow_host or ()), *({host} - set(_LOCAL))),
            drain_seconds=drain_seconds,
            stuck_seconds=stuck_seconds,
            runtime=runtime,
            device=device,
            precision=precision,
            linker=linker_of(link) if link else None,
            annotation=annotation,
            tool_types=read_tool_types(tool_types),
        )
        line = _serving(options.models, host, listening.getsockname()[1], has_token=token is not None)
        if annotation is not None:
            line += _training(str(next(iter(options.models.values()))), annotated)
        start(options, listening, on_ready=partial(typer.echo, line, err=True), tell=_note)


@contextmanager
def _annotation(texts: Path | None, folder: Path, workers: int) -> Iterator[AnnotationFolder | None]:
    """The texts to annotate, with the folder that is written to and nobody else may have; None for none."""
    if texts is None:
        yield None
        return
    if workers > 1:
        raise InputError("--annotate: expected one worker, as only one process may write to the folder")

    from spanwright.formats.io.locked_folders import locked_folder
    from spanwright.service.annotation import AnnotationFolder

    documents = read_and_report([texts]).documents
    if not documents:
        raise InputError(f"{texts}: there is nothing to annotate; expected a file with texts")
    with locked_folder(folder):
        yield AnnotationFolder(documents, folder)


def _training(model: str, folder: Path) -> str:
    """Where to annotate, and the command that trains on it."""
    files = f"--train {folder / 'train.jsonl'} --dev {folder / 'dev.jsonl'}"
    return (
        f"/annotate; then train: spanwright train plain --from {model} --keep-types {files} --out runs/next"
    )


def _serving(names: Iterable[str], host: str, port: int, *, has_token: bool) -> str:
    """What is told once models are there; before, that anybody may ask."""
    if not has_token and host not in _LOCAL:
        _note(f"no token is set: whoever reaches {host} may ask (see --token-file)")
    place = f"[{host}]" if ":" in host else host
    return f"serving {', '.join(names)} at http://{place}:{port}"


def _note(text: str) -> None:
    typer.echo(f"note: {text}", err=True)


def read_tool_types(file: Path | None) -> dict[str, str]:
    """The names of a file; none without one."""
    if file is None:
        return {}
    from spanwright.toml_files import read_toml

    names = read_toml(file, hint="write one with lines such as Disease = 'DIS'")
    for type_, name in names.items():
        if not isinstance(name, str) or not name:
            raise InputError(f"{file}: {type_!r} is {name!r:.80}; expected a name, such as {type_} = 'DIS'")
    return names


def read_token(file: Path | None) -> str | None:
    """The token of a file, else of the environment; None if there is neither."""
    if file is None:
        given, place = os.environ.get(TOKEN_VARIABLE), f"${TOKEN_VARIABLE}"
    else:
        given, place = _content(file), str(file)
    if given is None:
        return None
    token = given.strip()
    # A token that is empty by mistake must not open the service to everyone.
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        raise InputError(
            f"{place}: expected one token of visible ASCII characters, without blanks; to serve without a "
            f"token, leave --token-file out and unset {TOKEN_VARIABLE}"
        )
    return token


def _content(file: Path) -> str:
    try:
        content, mode = file.read_text(encoding="utf-8"), file.stat().st_mode
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file}: the token cannot be read: {error}") from None
    if os.name == "posix" and mode & _OTHERS_READ and not file.resolve().is_relative_to(_SECRETS):
        _note(f"others can read the token in {file}; expected: chmod 600 {file}")
    return content
