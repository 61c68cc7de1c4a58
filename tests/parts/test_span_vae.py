"""The auto-encoders of spans: posteriors, loss terms, what is shared, and rewriting."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from torch import Tensor
from torch.distributions import Normal, kl_divergence

from spanwright.batches.writer import END, PAD
from spanwright.errors import InputError
from spanwright.parts.batch import Rewrites, Spans
from spanwright.parts.beside.writer.auto_encoders import SpanVae, divergence, sample
from spanwright.parts.beside.writer.word_decoder import WordDecoder
from spanwright.settings.auxiliaries import OutputKind, SpanVaeSettings

VECTOR_SIZE, VOCABULARY = 6, 30
RECONSTRUCTION = {"reconstruction", "reconstruction-divergence"}
SYNONYMS = {"synonyms", "synonyms-divergence"}
Sharing = Literal["mean", "all", "none"]


def vae(**changes: Any) -> SpanVae:
    torch.manual_seed(0)
    chosen: dict[str, Any] = {"latent": 4, "hidden": 16, "word_size": 5, "synonyms": ("corpus",)}
    return SpanVae(SpanVaeSettings(**(chosen | changes)), vector_size=VECTOR_SIZE, vocabulary=VOCABULARY)


def rewrites_of(*rows: tuple[int, bool, list[int]]) -> Rewrites:
    """Rewrites from (span, whether it is a synonym, words)."""
    spans = torch.arange(3)
    longest = max((len(words) for _, _, words in rows), default=0) + 1
    words = [[*words, END] + [PAD] * (longest - 1 - len(words)) for _, _, words in rows]
    return Rewrites(
        spans=Spans(torch.zeros_like(spans), spans, spans),
        source=torch.tensor([span for span, _, _ in rows], dtype=torch.long),
        synonym=torch.tensor([synonym for _, synonym, _ in rows], dtype=torch.bool),
        words=torch.tensor(words, dtype=torch.long).view(len(rows), longest),
    )


SOME = rewrites_of(
    (0, False, [4, 5]),
    (0, True, [9]),
    (1, False, [6]),
    (2, False, [7, 7, 8]),
    (2, True, [10, 11]),
    (2, True, [12]),
)


def vectors() -> Tensor:
    return torch.randn(3, VECTOR_SIZE, generator=torch.Generator().manual_seed(2))


@given(
    mean=st.lists(st.floats(-5, 5), min_size=3, max_size=3),
    log_variance=st.lists(st.floats(-5, 5), min_size=3, max_size=3),
)
def test_the_divergence_is_that_of_an_independent_library(
    mean: list[float], log_variance: list[float]
) -> None:
    means, log_variances = (torch.tensor([each], dtype=torch.float64) for each in (mean, log_variance))
    expected = kl_divergence(Normal(means, (log_variances / 2).exp()), Normal(0.0, 1.0)).sum(1)
    torch.testing.assert_close(divergence(means, log_variances), expected)


def test_samples_have_the_mean_and_the_variance_of_the_posterior() -> None:
    noise = torch.randn(40_000, 2, generator=torch.Generator().manual_seed(0))
    drawn = sample(torch.tensor([[3.0, -1.0]]), torch.tensor([[1.0, -2.0]]), noise)
    assert drawn.mean(0).tolist() == pytest.approx([3.0, -1.0], abs=0.05)
    assert drawn.var(0).log().tolist() == pytest.approx([1.0, -2.0], abs=0.05)


def test_the_terms_are_those_of_the_auto_encoders_that_there_are() -> None:
    assert vae().terms == RECONSTRUCTION | SYNONYMS
    assert set(vae().losses(vectors(), SOME)) == RECONSTRUCTION | SYNONYMS
    assert vae(synonyms=()).terms == RECONSTRUCTION
    assert set(vae(synonyms=()).losses(vectors(), SOME)) == RECONSTRUCTION


def test_without_synonyms_their_rewrites_do_not_count() -> None:
    part = vae(synonyms=()).eval()
    without = rewrites_of((0, False, [4, 5]), (1, False, [6]), (2, False, [7, 7, 8]))
    assert_same(part.losses(vectors(), SOME), part.losses(vectors(), without))


def assert_same(found: dict[str, Tensor], expected: dict[str, Tensor]) -> None:
    assert found.keys() == expected.keys()
    for name, loss in found.items():
        torch.testing.assert_close(loss, expected[name])


@pytest.mark.parametrize("synonym", [False, True])
def test_losses_are_means_over_the_rewrites_of_an_auto_encoder(synonym: bool) -> None:
    part = vae(sharing="none").eval()
    name = "synonyms" if synonym else "reconstruction"
    decoder = part.decoders[int(synonym)]
    assert isinstance(decoder, WordDecoder)
    chosen = SOME.synonym == synonym
    mean = part.posterior(vectors(), synonym=synonym)[SOME.source[chosen]]
    log_variance = part.log_variances[int(synonym)](vectors())[SOME.source[chosen]]
    losses = part.losses(vectors(), SOME)
    surprise = decoder.surprise(mean, SOME.words[chosen], part.table)
    torch.testing.assert_close(losses[name], surprise.mean())
    torch.testing.assert_close(losses[f"{name}-divergence"], divergence(mean, log_variance).mean())


def test_a_synonym_is_learnt_from_its_own_words_and_not_from_those_of_the_span() -> None:
    part = vae(sharing="none").eval()
    before = part.losses(vectors(), SOME)
    changed = SOME.words.clone()
    changed[~SOME.synonym] = torch.where(changed[~SOME.synonym] > END, 20, changed[~SOME.synonym])
    after = part.losses(vectors(), replace(SOME, words=changed))
    assert torch.equal(after["synonyms"], before["synonyms"])
    assert after["reconstruction"] != before["reconstruction"]


def test_the_second_word_of_a_synonym_is_foretold_from_its_first() -> None:
    part = vae().eval()
    ends = []
    for first in (10, 20):
        whole = part.losses(vectors(), rewrites_of((2, True, [first, 11])))["synonyms"]
        cut = rewrites_of((2, True, [first, 11]))
        cut.words[0, 1:] = PAD
        ends.append(float((whole - part.losses(vectors(), cut)["synonyms"]).detach()))
    assert ends[0] != pytest.approx(ends[1], abs=1e-6)


def test_noise_is_drawn_while_training_and_only_then() -> None:
    part = vae(word_dropout=0)
    assert part.losses(vectors(), SOME)["synonyms"] != part.losses(vectors(), SOME)["synonyms"]
    part.eval()
    still = torch.zeros(len(SOME.source), 4)
    assert_same(part.losses(vectors(), SOME), part.losses(vectors(), SOME, still))


def test_drawn_noise_is_standard_normal() -> None:
    many = rewrites_of(*[(0, False, [4])] * 5000)
    part = vae(synonyms=(), word_dropout=0)
    seen: list[Tensor] = []
    part.decoders[0].start.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0].detach()))
    part.losses(vectors(), many)
    deviation = (0.5 * part.log_variances[0](vectors())[0]).exp()
    noise = (seen[0] - part.posterior(vectors())[0]) / deviation
    assert noise.mean(0).tolist() == pytest.approx([0.0] * 4, abs=0.08)
    assert noise.std(0).tolist() == pytest.approx([1.0] * 4, abs=0.06)


def test_words_are_forgotten_while_training_and_only_then() -> None:
    still = torch.zeros(len(SOME.source), 4)
    forgetful, mindful = vae(word_dropout=0.99), vae(word_dropout=0)
    assert_same(forgetful.eval().losses(vectors(), SOME), mindful.losses(vectors(), SOME, still))
    found = forgetful.train().losses(vectors(), SOME, still)["reconstruction"]
    assert found != mindful.losses(vectors(), SOME, still)["reconstruction"]


@pytest.mark.parametrize("output", ["softmax", "adaptive"])
def test_nothing_to_rewrite_costs_nothing_and_harms_no_gradient(output: OutputKind) -> None:
    part = vae(output=output)
    given_ = vectors().requires_grad_()
    losses = part.losses(given_, rewrites_of())
    assert {name: float(loss.detach()) for name, loss in losses.items()} == dict.fromkeys(part.terms, 0.0)
    torch.stack(list(losses.values())).sum().backward()
    assert given_.grad is not None and not given_.grad.any()
    assert not any(parameter.grad.any() for parameter in part.parameters() if parameter.grad is not None)


def test_spans_without_synonyms_leave_the_reconstruction_alone() -> None:
    losses = vae().eval().losses(vectors(), rewrites_of((1, False, [6])))
    assert float(losses["synonyms"].detach()) == float(losses["synonyms-divergence"].detach()) == 0.0
    assert float(losses["reconstruction"].detach()) > 0.0


def test_gradients_reach_the_vectors_of_rewritten_spans_only() -> None:
    given_ = vectors().requires_grad_()
    losses = vae().losses(given_, rewrites_of((0, False, [4]), (2, True, [9])))
    (gradient,) = torch.autograd.grad(torch.stack(list(losses.values())).sum(), given_)
    assert gradient.any(1).tolist() == [True, False, True]


@pytest.mark.parametrize(
    ("sharing", "means", "log_variances"), [("mean", 1, 2), ("all", 1, 1), ("none", 2, 2)]
)
def test_posteriors_share_what_the_settings_say(sharing: Sharing, means: int, log_variances: int) -> None:
    part = vae(sharing=sharing)
    assert (len(part.means), len(part.log_variances), len(part.decoders)) == (means, log_variances, 2)
    synonyms = sum(part.losses(vectors(), SOME)[name] for name in SYNONYMS)
    for heads in (part.means, part.log_variances):
        weights = [head.weight for head in heads]
        gradients = torch.autograd.grad(synonyms, weights, allow_unused=True, retain_graph=True)
        # Synonyms teach the last entry of a list, and so also the spans where there is one entry.
        assert [gradient is not None and bool(gradient.any()) for gradient in gradients] == (
            [True] if len(weights) == 1 else [False, True]
        )


@pytest.mark.parametrize("sharing", ["mean", "all", "none"])
def test_an_auto_encoder_alone_has_no_weights_of_another(sharing: Sharing) -> None:
    part = vae(sharing=sharing, synonyms=())
    assert (len(part.means), len(part.log_variances), len(part.decoders)) == (1, 1, 1)


def test_no_weight_is_stored_twice() -> None:
    places = [tensor.data_ptr() for tensor in vae(sharing="all").state_dict().values()]
    assert len(set(places)) == len(places)


def test_rewriting_writes_from_the_mean_of_the_posterior() -> None:
    part = vae(sharing="none")
    for synonym, decoder in enumerate(part.decoders):
        assert isinstance(decoder, WordDecoder)
        expected = decoder.write(part.posterior(vectors(), synonym=bool(synonym)), 5, part.table)
        assert torch.equal(part.rewrite(vectors(), synonym=bool(synonym), longest=5), expected)


def test_posteriors_of_synonyms_are_those_of_spans_where_the_mean_is_shared() -> None:
    shared, apart = vae(), vae(sharing="none")
    assert torch.equal(shared.posterior(vectors()), shared.posterior(vectors(), synonym=True))
    assert not torch.equal(apart.posterior(vectors()), apart.posterior(vectors(), synonym=True))


def test_synonyms_that_were_never_learnt_cannot_be_written() -> None:
    with pytest.raises(InputError, match="never learnt synonyms; expected synonym=False"):
        vae(synonyms=()).rewrite(vectors(), synonym=True, longest=3)


def test_an_auto_encoder_learns_spans_and_synonyms_by_heart() -> None:
    torch.manual_seed(0)
    part = vae(latent=16, hidden=48, word_size=16)
    many = rewrites_of(
        (0, False, [4, 5]), (1, False, [6]), (2, False, [7, 7, 8]), (0, True, [9]), (2, True, [10, 11])
    )
    optimiser = torch.optim.Adam(part.parameters(), lr=0.02)
    for _ in range(80):
        optimiser.zero_grad()
        losses = part.losses(vectors(), many)
        (losses["reconstruction"] + losses["synonyms"]).backward()
        optimiser.step()
    part.eval()
    assert part.rewrite(vectors(), synonym=False, longest=4).tolist() == many.words[:3].tolist()
    assert part.rewrite(vectors(), synonym=True, longest=4)[[0, 2]].tolist() == many.words[3:].tolist()


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"output": "adaptive", "hidden": 15}, "hidden 15 with adaptive output; expected 16 or more"),
        ({"word_dropout": 1.0}, "less than 1"),
        ({"latent": 0}, "should be greater than 0"),
        ({"synonyms_per_mention": 0}, "should be greater than 0"),
        ({"sharing": "deviation"}, "'mean', 'all' or 'none'"),
        ({"weights": 1}, "Extra inputs are not permitted"),
    ],
)
def test_illegal_settings_are_refused(wrong: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValidationError, match=reason):
        SpanVaeSettings(**wrong)
