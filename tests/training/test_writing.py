"""What auto-encoders of spans begin with: word vectors of a file, and synonyms of named sources."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

import making
from spanwright import artifact
from spanwright.text import Document, Entity
from spanwright.training.setup import Setup, set_up

DOCUMENTS = [
    Document("1", "An ague and a flu came.", (Entity(3, 7, "Illness"), Entity(14, 17, "Illness"))),
    Document("2", "Then grippe or swamp fever came.", (Entity(15, 26, "Illness", concepts=("D2",)),)),
    Document("3", "No fever came.", (Entity(3, 8, "Illness", concepts=("D2",)),)),
]
DEV = [Document("dev", "The flu came.", (Entity(4, 7, "Illness"),))]
NAMES = "surface\ttype\tconcept\nflu\tIllness\tD1\ngrippe\tIllness\tD1\nSpanish flu\tIllness\tD1\n"


def setup_of(encoder: str, *changes: str) -> Setup:
    small = "auxiliaries.span_vae={latent=4, hidden=8, word_size=5}"
    return set_up(making.settings(encoder, small, *changes), DOCUMENTS, DEV, [])


def test_word_vectors_of_a_file_are_the_first_embeddings_and_set_their_size(
    tiny_encoder: str, tmp_path: Path
) -> None:
    file = tmp_path / "words.vec"
    file.write_text("3 2\ncame 0.25 -4\nfever 7 8\nelsewhere 1 2\n")
    made = setup_of(tiny_encoder, f"auxiliaries.span_vae.vectors={file}").model
    assert made.settings.auxiliaries.span_vae.word_size == 2
    embeddings = made.network.writer.table.embedding.weight
    assert embeddings.shape == (len(made.vocabulary), 2) and bool(embeddings.isfinite().all())
    assert embeddings[made.vocabulary.numbers(["came", "fever"])].tolist() == [[0.25, -4.0], [7.0, 8.0]]
    # All others start near 0, where nothing of the file is.
    assert (embeddings.abs() < 1).all(1).tolist().count(False) == 2


def test_a_model_is_loaded_without_the_file_of_its_word_vectors(tiny_encoder: str, tmp_path: Path) -> None:
    file = tmp_path / "words.vec"
    file.write_text("1 3\nflu 1 2 3\n")
    made = setup_of(tiny_encoder, f"auxiliaries.span_vae.vectors={file}").model
    artifact.save(made, tmp_path / "model")
    file.unlink()
    loaded = artifact.load(tmp_path / "model").network.writer
    assert torch.equal(loaded.table.embedding.weight, made.network.writer.table.embedding.weight)


def learnt(setup: Setup) -> dict[str, set[str]]:
    """What is to be written from each gold span, besides its own words."""
    rewrites = setup.batch(range(len(setup.train.windows)), (1, 0, 0)).rewrites
    texts = [" ".join(setup.model.vocabulary.words(row)) for row in rewrites.words.tolist()]
    found: dict[str, set[str]] = {text: set() for text in texts[: len(rewrites.spans)]}
    for source, synonym, text in zip(rewrites.source.tolist(), rewrites.synonym.tolist(), texts, strict=True):
        if synonym:
            found[texts[source]].add(text)
        else:
            assert text == texts[source]
    return found


@pytest.mark.parametrize(
    ("sources", "flu", "fever"),
    [
        ("['corpus']", set(), {"swamp fever"}),
        ("['{file}']", {"grippe", "<unknown> flu"}, set()),
        ("['corpus', '{file}']", {"grippe", "<unknown> flu"}, {"swamp fever"}),
    ],
    ids=["corpus", "lexicon", "both"],
)
def test_synonyms_come_from_the_sources_that_settings_name(
    tiny_encoder: str, tmp_path: Path, sources: str, flu: set[str], fever: set[str]
) -> None:
    file = tmp_path / "names.tsv"
    file.write_text(NAMES)
    setup = setup_of(tiny_encoder, f"auxiliaries.span_vae.synonyms={sources.format(file=file)}")
    back = {"fever"} if fever else set()
    assert learnt(setup) == {"ague": set(), "flu": flu, "fever": fever, "swamp fever": back}
    covered = bool(flu) + 2 * bool(fever)
    assert setup.warnings[-1].startswith(
        f"synonyms: {covered} of 4 gold spans have some ({25 * covered}.0 %)"
    )


def test_without_sources_there_are_no_synonyms_and_no_terms_of_them(tiny_encoder: str) -> None:
    setup = setup_of(tiny_encoder)
    assert setup.model.network.terms == {"spans", "reconstruction", "reconstruction-divergence"}
    assert learnt(setup) == {"ague": set(), "flu": set(), "fever": set(), "swamp fever": set()}
    assert setup.warnings == []


def test_with_sources_there_are_terms_of_synonyms(tiny_encoder: str) -> None:
    terms = setup_of(tiny_encoder, "auxiliaries.span_vae.synonyms=['corpus']").model.network.terms
    assert {"synonyms", "synonyms-divergence"} <= terms


def test_a_model_without_a_writer_has_nothing_to_rewrite(tiny_encoder: str) -> None:
    setup = setup_of(tiny_encoder, "auxiliaries.span_vae=false")
    assert setup.writing is None and setup.batch([0], (1, 0, 0)).rewrites is None
    assert len(setup.model.vocabulary.entries) == 0
