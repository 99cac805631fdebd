"""How tokens are chosen in a batch: each conversation as if it were alone."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from resources.models.workers.local_model import Draw

if TYPE_CHECKING:
    from torch import Generator, Tensor


def choosers(draw: Draw, prompt_tokens: Sequence[int]) -> list[Any]:
    """The logits processors of a batch, in the order to apply them.

    Args:
        draw: How responses are drawn.
        prompt_tokens: Of each conversation, without padding.
    """
    from transformers import NoRepeatNGramLogitsProcessor

    rest = draw.rest
    chosen: list[Any] = []
    if penalty := rest.get("repetition_penalty"):
        chosen.append(RepetitionPenalty(penalty, prompt_tokens))
    if size := rest.get("no_repeat_ngram_size"):
        chosen.append(NoRepeatNGramLogitsProcessor(size))
    if draw.temperature:
        chosen.append(RowSampler(draw))
    return chosen


class RepetitionPenalty:
    """Makes tokens that were there before less likely (Keskar et al. 2019, section 4.1).

    The padding in front of a shorter prompt was never there.
    """

    def __init__(self, penalty: float, prompt_tokens: Sequence[int]) -> None:
        self._penalty = penalty
        self._prompt_tokens = prompt_tokens
        self._starts: Tensor | None = None

    def __call__(self, input_ids: "Tensor", scores: "Tensor") -> "Tensor":
        """Lower the scores (batch x vocabulary) of tokens in ``input_ids`` (batch x length)."""
        import torch

        n_rows, length = input_ids.shape
        if self._starts is None:
            padding = [length - n for n in self._prompt_tokens]
            beams = n_rows // len(padding)
            self._starts = torch.tensor(padding, device=scores.device).repeat_interleave(beams)
        places = torch.arange(length, device=scores.device)
        there = torch.zeros_like(scores, dtype=torch.bool)
        for row, (ids, start) in enumerate(zip(input_ids, self._starts, strict=True)):
            there[row, ids[places >= start]] = True
        lowered = torch.where(scores < 0, scores * self._penalty, scores / self._penalty)
        return torch.where(there, lowered, scores)


class RowSampler:
    """Draws each token with the conversation's own chance, whoever else is in the batch.

    The largest of log-probability plus Gumbel noise is a draw from the distribution; each
    conversation has a generator of its own.
    """

    def __init__(self, draw: Draw) -> None:
        from transformers import (
            MinPLogitsWarper,
            TemperatureLogitsWarper,
            TopKLogitsWarper,
            TopPLogitsWarper,
            TypicalLogitsWarper,
        )

        rest = draw.rest
        self._steps: list[Any] = [TemperatureLogitsWarper(draw.temperature)]
        self._steps += [TopKLogitsWarper(k)] if (k := rest.get("top_k")) else []
        self._steps += [TopPLogitsWarper(draw.top_p)]
        self._steps += [MinPLogitsWarper(p)] if (p := rest.get("min_p")) else []
        self._steps += [TypicalLogitsWarper(p)] if (p := rest.get("typical_p")) else []
        self._seeds = draw.seed_numbers
        self._generators: list[Generator] = []

    def __call__(self, input_ids: "Tensor", scores: "Tensor") -> "Tensor":
        """Change scores (batch x vocabulary) so that the largest of a row is the token drawn."""
        import torch

        if not self._generators:
            self._generators = [
                torch.Generator(scores.device).manual_seed(seed) for seed in self._seeds
            ]
        kept = scores.float()
        for step in self._steps:
            kept = step(input_ids, kept)
        chance = torch.empty_like(kept)
        for row, generator in zip(chance, self._generators, strict=True):
            row.exponential_(generator=generator)
        drawn: Tensor = kept - chance.log()  # minus the logarithm of an exponential is Gumbel noise
        return drawn
