"""BLEU-1 to BLEU-4 as COCO's caption evaluation defines them, of counted n-grams."""

import numpy as np

from bench_assets.core.metrics.corpus import MAX_N, Floats


def bleu_of(counts: Floats) -> Floats:
    """BLEU-1 to BLEU-4 of each row of ``bleu_counts``, added or not; ``(rows, 4)``, in [0, 1]."""
    # The two small numbers are pycocoevalcap's, against division by zero.
    length, closest, matched, possible = counts[:, 0], counts[:, 1], counts[:, 2:6], counts[:, 6:]
    precision = np.cumprod((matched + 1e-15) / (possible + 1e-9), axis=1)
    ratio = (length + 1e-15) / (closest + 1e-9)
    brevity = np.exp(1 - 1 / np.minimum(ratio, 1))
    bleu: Floats = precision ** (1 / np.arange(1, MAX_N + 1)) * brevity[:, None]
    return bleu
