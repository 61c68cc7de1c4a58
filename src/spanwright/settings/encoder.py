"""Settings of the encoder."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, PositiveFloat, PositiveInt, model_validator

from spanwright.settings.part import OFF, PartSettings

Quantised = Literal["4bit", "8bit"]


class LoraSettings(PartSettings):
    """Low-rank adapters, with the sizes of CVAE-NER."""

    rank: PositiveInt = 32
    """The rank of what is learnt beside a linear map: the more, the more can be learnt."""
    alpha: PositiveFloat = 32
    """What is learnt counts `alpha / rank` times."""
    dropout: float = Field(default=0.05, ge=0, lt=1)
    """On what the adapters read."""
    targets: tuple[str, ...] | Literal["auto"] = "auto"
    """Names of the linear maps that get an adapter, such as `q` and `v`; `auto`: all of them."""

    def usual_rates(self, *, pretrained: float, fresh: float) -> dict[str, float]:
        """CVAE-NER's rate of adapters, which start from nothing beside a frozen encoder."""
        return {"encoder": 7e-4}


PiecePooling = Literal["ends", "first", "mean", "max"]


class EncoderSettings(PartSettings):
    """Which backbone, and how the pieces of a word become its state."""

    name: str = "minilm"
    """A short name (minilm, gte-small, e5-small, mpnet-base), a folder, or a Hugging Face model id."""
    pooling: PiecePooling = "ends"
    """`ends`: a span takes the first piece of its first word and the last piece of its last word."""
    dropout: float | None = Field(default=None, ge=0, lt=1)
    """Hidden dropout of the backbone while training; its own value when None."""
    attention_dropout: float | None = Field(default=None, ge=0, lt=1)
    """Dropout of the backbone's attention while training; its own value when None."""
    lora: Annotated[LoraSettings | None, OFF] = None
    """Freeze the backbone and let low-rank adapters learn in its place."""
    quantised: Annotated[Quantised | None, OFF] = None
    """Keep the frozen weights in 4 or 8 bits while training; only with `lora`."""
    checkpointing: bool = False
    """Compute the states of blocks again for the gradient, rather than keep them: slower, but smaller."""

    def usual_rates(self, *, pretrained: float, fresh: float) -> dict[str, float]:
        """The rate that suits the backbone, or that of its adapters."""
        if self.lora is not None:
            return self.lora.usual_rates(pretrained=pretrained, fresh=fresh)
        return {"encoder": pretrained}

    @model_validator(mode="after")
    def _check_quantised(self) -> Self:
        if self.quantised is not None and self.lora is None:
            raise ValueError(
                f"quantised is {self.quantised!r}, but weights of a few bits cannot learn: set encoder.lora, "
                "such as encoder.lora.rank=32"
            )
        return self
