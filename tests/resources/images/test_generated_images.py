import io
from hashlib import sha256

import numpy as np
import pytest
from PIL import Image
from scipy import ndimage

from bench_assets.core.schema.errors import HomeError, ModelError, SourceError
from bench_resources.images.generated_images import (
    ImageRequest,
    collect_images,
    draw_image,
    draw_images,
)
from bench_resources.images.store import ImageStore
from tests.fakes.written_images import plain_png


def request(prompt="A table with exactly 3 of: red apple", name="a.png", seed=0):
    return ImageRequest(name=name, prompt=prompt, seed=seed)


@pytest.mark.parametrize("n", [1, 6, 20])
def test_the_prompt_s_number_of_sprites_is_drawn_apart(n):
    data = draw_image(request(f"exactly {n} of: red apple, and exactly 2 of: teapot"))
    pixels = np.asarray(Image.open(io.BytesIO(data))).astype(int)
    _, n_shapes = ndimage.label(abs(pixels - pixels[0, 0]).max(axis=2) > 8)
    assert n_shapes == n + 2  # and the teapots


@pytest.mark.parametrize(
    ("prompt", "message"),
    [
        pytest.param("A cat in a hat", "the drawer finds no 'exactly", id="no number"),
        pytest.param("exactly 3 of: zorkmid", "no sprite named 'zorkmid'", id="no such sprite"),
        pytest.param("exactly 9000 of: dog", "at most 400 things", id="too many"),
        pytest.param(
            "exactly 390 of: dog, exactly 90 of: cat", "480 things", id="too many together"
        ),
    ],
)
def test_an_image_that_cannot_be_drawn_is_a_rejection(tmp_path, prompt, message):
    image_store = ImageStore(folder=str(tmp_path / "images"))
    requests = [request(), request(prompt, name="bad.png"), request(name="c.png", seed=1)]
    result = draw_images(requests, image_store)
    assert [image.name for image in result.images] == ["a.png", "c.png"]
    (rejection,) = result.rejections
    assert rejection.entry == "bad.png"
    assert message in rejection.reason


def test_an_error_is_raised_if_no_image_can_be_drawn(tmp_path):
    image_store = ImageStore(folder=str(tmp_path / "images"))
    with pytest.raises(ModelError, match=r"a\.png: the drawer finds no"):
        draw_images([request("a cat"), request("a dog")], image_store)


def test_an_image_that_cannot_be_stored_is_an_error(tmp_path):
    requests = [request(), request(name="b.png", seed=1)]
    digest = sha256(draw_image(requests[1])).hexdigest()
    (tmp_path / digest[:2]).touch()  # in place of the folder of the second image
    with pytest.raises(HomeError, match=f"{digest}: cannot be written"):
        draw_images(requests, ImageStore(folder=str(tmp_path)))


@pytest.fixture
def folder(tmp_path):
    """Images that another program generated: one as planned, one as JPEG, one torn, one extra."""
    folder = tmp_path / "generated"
    (folder / "more").mkdir(parents=True)
    (folder / "a.png").write_bytes(plain_png("red"))
    (folder / "a.webp").write_bytes(plain_png("yellow"))
    Image.new("RGB", (4, 4), "blue").save(folder / "b.1.jpg")
    (folder / "more" / "c.png").write_bytes(plain_png("lime"))
    (folder / "torn.png").write_bytes(plain_png()[:20])
    (folder / "extra.png").write_bytes(plain_png("black"))
    return folder


def test_planned_images_are_collected_by_name(tmp_path, folder):
    image_store = ImageStore(folder=str(tmp_path / "images"))
    names = ("a.png", "b.1.png", "more/c.png", "torn.png", "d.png", "../generated/extra.png")
    images, rejections = collect_images([request(name=name) for name in names], folder, image_store)
    colours = [image_store.open(image.sha256).getpixel((0, 0)) for image in images]
    assert [image.name for image in images] == ["a.png", "b.1.png", "more/c.png"]
    assert colours == [(255, 0, 0), (0, 0, 254), (0, 255, 0)]  # JPEG rounds 255 to 254
    assert [rejection.entry for rejection in rejections] == [
        "torn.png",
        "d.png",
        "../generated/extra.png",
    ]
    assert rejections[1].reason == f"no such image in {folder}"


def test_an_image_with_two_files_is_rejected_with_their_names(tmp_path, folder):
    (folder / "b.1.gif").write_bytes(plain_png("red"))  # beside b.1.jpg
    image_store = ImageStore(folder=str(tmp_path / "images"))
    _, (rejection,) = collect_images([request(name="b.1.png")], folder, image_store)
    assert rejection.entry == "b.1.png"
    assert "b.1.gif, b.1.jpg" in rejection.reason


@pytest.mark.parametrize("path", ["empty", "absent"])
def test_a_folder_without_planned_images_is_an_error(tmp_path, path):
    (tmp_path / "empty").mkdir()
    image_store = ImageStore(folder=str(tmp_path / "images"))
    with pytest.raises(SourceError, match=r"none of the 2 planned images .* such as a\.png"):
        collect_images([request(), request(name="b.png")], tmp_path / path, image_store)
