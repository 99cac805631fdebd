"""Base classes of the sections of bench.toml."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from bench_assets.core.schema.chat import Decoding


class StrictSection(BaseModel):
    """A section of bench.toml; an entry that it does not know is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ModelSpec(StrictSection):
    """A section ``[models.NAME]``."""

    kind: str

    @property
    def place(self) -> str:
        """Where the model is, as bench.toml says; "" where it is nowhere."""
        return ""


class SamplingSection(ModelSpec):
    """How responses are drawn, for models that draw them."""

    temperature: float = Field(0.0, ge=0)
    """0 is greedy decoding."""
    top_p: float = Field(1.0, gt=0, le=1)
    max_tokens: int = Field(1024, gt=0)
    """Longest response, in tokens of the model."""
    seed: int | None = None
    thinking_tags: tuple[str, str] | None = None
    """What opens and closes a thought of this model, where it is none of the known ones
    (``core.reasoning``)."""
    named_decoding: Literal["", "card"] = Field("", alias="decoding")
    """``decoding = "card"`` draws as the ``generation_config.json`` of a checkpoint says, whatever
    temperature and top_p say here; else nothing of that file is used but its end tokens."""

    @property
    def decoding(self) -> Decoding:
        """The decoding parameters, as part of a response's identity."""
        return Decoding(
            temperature=self.temperature,
            top_p=self.top_p,
            max_tokens=self.max_tokens,
            seed=self.seed,
            card=self.named_decoding == "card",
        )


class PriceSection(ModelSpec):
    """What responses cost, for models that are paid by the token."""

    price_in: float = Field(0.0, ge=0)
    """Money for a million tokens that are read, in any currency."""
    price_out: float = Field(0.0, ge=0)
    """Money for a million tokens that are written."""
    budget: float | None = Field(None, ge=0)
    """Money that may be spent on this model, all remembered responses included; None: any."""
    budget_tokens: int | None = Field(None, ge=0)
    """Tokens that may be read and written in all, counted likewise."""

    @property
    def share_of_price(self) -> float:
        """How much of the prices is paid."""
        return 1.0
