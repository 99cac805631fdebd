import base64

import pytest

from bench_assets.core.schema.errors import SourceError
from bench_assets.file_benchmarks.images import Folder, RowReference, guess_media, images_of
from tests.cases import read_cases

SMALL = b"\x89PNG\r\n\x1a\n"  # how a PNG file begins
LONG = SMALL + bytes(2000)  # longer than a path can be
BASE64 = base64.b64encode(LONG).decode()
SMALL_BASE64 = base64.b64encode(SMALL).decode()


@pytest.fixture
def folder(tmp_path):
    """A folder of two images, beside a file that lies outside."""
    (tmp_path / "images" / "deep").mkdir(parents=True)
    for name in ("images/a.png", "images/deep/b.png", "outside.png"):
        (tmp_path / name).write_bytes(b"x")
    return (tmp_path / "images").resolve()


@pytest.mark.parametrize(("cells", "names"), read_cases(__file__, "image_paths.jsonl"))
def test_images_named_by_a_path_are_files_of_the_folder(folder, cells, names):
    assert images_of(cells, Folder(folder)) == [folder / name for name in names]


@pytest.mark.parametrize(
    ("cells", "images"),
    [
        pytest.param([b"bytes"], [b"bytes"], id="bytes"),
        pytest.param([{"bytes": b"bytes", "path": "gone.png"}], [b"bytes"], id="stored bytes"),
        pytest.param([f"data:image/png;base64,{BASE64}"], [LONG], id="a data URI"),
        pytest.param(["data:image/svg+xml,%3Csvg/%3E"], [b"<svg/>"], id="a data URI in text"),
        pytest.param([BASE64], [LONG], id="base64"),
        pytest.param([SMALL_BASE64], [SMALL], id="base64 of a few bytes"),
        pytest.param([[SMALL_BASE64, BASE64]], [SMALL, LONG], id="a list of base64"),
        pytest.param([{"bytes": SMALL_BASE64, "path": None}], [SMALL], id="base64 in a struct"),
        pytest.param([{"bytes": None, "path": None}, float("nan")], [], id="empty cells"),
    ],
)
def test_images_inside_cells_are_bytes(folder, cells, images):
    assert images_of(cells, Folder(folder)) == images


@pytest.mark.parametrize(
    ("cell", "expected_message"),
    [
        pytest.param("gone.png", "no image 'gone.png' in", id="a file that is not there"),
        pytest.param("../outside.png", "lies outside .*. Set image_folder", id="a file elsewhere"),
        pytest.param("a\0.png", "is not a file name", id="a name with a NUL"),
        pytest.param("https://x.org/a.png", "is an address: download it", id="an address"),
        pytest.param("data:image/png;base64,A", "is not base64", id="a broken data URI"),
        pytest.param("?" * 2000, "is not base64", id="a long text"),
        pytest.param("['a.png', ", "no image", id="a broken list"),
        pytest.param(3.5, "not a path, bytes", id="a number"),
        pytest.param({"url": "x"}, "not a path, bytes", id="another object"),
    ],
)
def test_a_cell_that_holds_no_image_is_refused(folder, cell, expected_message):
    with pytest.raises(SourceError, match=expected_message):
        images_of([cell], Folder(folder))


@pytest.mark.parametrize("name", ["link/c.png", "a link.png"])
def test_a_link_that_leads_out_of_the_folder_is_refused(folder, tmp_path, name):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "c.png").write_bytes(b"")
    (folder / "link").symlink_to(tmp_path / "other")
    (folder / "a link.png").symlink_to(tmp_path / "other" / "c.png")
    with pytest.raises(SourceError, match=r"lies outside .*. Set image_folder"):
        images_of([name], Folder(folder))


def test_a_name_that_no_file_has_may_be_the_id_of_another_row(folder):
    images = images_of([["17", 18, "a-row"]], Folder(folder))
    assert images == [RowReference(row, folder) for row in ("17", "18", "a-row")]


@pytest.mark.parametrize(
    ("name", "cell", "medium"),
    [
        *read_cases(__file__, "media_columns.jsonl"),
        pytest.param("photo", b"x", "images", id="bytes"),
        pytest.param("photo", {"bytes": b"x", "path": None}, "images", id="an image of datasets"),
        pytest.param("photo", BASE64, "images", id="base64 of a PNG"),
    ],
)
def test_the_medium_of_a_column_is_guessed(name, cell, medium):
    assert guess_media(name, cell) == medium
