"""The folder that a Label Studio serves images from: copies, as browsers show them upright."""

from hashlib import sha256
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image

from bench_assets.core.schema.errors import ImageError
from bench_resources.annotation.label_studio.server import export_images
from bench_resources.images.locations import ObjectImages


def png(colour: str) -> bytes:
    Image.new("RGB", (2, 2), colour).save(file := BytesIO(), "PNG")
    return file.getvalue()


ONE, OTHER = png("red"), png("blue")
FIRST, SECOND = (sha256(data).hexdigest() for data in (ONE, OTHER))


@pytest.fixture
def objects(tmp_path: Path) -> ObjectImages:
    place = ObjectImages(f"file://{tmp_path}/shared", "", str(tmp_path / "cache"), 10**6)
    place.keep(FIRST, ONE)
    place.keep(SECOND, OTHER)
    return place


def lying(folder: Path) -> dict[str, bytes]:
    return {str(one.relative_to(folder)): one.read_bytes() for one in folder.glob("*/*")}


def test_of_objects_those_that_are_shown_are_copied(tmp_path: Path, objects: ObjectImages) -> None:
    folder = export_images(tmp_path, objects, [FIRST, FIRST])
    assert lying(folder) == {f"{FIRST[:2]}/{FIRST}": ONE}
    assert export_images(tmp_path, objects, [SECOND]) == folder
    assert lying(folder).keys() == {f"{one[:2]}/{one}" for one in (FIRST, SECOND)}
    with pytest.raises(ImageError, match="no image"):
        export_images(tmp_path, objects, ["00" * 32])
