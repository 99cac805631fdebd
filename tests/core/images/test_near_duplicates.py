"""Near-duplicates of texts and images; frozen values are those of ImageHash and datasketch."""

import tomllib
from hashlib import sha256
from pathlib import Path
from random import Random

import numpy as np
import pytest
from PIL import Image, ImageDraw

from bench_assets.core.images.near_duplicates import (
    hash_distance,
    image_hash,
    min_hashes,
    similar_texts,
)
from bench_assets.core.images.synthetic_scenes import Scene

FROZEN = tomllib.loads(Path(__file__).with_name("near_duplicates.toml").read_text("utf-8"))


@pytest.mark.parametrize(
    ("earlier_text", "later_text", "similarity"),
    [
        pytest.param("abcdefgh", "abcdefgh", 1.0, id="equal"),
        pytest.param("abc defgh", "abcd\nefgh", 1.0, id="blanks do not count"),
        pytest.param("abcdef", "abcdeg", 3 / 5, id="3 of 5 shingles in common: abc bcd cde"),
        pytest.param("ab", "ab", 1.0, id="shorter than a shingle"),
    ],
)
def test_similarity_is_the_jaccard_similarity_of_shingles(earlier_text, later_text, similarity):
    (pair,) = similar_texts({"a": earlier_text, "b": later_text}, 0.5)
    assert (pair.later, pair.earlier) == ("b", "a")
    assert pair.similarity == pytest.approx(similarity)


@pytest.mark.parametrize(
    ("earlier_text", "later_text"),
    [
        pytest.param("abcdef", "uvwxyz", id="nothing in common"),
        pytest.param("abcdef", "abcdeg", id="3 of 5, below the threshold"),
        pytest.param("", "", id="empty texts are like nothing"),
    ],
)
def test_texts_below_the_threshold_are_no_near_duplicates(earlier_text, later_text):
    assert similar_texts({"a": earlier_text, "b": later_text}, 0.7) == []


def rectangle(fill="black"):
    image = Image.new("RGB", (64, 64), "white")
    ImageDraw.Draw(image).rectangle((8, 8, 40, 30), fill=fill)
    return image


@pytest.mark.parametrize(
    "variant", [rectangle().resize((48, 48)), rectangle("#202020")], ids=["smaller", "paler"]
)
def test_a_smaller_or_a_paler_image_has_nearly_the_same_hash(variant):
    assert hash_distance(image_hash(rectangle()), image_hash(variant)) <= 4  # of 64 bits


def test_a_text_shorter_than_a_shingle_is_one_shingle():
    # Of their letters one of three would be in both.
    assert similar_texts({"a": "ab", "b": "cb"}, 0.3) == []


def test_a_similarity_that_equals_the_threshold_is_enough():
    # abcd has abc and bcd, abce abc and bce: one of three is in both.
    (pair,) = similar_texts({"a": "abcd", "b": "abce"}, 1 / 3)
    assert pair.similarity == 1 / 3


def clouds(width, mode="RGB"):
    """A texture without sharp edges, as photographs have."""
    noise = np.random.RandomState(width).randint(0, 256, (6, 7, 3), dtype=np.uint8)
    size = (width, width * 2 // 3)
    return Image.fromarray(noise).resize(size, Image.Resampling.BICUBIC).convert(mode)


def with_sprite(name):
    scene = Scene(336, 300, background="aliceblue")
    scene.sprite(name, (150, 120), 180)
    return scene.image


IMAGES = {
    "drawn": rectangle,
    "flat": lambda: Image.new("RGB", (50, 40), "gray"),
    "one pixel": lambda: Image.new("L", (1, 1), 7),
    "noise": lambda: Image.fromarray(
        np.random.RandomState(0).randint(0, 256, (97, 131), dtype=np.uint8)
    ),
    "gradient": lambda: Image.linear_gradient("L").resize((300, 20)),
    "clouds": lambda: clouds(640),
    "small clouds": lambda: clouds(20),
    "clouds with alpha": lambda: clouds(333, "RGBA"),
    "clouds in a palette": lambda: clouds(90, "P"),
    "dog": lambda: with_sprite("dog"),
    "red apple": lambda: with_sprite("red apple"),
}


@pytest.mark.parametrize("name", IMAGES)
def test_an_image_hash_is_that_of_imagehash(name):
    assert image_hash(IMAGES[name]()) == FROZEN["image_hashes"][name]


@pytest.mark.parametrize("text", FROZEN["min_hashes"])
def test_min_hashes_are_those_of_datasketch(text):
    shingles = [text[start : start + 3] for start in range(len(text) - 2)]
    hashes = min_hashes(shingles)
    assert sha256(hashes.astype("<u4").tobytes()).hexdigest() == FROZEN["min_hashes"][text]


@pytest.mark.parametrize("threshold", FROZEN["candidates"])
def test_candidates_are_those_of_datasketch(threshold):
    """Three texts with each number of replaced characters: MinHash decides which are compared."""
    rng = Random(1)
    base = [chr(0x4E00 + rng.randrange(2000)) for _ in range(80)]
    texts = {"base": "".join(base)}
    for n in range(120):
        characters = base.copy()
        for position in rng.sample(range(80), n // 3):
            characters[position] = "甲"
        texts[str(n)] = "".join(characters)
    pairs = [(pair.later, pair.earlier) for pair in similar_texts(texts, float(threshold))]
    frozen = FROZEN["candidates"][threshold]
    assert len(pairs) == frozen["pairs"]
    assert sha256(repr(pairs).encode()).hexdigest() == frozen["sha256"]
