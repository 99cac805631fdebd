"""Dual encoders of texts and images in a common space, such as CLIP and SigLIP.

Transformers checkpoints, sentence-transformers models that embed images, and the random baseline.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from PIL import Image as PILImage
from pydantic import BaseModel, ConfigDict, Field

from bench_assets.core.schema.chat import ImageTextEncoder, Vectors
from bench_resources.checkpoints.content_checksums import require_unchanged
from bench_resources.checkpoints.hub_access import hub_access
from bench_resources.checkpoints.identity import pin
from bench_resources.checkpoints.torchvision_operators import enable_torchvision
from bench_resources.encoders.batched_encoder import BatchedEncoder
from bench_resources.encoders.sentence_encoder import load_sentence_transformer
from bench_resources.images.store import ImageStore
from bench_resources.models.transformers.loading import (
    device_of,
    hold_load_report,
    loading_errors,
    refuse_incomplete,
)
from bench_resources.models.transformers.nan_checks import refuse_infinite_weights

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import BatchFeature, PretrainedConfig


_EMBED_METHODS = ("get_text_features", "get_image_features")


@hub_access()
def _load(location: str, revision: str, device: str) -> Any:  # noqa: ANN401 - a class of transformers
    """Load a checkpoint in float32."""
    enable_torchvision()
    import torch
    from transformers import AutoConfig

    config = AutoConfig.from_pretrained(location, revision=revision)
    with hold_load_report(location):
        model, loading = _class_for(config).from_pretrained(
            location,
            revision=revision,
            dtype=torch.float32,
            ignore_mismatched_sizes=True,  # else the error of transformers names no tensor
            output_loading_info=True,
        )
        refuse_incomplete(location, loading)
    refuse_infinite_weights(model, location)
    return model.to(device).eval()


def _class_for(config: "PretrainedConfig") -> Any:  # noqa: ANN401 - a class of transformers
    """The checkpoint's own class if it embeds texts and images, else that of its family."""
    import transformers

    class_name = (config.architectures or [""])[0]
    own_class = getattr(transformers, class_name, None) if class_name else None
    if _has_embed_methods(own_class):
        return own_class
    family = transformers.MODEL_MAPPING.get(type(config), None)
    is_retrieval = class_name.endswith("Retrieval")  # the family's class embeds differently
    if _has_embed_methods(family) and not is_retrieval:
        return family
    raise ValueError(f"{class_name or config.model_type} does not embed texts and images")


def _has_embed_methods(model_class: Any) -> bool:  # noqa: ANN401 - of transformers, or None
    return all(hasattr(model_class, name) for name in _EMBED_METHODS)


RANDOM = "random"
"""Name of the random baseline, which is always available."""

OpenImage: TypeAlias = Callable[[str], PILImage.Image]

_TRIAL_SIZE = (64, 48)  # px; width and height of the trial image


