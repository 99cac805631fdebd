"""Half-written weights: an interrupted copy leaves zeros behind, which load without an error.

Zeros at the end of a file are refused if no training leaves them: they begin inside a row of a
tensor, or cover further matrices.
"""

import logging
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import BinaryIO

from bench_assets.core.schema.errors import ModelError
from bench_resources.checkpoints.files import TensorSpan, tensor_spans

_BLOCK = 4096  # bytes of a page, or of a block of a disk
_STEP = 1 << 20  # bytes read at once

_log = logging.getLogger("bench_assets.checkpoints")


def refuse_half_copy(file: Path, spans: Sequence[TensorSpan]) -> None:
    """Refuse a safetensors file that ends with zeros which no training leaves.

    Raises:
        ModelError: If its matrices are empty, all its tensors are zero, or the zeros begin inside a
            row or cover a further matrix.
        OSError: If it cannot be read.
    """
    if any(span.start == span.end for span in spans) and not any(span.row_size for span in spans):
        raise ModelError(
            f"{file}: its matrices are empty, as DeepSpeed ZeRO-3 writes them without gathering."
            " Join the parts of the ranks with zero_to_fp32.py"
        )
    size = file.stat().st_size
    start = _start_of_zeros(file)
    if size - start < _BLOCK or not spans:
        return
    cut = next((span for span in spans if span.start < start < span.end), None)
    if cut:
        is_inside_row = cut.row_size and (start - cut.start) % cut.row_size
        has_zero_matrix = any(span.start >= start and span.row_size for span in spans)
        if is_inside_row or has_zero_matrix:
            raise ModelError(
                f"{file}: half-written: its last {size - start} bytes are zero, from inside tensor"
                f" {cut.name}. Copy it again"
            )
    if start <= spans[0].start and any(span.row_size for span in spans):
        raise ModelError(f"{file}: half-written: all its tensors are zero. Copy it again")


def inspect_weights(files: Iterable[Path]) -> None:
    """Refuse half-written safetensors files, and warn of adapters that change nothing.

    Raises:
        ModelError: As ``refuse_half_copy``, or if a header cannot be read.
        OSError: If a file cannot be read.
    """
    for file in files:
        if file.suffix != ".safetensors":
            continue
        spans = tensor_spans(file)
        refuse_half_copy(file, spans)
        if _is_untrained(file, [span for span in spans if ".lora_B." in span.name]):
            _log.warning("%s: all its lora_B are zero: the adapter changes nothing", file)


def _is_untrained(file: Path, spans: Sequence[TensorSpan]) -> bool:
    """Whether an adapter's second matrices are zero, as before its first step."""
    with file.open("rb") as stream:
        return bool(spans) and all(_is_zero(stream, span) for span in spans)


def _is_zero(stream: BinaryIO, span: TensorSpan) -> bool:
    stream.seek(span.start)
    return not stream.read(span.end - span.start).strip(b"\0")


def _start_of_zeros(file: Path) -> int:
    """Offset at which the zeros at the end of a file begin; its size if it ends with none."""
    with file.open("rb") as stream:
        size = end = stream.seek(0, os.SEEK_END)
        while end:
            step = _STEP if end < size else _BLOCK  # most files do not end with a block of zeros
            begin = max(0, end - step)
            stream.seek(begin)
            data = stream.read(end - begin).rstrip(b"\0")
            if data:
                return begin + len(data)
            end = begin
    return 0
