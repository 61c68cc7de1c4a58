"""Labels and entities of several corpora: what they mean, how near they are, and how they are drawn."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

import making
import tiny
from spanwright.analysis.corpora import CorporaInspection, corpus_labels, inspect_corpora, nearness
from spanwright.analysis.measures import score_distributions, template_angles
from spanwright.analysis.pictures import draw_corpora
from spanwright.analysis.spans import collect_spans, unit_vectors
from spanwright.artifact import TrainedModel
from spanwright.batches.pieces import PieceEncoder
from spanwright.errors import InputError
from spanwright.labels import LabelSpace
from spanwright.parts.build import build
from spanwright.reporting import read_picture
from spanwright.text import Document

CORPORA = ("A", "B", "C")
LABELS = LabelSpace(
    ("Cell", "Gene", "Cell", "Gene", "Cell"),
    corpora=CORPORA,
    corpus=(0, 0, 1, 1, 2),
    shared=("Cell", "Gene", "", "Gene", "Cell"),
)
"""Of B, cells have no shared type; C has only cells."""
DOCUMENTS = [
    *making.of_corpus(making.documents(6), "A"),
    *making.of_corpus(making.documents(5, seed=1), "B"),
    *making.of_corpus(making.documents(4, seed=2), "C"),
]
FOUND = Counter(
    (document.corpus, entity.type)
    for document in DOCUMENTS
    for entity in document.entities
    if document.corpus != "C" or entity.type == "Cell"
)


def model(labels: LabelSpace = LABELS, condition: str | None = "both", **changes: object) -> TrainedModel:
    """An untrained model whose encoder reads the corpus; None is no conditional auto-encoder."""
    tokenizer = tiny.tokenizer()
    if condition is not None:
        changes["auxiliaries"] = {"cvae": {"condition": condition, "hidden": 8, "latent": 4, "keep": True}}
    settings = tiny.settings(**{"corpora": {}, **changes})
    pieces = PieceEncoder(tokenizer, names_corpus=settings.names_corpus)
    backbone = tiny.backbone(tokenizer.get_vocab_size())
    network = build(settings, backbone, labels=labels, pieces=pieces)
    return TrainedModel(network.eval(), pieces, labels, settings)


def conditions_of(made: TrainedModel) -> torch.nn.Parameter:
    assert made.network.spans is not None
    assert made.network.spans.conditioned is not None
    return made.network.spans.conditioned.cvae.condition.weight


# Labels.


def test_each_corpus_has_its_types_after_a_label_for_no_entity() -> None:
    found = corpus_labels(model())
    assert found.names == ("no entity", "Cell", "Gene", "no entity", "Cell", "Gene", "no entity", "Cell")
    assert found.corpus.tolist() == [0, 0, 0, 1, 1, 1, 2, 2]
    assert found.of_type.tolist() == [1, 2, 4, 5, 7]


def test_labels_mean_their_shared_type_and_one_without_means_something_of_its_own() -> None:
    found = corpus_labels(model())
    assert (found.meanings, found.mapped) == (("no entity", "Cell", "Gene"), True)
    *others, unshared = found.meaning[[0, 1, 2, 3, 5, 6, 7, 4]].tolist()
    assert others == [0, 1, 2, 0, 2, 0, 1]
    assert unshared >= 3


def test_two_types_without_a_shared_type_mean_different_things() -> None:
    labels = LabelSpace(("X", "X"), corpora=("A", "B"), corpus=(0, 1), shared=("", ""))
    assert len(set(corpus_labels(model(labels)).meaning.tolist())) == 3


def test_without_a_label_map_types_of_one_name_mean_the_same() -> None:
    labels = LabelSpace(("Gene", "$x$", "Gene"), corpora=("A", "B"), corpus=(0, 0, 1))
    found = corpus_labels(model(labels, "own"))
    assert (found.meanings, found.mapped) == (("no entity", "$x$", "Gene"), False)
    assert found.meaning.tolist() == [0, 2, 1, 0, 2]


# Cosines.


def naive(vectors: np.ndarray, pairs: list[tuple[int, int]]) -> float | None:
    cosines = [
        float(left @ right) / float(np.linalg.norm(left) * np.linalg.norm(right))
        for left, right in ((vectors[i], vectors[j]) for i, j in pairs)
    ]
    return pytest.approx(sum(cosines) / len(cosines), abs=1e-5) if cosines else None


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3)), min_size=1, max_size=14), st.integers(0, 9))
def test_cosines_equal_naive_loops(points: list[tuple[int, int]], seed: int) -> None:
    vectors = np.random.default_rng(seed).normal(size=(len(points), 4)).astype(np.float32)
    corpus, meaning = np.array(points).T
    # The last meaning has no name: it is shared by nobody.
    found = nearness(vectors, corpus, np.where(meaning == 3, 3 + corpus, meaning), ("none", "Cell", "Gene"))
    pairs = list(combinations(range(len(points)), 2))
    across = [(i, j) for i, j in pairs if corpus[i] != corpus[j]]
    same = [(i, j) for i, j in across if meaning[i] == meaning[j] < 3]
    unlike = [(i, j) for i, j in pairs if meaning[i] != meaning[j]]
    unlike += [(i, j) for i, j in across if meaning[i] == meaning[j] == 3]
    assert found.same == naive(vectors, same)
    assert found.different == naive(vectors, unlike)
    assert found.different_across == naive(vectors, [pair for pair in unlike if pair in across])
    expected = {
        name: naive(vectors, [(i, j) for i, j in same if meaning[i] == number])
        for number, name in enumerate(("none", "Cell", "Gene"))
    }
    assert found.by_meaning == {name: value for name, value in expected.items() if value is not None}


# Conditions.


@pytest.mark.parametrize(("condition", "same"), [("both", 0.5), ("own", 0.0), ("shared", 1.0)])
def test_conditions_begin_as_near_as_their_halves_say(condition: str, same: float) -> None:
    found = inspect_corpora(model(condition=condition))
    assert found.conditions is not None
    assert found.conditions_before == found.conditions.nearness
    assert found.conditions.nearness.same == pytest.approx(same)
    assert found.conditions.nearness.different == found.conditions.nearness.different_across == 0
    assert found.conditions.nearness.by_meaning == pytest.approx(dict.fromkeys(found.labels.meanings, same))


def test_what_conditions_began_as_is_told_beside_what_they_have_become() -> None:
    made = model()
    began = conditions_of(made).detach().clone()
    with torch.no_grad():
        conditions_of(made).normal_(generator=torch.Generator().manual_seed(0))
    found = inspect_corpora(made)
    assert found.conditions is not None
    told = (found.conditions_before, found.conditions.nearness)
    labels = found.labels
    for table, cosines in zip((began, conditions_of(made).detach()), told, strict=True):
        assert cosines == nearness(table.numpy(), labels.corpus, labels.meaning, labels.meanings)
    assert found.conditions_before != found.conditions.nearness
    assert found.conditions.label.tolist() == list(range(8))


def test_nobody_knows_what_random_conditions_began_as() -> None:
    found = inspect_corpora(model(condition="random"))
    assert found.conditions is not None
    assert found.conditions_before is None
    assert found.to_dict()["conditions"]["before"] is None


# Entities.


def test_all_gold_entities_that_the_model_can_find_are_looked_at() -> None:
    found = inspect_corpora(model(), DOCUMENTS, spans=1000)
    assert found.entities is not None
    labels, entities = found.labels, found.entities
    counted = Counter(
        (CORPORA[corpus], labels.names[label])
        for corpus, label in zip(entities.corpus.tolist(), entities.label.tolist(), strict=True)
    )
    assert counted == FOUND
    assert (labels.corpus[entities.label] == entities.corpus).all()
    expected = {name: sum(n for (corpus, _), n in FOUND.items() if corpus == name) for name in CORPORA}
    assert found.entity_counts() == found.to_dict()["entities"]["count"] == expected


def test_vectors_are_those_of_the_entities_as_their_corpus_sees_them() -> None:
    made = model()
    found = inspect_corpora(made, DOCUMENTS, spans=1000).entities
    assert found is not None
    own = [document for document in DOCUMENTS if document.corpus == "B"]
    sample = collect_spans(made, own, spans=1000)
    np.testing.assert_array_equal(found.vectors[found.corpus == 1], sample.vectors[sample.is_entity])
    as_other = collect_spans(made, making.of_corpus(own, "A"), spans=1000)
    assert not np.allclose(as_other.vectors[as_other.is_entity], sample.vectors[sample.is_entity])


def test_cosines_of_entities_are_those_of_their_meanings() -> None:
    found = inspect_corpora(model(), DOCUMENTS, spans=20)
    assert found.entities is not None
    entities, labels = found.entities, found.labels
    assert entities.nearness == nearness(
        entities.vectors, entities.corpus, labels.meaning[entities.label], labels.meanings
    )
    # Genes stand in A and B, cells of one meaning in A and C.
    assert list(entities.nearness.by_meaning) == ["Cell", "Gene"]


def test_of_each_corpus_only_so_many_entities_are_drawn() -> None:
    found = inspect_corpora(model(), DOCUMENTS, spans=7)
    assert found.entity_counts() == {"A": 7, "B": 7, "C": 7}


def test_the_seed_decides_which_entities_are_drawn_and_how_they_lie() -> None:
    made = model()
    first, again, other = (inspect_corpora(made, DOCUMENTS, spans=7, seed=seed) for seed in (1, 1, 2))
    assert first.entities is not None and again.entities is not None and other.entities is not None
    np.testing.assert_array_equal(first.entities.layout, again.entities.layout)
    assert first.to_dict() == again.to_dict()
    assert not np.array_equal(first.entities.vectors, other.entities.vectors)
    assert first.conditions is not None and other.conditions is not None
    assert not np.array_equal(first.conditions.layout, other.conditions.layout)


@pytest.mark.parametrize("spans", [1, 2, 3])
def test_very_few_entities_have_a_layout(spans: int) -> None:
    found = inspect_corpora(model(), DOCUMENTS, spans=spans).entities
    assert found is not None
    assert found.layout.shape == (3 * spans, 2)
    assert np.isfinite(found.layout).all()


def test_corpora_without_documents_are_left_out() -> None:
    found = inspect_corpora(model(), [each for each in DOCUMENTS if each.corpus != "B"], spans=5)
    assert found.entity_counts() == {"A": 5, "B": 0, "C": 5}
    assert found.entities is not None
    assert list(found.entities.nearness.by_meaning) == ["Cell"]


def test_a_model_that_kept_no_conditions_shows_its_entities() -> None:
    found = inspect_corpora(model(condition=None), DOCUMENTS, spans=5)
    assert found.conditions is found.conditions_before is found.to_dict()["conditions"] is None
    assert found.entities is not None


def test_corpora_that_have_their_types_in_common_show_their_entities() -> None:
    found = inspect_corpora(model(LabelSpace(("Cell", "Gene"), corpora=CORPORA)), DOCUMENTS, spans=9)
    assert found.conditions is None
    assert found.entity_counts() == {"A": 9, "B": 9, "C": 9}
    assert found.entities is not None
    assert list(found.entities.nearness.by_meaning) == ["Cell", "Gene"]


# What is refused.


@pytest.mark.parametrize(
    ("labels", "condition", "documents", "message"),
    [
        (
            LabelSpace(("Gene",)),
            "both",
            (),
            r"does not tell corpora apart.*spanwright train cvae --corpora FILE",
        ),
        (LabelSpace(("Gene",), corpora=("A",), corpus=(0,)), "both", (), "does not tell corpora apart"),
        (LABELS, None, (), r"nothing to look at.*auxiliaries\.cvae\.keep=true.*--corpora FILE"),
        (LabelSpace(("Gene",), corpora=("A", "B")), "both", (), "have their types in common"),
        (LABELS, "both", making.of_corpus(making.documents(1), "D"), r"'D-made-0' is .*'D'; .* A, B, C$"),
        (LABELS, "both", making.documents(1), r"is of the corpus None; expected"),
        (LABELS, "both", [Document("1", "a", corpus="B")], r"^corpus 'B': none of 1 document has"),
    ],
    ids=["no corpora", "one corpus", "bare", "common types", "unknown corpus", "unnamed", "no entities"],
)
def test_what_cannot_be_looked_at_is_refused_with_the_reason(
    labels: LabelSpace, condition: str | None, documents: list[Document], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        inspect_corpora(model(labels, condition), documents)


# Pictures.


@pytest.fixture
def figures(monkeypatch: pytest.MonkeyPatch) -> list[Figure]:
    """The figures that are saved in a test."""
    kept: list[Figure] = []
    save = Figure.savefig

    def spy(figure: Figure, *arguments: Any, **options: Any) -> None:
        kept.append(figure)
        save(figure, *arguments, **options)

    monkeypatch.setattr(Figure, "savefig", spy)
    return kept


def drawn_points(figure: Figure) -> dict[tuple[float, ...], tuple[tuple[float, ...], int]]:
    """By place: the colour of each point, and the number of points of its mark's outline."""
    found = {}
    for marks in figure.axes[0].collections:
        outline = len(marks.get_paths()[0].vertices)
        for place, colour in zip(marks.get_offsets(), marks.get_facecolors(), strict=True):
            found[tuple(place)] = (tuple(colour[:3]), outline)
    return found


