"""The memory of a device as this process uses it; torch is imported inside."""

import re


def start_counting(device: str) -> None:
    """Forget the most that was held so far."""
    import torch

    # It is an error to forget where nothing was held yet.
    if device.startswith("cuda") and torch.cuda.max_memory_allocated(device):
        torch.cuda.reset_peak_memory_stats(device)


def most_held(device: str) -> int | None:
    """Bytes that tensors held at most since; None where torch does not count."""
    import torch

    return torch.cuda.max_memory_allocated(device) if device.startswith("cuda") else None


def free() -> None:
    """Give back what no tensor holds any more."""
    import torch

    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    elif torch.backends.mps.is_available():
        torch.mps.empty_cache()


def ran_out(why: Exception) -> bool:
    """Say whether an error means that memory did not suffice."""
    import torch

    # CPU and MPS raise a plain RuntimeError.
    return isinstance(why, MemoryError | torch.OutOfMemoryError) or (
        isinstance(why, RuntimeError)
        and re.search("out of memory|can't allocate|not enough memory", str(why)) is not None
    )
