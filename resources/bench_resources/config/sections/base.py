"""Base classes of the sections of bench.toml."""

from math import inf
from typing import Annotated, Self, TypeAlias

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from bench_assets.core.schema.chat import Decoding


class StrictSection(BaseModel):
    """A section of bench.toml; unknown entries are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def _check_amounts(needs: dict[str, float]) -> dict[str, float]:
    for name, amount in needs.items():
        if not 0 <= amount < inf:
            raise ValueError(f"{name} = {amount}: expected a finite number of 0 or more")
        if name != name.lower() and name.lower() in ("cpu", "gpu", "memory"):
            raise ValueError(f"{name}: unknown; did you mean {name.lower()}?")
    return needs


Needs: TypeAlias = Annotated[dict[str, float], AfterValidator(_check_amounts)]
"""Resources by name: ``cpu``, ``gpu``, ``memory`` in bytes, and the cluster's own."""


class ModelSpec(StrictSection):
    """A section ``[models.NAME]``."""

    kind: str

    @property
    def place(self) -> str:
        """Location of the model in bench.toml; "" if it has none."""
        return ""


class DrawsSection(ModelSpec):
    """A model that may be asked several times."""

    n: int = Field(1, gt=0)
    """Responses to each question. With several, metrics have ``avg@n`` and ``pass@k`` beside them;
    ``temperature`` has to be above 0, if the kind has one."""


class SamplingSection(DrawsSection):
    """Decoding settings."""

    temperature: float = Field(0.0, ge=0)
    """Sampling temperature; 0 is greedy decoding; part of a response's identity."""
    top_p: float = Field(1.0, gt=0, le=1)
    """Nucleus sampling: the share of probability that is kept; part of a response's identity."""
    max_tokens: int = Field(1024, gt=0)
    """Maximum number of tokens of a response; part of a response's identity."""
    seed: int | None = None
    """Seed of sampling, to which the number of the sample (from 0) is added; part of a response's
    identity."""
    thinking_tags: tuple[str, str] | None = None
    """Opening and closing tag of the model's reasoning, if they are not among those of
    ``bench_assets/core/reading/reasoning.toml``."""

    @model_validator(mode="after")
    def _check_draws(self) -> Self:
        if self.n > 1 and not self.temperature:
            raise ValueError(f"n = {self.n} equal responses at temperature 0. Set temperature")
        return self

    @property
    def decoding(self) -> Decoding:
        """The decoding parameters, as part of a response's identity."""
        return Decoding(
            temperature=self.temperature,
            top_p=self.top_p,
            max_tokens=self.max_tokens,
            seed=self.seed,
        )