@pytest.fixture(scope="module")
def made() -> CorporaInspection:
    return inspect_corpora(model(), DOCUMENTS, spans=6)


def test_colours_are_meanings_and_marks_are_corpora(
    made: CorporaInspection, figures: list[Figure], tmp_path: Path
) -> None:
    draw_corpora(made, tmp_path)
    assert made.conditions is not None and made.entities is not None
    for figure, vectors in zip(figures, (made.conditions, made.entities), strict=True):
        points = drawn_points(figure)
        meaning = made.labels.meaning[vectors.label].tolist()
        shown = [points[tuple(place)] for place in vectors.layout.astype(float).tolist()]
        # As many colours as meanings, and as many marks as corpora; and each has one of its own.
        assert len({(each, colour) for each, (colour, _) in zip(meaning, shown, strict=True)}) == len(
            set(meaning)
        )
        assert len({colour for colour, _ in shown}) == len(set(meaning))
        corpora = vectors.corpus.tolist()
        assert len({(each, mark) for each, (_, mark) in zip(corpora, shown, strict=True)}) == 3
        assert len({mark for _, mark in shown}) == 3


def test_conditions_are_called_by_the_names_of_their_labels(
    made: CorporaInspection, figures: list[Figure], tmp_path: Path
) -> None:
    draw_corpora(made, tmp_path)
    conditions, entities = (figure.axes[0].texts for figure in figures)
    assert tuple(text.get_text() for text in conditions) == made.labels.names
    assert not entities


