from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest
import torch

import making
import spanwright
from spanwright.errors import InputError
from spanwright.origin import commit
from spanwright.text import Document, Entity
from spanwright.training.resolving import resolve
from spanwright.training.run_folder import digest, provenance
from spanwright.training.setup import Setup, set_up, warn_of_few_steps

TRAIN = making.documents(8)
DEV = making.documents(3, prefix="dev")
TEST = making.documents(3, prefix="test")


def setup_of(
    encoder: str, train: list[Document], dev: list[Document] = DEV, test: list[Document] | None = None
) -> Setup:
    return set_up(making.settings(encoder), train, dev, test or [])


def test_training_documents_with_an_evaluation_text_are_removed_and_counted(tiny_encoder: str) -> None:
    text = DEV[0].text.upper().replace(" ", "  ")
    copies = [Document("other id", text, (Entity(0, 1, "Drug"),)), replace(TEST[0], id="another id")]
    setup = setup_of(tiny_encoder, [*TRAIN, *copies], test=TEST)
    assert setup.removed == 2
    assert setup.reports["train"].documents == len(TRAIN)
    assert setup.model.labels.types == ("Cell", "Gene")


def test_a_training_document_with_an_evaluation_id_and_another_text_is_kept_and_told(
    tiny_encoder: str,
) -> None:
    setup = setup_of(tiny_encoder, [*TRAIN, replace(TRAIN[0], id=DEV[1].id)])
    assert setup.removed == 0
    assert setup.reports["train"].documents == len(TRAIN) + 1
    assert [f"such as {DEV[1].id!r}" in warning for warning in setup.warnings] == [True]


def test_ids_that_a_reader_made_up_remove_nothing(tiny_encoder: str) -> None:
    train = [replace(document, id=DEV[0].id, generated_id=True) for document in TRAIN]
    assert setup_of(tiny_encoder, train).removed == 0


def test_types_that_train_lacks_are_named_in_a_warning(tiny_encoder: str) -> None:
    strange = [Document("d", "one two", (Entity(0, 3, "Drug"), Entity(4, 7, "Drug"), Entity(0, 7, "Age")))]
    setup = setup_of(tiny_encoder, TRAIN, strange)
    assert setup.warnings == ["dev has types that train lacks; they count as misses: Age (1), Drug (2)"]
    assert setup.reports["dev"].ceiling == 0.0


def test_a_split_without_entities_is_told_in_a_warning(tiny_encoder: str) -> None:
    setup = setup_of(tiny_encoder, TRAIN, test=[Document("t", "nothing here")])
    assert setup.warnings == ["test has no entity: its scores say nothing"]


def test_the_test_split_is_optional(tiny_encoder: str) -> None:
    assert list(setup_of(tiny_encoder, TRAIN).evaluation) == ["dev"]
    assert list(setup_of(tiny_encoder, TRAIN, test=TEST).evaluation) == ["dev", "test"]


