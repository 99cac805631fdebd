import io

import pytest
from PIL import ExifTags
from PIL import Image as PILImage

from bench_assets.core.schema.errors import ImageError
from bench_resources.models.workers.local_model import decode
from tests.resources.models.transformers.tiny_engine import RED


def test_an_image_is_set_upright_and_shrunk_to_the_most_pixels() -> None:
    jpeg = io.BytesIO()
    exif = PILImage.Exif()
    exif[ExifTags.Base.Orientation] = 6  # a quarter turn
    PILImage.new("RGB", (400, 100)).save(jpeg, "JPEG", exif=exif)
    assert decode(RED, jpeg.getvalue(), max_pixels=None).size == (100, 400)
    assert decode(RED, jpeg.getvalue(), 10_000).size == (50, 200)


def test_an_image_that_does_not_decode_is_named_in_the_error() -> None:
    with pytest.raises(ImageError, match=f"image {RED.sha256}: not an image in any known format"):
        decode(RED, b"not an image", max_pixels=None)
