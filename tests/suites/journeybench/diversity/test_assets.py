"""A stored image that is damaged costs what is made of it, and nothing else; the log names it."""

import logging
from dataclasses import replace
from typing import Any

import pytest

from bench_assets.core.schema.errors import ImageError
from bench_assets.core.schema.rows import ImageText
from bench_assets.suites.blink.assets.ablations import concatenated_images
from bench_assets.suites.journeybench.diversity.assets import image_map
from bench_assets.suites.multi.assets.ablations import ocr_for_images
from bench_assets.suites.multi.construction.markup import ocr_engine
from bench_resources.config.bench_toml import load_settings
from bench_resources.datasets.source_files import SourceFiles
from bench_resources.images.store import ImageStore
from tests.fakes.assets import value_of
from tests.fakes.blink_release import png, row, write_parquet
from tests.fakes.rows import question


@pytest.fixture
def home(tmp_path):
    """A home with a source of one question."""
    write_parquet(tmp_path / "blink", "Jigsaw", "val", [row("val_Jigsaw_1")])
    (tmp_path / "bench.toml").write_text('[sources]\nblink = "blink"\n')
    return tmp_path


@pytest.fixture
def store(home):
    return ImageStore(folder=str(home / "images"))


@pytest.fixture
def images(store):
    """Three that are stored, of which the second is damaged."""
    digests = [store.put(png(c, (24, 24)), c).sha256 for c in ("red", "green", "blue")]
    store.path(digests[1]).write_bytes(b"no image")
    return digests


def sources(home):
    return SourceFiles(settings=load_settings(home))


def test_a_question_of_blink_without_its_images_is_left_out(home, store, images, caplog):
    red, green, blue = images
    questions = [
        question(question_id=f"blink/val_Jigsaw_{n}", category="Jigsaw", images=shown)
        for n, shown in enumerate([(red, blue), (red, green), (blue, red)])
    ]
    with caplog.at_level(logging.WARNING, "bench_assets.images"):
        made: Any = concatenated_images(sources(home), store, questions)
    assert [row.question_id[-1] for output in made for row in output.value] == ["0", "2"]
    assert f"{green}" in caplog.text
    assert "blink/val_Jigsaw_1 is left out" in caplog.text


def test_a_image_without_its_bytes_has_no_place_on_the_map(home, store, images):
    shown = [
        question(images=(digest,), labels={"image": name})
        for name, digest in zip(("red", "green", "blue"), images, strict=True)
    ]
    points = value_of(image_map(load_settings(home), store, shown))
    assert [point.image_id for point in points] == ["red", "blue"]


def test_a_map_without_one_image_that_decodes_says_so(home, store, images):
    shown = [question(images=(images[1],), labels={"image": "green"})]
    with pytest.raises(ImageError, match="none of the 1 images decodes"):
        image_map(load_settings(home), store, shown)


def test_hidden_files_beside_the_other_images_have_no_place_on_the_map(home, store, images):
    others = home / "others"
    (others / ".trash").mkdir(parents=True)
    for name in ("a.png", "._a.png", ".trash/b.png"):
        (others / name).write_bytes(png("white", (24, 24)))
    (home / "bench.toml").write_text('[suites.journeybench]\nother_images = "others"\n')
    shown = [question(images=(images[0],), labels={"image": "red"})]
    points = value_of(image_map(load_settings(home), store, shown))
    assert [point.image_id for point in points] == ["red", "a.png"]


def test_what_our_engine_could_not_read_is_not_empty(images):
    by_engine = [ImageText(image=images[0], text="x", author=ocr_engine())]
    questions = [question(question_id=str(n), images=(image,)) for n, image in enumerate(images)]
    (row,) = value_of(ocr_for_images(questions, by_engine))
    assert (row.question_id, row.image_texts) == ("0", ("x",))
    released = [replace(one, author="release") for one in by_engine]
    assert [one.image_texts for one in value_of(ocr_for_images(questions, released))] == [
        ("x",), ("",), ("",)
    ]  # fmt: skip
