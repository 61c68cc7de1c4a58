"""What is misspelt is told at once, before torch is imported or a file is read, with what was meant."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Sequence
from types import SimpleNamespace

import pytest

from spanwright.errors import InputError
from spanwright.parts.encoder import pretrained

FILES = ("--train", "none.jsonl", "--dev", "none.jsonl", "--out", "nowhere")
SECONDS = 5.0
"""Of processor time; 0.5 where this was written, 7 to 25 before."""


def refused(arguments: Sequence[str]) -> str:
    """What a command says that fails early: neither torch nor transformers may be loaded by then."""
    code = (
        "import sys, time\n"
        "from spanwright.cli.main import main\n"
        f"sys.argv = ['spanwright', *{list(arguments)!r}]\n"
        "try:\n    main()\n"
        "finally:\n    print('torch' in sys.modules, time.process_time())\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    heavy, seconds = done.stdout.split()[-2:]
    assert done.returncode == 2 and heavy == "False" and float(seconds) < SECONDS, done
    return done.stderr


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (("train", "plian", *FILES), "unknown recipe 'plian' (did you mean 'plain'?)"),
        (("train", "binder/jiont", *FILES), "(did you mean 'binder/joint'?)"),
        (("train", "plain", *FILES, "--set", "training.epoch=3"), "(did you mean 'training.epochs'?)"),
        (("train", "plain", *FILES, "--set", "epochs=3"), "(did you mean 'training.epochs'?)"),
        (("train", "plain", *FILES, "--set", "decoding=nestd"), "(did you mean 'nested'?)"),
        (("distill", "teacher", "--student", "plian", *FILES), "(did you mean 'plain'?)"),
        (("corpus", "stats", sys.executable, "--format", "jsnol"), "(did you mean 'jsonl'?)"),
        (("tag", "biomd", "-"), "no installed model has this name"),
    ],
)
def test_a_slip_is_told_at_once(arguments: tuple[str, ...], meant: str) -> None:
    assert meant in refused(arguments)


def test_an_unknown_encoder_is_told_within_two_seconds_where_the_hub_does_not_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    silent = SimpleNamespace(head=lambda *_, **__: time.sleep(30))
    monkeypatch.setattr("huggingface_hub.get_session", lambda: silent)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    begun = time.monotonic()
    with pytest.raises(InputError, match=r"encoder 'minilmm' cannot be loaded \(did you mean 'minilm'\?\): "):
        pretrained.check_known("minilmm")
    assert time.monotonic() - begun < 2.5


def test_a_known_encoder_that_cannot_be_loaded_is_not_taken_for_a_slip() -> None:
    message = str(pretrained.unknown_encoder(pretrained.DEFAULT, "its weights are broken."))
    assert message.startswith("encoder 'minilm' cannot be loaded: its weights are broken. Expected one of ")


def test_the_hub_is_not_asked_for_what_is_here(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    monkeypatch.setattr(pretrained, "hub_answers", lambda: pytest.fail("the Hub was asked"))
    pretrained.check_known(str(tmp_path))
    pretrained.check_known(pretrained.DEFAULT)


def test_importing_the_library_and_help_are_quick() -> None:
    code = "import time; import spanwright; print(time.process_time())"
    bare = "import time; print(time.process_time())"
    times = [
        float(subprocess.run([sys.executable, "-c", each], capture_output=True, text=True, check=True).stdout)
        for each in (bare, code)
    ]
    assert times[1] - times[0] < 0.1
