"""The mini edition's images: a dressed animal on an object, among small objects, under a sky.

``world.json`` lists the objects to combine and the words for them. The ten animals are ten
families of six images; within a family everything but the animal differs, so that the images
are look-alikes of each other and no caption of one fits another.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from bench_assets.core.images.decoding import decode
from bench_assets.core.images.drawing import encode_png
from bench_assets.core.images.synthetic_scenes import Scene
from bench_assets.core.text.number_words import NUMBER_WORDS

WORLD: Mapping[str, Any] = json.loads(
    Path(__file__).with_name("world.json").read_text(encoding="utf-8")
)

_SIZE = (384, 288)  # px
_MEMBERS = 6  # images of a family
_MAX_OFFSET = 10  # px, largest random offset of the animal with its mount
_BORDER = 3  # px, that ``crop_border`` crops off every side


@dataclass(frozen=True, slots=True)
class Member:
    """An image: its content, with words for it and for absent things."""

    family: int
    index: int  # in its family, from 0

    @property
    def image(self) -> str:
        """The file name."""
        return f"{self._object('subjects')['noun']}-{self.index + 1}.png"

    @property
    def query(self) -> str:
        """Gallery query of the image."""
        return str(self._object("subjects")["query"])

    @property
    def prompt(self) -> str:
        """Prompt of an image, as for an image generator."""
        return (
            f"{self.words['subject']} on a {self.words['mount']}, surreal {self.words['subject']}"
        )

    @property
    def categories(self) -> tuple[str, str]:
        """Its two categories of what is unusual; the second may be empty."""
        first, second = WORLD["categories"][self.index]
        return first, second

    @property
    def words(self) -> dict[str, str]:
        """Words for the templates of ``world.json``; ``wrong_`` words do not fit this image."""
        subject = self._object("subjects")
        words = {
            "subject": subject["noun"],
            "s_n": "n" if subject["noun"][0] in "aeiou" else "",
            "other": subject["other"],
            "absent": self._absent_object,
            "unknown": WORLD["unknown"][self._half_family % len(WORLD["unknown"])],
            "few": NUMBER_WORDS[self.n_small],
            "few_digits": str(self.n_small),
            "wrong_few": NUMBER_WORDS[self.n_small + 1],
        }
        for name, kind in _KINDS.items():
            words[name] = self._object(kind)["noun"]
            words[f"wrong_{name}"] = self._object(kind, offset=1)["noun"]
        return words

    @property
    def _half_family(self) -> int:
        """Index of its half-family; the images of a half-family have different triggers."""
        return 2 * self.family + self.index // 3

    @property
    def _absent_object(self) -> str:
        """The first noun, from that of the half-family on, that is not in the image."""
        present = {self._object(kind)["noun"] for kind in ("subjects", "mounts")}
        nouns = [
            *WORLD["absent"],
            *(entry["noun"] for entry in WORLD["mounts"] + WORLD["subjects"]),
        ]
        return str(next(noun for noun in nouns[self._half_family :] if noun not in present))

    @property
    def n_small(self) -> int:
        """Number of small objects."""
        return 2 + (self.family + self.index) % 5

    def fill_template(self, template: str) -> str:
        """Fill a template with the image's words, and capitalise the first letter."""
        text = template.format_map(self.words)
        return text[0].upper() + text[1:]

    def draw(self, rng: Random) -> bytes:
        """Draw it as PNG."""
        scene = Scene(*_SIZE, background=self._object("skies")["colour"])
        x, y = (side // 2 + rng.randint(-_MAX_OFFSET, _MAX_OFFSET) for side in _SIZE)
        x += rng.choice((-50, 0, 50))
        scene.sprite(self._object("mounts")["sprite"], (x, y + 70), 130)
        scene.sprite(self._object("subjects")["sprite"], (x, y - 30), 100)
        scene.sprite(self._object("accessories")["sprite"], (x, y - 98), 46)
        for _ in range(self.n_small):
            centre = scene.free_spot(38, 38, rng)
            assert centre is not None, "six small objects find room beside the animal"
            scene.sprite(self._object("small")["sprite"], centre, 34)
        return scene.png()

    def _object(self, kind: str, offset: int = 0) -> Mapping[str, str]:
        """Entry of the image's object of a kind; with an offset, of one that it does not show."""
        entries = WORLD[kind]
        index = self.family if kind == "subjects" else self.family * _STRIDE[kind] + self.index
        entry: Mapping[str, str] = entries[(index + offset) % len(entries)]
        return entry


_KINDS = {"mount": "mounts", "accessory": "accessories", "small": "small", "sky": "skies"}
_STRIDE = {"mounts": 5, "accessories": 1, "small": 3, "skies": 4}  # so that families differ


def members() -> list[Member]:
    """List all images, family by family."""
    return [
        Member(family, index)
        for family in range(len(WORLD["subjects"]))
        for index in range(_MEMBERS)
    ]


def draw_sprites(counts: Mapping[str, int], background: str, rng: Random) -> bytes:
    """Draw each sprite as often as ``counts`` says, none on top of another, as PNG."""
    scene = Scene(*_SIZE, background=background)
    for sprite, count in counts.items():
        for _ in range(count):
            centre = scene.free_spot(64, 64, rng)
            assert centre is not None, "few sprites find room"
            scene.sprite(sprite, centre, 60)
    return scene.png()


def crop_border(image: bytes) -> bytes:
    """Crop the border of an image, which makes a near-duplicate."""
    original = decode(image).image
    right, bottom = original.width - _BORDER, original.height - _BORDER
    return encode_png(original.crop((_BORDER, _BORDER, right, bottom)))
