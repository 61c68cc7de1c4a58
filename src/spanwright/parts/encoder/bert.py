"""BERT (Devlin et al., 2019) for models that are loaded to be used.

It computes what transformers computes, from weights of the same names, without the seconds that importing
transformers takes. Training and exports keep to transformers (see `backbone`).
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, Literal, Self

from pydantic import ConfigDict, Field, NonNegativeInt, PositiveInt, model_validator
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from spanwright.strict import Strict


class BertConfig(Strict):
    """What a BERT is made of, as transformers calls it; what is missing is as usual there.

    Others of its keys are kept, but a value that would make another network is refused.
    """

    model_config = ConfigDict(extra="allow", strict=True, protected_namespaces=())

    model_type: Literal["bert"]
    vocab_size: PositiveInt = 30522
    hidden_size: PositiveInt = 768
    num_hidden_layers: PositiveInt = 12
    num_attention_heads: PositiveInt = 12
    intermediate_size: PositiveInt = 3072
    hidden_act: Literal["gelu"] = "gelu"
    hidden_dropout_prob: float = Field(0.1, ge=0, le=1)
    attention_probs_dropout_prob: float = Field(0.1, ge=0, le=1)
    max_position_embeddings: PositiveInt = 512
    type_vocab_size: PositiveInt = 2
    layer_norm_eps: float = Field(1e-12, ge=0)
    pad_token_id: NonNegativeInt | None = 0
    position_embedding_type: Literal["absolute"] = "absolute"
    chunk_size_feed_forward: Literal[0] = 0
    is_decoder: Literal[False] = False
    add_cross_attention: Literal[False] = False

    @model_validator(mode="after")
    def _divides(self) -> Self:
        if self.hidden_size % self.num_attention_heads or (self.pad_token_id or 0) >= self.vocab_size:
            raise ValueError("the heads have no whole size, or the padding has no embedding")
        return self


class Bert(nn.Module):
    """Embeddings and blocks, without a pooler. Modules are called as in transformers, for their weights."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.config = config
        self.embeddings = _Embeddings(config)
        self.encoder = _Blocks(config)

    def get_input_embeddings(self) -> nn.Module:
        """The vectors of pieces."""
        return self.embeddings.word_embeddings

    def forward(
        self,
        *,
        attention_mask: Tensor,
        input_ids: Tensor | None = None,
        inputs_embeds: Tensor | None = None,
        output_hidden_states: bool = False,
    ) -> SimpleNamespace:
        """States (windows, pieces, width) at the top, and those of all layers from the lowest on.

        `attention_mask` (windows, pieces) is False for padding, `input_ids` (windows, pieces) are ids of
        pieces and `inputs_embeds` (windows, pieces, width) vectors in their place.
        """
        if inputs_embeds is None:
            inputs_embeds = self.embeddings.word_embeddings(input_ids)
        # Torch is faster without a mask, which a batch without padding does not need.
        mask = None if attention_mask.all() else attention_mask[:, None, None, :].bool()
        states = [self.embeddings(inputs_embeds)]
        for block in self.encoder.layer:
            states.append(block(states[-1], mask))
        return SimpleNamespace(last_hidden_state=states[-1], hidden_states=tuple(states))


class _Embeddings(nn.Module):
    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        width = config.hidden_size
        self.word_embeddings = nn.Embedding(config.vocab_size, width, padding_idx=config.pad_token_id)
        self.position_embeddings = nn.Embedding(config.max_position_embeddings, width)
        self.token_type_embeddings = nn.Embedding(config.type_vocab_size, width)
        self.LayerNorm = nn.LayerNorm(width, eps=config.layer_norm_eps)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, embedded: Tensor) -> Tensor:
        """Pieces (windows, pieces, width) with their positions; all are of the first kind of sentences."""
        positions = self.position_embeddings.weight[: embedded.shape[1]]
        placed = embedded + self.token_type_embeddings.weight[0] + positions
        return self.dropout(self.LayerNorm(placed))  # type: ignore[no-any-return]


class _Blocks(nn.Module):
    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.layer = nn.ModuleList(_Block(config) for _ in range(config.num_hidden_layers))


class _Block(nn.Module):
    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.attention = _Attention(config)
        self.intermediate = _Wide(config)
        self.output = _Output(config.intermediate_size, config)

    def forward(self, states: Tensor, mask: Tensor | None) -> Tensor:
        """(windows, pieces, width)."""
        attended = self.attention(states, mask)
        return self.output(self.intermediate(attended), attended)  # type: ignore[no-any-return]


class _Attention(nn.Module):
    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.self = _Heads(config)
        self.output = _Output(config.hidden_size, config)

    def forward(self, states: Tensor, mask: Tensor | None) -> Tensor:
        """(windows, pieces, width)."""
        return self.output(self.self(states, mask), states)  # type: ignore[no-any-return]


class _Heads(nn.Module):
    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        width = config.hidden_size
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))
        self.heads, self.probability = config.num_attention_heads, config.attention_probs_dropout_prob

    def forward(self, states: Tensor, mask: Tensor | None) -> Tensor:
        """(windows, pieces, width): what the heads find, side by side."""
        parts = (self.query(states), self.key(states), self.value(states))
        query, key, value = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in parts)
        probability = self.probability if self.training else 0.0
        mixed = scaled_dot_product_attention(query, key, value, attn_mask=mask, dropout_p=probability)
        return mixed.transpose(1, 2).flatten(2)


class _Wide(nn.Module):
    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.dense = nn.Linear(config.hidden_size, config.intermediate_size)

    def forward(self, states: Tensor) -> Tensor:
        """(windows, pieces, intermediate size)."""
        return nn.functional.gelu(self.dense(states))


class _Output(nn.Module):
    """A Linear back to the width of states, added to what there was before."""

    def __init__(self, size: int, config: BertConfig) -> None:
        super().__init__()
        self.dense = nn.Linear(size, config.hidden_size)
        self.LayerNorm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, states: Tensor, before: Tensor) -> Tensor:
        """(windows, pieces, width)."""
        return self.LayerNorm(self.dropout(self.dense(states)) + before)  # type: ignore[no-any-return]


def bert_of(config: dict[str, Any]) -> Bert | None:
    """The network of a configuration with weights as torch draws them; None if it is no plain BERT."""
    try:
        return Bert(BertConfig.model_validate(config))
    except ValueError:
        return None
