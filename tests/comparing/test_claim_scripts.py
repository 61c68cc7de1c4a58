"""The scripts that look at finished runs of claims, on tiny models."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from pathlib import Path

import pytest

import making
from places import ROOT
from spanwright.comparing import compare, load_plan
from spanwright.comparing.claims import read_numbers
from spanwright.formats.files import write
from spanwright.toml_text import document_text

pytestmark = pytest.mark.slow

CLAIMS = ROOT / "benchmarks" / "claims"
ALONE = str(CLAIMS / "recipes" / "only-auto-encoders.toml")
NUMBERS = {
    "writing.reconstruction.bleu",
    "posteriors.silhouette",
    "norm of entities",
    "overlaps.strong.mean",
    "classes.within",
    "classes.between",
    "templates.absolute_cosine",
    "projections.pca.types.silhouette",
    "projections.vectors.types.silhouette",
}
"""What claims are about."""


def script(name: str, *arguments: object) -> None:
    command = [sys.executable, str(CLAIMS / name), *map(str, arguments)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def compared(tiny_encoder: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a plan, gold documents, and finished runs of auto-encoders alone and with spans."""
    folder = tmp_path_factory.mktemp("claims")
    for split, count in (("train", 40), ("dev", 12), ("test", 12)):
        documents = making.with_concepts(making.documents(count, prefix=split))
        write(documents, folder / f"{split}.jsonl")
    plan = {
        "recipes": ["joint-ib", ALONE],
        "seeds": 1,
        "encoder": tiny_encoder,
        "set": [
            *making.SMALL_JOINT_IB,
            "candidates.width_limit=3",
            "auxiliaries.span_vae.keep=true",
            "training.epochs=1",
        ],
        "corpora": {"made": {split: str(folder / f"{split}.jsonl") for split in ("train", "dev", "test")}},
    }
    (folder / "plan.toml").write_text(document_text(plan))
    compare(load_plan(folder / "plan.toml"), out=folder / "out")
    return folder


def test_numbers_of_vectors_writing_and_posteriors_are_written_for_claims(compared: Path) -> None:
    asked = ("--spans", 30, "--writing", "--posteriors", "--scores")
    script("run_numbers.py", compared / "plan.toml", compared / "out", *asked)
    found = read_numbers(compared / "out")
    assert set(found) == {("made", recipe, 1) for recipe in ("joint-ib", ALONE)}
    assert all(set(numbers) >= NUMBERS for numbers in found.values())


def test_every_number_of_the_plans_is_among_those_that_scripts_write() -> None:
    texts = [path.read_text() for path in CLAIMS.glob("*.toml")]
    asked = {
        line.split('"')[1].removeprefix("number/")
        for text in texts
        for line in text.splitlines()
        if "number/" in line
    }
    assert asked - NUMBERS == {"nearness of entities", "mean F1 of the other corpora"}


SMALL_CVAE = (
    *making.SMALL,
    "scorer.hidden=[]",
    "candidates.width_limit=2",
    "auxiliaries.cvae.hidden=16",
    "auxiliaries.cvae.latent=8",
    "auxiliaries.cvae.keep=true",
    "training.accumulate=1",
    "training.epochs=1",
)


def test_numbers_of_several_corpora_are_written_for_claims(tiny_encoder: str, tmp_path: Path) -> None:
    corpora: dict[str, dict[str, str]] = {"BioRED": {}, "other": {}}
    for name, files in corpora.items():
        for split, count in (("train", 30), ("dev", 8), ("test", 8)):
            files[split] = str(tmp_path / f"{name}-{split}.jsonl")
            write(making.documents(count, prefix=f"{name} {split}"), Path(files[split]))
    together = {"target": "BioRED", "map": "auto", "corpora": corpora}
    (tmp_path / "together.toml").write_text(document_text(together))
    plan = {
        "recipes": ["cvae"],
        "seeds": 1,
        "encoder": tiny_encoder,
        "set": list(SMALL_CVAE),
        "corpora": {"made": {"together": str(tmp_path / "together.toml")}},
    }
    (tmp_path / "plan.toml").write_text(document_text(plan))
    compare(load_plan(tmp_path / "plan.toml"), out=tmp_path / "out")
    script("run_numbers.py", tmp_path / "plan.toml", tmp_path / "out", "--corpora", "--scores")
    (found,) = read_numbers(tmp_path / "out").values()
    assert found["mean F1 of the other corpora"] == found["test other"]
    same, different = (found[f"entities.cosines.{name}"] for name in ("same", "different_across"))
    assert found["nearness of entities"] == pytest.approx(same - different)


def test_posteriors_of_several_models_are_drawn(compared: Path, tmp_path: Path) -> None:
    models = [
        compared / "out" / "runs" / "made" / name / "seed-1" / "model"
        for name in ("joint-ib", "only-auto-encoders")
    ]
    script("posteriors.py", *models, "--gold", compared / "dev.jsonl", "--out", tmp_path / "drawn.png")
    assert (tmp_path / "drawn.png").read_bytes().startswith(b"\x89PNG")


def test_corpora_that_are_no_files_as_released_are_made(corpora: Path, tmp_path: Path) -> None:
    script("corpora.py", "--corpora", corpora, "--out", tmp_path)
    flat = [json.loads(line) for line in (tmp_path / "scierc-train.jsonl").read_text().splitlines()]
    spans = [sorted((each["start"], each["end"]) for each in document["entities"]) for document in flat]
    assert all(first[1] <= second[0] for own in spans for first, second in itertools.pairwise(own))
    named = [
        path
        for name in ("clean", "leaked", "small")
        for path in (CLAIMS / "corpora" / f"{name}.toml").read_text().split('"')
        if path.endswith(".jsonl")
    ]
    assert all((tmp_path / Path(path).name).exists() for path in named)
