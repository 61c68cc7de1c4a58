"""Quick dropout does what the stock one does, from other random numbers."""

from __future__ import annotations

import pytest
import torch

import tiny
from spanwright.parts.encoder.backbone import from_config
from spanwright.parts.layers.dropout import QuickDropout, attention, dropout


@pytest.mark.parametrize("probability", [0.1, 0.25, 0.5])
def test_values_are_dropped_with_their_probability_wherever_they_stand(probability: float) -> None:
    torch.manual_seed(0)
    kept = dropout(torch.ones(1000, 400), probability) != 0
    tolerance = 5 * (probability * (1 - probability) / 1e5) ** 0.5
    for lane in range(4):  # four neighbours share a draw
        assert abs(kept[:, lane::4].float().mean().item() - (1 - probability)) < tolerance
    together = (kept[:, 0::4] & kept[:, 1::4]).float().mean().item()
    assert abs(together - (1 - probability) ** 2) < tolerance


def test_the_mean_is_kept_and_gradients_pass_where_values_do() -> None:
    torch.manual_seed(0)
    values = torch.ones(401, 333, requires_grad=True)  # a number of elements that four does not divide
    dropped = dropout(values, 0.3)
    assert dropped.mean().item() == pytest.approx(1, abs=0.01)
    dropped.sum().backward()
    assert torch.equal(values.grad, dropped.detach())


def test_the_seed_decides_and_every_call_draws_anew() -> None:
    def drawn() -> torch.Tensor:
        torch.manual_seed(3)
        return torch.stack([dropout(torch.ones(50), 0.5), dropout(torch.ones(50), 0.5)])

    assert torch.equal(drawn(), drawn())
    assert not torch.equal(*drawn())


def test_nothing_is_dropped_outside_training_or_with_probability_zero() -> None:
    values = torch.randn(9)
    assert torch.equal(QuickDropout(0.5).eval()(values), values)
    assert torch.equal(QuickDropout(0.0).train()(values), values)
    assert dropout(torch.zeros(0, 4), 0.5).shape == (0, 4)


@pytest.mark.parametrize("kind", ["bool", "float", "none"])
def test_attention_without_dropout_is_the_stock_one(kind: str) -> None:
    torch.manual_seed(0)
    query, key, value = torch.randn(3, 2, 4, 7, 8)
    allowed = torch.ones(2, 1, 7, 7, dtype=torch.bool)
    allowed[0, :, :, 5:] = False
    added = torch.zeros(2, 1, 7, 7).masked_fill(~allowed, -torch.inf)
    mask = {"bool": allowed, "float": added, "none": None}[kind]
    ours = attention(query, key, value, mask, probability=0.0, scale=None)
    stock = torch.nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    torch.testing.assert_close(ours, stock)


def test_a_backbone_gives_the_states_it_gave_before() -> None:
    stock = tiny.backbone(30).eval()
    ours = from_config(stock.config.to_dict() | {"model_type": "bert"})
    ours.load_state_dict(stock.state_dict())
    ids = torch.randint(0, 30, (2, 9))
    mask = torch.ones_like(ids)
    mask[1, 6:] = 0
    expected = stock(input_ids=ids, attention_mask=mask).last_hidden_state
    found = ours.eval()(input_ids=ids, attention_mask=mask).last_hidden_state
    torch.testing.assert_close(found[mask.bool()], expected[mask.bool()])
    for module in ours.modules():
        assert type(module) is not torch.nn.Dropout
    # The training path of attention is ours; with nothing to drop it must agree with the stock one.
    for module in ours.modules():
        if isinstance(module, QuickDropout):
            module.p = 1e-9
    trained = ours.train()(input_ids=ids, attention_mask=mask).last_hidden_state
    torch.testing.assert_close(trained[mask.bool()], expected[mask.bool()])


def test_attention_weights_are_dropped_while_training() -> None:
    config = tiny.backbone(30).config
    config.hidden_dropout_prob, config.attention_probs_dropout_prob = 0.0, 0.5
    backbone = from_config(config.to_dict() | {"model_type": "bert"}).train()
    ids = torch.randint(0, 30, (1, 9))
    first, second = (backbone(input_ids=ids).last_hidden_state for _ in range(2))
    assert not torch.equal(first, second)


def test_a_piece_that_may_look_at_nothing_spoils_no_other() -> None:
    """Padding that is far from the text sees nothing with local attention; its state is read by nobody."""
    query, key, value = (torch.randn(1, 2, 5, 4, requires_grad=True) for _ in range(3))
    allowed = torch.ones(1, 1, 5, 5, dtype=torch.bool)
    allowed[..., 4, :] = False
    found = attention(query, key, value, allowed, probability=0.1, scale=None)
    assert found.isfinite().all()
    for gradient in torch.autograd.grad(found[:, :, :4].sum(), (query, key, value)):
        assert gradient.isfinite().all()


def test_gradients_of_attention_equal_those_of_its_formula() -> None:
    torch.manual_seed(0)
    query, key, value = (torch.randn(2, 3, 5, 4, dtype=torch.float64, requires_grad=True) for _ in range(3))
    allowed = torch.ones(2, 1, 5, 5, dtype=torch.bool)
    allowed[1, :, :, 3:] = False

    def gradients(output: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return torch.autograd.grad(output.sin().sum(), (query, key, value))

    torch.manual_seed(1)
    ours = attention(query, key, value, allowed, probability=0.4, scale=0.7)
    torch.manual_seed(1)
    kept = dropout(torch.ones(2, 3, 5, 5, dtype=torch.float64), 0.4)
    scores = (query @ key.transpose(-1, -2) * 0.7).masked_fill(~allowed, -torch.inf)
    naive = (scores.softmax(-1) * kept) @ value
    torch.testing.assert_close(ours, naive)
    for found, expected in zip(gradients(ours), gradients(naive), strict=True):
        torch.testing.assert_close(found, expected)
