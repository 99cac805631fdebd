"""Sampling of each conversation by a generator of its own.

Of a checkpoint's ``generation_config.json`` only the end tokens are used: a repetition penalty of
1.05, which Qwen2.5-VL publishes, changes most greedy responses.
"""

from typing import TYPE_CHECKING, Any

from bench_resources.models.workers.local_model import Draw

if TYPE_CHECKING:
    from torch import Generator, Tensor


class RowSampler:
    """Samples each conversation with its own generator, by the Gumbel-max trick."""

    def __init__(self, draw: Draw) -> None:
        from transformers import TemperatureLogitsWarper, TopPLogitsWarper

        self._steps: list[Any] = [
            TemperatureLogitsWarper(draw.temperature),
            TopPLogitsWarper(draw.top_p),
        ]
        self._seeds = draw.seed_numbers
        self._generators: list[Generator] = []

    def __call__(self, input_ids: "Tensor", scores: "Tensor") -> "Tensor":
        """Change scores (batch x vocabulary) so that the maximum of a row is the sample."""
        import torch

        if not self._generators:
            self._generators = [
                torch.Generator(scores.device).manual_seed(seed) for seed in self._seeds
            ]
        adjusted = scores.float()
        for step in self._steps:
            adjusted = step(input_ids, adjusted)
        noise = torch.empty_like(adjusted)
        for row, generator in zip(noise, self._generators, strict=True):
            row.exponential_(generator=generator)
        perturbed: Tensor = adjusted - noise.log()  # Gumbel noise: -log of an exponential
        return perturbed