def test_legends_tell_what_is_drawn(made: CorporaInspection, figures: list[Figure], tmp_path: Path) -> None:
    draw_corpora(made, tmp_path)
    legends = [
        (legend.get_title().get_text(), [text.get_text() for text in legend.get_texts()])
        for figure in figures
        for legend in figure.legends
    ]
    assert legends == [
        ("shared type", ["no entity", "Cell", "Gene", "no shared type"]),
        ("corpus", ["A", "B", "C"]),
        ("shared type", ["Cell", "Gene", "no shared type"]),
        ("corpus", ["A", "B", "C"]),
    ]
    colours = [handle.get_color() for handle in figures[0].legends[0].legend_handles]
    assert len({to_rgba(colour) for colour in colours}) == 4


def test_titles_tell_the_cosines(made: CorporaInspection, figures: list[Figure], tmp_path: Path) -> None:
    draw_corpora(made, tmp_path)
    assert made.entities is not None
    found = made.entities.nearness
    conditions, entities = (figure.get_suptitle() for figure in figures)
    assert conditions.splitlines() == [
        "conditions by t-SNE; mean cosine between corpora: 0.50 within types, 0.00 between them",
        "before training: 0.50 within types, 0.00 between them",
    ]
    assert entities.endswith(f" {found.same:.2f} within types, {found.different_across:.2f} between them")


