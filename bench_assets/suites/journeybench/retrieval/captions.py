"""An encoder that embeds a text as it is, and an image by a chat model's caption of it."""

from collections.abc import Sequence

from bench_assets.core.schema.chat import ChatModel, Request, TextEncoder, Vectors
from bench_assets.core.schema.errors import ModelError
from bench_assets.suites.journeybench.captioning.task import caption_prompt


class CaptionEncoder:
    """A chat model that captions images, and a sentence encoder that embeds the captions."""

    def __init__(self, model: ChatModel, sentence_encoder: TextEncoder) -> None:
        self._model, self._sentence_encoder = model, sentence_encoder

    @property
    def name(self) -> str:
        """Names of both models, with the signature of the chat model."""
        return f"{self._sentence_encoder.name}+{self._model.name}|{self._model.signature}"

    def encode_texts(self, texts: Sequence[str]) -> Vectors:
        """Embed each text, in order; ``(n, dimensions)``."""
        return self._sentence_encoder.encode_texts(texts)

    def encode_images(self, images: Sequence[str]) -> Vectors:
        """Embed the caption of each image, by its SHA-256, in order; ``(n, dimensions)``.

        Raises:
            ModelError: If an image has no caption.
        """
        distinct = list(dict.fromkeys(images))
        requests = [Request(prompt=caption_prompt([image])) for image in distinct]
        captions = dict(zip(distinct, self._model.response(requests), strict=True))
        for image, caption in captions.items():
            if reason := caption.error or caption.refusal:
                raise ModelError(f"{self._model.name}: no caption of image {image[:8]}: {reason}")
        return self._sentence_encoder.encode_texts(
            [captions[image].parts.answer for image in images]
        )
