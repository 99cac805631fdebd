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
    ("one", "other", "similarity"),
    [
        pytest.param("abcdefgh", "abcdefgh", 1.0, id="equal"),
        pytest.param("abc defgh", "abcd\nefgh", 1.0, id="blanks do not count"),
        pytest.param("abcdef", "abcdeg", 3 / 5, id="3 of 5 shingles in common: abc bcd cde"),
        pytest.param("ab", "ab", 1.0, id="shorter than a shingle"),
    ],
)
def test_similarity_is_the_jaccard_similarity_of_shingles(one, other, similarity):
    ((later, earlier, found),) = similar_texts({"one": one, "other": other}, 0.5)
    assert (later, earlier) == ("other", "one")
    assert found == pytest.approx(similarity)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param("abcdef", "uvwxyz", id="nothing in common"),
        pytest.param("abcdef", "abcdeg", id="3 of 5, below the threshold"),
        pytest.param("", "", id="empty texts are like nothing"),
    ],
)
def test_texts_below_the_threshold_are_no_twins(one, other):
    assert similar_texts({"one": one, "other": other}, 0.7) == []


def drawn(size=64, box=(8, 8, 40, 30), fill="black"):
    image = Image.new("RGB", (size, size), "white")
    ImageDraw.Draw(image).rectangle(box, fill=fill)
    return image


def test_a_image_made_smaller_or_a_little_paler_looks_the_same():
    same = [drawn().resize((48, 48)), drawn(fill="#202020")]
    assert all(hash_distance(image_hash(drawn()), image_hash(p)) <= 4 for p in same)


def test_a_text_shorter_than_a_shingle_is_one_and_the_threshold_itself_is_enough():
    assert similar_texts({"a": "ab", "b": "cb"}, 0.3) == []
    # abcd has abc and bcd, abce abc and bce: one of three is in both.
    (twin,) = similar_texts({"a": "abcd", "b": "abce"}, 1 / 3)
    assert (twin.later, twin.earlier, twin.similarity) == ("b", "a", 1 / 3)


def clouds(side, mode="RGB"):
    """A texture without sharp edges, as photographs have."""
    noise = np.random.RandomState(side).randint(0, 256, (6, 7, 3), dtype=np.uint8)
    return (
        Image.fromarray(noise).resize((side, side * 2 // 3), Image.Resampling.BICUBIC).convert(mode)
    )


def with_sprite(name):
    scene = Scene(336, 300, background="aliceblue")
    scene.sprite(name, (150, 120), 180)
    return scene.image


IMAGES = {
    "drawn": drawn,
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
    hashes = min_hashes([text[at : at + 3] for at in range(len(text) - 2)])
    assert sha256(hashes.astype("<u4").tobytes()).hexdigest() == FROZEN["min_hashes"][text]


@pytest.mark.parametrize("threshold", FROZEN["candidates"])
def test_candidates_are_those_of_datasketch(threshold):
    """Three texts of every share of equal characters: MinHash decides which are compared."""
    rng = Random(1)
    base = [chr(0x4E00 + rng.randrange(2000)) for _ in range(80)]
    texts = {"base": "".join(base)}
    for number in range(120):
        places = set(rng.sample(range(80), number // 3))
        texts[f"{number}"] = "".join("甲" if n in places else base[n] for n in range(80))
    pairs = [pair[:2] for pair in similar_texts(texts, float(threshold))]
    frozen = FROZEN["candidates"][threshold]
    assert len(pairs) == frozen["pairs"]
    assert sha256(repr(pairs).encode()).hexdigest() == frozen["sha256"]
