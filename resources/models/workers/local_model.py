"""Protocol of a local model, and its sampled draws."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from PIL import Image as PILImage

from bench_assets.core.schema.chat import Response
from resources.models.workers.conversations import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Draw:
    """How the responses of a batch are drawn."""

    max_tokens: int
    temperature: float  # 0: greedy
    top_p: float
    seeds: Sequence[str]  # one for each conversation; any text
    rest: Mapping[str, Any] = field(default_factory=dict)  # what else a card recommends

    @property
    def seed_numbers(self) -> list[int]:
        """The seeds as numbers of 60 bits."""
        return [int(hashlib.sha256(seed.encode()).hexdigest()[:15], 16) for seed in self.seeds]


class Answers(Protocol):
    """A loaded model."""

    def weight(self, images: Sequence[PILImage.Image]) -> int:
        """Tokens that images become, for batches of like size; 0 where that is not known.

        Called in several threads while a batch is answered.
        """
        ...

    def prepare(self, conversations: Sequence[Sequence[Message]]) -> Any:  # noqa: ANN401 - its own
        """Make what ``answer`` takes; called in a thread while another batch is answered.

        Raises:
            Exception: If a conversation cannot be asked; the others are asked again.
        """
        ...

    def answer(self, prepared: Any, draw: Draw) -> list[Response]:  # noqa: ANN401 - from prepare
        """Generate the next turn of each conversation.

        Raises:
            ModelError: If nothing can be asked any more.
            Exception: If a conversation cannot be answered, or memory runs out.
        """
        ...