@pytest.mark.parametrize(
    ("train", "dev", "message"),
    [
        ([], DEV, "the training corpus is empty"),
        (TRAIN, [], "the dev corpus is empty"),
        (DEV, DEV, "every training document also stands in the evaluation data"),
        ([Document("1", "no entity")], DEV, "has no entity in its 1 document"),
    ],
    ids=["no train", "no dev", "train is dev", "no entity"],
)
def test_data_that_cannot_be_trained_on_is_refused(
    tiny_encoder: str, train: list[Document], dev: list[Document], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        setup_of(tiny_encoder, train, dev)


def test_what_settings_leave_open_is_decided_from_the_data_and_the_encoder(tiny_encoder: str) -> None:
    settings = resolve(
        making.settings(tiny_encoder, "optimiser.learning_rates={head=0.5}"), making.data(TRAIN), 768
    )
    assert settings.candidates.width_limit == 2
    assert settings.decoding == "non-crossing"
    assert settings.optimiser.learning_rates == {"encoder": 5e-5, "head": 0.5}


def test_a_writer_learns_at_the_rate_of_the_head_unless_told_otherwise(tiny_encoder: str) -> None:
    writer, told = "auxiliaries.span_vae={}", "optimiser.learning_rates={auxiliary=0.5}"
    for changes, auxiliary in (((writer,), 1e-3), ((writer, told), 0.5)):
        chosen = making.settings(tiny_encoder, "optimiser.learning_rates={}", *changes)
        rates = resolve(chosen, making.data(TRAIN), 32).optimiser.learning_rates
        assert rates == {"encoder": 2e-4, "head": 1e-3, "auxiliary": auxiliary}


def test_terms_have_usual_weights_where_there_is_a_part_that_has_them(tiny_encoder: str) -> None:
    def weights(*changes: str) -> dict[str, object]:
        chosen, flat = making.settings(tiny_encoder, *changes), making.documents(2, flat=True)
        return resolve(chosen, making.data(flat), 32).objective.model_dump()["weights"]

    bottleneck = "transforms=[{kind='bottleneck'}]"
    rising = {"kind": "linear", "start": 0.0, "end": 5e-4, "begin": 0.0, "finish": 1.0}
    assert weights() == {}
    assert weights(bottleneck) == {"compression": rising}
    assert weights(bottleneck, "objective.weights.compression=0.1") == {"compression": 0.1}
    assert weights(bottleneck, "scorer={kind='none'}", "auxiliaries.tagger={}", "output=tags") == {}
    assert weights("auxiliaries.span_vae={}").keys() == {"reconstruction", "reconstruction-divergence"}
    assert weights("auxiliaries.span_vae={synonyms=['corpus']}").keys() == {
        "reconstruction",
        "reconstruction-divergence",
        "synonyms",
        "synonyms-divergence",
    }
    assert weights("auxiliaries.span_vae={}", "objective.weights.reconstruction=2")["reconstruction"] == 2


@pytest.mark.parametrize(("said", "convex"), [((), True), (("false",), False), (("true",), True)])
def test_an_objective_with_a_tagger_is_convex_unless_settings_say_otherwise(
    tiny_encoder: str, said: tuple[str, ...], convex: bool
) -> None:
    changes = ("auxiliaries.tagger={}", *(f"objective.convex={value}" for value in said))
    objective = resolve(making.settings(tiny_encoder, *changes), making.data(TRAIN), 32).objective
    assert objective.convex is convex
    assert objective.weights == {"tags": 0.1}


@pytest.mark.parametrize("changes", [(), ("auxiliaries.tagger={}", "objective.weights.tags=0.3")])
def test_an_objective_is_not_convex_without_a_tagger_of_the_usual_weight(
    tiny_encoder: str, changes: tuple[str, ...]
) -> None:
    assert resolve(making.settings(tiny_encoder, *changes), making.data(TRAIN), 32).objective.convex is False


def test_what_settings_say_is_not_decided_anew(tiny_encoder: str) -> None:
    chosen = making.settings(tiny_encoder, "candidates.width_limit=7", "decoding=flat")
    settings = resolve(chosen, making.data(TRAIN), 768)
    assert (settings.candidates.width_limit, settings.decoding) == (7, "flat")


def test_the_same_seed_gives_the_same_fresh_weights_and_another_gives_others(tiny_encoder: str) -> None:
    def fresh(seed: int) -> list[float]:
        setup = set_up(making.settings(tiny_encoder, f"training.seed={seed}"), TRAIN, DEV, [])
        return setup.model.network.spans.scorer.layers[-1].weight.flatten().tolist()

    assert fresh(3) == fresh(3) != fresh(4)


def test_provenance_holds_settings_versions_and_digests(tiny_encoder: str) -> None:
    setup = setup_of(tiny_encoder, TRAIN)
    values = provenance(setup.model.settings, {"train": TRAIN, "dev": DEV})
    assert values["settings"]["candidates"]["width_limit"] == 2
    assert values["corpora"] == {"train": digest(TRAIN), "dev": digest(DEV)}
    assert values["versions"]["spanwright"] == spanwright.__version__
    assert values["versions"].keys() >= {"python", "torch", "transformers", "tokenizers", "numpy"}
    assert values["threads"] >= 1
    assert values["commit"] == commit()


DOCUMENT = Document("1", "one two", (Entity(0, 3, "Gene"),))


@pytest.mark.parametrize(
    "changes",
    [
        {"id": "2"},
        {"text": "one twa"},
        {"entities": (Entity(0, 3, "Cell"),)},
        {"words": ((0, 3), (4, 7))},
        {"sentences": ((0, 3), (4, 7))},
    ],
    ids=["id", "text", "entities", "words", "sentences"],
)
def test_the_digest_changes_with_everything_that_training_reads(changes: dict[str, object]) -> None:
    assert digest([replace(DOCUMENT, **changes)]) != digest([DOCUMENT])


def test_the_digest_is_the_same_for_equal_documents() -> None:
    assert digest([replace(DOCUMENT)]) == digest([DOCUMENT])


WRITING = (
    "candidates.negatives=2",
    "auxiliaries.span_vae={synonyms=['corpus'], synonyms_per_mention=1, latent=4, hidden=8, word_size=4}",
)


def numbers(part: object) -> list[object]:
    """All arrays of a batch, also of the parts in it, as lists."""
    if isinstance(part, np.ndarray):
        return part.tolist()
    present = (value for field in fields(part) if (value := getattr(part, field.name)) is not None)
    return [numbers(value) for value in present]


def test_a_batch_depends_on_nothing_but_its_windows_and_its_draw(tiny_encoder: str) -> None:
    documents = making.with_concepts(TRAIN)
    setup = set_up(making.settings(tiny_encoder, *WRITING), documents, DEV, [])
    before = torch.get_rng_state()
    first = setup.batch(range(4), (1, 0, 0))
    assert torch.equal(torch.get_rng_state(), before)
    others = [setup.batch(range(4), (1, 0, number)) for number in range(1, 9)]
    torch.manual_seed(99)
    np.random.seed(99)
    assert numbers(setup.batch(range(4), (1, 0, 0))) == numbers(first)
    # Negatives and synonyms are drawn; golds and their own words are not.
    assert len({str(numbers(batch.spans)) for batch in (first, *others)}) > 1
    assert len({str(numbers(batch.rewrites)) for batch in (first, *others)}) > 1
    assert {str(numbers(batch.rewrites.spans)) for batch in others} == {str(numbers(first.rewrites.spans))}


@pytest.mark.parametrize(("steps", "told"), [(1, "only 1 step, in which"), (2, "only 2 steps, in which")])
def test_few_steps_are_counted_in_the_right_number(steps: int, told: str) -> None:
    assert told in warn_of_few_steps(steps, epochs=1)[0]


def test_draws_of_negatives_and_of_synonyms_do_not_follow_each_other(tiny_encoder: str) -> None:
    documents = making.with_concepts(TRAIN)
    with_both = set_up(making.settings(tiny_encoder, *WRITING), documents, DEV, [])
    all_spans = set_up(making.settings(tiny_encoder, *WRITING[1:]), documents, DEV, [])
    for draw in range(3):
        sampled, whole = (each.batch(range(4), (1, 0, draw)) for each in (with_both, all_spans))
        assert len(sampled.spans) < len(whole.spans)
        assert numbers(sampled.rewrites) == numbers(whole.rewrites)
