"""What a model is tried with: six conversations of a few words, and pictures drawn on the spot."""

from collections.abc import Iterable
from hashlib import sha256
from random import Random

from bench_assets.core.images.synthetic_scenes import Scene
from bench_assets.core.schema.chat import Image, Prompt, Turn
from bench_assets.core.schema.errors import ImageError

SIZES = ((224, 224), (640, 480), (1280, 960))
"""Width and height in px of the pictures whose tokens are counted."""

REQUIRED = frozenset({"a picture", "control tokens"})
"""Probes that every model answers; one that refuses another cannot be asked such questions."""

NEEDS_NO_PICTURE = "no picture"
"""The probe that families which always want a picture refuse as late as in generating."""

_CONTROL_TOKENS = ("<image>", "<|image_pad|>", "<|im_end|>", "</s>", "[INST]")
_SYSTEM = "You answer with one number."
_HOW_MANY = "How many things are there in the picture? Answer with one number."
_SEED = 11


class DrawnPictures:
    """Pictures by digest, of one to five sprites each; the same bytes every time."""

    def __init__(self) -> None:
        self._pictures: dict[str, bytes] = {}
        self.apples = self._draw("red apple", 2, SIZES[1])
        self.dogs = self._draw("dog", 5, SIZES[0])
        self.sized = tuple(self._draw("cat", n, size) for n, size in enumerate(SIZES, 1))

    def read(self, digest: str) -> bytes:
        """The bytes of a picture, as PNG.

        Raises:
            ImageError: If none of that digest was drawn.
        """
        if digest not in self._pictures:
            raise ImageError(f"no picture {digest}")
        return self._pictures[digest]

    def _draw(self, name: str, count: int, size: tuple[int, int]) -> Image:
        scene, rng = Scene(*size), Random(_SEED)
        side = min(size) // 4
        for _ in range(count):
            if place := scene.room(side, side, rng):
                scene.sprite(name, place, side)
        png = scene.png()
        digest = sha256(png).hexdigest()
        self._pictures[digest] = png
        return Image(digest)


def probes(pictures: DrawnPictures, control_tokens: Iterable[str]) -> dict[str, Prompt]:
    """The six conversations, by what is particular about each.

    Args:
        pictures: What they show.
        control_tokens: The checkpoint's own, where they are known; some of others are added.
    """
    apples, dogs = pictures.apples, pictures.dogs
    spelled = " ".join(dict.fromkeys([*control_tokens, *_CONTROL_TOKENS]))
    return {
        "a picture": Prompt.of(apples, _HOW_MANY),
        "two pictures": Prompt.of(
            apples,
            dogs,
            "Are there more things in the first or in the second? Say first or second.",
        ),
        NEEDS_NO_PICTURE: Prompt.of("What is the capital of France? Answer with one word."),
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


def sized(pictures: DrawnPictures) -> list[Prompt]:
    """A question about a picture of each size, of several lengths, to be asked in one batch."""
    more = ("", "Look closely. ", "Look at every part of the picture, from left to right. ")
    return [
        Prompt.of(picture, words + _HOW_MANY)
        for picture, words in zip(pictures.sized, more, strict=True)
    ]
