"""The mini edition's images: an animal, dressed, on a thing, among small things, under a sky.

``world.json`` lists the things to combine and the words for them. The ten animals are ten
families of six images; within a family everything but the animal differs, so that the images
are look-alikes of each other and no caption of one fits another.
"""

import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from bench_assets.core.images.decoding import decode
from bench_assets.core.images.synthetic_scenes import Scene
from bench_assets.core.text.number_words import NUMBER_WORDS

WORLD: Mapping[str, Any] = json.loads(
    Path(__file__).with_name("world.json").read_text(encoding="utf-8")
)

_SIZE = (384, 288)  # px
_MEMBERS = 6  # images of a family
_SHIFT = 10  # px: largest random offset of things


@dataclass(frozen=True, slots=True)
class Member:
    """An image: its content, with words for it and for absent things."""

    family: int
    number: int

    @property
    def image(self) -> str:
        """The file name."""
        return f"{self._of('subjects')['noun']}-{self.number + 1}.png"

    @property
    def query(self) -> str:
        """Gallery query of the image."""
        return str(self._of("subjects")["query"])

    @property
    def prompt(self) -> str:
        """Prompt of an image, as for an image generator."""
        return (
            f"{self.words['subject']} on a {self.words['mount']}, surreal {self.words['subject']}"
        )

    @property
    def categories(self) -> tuple[str, str]:
        """Its two categories of what is unusual; the second may be empty."""
        first, second = WORLD["categories"][self.number]
        return first, second

    @property
    def words(self) -> dict[str, str]:
        """Words for the templates of ``world.json``; ``wrong_`` words do not fit this image."""
        subject = self._of("subjects")
        words = {
            "subject": subject["noun"],
            "s_n": "n" if subject["noun"][0] in "aeiou" else "",
            "other": subject["other"],
            "absent": self._absent_thing,
            "unknown": WORLD["unknown"][self._half_family % len(WORLD["unknown"])],
            "few": NUMBER_WORDS[self.n_small],
            "few_digits": str(self.n_small),
            "wrong_few": NUMBER_WORDS[self.n_small + 1],
        }
        for name, kind in _KINDS.items():
            words[name] = self._of(kind)["noun"]
            words[f"wrong_{name}"] = self._of(kind, 1)["noun"]
        return words

    @property
    def _half_family(self) -> int:
        """Number of its half-family; within one, each image has another trigger."""
        return 2 * self.family + self.number // 3

    @property
    def _absent_thing(self) -> str:
        """A thing that is not in the image; each half-family has another one."""
        present = {self._of(kind)["noun"] for kind in ("subjects", "mounts")}
        nouns = [
            *WORLD["absent"],
            *(thing["noun"] for thing in WORLD["mounts"] + WORLD["subjects"]),
        ]
        return str(next(noun for noun in nouns[self._half_family :] if noun not in present))

    @property
    def n_small(self) -> int:
        """Number of small objects."""
        return 2 + (self.family + self.number) % 5

    def say(self, template: str) -> str:
        """Fill a template, beginning with a capital."""
        text = template.format_map(self.words)
        return text[0].upper() + text[1:]

    def draw(self, rng: Random) -> bytes:
        """Draw it as PNG."""
        scene = Scene(*_SIZE, background=self._of("skies")["colour"])
        x, y = (side // 2 + rng.randint(-_SHIFT, _SHIFT) for side in _SIZE)
        left = rng.choice((-50, 0, 50))
        scene.sprite(self._of("mounts")["sprite"], (x + left, y + 70), 130)
        scene.sprite(self._of("subjects")["sprite"], (x + left, y - 30), 100)
        scene.sprite(self._of("accessories")["sprite"], (x + left, y - 98), 46)
        for _ in range(self.n_small):
            corner = scene.room(38, 38, rng)
            assert corner is not None, "six small things find room beside one tower"
            scene.sprite(self._of("small")["sprite"], corner, 34)
        return scene.png()

    def _of(self, kind: str, away: int = 0) -> Mapping[str, str]:
        """The image's thing of a kind; with ``away``, one that it does not show."""
        things = WORLD[kind]
        index = self.family if kind == "subjects" else self.family * _STRIDE[kind] + self.number
        thing: Mapping[str, str] = things[(index + away) % len(things)]
        return thing


_KINDS = {"mount": "mounts", "accessory": "accessories", "small": "small", "sky": "skies"}
_STRIDE = {"mounts": 5, "accessories": 1, "small": 3, "skies": 4}  # so that families differ


def members() -> list[Member]:
    """List all images, family by family."""
    return [
        Member(family, number)
        for family in range(len(WORLD["subjects"]))
        for number in range(_MEMBERS)
    ]


def draw_things(things: Mapping[str, int], background: str, rng: Random) -> bytes:
    """Draw sprites in the given numbers, apart from each other, as PNG."""
    scene = Scene(*_SIZE, background=background)
    for sprite, n in things.items():
        for _ in range(n):
            corner = scene.room(64, 64, rng)
            assert corner is not None, "few things find room"
            scene.sprite(sprite, corner, 60)
    return scene.png()


def crop_border(image: bytes) -> bytes:
    """Crop 3 px off every side: another file that looks the same."""
    original = decode(image).image
    cut = original.crop((3, 3, original.width - 3, original.height - 3))
    file = io.BytesIO()
    cut.save(file, "PNG")
    return file.getvalue()