def test_many_types_and_names_with_dollars_are_drawn(figures: list[Figure], tmp_path: Path) -> None:
    names = tuple(f"$type_{number}^" for number in range(11))
    labels = LabelSpace((*names, "Gene"), corpora=("A", "B"), corpus=(*(0,) * 11, 1))
    (path,) = draw_corpora(inspect_corpora(model(labels, "own")), tmp_path)
    assert path.name == "conditions.png"
    assert read_picture(path, "").size[0] > 500
    assert len({colour for colour, _ in drawn_points(figures[0]).values()}) == 13
    assert figures[0].legends[0].get_title().get_text() == "type"


def test_without_conditions_there_is_a_picture_of_entities_alone(tmp_path: Path) -> None:
    (path,) = draw_corpora(inspect_corpora(model(condition=None), DOCUMENTS, spans=6), tmp_path)
    assert path == tmp_path / "entities.png"
    assert read_picture(path, "").size[0] > 500


# Scores of spans.


SCORERS: dict[str, dict[str, object]] = {
    "softmax": {},
    "sigmoid": {"scorer": {"kind": "sigmoid"}},
    "bi-encoder": {
        "scorer": {"kind": "bi-encoder", "types": "keywords"},
        "representation": {"kind": "composed", "size": 16, "width_size": 4, "activation": "none"},
    },
}