class EncoderSpec(BaseModel):
    """The section of an encoder."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["transformers", "sentence_transformers", "captions"] = "transformers"
    """Library that loads the encoder. ``"captions"`` embeds the captions that a model of this file
    writes about images."""
    path: str
    """Folder, absolute or relative to bench.toml, or hub id. With ``"captions"``, the name of the
    model."""
    revision: str = "main"
    """Commit, branch or tag of a hub id. A branch is resolved to its commit whenever the encoder is
    loaded."""
    device: str = "auto"
    """``"cuda"``, ``"cuda:1"``, ``"mps"`` or ``"cpu"``; ``"auto"``: the first available of
    ``"cuda"``, ``"mps"`` and ``"cpu"``."""
    batch_size: int = Field(64, gt=0)
    """Texts or images per batch."""


@contextmanager
def open_encoder(
    name: str, spec: EncoderSpec | None, location: str, image_store: ImageStore
) -> Iterator[ImageTextEncoder]:
    """Open an encoder during a ``with`` block, like other models; nothing is released at its end.

    ``location`` is a folder or hub id; without a section (``spec``), it is the random baseline.

    Raises:
        ModelError: If there is no such checkpoint, or it does not load.
    """
    if spec is None:
        yield RandomEncoder(name)
        return
    checkpoint = pin(location, spec.revision)
    is_transformers = spec.kind == "transformers"
    encoder_class = _CheckpointEncoder if is_transformers else _SentenceTransformersEncoder
    with loading_errors(location), require_unchanged(checkpoint.checksums):
        encoder = encoder_class(
            checkpoint.location, checkpoint.revision, device_of(spec.device), image_store.open
        )
    library = "" if is_transformers else f"+{spec.kind}"
    yield BatchedEncoder(f"{name}@{checkpoint.content}{library}", encoder, spec.batch_size)


class RandomEncoder:
    """Random vectors, seeded by content: the chance baseline."""

    dimensions = 32

    def __init__(self, name: str) -> None:
        self.name = name

    def encode_texts(self, texts: Sequence[str]) -> Vectors:
        """Embed texts; ``(n, 32)``."""
        return self._random_vectors(f"text {text}" for text in texts)

    def encode_images(self, images: Sequence[str]) -> Vectors:
        """Embed images; ``(n, 32)``."""
        return self._random_vectors(f"image {image}" for image in images)

    def _random_vectors(self, contents: Iterable[str]) -> Vectors:
        rows = [self._vector(content) for content in contents]
        return np.array(rows, np.float32).reshape(len(rows), self.dimensions)

    def _vector(self, content: str) -> Vectors:
        seed = int.from_bytes(sha256(content.encode("utf-8", "surrogatepass")).digest()[:8])
        vector = np.random.default_rng(seed).standard_normal(self.dimensions, np.float32)
        return vector / np.linalg.norm(vector)


class _CheckpointEncoder:
    """A transformers checkpoint; vectors are not normalized yet."""

    def __init__(self, location: str, revision: str, device: str, open_image: OpenImage) -> None:
        self._model = _load(location, revision, device)
        from transformers import AutoProcessor

        self._processor = AutoProcessor.from_pretrained(location, revision=revision)
        self._open_image = open_image
        self._refuse_incomparable()

    def texts(self, texts: Sequence[str]) -> Vectors:
        return self._to_numpy(self._embed_texts(texts))

    def images(self, images: Sequence[str]) -> Vectors:
        return self._to_numpy(self._embed_images([self._open_image(image) for image in images]))

    def _refuse_incomparable(self) -> None:
        """Refuse a model that does not make one vector, of the same length, of a text or image."""
        text_vectors = self._embed_texts(["a cat"])
        image_vectors = self._embed_images([PILImage.new("RGB", _TRIAL_SIZE, "red")])
        text_shape = tuple(getattr(text_vectors, "shape", ()))
        image_shape = tuple(getattr(image_vectors, "shape", ()))
        if text_shape != image_shape or len(text_shape) != 2:
            raise ValueError(
                f"{type(self._model).__name__} makes shape {text_shape} of a text and {image_shape}"
                " of an image (expected one vector each, of the same length)"
            )

    def _embed_texts(self, texts: Sequence[str]) -> "Tensor":
        # SigLIP was trained on texts padded to full length; for CLIP, padding makes no difference.
        longest = self._model.config.text_config.max_position_embeddings
        inputs = self._processor(
            text=list(texts),
            return_tensors="pt",
            padding="max_length",
            truncation=True,
            max_length=min(longest, self._processor.tokenizer.model_max_length),
        )
        return self._vectors(self._model.get_text_features, inputs)

    def _embed_images(self, images: Sequence[PILImage.Image]) -> "Tensor":
        inputs = self._processor.image_processor(images=list(images), return_tensors="pt")
        return self._vectors(self._model.get_image_features, inputs)

    def _vectors(self, embed: Callable[..., Any], inputs: "BatchFeature") -> "Tensor":
        import torch

        with torch.inference_mode():
            output = embed(**inputs.to(self._model.device))
        # Newer releases of transformers wrap the vectors in an output object.
        vectors: Tensor = output.pooler_output if hasattr(output, "pooler_output") else output
        return vectors

    def _to_numpy(self, vectors: "Tensor") -> Vectors:
        return np.asarray(vectors.float().cpu().numpy(), dtype=np.float32)


class _SentenceTransformersEncoder:
    """A sentence-transformers model that embeds images as well as texts."""

    def __init__(self, location: str, revision: str, device: str, open_image: OpenImage) -> None:
        self._model = load_sentence_transformer(location, revision, device)
        self._open_image = open_image

    def texts(self, texts: Sequence[str]) -> Vectors:
        return self._encode(list(texts))

    def images(self, images: Sequence[str]) -> Vectors:
        return self._encode([self._open_image(image) for image in images])

    def _encode(self, contents: list[Any]) -> Vectors:
        vectors = self._model.encode(contents, show_progress_bar=False, convert_to_numpy=True)
        return np.asarray(vectors, dtype=np.float32)
