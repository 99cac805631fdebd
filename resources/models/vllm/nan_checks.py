"""NaN checks on checkpoint files.

Its engine lies in processes of its own, and answers NaN with the first token of the vocabulary for
ever. Reading costs seconds beside minutes of loading; the digest has read the same bytes before.
"""

from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np

from bench_assets.core.schema.errors import ModelError
from resources.checkpoints.file_access import open_regular, quoted_name
from resources.checkpoints.identity import Checkpoint
from resources.checkpoints.weight_files import TensorSpan, tensor_spans

_AT_ONCE = 2**24  # bytes
_EXPONENTS: Mapping[str, tuple[str, int]] = {
    "F64": ("<u8", 0x7FF0_0000_0000_0000),
    "F32": ("<u4", 0x7F80_0000),
    "F16": ("<u2", 0x7C00),
    "BF16": ("<u2", 0x7F80),
    "F8_E5M2": ("<u1", 0x7C),
    "F8_E4M3": ("<u1", 0x7F),  # it has no infinity, and NaN where all bits are set
}
"""By type: how its numbers are read, and which bits are all set in NaN and infinity (IEEE 754)."""


def refuse_infinite_files(checkpoint: Checkpoint) -> None:
    """Refuse a checkpoint with NaN or infinity in its safetensors files; a hub's is not looked at.

    Raises:
        ModelError: If there is any; names the file and the tensor.
    """
    checksummed = {file for one in checkpoint.checksums for file in one.states}
    files = sorted(file for file in checksummed if file.suffix == ".safetensors")
    with ThreadPoolExecutor() as threads:
        for file in files:
            spans = [span for span in tensor_spans(file) if span.dtype in _EXPONENTS]
            finite = threads.map(partial(_is_finite, file), spans)
            if bad := _names(spans, finite):
                raise ModelError(
                    f"{file}: NaN or infinity in its tensor {quoted_name(bad[0])}: the training"
                    " broke"
                    " down"
                )


def _names(spans: Iterable[TensorSpan], finite: Iterable[bool]) -> list[str]:
    return [span.name for span, is_finite in zip(spans, finite, strict=True) if not is_finite]


def _is_finite(file: Path, span: TensorSpan) -> bool:
    numbers, exponent = _EXPONENTS[span.dtype]
    with open_regular(file) as opened:
        opened.seek(span.start)
        for at in range(span.start, span.end, _AT_ONCE):
            read = np.frombuffer(opened.read(min(_AT_ONCE, span.end - at)), numbers)
            if np.any((read & read.dtype.type(exponent)) == exponent):
                return False
    return True