@pytest.mark.parametrize("scorer", SCORERS)
def test_spans_have_scores_for_the_types_of_their_corpus_alone(scorer: str) -> None:
    made = model(condition=None, **SCORERS[scorer])
    for corpus, name in enumerate(CORPORA):
        own = np.array(LABELS.corpus) == corpus
        sample = collect_spans(made, [document for document in DOCUMENTS if document.corpus == name])
        assert np.isnan(sample.scores[:, ~own]).all() and np.isfinite(sample.scores[:, own]).all()
        assert (np.abs(sample.scores[:, own]) < 1e3).all()
        if sample.thresholds is not None:
            assert np.isnan(sample.thresholds[:, ~own]).all() and np.isfinite(sample.thresholds[:, own]).all()


@pytest.mark.parametrize("scorer", SCORERS)
def test_scores_of_a_type_are_those_of_spans_of_its_corpus(scorer: str) -> None:
    made = model(condition=None, **SCORERS[scorer])
    found = score_distributions(collect_spans(made, DOCUMENTS, spans=10_000))
    assert list(found) == ["Cell of A", "Gene of A", "Cell of B", "Gene of B", "Cell of C"]
    for name in CORPORA:
        alone = [document for document in DOCUMENTS if document.corpus == name]
        expected = score_distributions(collect_spans(made, alone, spans=10_000))[f"Cell of {name}"]
        assert found[f"Cell of {name}"].entities.count == expected.entities.count > 0
        assert found[f"Cell of {name}"].others.count == expected.others.count
        assert found[f"Cell of {name}"].others.mean == pytest.approx(expected.others.mean, abs=1e-4)
        assert found[f"Cell of {name}"].separation == pytest.approx(expected.separation, abs=1e-4)


def test_templates_are_told_apart_by_corpus() -> None:
    sample = collect_spans(model(condition=None), DOCUMENTS)
    assert sample.classes[:4] == ("no entity of A", "Cell of A", "Gene of A", "no entity of B")
    angles = template_angles(sample)
    assert len(angles.norms) == 8
    none = [name.startswith("no entity") for name in sample.classes]
    unit = unit_vectors(sample.templates)
    cosines = np.abs(unit @ unit.T)[np.ix_(~np.array(none), ~np.array(none))]
    assert angles.between_types == pytest.approx(cosines[~np.eye(5, dtype=bool)].mean(), abs=1e-5)
