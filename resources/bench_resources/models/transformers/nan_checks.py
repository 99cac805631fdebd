"""NaN checks on weights and scores.

Every comparison with NaN is false: the model would repeat the first token for ever, or end at once
with an empty response that is scored as wrong.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from bench_assets.core.schema.errors import ModelError

if TYPE_CHECKING:
    from torch import Tensor
    from torch.nn import Module

_CHUNK_NUMBERS = 2**24  # numbers converted at once, for types without aminmax


def refuse_infinite_weights(model: "Module", location: str) -> None:
    """Refuse a model with NaN or infinity in its parameters, or NaN in its buffers.

    Masks in buffers may be minus infinity.

    Raises:
        ModelError: If there is any; names the first tensor.
    """
    import torch

    for name, weights in model.named_parameters():
        if not all(bool(torch.isfinite(extreme)) for extreme in _extremes(weights)):
            raise ModelError(
                f"{location}: NaN or infinity in its tensor {name!r}, as"
                f" {str(weights.dtype).removeprefix('torch.')}: the training diverged, or its"
                " numbers are too large for this dtype"
            )
    for name, numbers in model.named_buffers():
        if any(bool(torch.isnan(extreme)) for extreme in _extremes(numbers)):
            raise ModelError(f"{location}: NaN in its tensor {name!r}")


def _extremes(numbers: "Tensor") -> Iterator["Tensor"]:
    """Minimum and maximum of a tensor, or of its parts; NaN if it has one."""
    import torch

    if numbers.is_meta or not numbers.is_floating_point() or not numbers.numel():
        return
    if numbers.dtype in (torch.float64, torch.float32, torch.float16, torch.bfloat16):
        yield from torch.aminmax(numbers.detach())
        return
    flat = numbers.detach().flatten()
    for start in range(0, flat.numel(), _CHUNK_NUMBERS):  # eight bits and fewer
        yield from torch.aminmax(flat[start : start + _CHUNK_NUMBERS].float())


class FiniteCheck:
    """Logits processor that records non-finite scores, without synchronizing the device."""

    def __init__(self) -> None:
        self._first_bad: Tensor | None = None
        self._step = 0

    def __call__(self, input_ids: "Tensor", scores: "Tensor") -> "Tensor":
        """Record rows of scores (batch x vocabulary) whose maximum is NaN or infinite."""
        import torch

        bad = ~torch.isfinite(scores.amax(dim=-1))
        if self._first_bad is None:
            self._first_bad = torch.full(bad.shape, -1, device=bad.device)
        is_first = bad & (self._first_bad < 0)
        self._first_bad = torch.where(is_first, self._step, self._first_bad)
        self._step += 1
        return scores

    def first_bad_tokens(self, n: int) -> list[int | None]:
        """The first bad token, from 0, of each of ``n`` conversations; None without one."""
        if self._first_bad is None:
            return [None] * n
        rows = self._first_bad.view(n, -1).tolist()  # several rows per conversation with beams
        return [min((step for step in row if step >= 0), default=None) for row in rows]
