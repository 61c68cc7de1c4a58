"""The word decoder against a loop over rows and steps, and what it writes."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from spanwright.batches.writer import END, PAD, START, UNKNOWN
from spanwright.errors import SettingsError
from spanwright.parts.beside.writer.word_decoder import WordDecoder, WordTable, forgetful, shifted
from spanwright.settings.auxiliaries import OutputKind

WORDS, WORD_SIZE, LATENT, HIDDEN = 30, 3, 5, 16
FIRST_WORD = UNKNOWN + 1

both_outputs = pytest.mark.parametrize("output", ["softmax", "adaptive"])
rows_of_words = st.lists(st.lists(st.integers(UNKNOWN, WORDS - 1), max_size=5), min_size=1, max_size=6)


def parts(output: OutputKind = "softmax", seed: int = 0) -> tuple[WordDecoder, WordTable]:
    """A decoder and its table in float64, with parameters large enough to matter."""
    torch.manual_seed(seed)
    decoder = WordDecoder(word_size=WORD_SIZE, latent=LATENT, hidden=HIDDEN).double()
    table = WordTable(words=WORDS, word_size=WORD_SIZE, hidden=HIDDEN, output=output).double()
    with torch.no_grad():
        for parameter in (*decoder.parameters(), *table.parameters()):
            parameter.normal_(std=0.7)
    return decoder, table


def padded(rows: list[list[int]]) -> Tensor:
    """(rows, longest): rows of words with their end."""
    longest = max(map(len, rows), default=0) + 1
    return torch.tensor([[*row, END] + [PAD] * (longest - 1 - len(row)) for row in rows])


def latents(rows: int) -> Tensor:
    return torch.randn(rows, LATENT, dtype=torch.float64, generator=torch.Generator().manual_seed(1))


def log_probabilities(table: WordTable, state: Tensor) -> Tensor:
    """(words,): after one state, by the stock output layers."""
    if isinstance(layer := getattr(table.output, "clusters", None), nn.AdaptiveLogSoftmaxWithLoss):
        return layer.log_prob(state[None])[0]
    return table.output.scores(state[None])[0].log_softmax(0)


class NaiveDecoder:
    """One row, one step at a time, with the stock cell over embedding and latent vector."""

    def __init__(self, decoder: WordDecoder, table: WordTable, latent: Tensor) -> None:
        self.decoder, self.table, self.latent = decoder, table, latent
        self.hidden = decoder.start(latent)[None]
        self.memory = torch.zeros_like(self.hidden)

    def read(self, word: int) -> Tensor:
        """(words,): log probabilities of what follows."""
        inputs = torch.cat([self.table.embedding.weight[word], self.latent])[None]
        self.hidden, self.memory = self.decoder.cell(inputs, (self.hidden, self.memory))
        return log_probabilities(self.table, self.hidden[0])


def naive_surprise(decoder: WordDecoder, table: WordTable, latent: Tensor, words: list[int]) -> Tensor:
    naive = NaiveDecoder(decoder, table, latent)
    surprise = torch.zeros((), dtype=torch.float64)
    for read, written in zip([START, *words], [*words, END], strict=True):
        surprise = surprise - naive.read(read)[written]
    return surprise


def naive_writing(decoder: WordDecoder, table: WordTable, latent: Tensor, longest: int) -> list[int]:
    naive = NaiveDecoder(decoder, table, latent)
    written, word = [PAD] * longest, START
    for step in range(longest):
        scores = naive.read(word).tolist()
        word = max((END, *range(FIRST_WORD, WORDS)), key=lambda legal: scores[legal])
        written[step] = word
        if word == END:
            break
    return written


@both_outputs
@settings(max_examples=25)
@given(rows=rows_of_words)
def test_likelihoods_are_those_of_a_loop_over_rows_and_steps(
    output: OutputKind, rows: list[list[int]]
) -> None:
    decoder, table = parts(output)
    latent = latents(len(rows))
    expected = [naive_surprise(decoder, table, each, row) for each, row in zip(latent, rows, strict=True)]
    torch.testing.assert_close(decoder.surprise(latent, padded(rows), table), torch.stack(expected))


@both_outputs
def test_gradients_are_those_of_a_loop_over_rows_and_steps(output: OutputKind) -> None:
    decoder, table = parts(output)
    rows = [[4, 9], [], [29, 3, 12, 4], [7]]
    latent = latents(len(rows)).requires_grad_()
    leaves = [latent, *decoder.parameters(), *table.parameters()]
    found = torch.autograd.grad(decoder.surprise(latent, padded(rows), table).sum(), leaves)
    naive = [naive_surprise(decoder, table, each, row) for each, row in zip(latent, rows, strict=True)]
    torch.testing.assert_close(found, torch.autograd.grad(torch.stack(naive).sum(), leaves))


@both_outputs
def test_columns_of_padding_change_nothing(output: OutputKind) -> None:
    decoder, table = parts(output)
    words = padded([[4, 9], [12]])
    wider = nn.functional.pad(words, (0, 3), value=PAD)
    latent = latents(2)
    assert torch.equal(decoder.surprise(latent, words, table), decoder.surprise(latent, wider, table))


def test_only_real_symbols_go_through_the_output_layer() -> None:
    decoder, table = parts()
    seen: list[int] = []
    table.output.projection.register_forward_hook(lambda _, inputs, __: seen.append(len(inputs[0])))
    decoder.surprise(latents(3), padded([[4, 9, 5, 6], [], [7]]), table)
    assert seen == [5 + 1 + 2]


def test_a_decoder_reads_the_start_and_then_what_it_was_to_write() -> None:
    assert shifted(padded([[4, 9], [5]])).tolist() == [[START, 4, 9], [START, 5, END]]


@both_outputs
def test_without_rows_there_is_nothing_to_be_surprised_about(output: OutputKind) -> None:
    decoder, table = parts(output)
    assert decoder.surprise(latents(0), torch.zeros(0, 3, dtype=torch.long), table).shape == (0,)
    assert decoder.write(latents(0), 3, table).shape == (0, 3)


def test_words_are_forgotten_as_often_as_asked_and_the_start_never() -> None:
    torch.manual_seed(0)
    words = torch.randint(FIRST_WORD, WORDS, (20_000, 3))
    read = forgetful(shifted(words), 0.3)
    assert (read[:, 0] == START).all()
    forgotten = read != shifted(words)
    assert (read[forgotten] == UNKNOWN).all()
    # Five standard deviations of a share of 20,000 draws are 0.016.
    assert forgotten[:, 1:].double().mean(0).tolist() == pytest.approx([0.3, 0.3], abs=0.016)


def test_nothing_is_forgotten_with_probability_zero() -> None:
    words = padded([[4, 9], [12]])
    assert torch.equal(forgetful(words, 0.0), words)


def test_a_decoder_that_forgets_nearly_all_words_reads_unknown_ones() -> None:
    decoder, table = parts()
    latent, words = latents(2), padded([[4, 9, 5], [12, 12, 8]])
    forgotten = decoder.surprise(latent, words, table, dropout=1 - 1e-12)
    with torch.no_grad():
        table.embedding.weight[FIRST_WORD:] = table.embedding.weight[UNKNOWN]
    torch.testing.assert_close(forgotten, decoder.surprise(latent, words, table))


@both_outputs
@settings(max_examples=15)
@given(seed=st.integers(0, 1000), longest=st.integers(1, 6))
def test_writing_is_that_of_a_loop_over_rows_and_steps(output: OutputKind, seed: int, longest: int) -> None:
    decoder, table = parts(output, seed)
    latent = latents(5)
    with torch.no_grad():
        expected = [naive_writing(decoder, table, each, longest) for each in latent]
    assert decoder.write(latent, longest, table).tolist() == expected


def likes(table: WordTable, *words: int) -> None:
    """Make words likely, the first most."""
    with torch.no_grad():
        table.output.projection.bias[list(words)] += torch.linspace(2000, 1000, len(words))


def test_padding_start_and_unknown_are_never_written() -> None:
    decoder, table = parts()
    likes(table, PAD, START, UNKNOWN, 7)
    assert decoder.write(latents(2), 3, table).tolist() == [[7, 7, 7]] * 2


def test_a_row_that_ended_stays_ended_while_others_go_on() -> None:
    decoder, table = parts()
    with torch.no_grad():
        for parameter in (*decoder.parameters(), *table.parameters()):
            parameter.zero_()
        # The sign of the latent vector decides between the end and a word.
        decoder.start.weight[0, 0] = 5.0
        decoder.cell.weight_ih[3 * HIDDEN, WORD_SIZE] = 5.0
        decoder.cell.weight_ih[2 * HIDDEN, WORD_SIZE] = 5.0
        table.output.projection.weight[7, 0], table.output.projection.weight[END, 0] = 9.0, -9.0
    latent = torch.zeros(2, LATENT, dtype=torch.float64)
    latent[:, 0] = torch.tensor([1.0, -1.0])
    assert decoder.write(latent, 3, table).tolist() == [[7, 7, 7], [END, PAD, PAD]]


def test_writing_needs_no_gradient_and_is_the_same_every_time() -> None:
    decoder, table = parts()
    latent = latents(4).requires_grad_()
    assert torch.equal(decoder.write(latent, 6, table), decoder.write(latent, 6, table))


def test_word_vectors_are_first_embeddings_and_other_words_start_at_random() -> None:
    vectors = torch.full((WORDS, WORD_SIZE), torch.nan)
    vectors[7], vectors[9] = 7.0, 9.0
    table = WordTable(words=WORDS, word_size=WORD_SIZE, hidden=HIDDEN, output="softmax", vectors=vectors)
    weight = table.embedding.weight.detach()
    assert weight[7].tolist() == [7.0] * 3
    assert weight[9].tolist() == [9.0] * 3
    assert weight.isfinite().all()
    assert len(weight.unique(dim=0)) == WORDS
    assert table.embedding.weight.requires_grad


def test_word_vectors_of_another_size_are_refused() -> None:
    with pytest.raises(SettingsError, match=r"shape \(30, 4\); expected \(30, 3\).* word_size = 4"):
        WordTable(words=30, word_size=3, hidden=16, output="softmax", vectors=torch.zeros(30, 4))


@pytest.mark.parametrize(("words", "borders"), [(45, [3, 9]), (15, [1, 3]), (100, [6, 20])])
def test_clusters_of_adaptive_output_begin_at_one_and_three_fifteenths_of_the_vocabulary(
    words: int, borders: list[int]
) -> None:
    table = WordTable(words=words, word_size=3, hidden=16, output="adaptive")
    assert table.output.clusters.cutoffs == [*borders, words]


def test_adaptive_output_needs_a_vocabulary() -> None:
    with pytest.raises(SettingsError, match="adaptive output over 14 words; expected 15 or more"):
        WordTable(words=14, word_size=3, hidden=16, output="adaptive")
    WordTable(words=15, word_size=3, hidden=16, output="adaptive")


@both_outputs
def test_a_decoder_learns_ten_spans_by_heart(output: OutputKind) -> None:
    torch.manual_seed(0)
    decoder = WordDecoder(word_size=16, latent=16, hidden=64)
    table = WordTable(words=40, word_size=16, hidden=64, output=output)
    generator = torch.Generator().manual_seed(3)
    rows = [
        torch.randint(FIRST_WORD, 40, (1 + number % 5,), generator=generator).tolist() for number in range(10)
    ]
    words, latent = padded(rows), torch.randn(10, 16, generator=generator)
    optimiser = torch.optim.Adam([*decoder.parameters(), *table.parameters()], lr=0.02)
    for _ in range(80):
        optimiser.zero_grad()
        decoder.surprise(latent, words, table, dropout=0.3).mean().backward()
        optimiser.step()
    assert decoder.write(latent, 8, table)[:, : words.shape[1]].tolist() == words.tolist()
