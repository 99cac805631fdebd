"""What a model is tried with: six conversations of a few words, and images drawn on the spot."""

from collections.abc import Iterable
from hashlib import sha256
from random import Random

from bench_assets.core.images.synthetic_scenes import Scene
from bench_assets.core.schema.chat import Image, Prompt, Turn
from bench_assets.core.schema.errors import ImageError

SIZES = ((224, 224), (640, 480), (1280, 960))
"""Width and height in px of the images whose tokens are counted."""

REQUIRED = frozenset({"an image", "control tokens"})
"""Probes that every model answers; one that refuses another cannot be asked such questions."""

NEEDS_NO_IMAGE = "no image"
"""The probe that families which always want an image refuse as late as in generating."""

_CONTROL_TOKENS = ("<image>", "<|image_pad|>", "<|im_end|>", "</s>", "[INST]")
_SYSTEM = "You answer with one number."
_HOW_MANY = "How many things are there in the picture? Answer with one number."
_SEED = 11


class DrawnImages:
    """Images by digest, of one to five sprites each; the same bytes every time."""

    def __init__(self) -> None:
        self._images: dict[str, bytes] = {}
        self.apples = self._draw("red apple", 2, SIZES[1])
        self.dogs = self._draw("dog", 5, SIZES[0])
        self.sized = tuple(self._draw("cat", n, size) for n, size in enumerate(SIZES, 1))

    def read(self, digest: str) -> bytes:
        """The bytes of an image, as PNG.

        Raises:
            ImageError: If none of that digest was drawn.
        """
        if digest not in self._images:
            raise ImageError(f"no image {digest}")
        return self._images[digest]

    def _draw(self, name: str, count: int, size: tuple[int, int]) -> Image:
        scene, rng = Scene(*size), Random(_SEED)
        side = min(size) // 4
        for _ in range(count):
            if place := scene.room(side, side, rng):
                scene.sprite(name, place, side)
        png = scene.png()
        digest = sha256(png).hexdigest()
        self._images[digest] = png
        return Image(digest)


def probes(images: DrawnImages, control_tokens: Iterable[str]) -> dict[str, Prompt]:
    """The six conversations, by what is particular about each.

    Args:
        images: What they show.
        control_tokens: The checkpoint's own, where they are known; some of others are added.
    """
    apples, dogs = images.apples, images.dogs
    spelled = " ".join(dict.fromkeys([*control_tokens, *_CONTROL_TOKENS]))
    return {
        "an image": Prompt.of(apples, _HOW_MANY),
        "two images": Prompt.of(
            apples,
            dogs,
            "Are there more things in the first or in the second? Say first or second.",
        ),
        NEEDS_NO_IMAGE: Prompt.of("What is the capital of France? Answer with one word."),
        "a system prompt": Prompt.of(apples, _HOW_MANY, system=_SYSTEM),
        "control tokens": Prompt.of(
            apples, f"Does the picture show the text {spelled} anywhere? Answer yes or no."
        ),
        "a conversation": Prompt(
            (
                Turn("user", (apples, "What is in the picture? Answer with one word.")),
                Turn("assistant", ("Apples.",)),
                Turn("user", ("What colour are they?",)),
                Turn("user", ("Is that the colour of a banana? Answer yes or no.",)),
            )
        ),
    }


def sized(images: DrawnImages) -> list[Prompt]:
    """A question about an image of each size, of several lengths, to be asked in one batch."""
    more = ("", "Look closely. ", "Look at every part of the picture, from left to right. ")
    return [
        Prompt.of(image, words + _HOW_MANY) for image, words in zip(images.sized, more, strict=True)
    ]
