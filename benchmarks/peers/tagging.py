"""Words per second of tagging with a recipe, divided by those of peers on the same encoder and sentences.

    sh benchmarks/peers/environments.sh ../peers
    python benchmarks/peers/tagging.py --environments ../peers --corpora ../corpora --json result.json

Each side is a process of its own that stays alive and tags the same sentences whenever its turn comes. Ours
and a peer take turns, and who begins changes from round to round. Tagging is everything from words to
entities. README.md tells what each peer is given.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))

from machine import machine
from spanwright.parts.encoder.pretrained import default_folder

SIDES = {
    "token": ("token", "peer_token.py"),
    "gliner": ("gliner", "peer_gliner.py"),
    "gliner-sorted": ("gliner", "peer_gliner.py", "--sorted"),
    "spanmarker": ("spanmarker", "peer_span_marker.py"),
}
"""The environment of each peer, its script, and options of that."""


class Peer(NamedTuple):
    """A peer, and how many of the first sentences it gets; None for all of them."""

    name: str
    sentences: int | None


def main() -> None:
    """Measure, print and keep the figures."""
    arguments = _parser().parse_args()
    about = {**machine(), "threads": arguments.threads}
    with contextlib.ExitStack() as stack:
        peers = {
            peer: stack.enter_context(_side(_python(arguments, peer), arguments, *SIDES[peer.name][1:]))
            for peer in arguments.peers
        }
        ours = stack.enter_context(_side(sys.executable, arguments, "ours.py", "--recipe", arguments.recipe))
        turns = take_turns(ours, peers, arguments.rounds)
        result = {
            "command": " ".join(["python", "benchmarks/peers/tagging.py", *sys.argv[1:]]),
            "machine": about,
            "recipe": arguments.recipe,
            "rounds": arguments.rounds,
            "peers": {
                peer.name: {"versions": side.facts["versions"], **figures(turns[peer])}
                for peer, side in peers.items()
            },
        }
    text = json.dumps(result, indent=2)
    print(text)
    if arguments.json:
        arguments.json.write_text(text + "\n")


class Side:
    """A process that tags when told to."""

    def __init__(self, command: list[str], environment: dict[str, str]) -> None:
        self._command = command
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115 - closed with the side
        self._process = subprocess.Popen(
            command,
            env={**os.environ, **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
        )
        self.facts = self._answer()
        if str(self.facts["threads"]) != environment["OMP_NUM_THREADS"]:
            sys.exit(f"{command[1]} has {self.facts['threads']} threads; expected those of all sides")

    def run(self, sentences: int) -> dict[str, Any]:
        """Tag the first sentences: seconds, words, and entities found."""
        assert self._process.stdin is not None
        print(f"run {sentences}", file=self._process.stdin, flush=True)
        return self._answer()

    def close(self) -> None:
        """Let the process end, which it does when there are no more commands."""
        self._process.communicate()
        self._errors.close()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            self._errors.seek(0)
            sys.exit(f"{' '.join(self._command)} failed:\n{self._errors.read()[-2000:]}")
        answer: dict[str, Any] = json.loads(line)
        return answer


Turn = tuple[dict[str, Any], dict[str, Any]]
"""What we and a peer answered, one right after the other."""


def take_turns(ours: Side, peers: dict[Peer, Side], rounds: int) -> dict[Peer, list[Turn]]:
    """Let ours and each peer tag in turns; a first round that warms all of them up is not kept."""
    turns: dict[Peer, list[Turn]] = {peer: [] for peer in peers}
    for number in range(rounds + 1):
        for peer, side in peers.items():
            sentences = peer.sentences or side.facts["sentences"]
            pair = (ours, side) if number % 2 else (side, ours)
            first, second = (one.run(sentences) for one in pair)
            turns[peer].append((first, second) if number % 2 else (second, first))
            print(f"round {number}, {peer.name}: {turns[peer][-1]}", file=sys.stderr)
    return {peer: kept[1:] for peer, kept in turns.items()}


def figures(turns: list[Turn]) -> dict[str, Any]:
    """Medians of both sides, the ratio of them (above 1 where ours is quicker), and its spread."""
    speeds = [(mine["words"] / mine["seconds"], other["words"] / other["seconds"]) for mine, other in turns]
    ratios = [mine / other for mine, other in speeds]
    mine, other = (statistics.median(column) for column in zip(*speeds, strict=True))
    return {
        "words": turns[0][0]["words"],
        "entities": {"ours": turns[0][0]["entities"], "peer": turns[0][1]["entities"]},
        "words_per_second": {"ours": round(mine), "peer": round(other)},
        "ratio": round(mine / other, 3),
        "ratio_spread": [round(min(ratios), 3), round(max(ratios), 3)],
    }


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--environments", type=Path, required=True, help="folder made by environments.sh")
    parser.add_argument("--corpora", type=Path, required=True, help="folder with ncbi_disease/iob")
    parser.add_argument("--recipe", default="plain")
    parser.add_argument(
        "--peers",
        nargs="+",
        type=_peer,
        default=[Peer("token", None), Peer("gliner", None), Peer("spanmarker", 100)],
        metavar="NAME[=SENTENCES]",
        help=f"of {', '.join(SIDES)}; slow ones may get the first sentences only",
    )
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="threads of torch on each side")
    parser.add_argument("--json", type=Path, help="write the result here")
    return parser


def _peer(text: str) -> Peer:
    name, _, sentences = text.partition("=")
    if name not in SIDES:
        raise argparse.ArgumentTypeError(f"unknown peer {name!r}; expected {', '.join(SIDES)}")
    return Peer(name, int(sentences) if sentences else None)


def _python(arguments: argparse.Namespace, peer: Peer) -> str:
    python: Path = arguments.environments / SIDES[peer.name][0] / "bin" / "python"
    if not python.exists():
        sys.exit(f"{python}: no such file; make it with: sh benchmarks/peers/environments.sh FOLDER")
    return str(python)


def _side(python: str, arguments: argparse.Namespace, script: str, *more: str) -> contextlib.closing[Side]:
    """A side that was started and is ready."""
    command = [python, str(Path(__file__).with_name(script)), "--corpora", str(arguments.corpora)]
    environment = {name: str(arguments.threads) for name in ("OMP_NUM_THREADS", "RAYON_NUM_THREADS")}
    environment |= {"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "true"}
    return contextlib.closing(Side([*command, "--encoder", default_folder(), *more], environment))


if __name__ == "__main__":
    main()
