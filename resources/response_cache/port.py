"""Values of the response cache."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenCounts:
    """Prompt and completion tokens of a model, counted or expected."""

    prompt: int = 0
    completion: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseAverages:
    """Means over a model's cached responses; None without any."""

    seconds: float | None = None
    tokens: float | None = None


Row: TypeAlias = Mapping[str, Any]
"""A stored response, by the columns of ``resources.storage.schema.responses``."""
