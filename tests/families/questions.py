"""Questions for every family: images of all shapes, none to four, in one turn or several."""

import hashlib
from dataclasses import dataclass

import numpy as np
from PIL import Image as PILImage

from bench_assets.core.schema.chat import Image, Prompt, Turn
from tests.fakes.written_images import saved

IMAGES: dict[str, bytes] = {}  # by SHA-256
_HOW_MANY = "How many birds are there in the image? Answer yes or no."


@dataclass(frozen=True, slots=True, kw_only=True)
class FamilyQuestion:
    """A question, and whether the code of a model card can ask it too."""

    prompt: Prompt
    by_card: bool = True  # False: turns without a response, or an image that not all take


def image(width: int, height: int, seed: int, mode: str = "RGB") -> Image:
    """Draw an image of 8 x 6 random colours, smoothly enlarged, and add its PNG to IMAGES."""
    colours = np.random.default_rng(seed).integers(0, 256, (6, 8, 3), dtype=np.uint8)
    pixels = PILImage.fromarray(colours).resize((width, height), PILImage.Resampling.BICUBIC)
    png = saved(pixels.convert(mode))
    digest = hashlib.sha256(png).hexdigest()
    IMAGES[digest] = png
    return Image(digest)


_A, _B, _C = image(320, 240, 1), image(240, 320, 2), image(300, 300, 3)
_SMALL, _WIDE = image(64, 64, 4), image(800, 50, 5)


SINGLE: dict[str, FamilyQuestion] = {
    "an image": FamilyQuestion(prompt=Prompt.of(_A, _HOW_MANY)),
    "another image": FamilyQuestion(prompt=Prompt.of(_B, _HOW_MANY)),
    "64 x 64": FamilyQuestion(prompt=Prompt.of(_SMALL, _HOW_MANY)),
    "800 x 50": FamilyQuestion(prompt=Prompt.of(_WIDE, _HOW_MANY)),
    "50 x 800": FamilyQuestion(prompt=Prompt.of(image(50, 800, 6), _HOW_MANY)),
    "1600 x 1200": FamilyQuestion(prompt=Prompt.of(image(1600, 1200, 7), _HOW_MANY)),
    "gray": FamilyQuestion(prompt=Prompt.of(image(200, 150, 8, "L"), _HOW_MANY)),
    "with transparency": FamilyQuestion(prompt=Prompt.of(image(200, 150, 9, "RGBA"), _HOW_MANY)),
    "1 x 300": FamilyQuestion(prompt=Prompt.of(image(1, 300, 10), _HOW_MANY), by_card=False),
    "1 x 1": FamilyQuestion(prompt=Prompt.of(image(1, 1, 11), _HOW_MANY), by_card=False),
}
"""One image before the same question: they differ in the image alone."""

QUESTIONS: dict[str, FamilyQuestion] = SINGLE | {
    "the question first": FamilyQuestion(prompt=Prompt.of("Look, left or right?", _C)),
    "two images": FamilyQuestion(prompt=Prompt.of(_A, "and", _B, _HOW_MANY)),
    "two images, swapped": FamilyQuestion(prompt=Prompt.of(_B, "and", _A, _HOW_MANY)),
    "four images": FamilyQuestion(prompt=Prompt.of(_A, _B, _WIDE, _SMALL, _HOW_MANY)),
    "no image": FamilyQuestion(prompt=Prompt.of("Answer yes or no.")),
    "a system prompt": FamilyQuestion(
        prompt=Prompt.of(_A, _HOW_MANY, system="You are a helpful assistant.")
    ),
    "a system prompt, no image": FamilyQuestion(
        prompt=Prompt.of(_HOW_MANY, system="You are a helpful assistant.")
    ),
    "an image in a later turn": FamilyQuestion(
        prompt=Prompt((Turn("user", ("How are you?",)), Turn("user", (_A, _HOW_MANY)))),
        by_card=False,
    ),
    "an image in every turn": FamilyQuestion(
        prompt=Prompt((Turn("user", (_A, _HOW_MANY)), Turn("user", (_WIDE, "and this?")))),
        by_card=False,
    ),
    "an answer that is given": FamilyQuestion(
        prompt=Prompt(
            (
                Turn("user", (_A, _HOW_MANY)),
                Turn("assistant", ("yes",)),
                Turn("user", ("Left or right?",)),
            )
        )
    ),
}

CONTROL_TOKENS = (
    *("<image>", "<IMG_CONTEXT>", "<|image_pad|>", "<|image|>", "[IMG]", "<start_of_image>"),
    *("<image_placeholder>", "<IMG_ATOM>", "</s>", "<|im_end|>", "<end_of_utterance>"),
)
"""Words that a benchmark may contain, and that are control tokens of some family."""


def prompt_about(word: str) -> Prompt:
    """A prompt about an image whose text contains a word."""
    return Prompt.of(_A, f"Is there a {word} in the image?")
